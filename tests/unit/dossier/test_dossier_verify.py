"""verify.py as a stranger runs it: Python alone, hostile folders and zips, no key."""

from __future__ import annotations

import ast
import csv
import json
import os
import random
import shutil
import stat
import subprocess
import sys
import warnings
import zipfile
from typing import TYPE_CHECKING, Any

import pytest

from ledger.facts import FootageViewed
from ledger.games import games
from ledger.record.tape import Received
from ledger.record.wire import encode, parse_line
from replay.checker import main
from replay.checker.report import Report
from replay.dossier.writing.making import write_dossier
from replay.dossier.writing.verify_py import verify_py
from tests.fixtures.dossier import KEY
from tests.scenes.dossiers import HOUSE, chained, evidence, received, rounds_of
from tests.suite.budget import ONE_A_FAMILY, budget, cases

if TYPE_CHECKING:
    from pathlib import Path

    from tests.fixtures.dossier import Made


@budget("count", everyday=8, whole=20)
def test_one_bit_changed_anywhere_is_caught(made: Made, tmp_path: Path, count: int) -> None:
    chance = random.Random(7)  # noqa: S311 - repeatable
    files = [path for path in made.folder.rglob("*") if path.is_file() and path.stat().st_size]
    names = sorted(path.relative_to(made.folder) for path in files)
    for name in [*names[:count], *chance.sample(names, count)]:
        folder = tmp_path / "dossier"
        shutil.copytree(made.folder, folder)
        octets = bytearray((folder / name).read_bytes())
        octets[chance.randrange(len(octets))] ^= 1 << chance.randrange(8)
        (folder / name).write_bytes(octets)
        code, said = made.checked(folder)
        assert code in (1, 2), (name, said)
        shutil.rmtree(folder)


def test_it_runs_with_python_alone_in_an_empty_folder(made: Made, tmp_path: Path) -> None:
    alone = tmp_path / "empty"
    alone.mkdir()
    shutil.copy(made.folder / "verify.py", alone)
    (tmp_path / "house.pub").write_text(f"# our key\n{KEY}\n")
    for dossier, expected in ((made.zip, 0), (made.folder, 0)):
        ran = subprocess.run(
            [
                sys.executable, "-I", "-S", "-W", "error", "verify.py", "--key",
                tmp_path / "house.pub", dossier,
            ],
            cwd=alone, env={}, capture_output=True, text=True, check=False, timeout=120,
        )  # fmt: skip
        assert ran.returncode == expected, ran.stdout + ran.stderr
        assert ran.stderr == ""


def test_it_imports_nothing_beyond_the_standard_library_and_is_python_3_8() -> None:
    tree = ast.parse(verify_py(), feature_version=(3, 8))
    imported = {
        name.partition(".")[0]
        for node in ast.walk(tree)
        if isinstance(node, ast.Import | ast.ImportFrom)
        for name in (
            [node.module or ""]
            if isinstance(node, ast.ImportFrom)
            else [a.name for a in node.names]
        )
    }
    assert imported <= sys.stdlib_module_names
    assert not imported & {"socket", "urllib", "http", "subprocess", "ctypes"}


def test_no_name_of_one_part_hides_that_of_another() -> None:
    names = [
        name
        for node in ast.parse(verify_py()).body
        for name in (
            [node.name]
            if isinstance(node, ast.FunctionDef | ast.ClassDef)
            else [t.id for t in getattr(node, "targets", ()) if isinstance(t, ast.Name)]
        )
    ]
    assert sorted(names) == sorted(set(names))


LEAST, MOST = -1, 0
"""A game's round with the fewest wagers, and that with the most."""


@pytest.mark.parametrize(
    ("game", "which"),
    cases(
        everyday=[(game, LEAST) for game in ONE_A_FAMILY],
        whole=[(game, MOST) for game in sorted(games())],
    ),
)
def test_an_honest_dossier_of_any_game_holds(
    made: Made, tmp_path: Path, game: str, which: int, request: pytest.FixtureRequest
) -> None:
    if which == LEAST:
        request.getfixturevalue("unread")  # the papers are drawn in the long run
    dealt = rounds_of(game, mistakes={"overpay": 1})[which]
    write_dossier(dealt, tmp_path / "dossier", signer=HOUSE)
    code, said = made.checked(tmp_path / "dossier")
    assert code == 0, said
    assert "move chips, but that no ruling names" not in said


@pytest.mark.usefixtures("unread")
def test_what_was_paid_is_the_sum_of_what_devices_of_every_version_told(
    made: Made, tmp_path: Path
) -> None:
    def of_old(octets: bytes) -> bytes:
        """A payment as devices sent it before version 1, with the stake in it."""
        fact = json.loads(octets)
        if fact["type"] != "roundledger.wager_paid.v1":
            return octets
        fact["type"] = "roundledger.wager_paid.v0"
        fact["data"] |= {"paid_with_stake": fact["data"].pop("amount") + 2500, "stake": 2500}
        return json.dumps(fact).encode()

    told = rounds_of("criss_cross_poker", of_old)
    paid = next(e for e in told if any(row.type == "wager_paid.v0" for row in e.rows))
    write_dossier(paid, tmp_path / "dossier", signer=HOUSE)
    code, said = made.checked(tmp_path / "dossier")
    assert code == 0, said
    assert "The amounts paid, collected and returned in ruling.json are the sums of" in said


@pytest.mark.usefixtures("unread")
def test_a_reason_with_line_breaks_of_any_kind_is_one_cell_of_the_custody_table(
    made: Made, tmp_path: Path
) -> None:
    whole = evidence(tmp_path)
    because = 'Asked\rby phone,\nthen "in writing"\r\n.'
    seen = FootageViewed(
        camera="CC-01-ovh",
        from_="2026-11-20T10:00:00Z",
        to="2026-11-20T10:00:01Z",
        by="S-1",
        because=because,
    )
    kept = chained([received(encode(seen, "/hollywood/pit-2/a", "v-1", 1_795_000_000_000_000))])
    told = whole._replace(
        custody_rows=[*whole.custody_rows, *kept.rows],
        previous={**whole.previous, **kept.previous},
        heads=sorted([*whole.heads, *kept.heads]),
    )
    write_dossier(told, tmp_path / "dossier", signer=HOUSE)
    code, said = made.checked(tmp_path / "dossier")
    assert code == 0, said


def test_a_folder_that_cannot_be_read_is_not_passed_over(
    made: Made, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = os.scandir

    def refusing(path: str) -> Any:  # noqa: ANN401 - as `os.scandir` answers
        if path.endswith("frames"):
            raise PermissionError(13, "Permission denied", path)
        return real(path)

    monkeypatch.setattr(os, "scandir", refusing)
    code, said = made.checked(made.folder)
    assert (code, "The folder frames cannot be read: Permission denied." in said) == (2, True), said


def test_a_table_that_is_none_is_told_as_all_that_is_not_as_it_should_be() -> None:
    report = Report()

    def broken() -> None:
        list(csv.reader(["a\rb"]))

    main._survived(broken, report)
    assert len(report.broken) == 1


@pytest.mark.usefixtures("unread")
def test_facts_of_many_lines_odd_times_and_long_numbers_hold(made: Made, tmp_path: Path) -> None:
    whole = evidence(tmp_path)
    head = b'{"specversion":"1.0","type":"roundledger.tip_dropped.v1","source":"/hollywood/pit-2/a"'
    first = (
        b',"id":"\\u00e9 1","time":"2026-11-20t10:00:00.1234567-05:30","data":{"amount":500,'
        b'"note":"\xc3\xa9\\u00e9 \\" }","n":1e400,"long":9999999999999999999999999999}}'
    )
    other = b',"id":"2","time":"2026-11-20T10:00:00Z","data":{\r\n "amount":\n 500\n}}'
    odd = [head + first, head + other]
    kept = chained(fact for fact in map(parse_line, odd) if isinstance(fact, Received))
    assert len(kept.rows) == 2
    previous = {**whole.previous, **kept.previous}
    heads = sorted([*whole.heads, *kept.heads])
    told = whole._replace(custody_rows=kept.rows, previous=previous, heads=heads)
    write_dossier(told, tmp_path / "odd", signer=HOUSE)
    code, said = made.checked(tmp_path / "odd")
    assert code == 0, said


def test_without_a_dossier_named_it_checks_the_one_it_lies_in(made: Made) -> None:
    ran = subprocess.run(
        [sys.executable, made.folder / "verify.py", "--key", KEY], check=False, timeout=120
    )
    assert ran.returncode == 0


def test_without_a_key_it_says_that_nobody_vouched(made: Made) -> None:
    code, said = made.checked(made.folder, key=None)
    assert code == 2
    assert f"Key {HOUSE.key_id} is named as the signer." in said
    assert said.rstrip().endswith("Give the house's key with --key.")


@pytest.mark.usefixtures("unread")
def test_a_dossier_made_without_a_key_says_so_loudly(made: Made, tmp_path: Path) -> None:
    write_dossier(evidence(tmp_path), tmp_path / "unsigned")
    code, said = made.checked(tmp_path / "unsigned")
    assert code == 1
    assert "is unsigned: it was made without a key, so nobody vouches for it" in said
    assert "THIS DOSSIER IS UNSIGNED" in (tmp_path / "unsigned" / "README.txt").read_text()
    assert "UNSIGNED" not in (made.folder / "README.txt").read_text()
    assert "unsigned" in (tmp_path / "unsigned" / "report.html").read_text().lower()


@pytest.mark.parametrize("key", ["12", "zz" * 32, "/nowhere/key.pub"])
def test_a_key_that_is_none_is_told(made: Made, key: str) -> None:
    code, said = made.checked(made.folder, key=key)
    assert code == 2
    assert "is neither a public key nor a file with one" in said


def test_a_head_kept_elsewhere_is_compared(made: Made, tmp_path: Path) -> None:
    head = json.loads((made.folder / "heads.jsonl").read_text().splitlines()[0])
    older = json.loads((made.folder / "proof.jsonl").read_text().splitlines()[0])
    inside = {
        k: older[f]
        for k, f in (
            ("place", "tape"),
            ("sequence", "table_seq"),
            ("position", "position"),
            ("hash", "hash"),
        )
    }
    cases = [
        (head, 0, "is in this dossier with the same hash"),
        (inside, 0, "is in this dossier with the same hash"),
        (head | {"hash": "11" * 32}, 1, "the record was rewritten after you got the head"),
        (inside | {"hash": "11" * 32}, 1, "the record was rewritten after you got the head"),
        (head | {"sequence": 3}, 0, "Only the whole record can be compared with it"),
    ]
    for kept, expected, says in cases:
        (tmp_path / "kept.jsonl").write_text(json.dumps(kept) + "\n")
        code, said = made.checked("--head", tmp_path / "kept.jsonl", made.folder)
        assert (code, says in said) == (expected, True), said


@pytest.mark.usefixtures("unread")
def test_rows_shown_by_their_hash_alone_hold_and_what_that_leaves_open_is_said(
    made: Made, tmp_path: Path
) -> None:
    whole = evidence(tmp_path)
    assert whole.between
    write_dossier(whole._replace(between=(), hidden=whole.between), tmp_path / "d", signer=HOUSE)
    code, said = made.checked(tmp_path / "d")
    assert code == 0, said
    assert (
        "Rows between the first and the last fact that are here as hashes only: "
        f"{len(whole.between)}." in said
    )
    assert "the ranges of rows in this dossier hold no other fact of it" not in said
    assert (
        "the ranges of rows in this dossier hold no other fact of it"
        in made.checked(made.folder)[1]
    )


@pytest.mark.usefixtures("unread")
def test_a_round_told_in_stretches_far_apart_says_that_the_rows_between_are_not_there(
    made: Made, tmp_path: Path
) -> None:
    whole = evidence(tmp_path)
    (one,) = whole.stretches
    halves = [one._replace(last=one.first + 20), one._replace(first=one.first + 21)]
    write_dossier(whole._replace(stretches=halves), tmp_path / "d", signer=HOUSE)
    code, said = made.checked(tmp_path / "d")
    assert code == 0, said
    assert "the rows between the ranges are not in this dossier" in said
    assert "whole in each range of rows" in said
    outside = whole._replace(stretches=halves[:1])
    write_dossier(outside, tmp_path / "outside", signer=HOUSE)
    code, said = made.checked(tmp_path / "outside")
    assert code == 1
    assert "is a fact of the round, outside the ranges of rows" in said


def zipped(path: Path, files: list[tuple[str | zipfile.ZipInfo, bytes]], **more: Any) -> Path:  # noqa: ANN401 - of writestr
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # that a name stands twice is the point
        with zipfile.ZipFile(path, "w") as archive:
            for name, octets in files:
                archive.writestr(name, octets, **more)
    return path


def link(name: str) -> zipfile.ZipInfo:
    info = zipfile.ZipInfo(name)
    info.external_attr = (stat.S_IFLNK | 0o777) << 16
    return info


def test_tricks_of_zips_are_refused_and_nothing_is_unpacked(made: Made, tmp_path: Path) -> None:
    tricks: dict[str, tuple[list[tuple[str | zipfile.ZipInfo, bytes]], str, dict[str, Any]]] = {
        "outside": ([("../../etc/passwd", b"x")], "cannot be the name of", {}),
        "absolute": ([("/etc/passwd", b"x")], "cannot be the name of", {}),
        "backslash": ([("a\\..\\b", b"x")], "cannot be the name of", {}),
        "drive": ([("C:evil.txt", b"x")], "cannot be the name of", {}),
        "dots": ([("frames/../facts.jsonl", b"x")], "cannot be the name of", {}),
        "hidden": ([(".manifest.json", b"x")], "cannot be the name of", {}),
        "twice": ([("facts.jsonl", b"x"), ("facts.jsonl", b"y")], "Two files are named", {}),
        "case": ([("facts.jsonl", b"x"), ("FACTS.jsonl", b"y")], "Two files are named", {}),
        "link": ([(link("facts.jsonl"), b"/etc/passwd")], "is a link in the zip", {}),
        "bomb": (
            [("facts.jsonl", bytes(50_000_000))],
            "is compressed in the zip",
            {"compress_type": zipfile.ZIP_DEFLATED},
        ),
        "none": ([("facts.jsonl", b"x")], "There is no manifest.json", {}),
    }
    for name, (files, expected, more) in tricks.items():
        code, said = made.checked(zipped(tmp_path / f"{name}.zip", files, **more))
        assert (code, expected in said) == (2, True), (name, said)
    assert sorted(path.suffix for path in tmp_path.iterdir()) == [".zip"] * len(tricks)


def test_two_members_over_the_same_octets_of_a_zip_are_refused(made: Made, tmp_path: Path) -> None:
    path = zipped(tmp_path / "one.zip", [("aa.txt", b"x" * 1000), ("bb.txt", b"y" * 10)])
    octets = bytearray(path.read_bytes())
    at = octets.index(b"PK\x01\x02", octets.index(b"PK\x01\x02") + 4)
    octets[at + 42 : at + 46] = (0).to_bytes(4, "little")  # the second lies where the first does
    path.write_bytes(octets)
    code, said = made.checked(path)
    assert code == 2
    assert "overlaps another file" in said


def rezipped(zip_: Path, out: Path, **more: bytes) -> Path:
    """The members of a zip once more, the second with something of its own beside it."""
    with zipfile.ZipFile(zip_) as old, zipfile.ZipFile(out, "w") as new:
        for number, info in enumerate(old.infolist()):
            copy = zipfile.ZipInfo(info.filename, info.date_time)
            copy.create_system, copy.external_attr = info.create_system, info.external_attr
            if number == 1:
                for name, value in more.items():
                    setattr(copy, name, value)
            new.writestr(copy, old.read(info))
    return out


def test_what_is_hidden_in_a_zip_beside_its_files_is_refused(made: Made, tmp_path: Path) -> None:
    octets = made.zip.read_bytes()
    end = octets.rindex(b"PK\5\6")
    commented = octets[: end + 20] + b"\5\0hello"
    hidden = {
        "before": (b"#!/bin/sh\n" * 10 + octets, "hidden in the zip before README.txt"),
        "behind": (octets + b"more", "hidden after the end of the zip"),
        "comment": (commented, "hidden after the end of the zip"),
    }
    for name, (changed, expected) in hidden.items():
        (tmp_path / f"{name}.zip").write_bytes(changed)
        code, said = made.checked(tmp_path / f"{name}.zip")
        assert (code, expected in said) == (2, True), (name, said)
    other_name = b"up\x09\x00\x01\0\0\0\0evil"
    for more in ({"extra": other_name}, {"comment": b"hello"}):
        path = rezipped(made.zip, tmp_path / "beside.zip", **more)
        code, said = made.checked(path)
        assert (code, "has extra data in the zip" in said) == (2, True), said
    assert made.checked(rezipped(made.zip, tmp_path / "again.zip"))[0] == 0


def test_octets_between_two_files_of_a_zip_are_refused(made: Made, tmp_path: Path) -> None:
    path = tmp_path / "gap.zip"
    with zipfile.ZipFile(made.zip) as old, zipfile.ZipFile(path, "w") as new:
        for number, info in enumerate(old.infolist()):
            new.writestr(info.filename, old.read(info))
            if number == 2 and new.fp:
                new.fp.write(b"hidden" * 50)
                new.start_dir = new.fp.tell()
    code, said = made.checked(path)
    assert (code, "Something is hidden in the zip before" in said) == (2, True), said


@pytest.mark.parametrize("keep", [0, 10, 0.5, 0.999])
def test_a_zip_cut_short_is_told(made: Made, tmp_path: Path, keep: float) -> None:
    octets = made.zip.read_bytes()
    cut = tmp_path / "cut.zip"
    cut.write_bytes(octets[: int(keep if keep >= 1 else keep * len(octets))])
    code, said = made.checked(cut)
    assert code == 2
    assert "neither a folder nor a complete zip" in said


def test_what_a_file_manager_leaves_in_a_folder_breaks_nothing(made: Made, tmp_path: Path) -> None:
    folder = tmp_path / "dossier"
    shutil.copytree(made.folder, folder)
    (folder / "frames" / ".DS_Store").write_bytes(b"Bud1")
    (folder / "Thumbs.db").write_bytes(b"x")
    assert made.checked(folder)[0] == 0


def test_importing_its_verify_py_breaks_no_dossier(made: Made, tmp_path: Path) -> None:
    folder = tmp_path / "dossier"
    shutil.copytree(made.folder, folder)
    for level in ("", "1", "2"):
        ran = subprocess.run(
            [sys.executable, "-c", "import verify; raise SystemExit(verify.main())", "--key", KEY],
            cwd=folder, env={"PYTHONOPTIMIZE": level}, capture_output=True, text=True, check=False,
            timeout=120,
        )  # fmt: skip
        assert (ran.returncode, ran.stderr) == (0, ""), ran.stdout
    kept = sorted(path.name for path in (folder / "__pycache__").iterdir())
    assert len(kept) == 3, kept
    code, said = made.checked(folder)
    assert code == 0, said


ADDED_BESIDE_BYTECODE = [
    "__pycache__/verify.py",
    "__pycache__/verify.pyc",
    "__pycache__/verify.cpython-311.pyc.exe",
    "__pycache__/verify.cpython-311.exe.pyc",
    "__pycache__/verify.cpython-311.opt-3.pyc",
    "__pycache__/verifying.cpython-311.pyc",
    "__pycache__/json.cpython-311.pyc",
    "__pycache__/VERIFY.cpython-311.pyc",
    "__pycache__/__pycache__/verify.cpython-311.pyc",
    "__pycache__/verify.cpython-311.pyc/facts.jsonl",
    "frames/__pycache__/verify.cpython-311.pyc",
    "frames/verify.cpython-311.pyc",
    "verify.cpython-311.pyc",
    "verify.pyc",
]


@pytest.mark.parametrize("name", ADDED_BESIDE_BYTECODE)
def test_what_is_no_bytecode_of_verify_py_was_added(made: Made, tmp_path: Path, name: str) -> None:
    folder = tmp_path / "dossier"
    shutil.copytree(made.folder, folder)
    (folder / name).parent.mkdir(parents=True, exist_ok=True)
    (folder / name).write_bytes(b"x")
    code, said = made.checked(folder)
    assert (code, f"BROKEN  {name} is not listed: it was added." in said) == (1, True), said


@pytest.mark.parametrize("name", [*ADDED_BESIDE_BYTECODE, "__pycache__/verify.cpython-311.pyc"])
def test_in_a_zip_bytecode_was_added_too(made: Made, tmp_path: Path, name: str) -> None:
    """Nobody who imports from a zip leaves anything in it."""
    path = tmp_path / "dossier.zip"
    shutil.copy(made.zip, path)
    with zipfile.ZipFile(path, "a") as archive:
        archive.writestr(name, b"x")
    code, said = made.checked(path)
    assert (code, f"BROKEN  {name} is not listed: it was added." in said) == (1, True), said


def test_a_link_named_as_bytecode_is_refused(made: Made, tmp_path: Path) -> None:
    folder = tmp_path / "dossier"
    shutil.copytree(made.folder, folder)
    (folder / "__pycache__").mkdir()
    (folder / "__pycache__/verify.cpython-311.pyc").symlink_to("/etc/passwd")
    code, said = made.checked(folder)
    assert (code, "is a link or a device, not a file" in said) == (2, True), said


@pytest.mark.long
def test_the_same_evidence_gives_the_same_zip_to_the_byte(made: Made, tmp_path: Path) -> None:
    write_dossier(evidence(tmp_path), tmp_path / "again.zip", signer=HOUSE, zipped=True)
    assert (tmp_path / "again.zip").read_bytes() == made.zip.read_bytes()


def test_links_and_pipes_in_a_folder_are_refused(made: Made, tmp_path: Path) -> None:
    folder = tmp_path / "dossier"
    shutil.copytree(made.folder, folder)
    (folder / "facts.jsonl").unlink()
    (folder / "facts.jsonl").symlink_to(made.folder / "facts.jsonl")
    code, said = made.checked(folder)
    assert (code, "is a link or a device, not a file" in said) == (2, True)
    (folder / "facts.jsonl").unlink()
    os.mkfifo(folder / "facts.jsonl")
    code, said = made.checked(folder)
    assert (code, "is a link or a device, not a file" in said) == (2, True)


HOSTILE = [
    b"[" * 100_000,
    b'{"a":1,"a":2}',
    b'{"n":' + b"9" * 100_000 + b"}",
    b"\xff\xfe",
    b"null",
    b'{"format":"round-ledger dossier 1","files":[{"path":1}]}',
]


@pytest.mark.parametrize("name", ["manifest.json", "manifest.sig", "facts.jsonl", "proof.jsonl",
                                  "heads.jsonl", "ruling.json", "clocks.csv"])  # fmt: skip
def test_files_of_nonsense_are_findings_and_not_tracebacks(
    made: Made, tmp_path: Path, name: str
) -> None:
    for octets in HOSTILE:
        folder = tmp_path / "dossier"
        shutil.copytree(made.folder, folder)
        (folder / name).write_bytes(octets)
        code, said = made.checked(folder)
        assert code in (1, 2), said
        shutil.rmtree(folder)


@pytest.mark.parametrize("name", ["x" * 300, "none", "no\0ne"])
def test_a_path_that_cannot_be_looked_at_is_told_and_no_traceback(made: Made, name: str) -> None:
    code, said = made.checked(name)
    assert (code, said.startswith("NOT CHECKED  ")) == (2, True)


def test_what_steers_a_terminal_is_never_printed(made: Made, tmp_path: Path) -> None:
    folder = tmp_path / "dossier"
    shutil.copytree(made.folder, folder)
    (folder / "note\x1b[2J.txt").write_bytes(b"x")
    code, said = made.checked(folder)
    assert code == 2
    assert "\x1b" not in said
