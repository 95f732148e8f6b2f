"""A dossier of a preserved window: it holds, and each way of breaking it is named.

The forger has the house's key. He makes sums, list and signature again, so that only the record
itself can show it.
"""

from __future__ import annotations

import json
import re
import shutil
from typing import TYPE_CHECKING, Any

import pytest

from replay.checker.window import span_of
from replay.disputes.preserved_windows import lock_ids, named_by, window_name
from replay.dossier.writing.making import write_dossier
from tests.scenes.dossier_windows import evidence
from tests.scenes.dossiers import HOUSE, redone

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from tests.fixtures.dossier import Made


@pytest.fixture(scope="module")
def window(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("window")
    write_dossier(evidence(place), place / "d", signer=HOUSE)
    return place / "d"


def lines(folder: Path, name: str) -> list[bytes]:
    return (folder / name).read_bytes().splitlines()


def write(folder: Path, name: str, of: list[bytes]) -> None:
    (folder / name).write_bytes(b"".join(each + b"\n" for each in of))


def manifest(folder: Path) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((folder / "manifest.json").read_bytes())
    return found


def anew(folder: Path, **told: Any) -> None:  # noqa: ANN401 - of the manifest
    """Count the facts of each file again, as a thorough forger does, and sign."""
    files = {name: len(lines(folder, name)) for name in manifest(folder)["fact_files"]}
    redone(folder, by=HOUSE, **{"fact_files": files, "facts": files["facts.jsonl"]} | told)


def taken_out(folder: Path, gone: Callable[[dict[str, Any]], bool], name: str) -> None:
    """Facts taken out of a file, and their rows shown by their hash alone."""
    kept, keys = [], set()
    for line in lines(folder, name):
        told = json.loads(line)
        if gone(told):
            keys.add((told["source"], told["id"]))
        else:
            kept.append(line)
    assert keys
    write(folder, name, kept)
    numbers = {
        (told["source"], told["id"]): number for number, told in enumerate(map(json.loads, kept), 1)
    }
    rows = []
    for line in lines(folder, "proof.jsonl"):
        row = json.loads(line)
        key = (row["source"], row["id"])
        if row["file"] == name:
            row |= (
                dict.fromkeys(("source", "id", "file", "line", "data_base64"))
                if key in keys
                else {"line": numbers[key]}
            )
        rows.append(json.dumps(row, separators=(",", ":")).encode())
    write(folder, "proof.jsonl", rows)


def moved(folder: Path, wanted: Callable[[dict[str, Any]], bool], old: str, new: str) -> None:
    """A fact put from one file into another, its proof with it."""
    chosen = next(each for each in lines(folder, old) if wanted(json.loads(each)))
    write(folder, old, [each for each in lines(folder, old) if each != chosen])
    there = lines(folder, new) if (folder / new).exists() else []
    write(folder, new, [*there, chosen])
    where = {
        (told["source"], told["id"]): (name, number)
        for name in (old, new)
        for number, told in enumerate(map(json.loads, lines(folder, name)), 1)
    }
    rows = []
    for line in lines(folder, "proof.jsonl"):
        row = json.loads(line)
        if (row["source"], row["id"]) in where:
            row["file"], row["line"] = where[row["source"], row["id"]]
        rows.append(json.dumps(row, separators=(",", ":")).encode())
    write(folder, "proof.jsonl", rows)


def a_tip(told: dict[str, Any]) -> bool:
    return bool(told["id"] == "tip-1")


def put_between(folder: Path) -> None:
    moved(folder, a_tip, "facts.jsonl", "between.jsonl")
    files = manifest(folder)["fact_files"] | {"between.jsonl": len(lines(folder, "between.jsonl"))}
    anew(folder, fact_files=files | {"facts.jsonl": len(lines(folder, "facts.jsonl"))})


def drop_row(folder: Path) -> None:
    """A fact taken out with its row in the chain."""
    taken_out(folder, a_tip, "facts.jsonl")
    rows = [each for each in lines(folder, "proof.jsonl") if json.loads(each)["file"]]
    write(folder, "proof.jsonl", rows)
    anew(folder)


def ruling_left_out(folder: Path) -> None:
    rulings = manifest(folder)["rulings"]
    (folder / rulings[1]["file"]).unlink()
    anew(folder, rulings=[rulings[0], *rulings[2:]])


def rulings_exchanged(folder: Path) -> None:
    one, two, *_ = (folder / each["file"] for each in manifest(folder)["rulings"])
    first, second = one.read_bytes(), two.read_bytes()
    one.write_bytes(second)
    two.write_bytes(first)
    anew(folder)


def paid_more(folder: Path) -> None:
    path = folder / manifest(folder)["rulings"][0]["file"]
    ruling = json.loads(path.read_bytes())
    ruling["paid_beside_owed"][0]["collected"] += 100
    path.write_bytes(json.dumps(ruling).encode())
    anew(folder)


def another_round_ruled(folder: Path) -> None:
    told = manifest(folder)
    more = told["rulings"][0] | {"round": "hollywood:CC-01/2026-11-20/999"}
    anew(folder, rulings=[*told["rulings"], more])


def with_window(**told: str) -> Callable[[Path], None]:
    return lambda folder: anew(folder, window=manifest(folder)["window"] | told)


def renamed(folder: Path) -> None:
    """Another name, whose window ends far later."""
    told = manifest(folder)["window"]
    name = told["name"].replace(told["name"].split("-")[2], "20300101T000000Z")
    anew(folder, window=told | {"name": name})


def a_lock_gone(folder: Path) -> None:
    taken_out(folder, lambda told: told["id"].endswith(".1of2"), "case.jsonl")
    anew(folder)


def told_of_many_locks(folder: Path) -> None:
    """More than a list of their numbers would have room for."""
    locks = (folder / "case.jsonl").read_bytes()
    (folder / "case.jsonl").write_bytes(re.sub(rb"\.(\d)of2", rb".\1of999999999999", locks))
    anew(folder)


def all_locks_gone(folder: Path) -> None:
    taken_out(folder, lambda told: "footage_locked" in told["type"], "case.jsonl")
    anew(folder)


BROKEN: dict[str, tuple[Callable[[Path], None], str]] = {
    "a fact put between": (put_between, r"is a fact of this window, but is not listed"),
    "a fact and its row left out": (drop_row, r"The chain of hollywood/CC-01 lacks sequence"),
    "a ruling left out": (ruling_left_out, r"falls in the window, but its ruling is missing"),
    "rulings exchanged": (rulings_exchanged, r"is the ruling of another round"),
    "money in a ruling": (paid_more, r"rulings/.* has \$[\d,.]+ collected at position"),
    "a round from elsewhere": (another_round_ruled, r"but no fact of it is in the window"),
    "the window made shorter": (
        with_window(to="2026-01-01T00:00:00.000000Z"),
        r"The window has another start or end than P-.*, which was preserved",
    ),
    "the window renamed": (renamed, r"No fact of this dossier preserved window P-"),
    "of another table": (
        with_window(table="CC-02"),
        r"was preserved for another table than CC-02",
    ),
    "a lock left out": (a_lock_gone, r"1 of the 2 locks of window P-.* are in this dossier"),
    "locks without number": (told_of_many_locks, r"2 of the 999999999999 locks of window P-.*"),
    "all locks left out": (all_locks_gone, r"its locks were removed"),
}


@pytest.mark.long
def test_the_intact_dossier_of_a_window_holds(made: Made, window: Path) -> None:
    code, said = made.checked(window)
    assert code == 0, said
    assert "The window is the one that its locks preserved" in said
    assert "The hash chain is whole from the first fact of the window to its last" in said
    assert "The amounts paid, collected and returned in the 3 rulings are the sums of" in said
    assert "BROKEN" not in said


@pytest.mark.long
def test_a_window_with_its_list_made_anew_as_it_is_holds(
    made: Made, window: Path, tmp_path: Path
) -> None:
    """The control of every case here."""
    shutil.copytree(window, tmp_path / "d")
    anew(tmp_path / "d")
    code, said = made.checked(tmp_path / "d")
    assert code == 0, said


@pytest.mark.long
@pytest.mark.parametrize("name", BROKEN)
def test_a_broken_dossier_of_a_window_is_caught_and_told_how(
    name: str, made: Made, window: Path, tmp_path: Path
) -> None:
    breaking, expected = BROKEN[name]
    shutil.copytree(window, tmp_path / "d")
    breaking(tmp_path / "d")
    code, said = made.checked(tmp_path / "d")
    assert code == 1, said
    assert re.search(expected, said), said
    assert not re.search(expected, made.checked(window)[1])


@pytest.mark.long
def test_facts_shown_by_their_hash_alone_leave_open_what_they_are(
    made: Made, window: Path, tmp_path: Path
) -> None:
    shutil.copytree(window, tmp_path / "d")
    taken_out(tmp_path / "d", a_tip, "facts.jsonl")
    anew(tmp_path / "d")
    code, said = made.checked(tmp_path / "d")
    assert "Rows between the first and the last fact that are here as hashes only: 1." in said
    assert code == 0


@pytest.mark.usefixtures("unread")
def test_a_segment_that_is_not_in_here_is_told(made: Made, tmp_path: Path) -> None:
    whole = evidence(tmp_path)._replace(originals=())
    write_dossier(whole, tmp_path / "d", signer=HOUSE)
    code, said = made.checked(tmp_path / "d")
    assert code == 0, said
    assert "Segments recorded in the locked times that are not in this dossier: 1." in said


@pytest.mark.usefixtures("unread")
def test_a_window_without_any_round_holds(made: Made, tmp_path: Path) -> None:
    whole = evidence(tmp_path)
    rows = [row for row in whole.window_rows if row.id == "tip-1"]
    (stretch,) = whole.stretches
    (tip,) = rows
    own = whole._replace(
        stories=(), submissions=(), window_rows=rows, between=(),
        stretches=[stretch._replace(first=tip.table_seq, last=tip.table_seq)],
    )  # fmt: skip
    write_dossier(own, tmp_path / "d", signer=HOUSE)
    code, said = made.checked(tmp_path / "d")
    assert code == 0, said
    assert "No round falls in the window." in (tmp_path / "d" / "report.html").read_text()


def test_the_name_of_a_window_says_from_when_to_when_to_the_microsecond() -> None:
    for from_us, to_us in ((0, 1), (1_795_000_000_000_000, 1_795_000_100_250_000)):
        name = window_name(from_us, to_us)
        assert span_of(name) == (from_us, to_us)
        assert name != window_name(from_us, to_us)
        assert [named_by(each) for each in lock_ids(name, 3)] == [name] * 3
    for other in ("P-1", "D-17", "P-20261120T250000Z-20261120T192000Z-3f9a2c", ""):
        assert span_of(other) is None
