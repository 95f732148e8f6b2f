"""`dossier` of a window that was preserved without a dispute, as a user runs it."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any, NamedTuple

import pytest

from ledger.values import parse_time
from tests.e2e.cli.test_dossier import Floor, custody, floor

if TYPE_CHECKING:
    from pathlib import Path

__all__ = ["floor"]


class Kept(NamedTuple):
    """A window around the filmed round, as `dispute preserve` answered."""

    name: str
    table: str
    since: str
    until: str
    locks: list[dict[str, Any]]


def told(floor: Floor) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (floor.folder / "feed.jsonl").read_text().splitlines()]


def shifted(time: str, seconds: int) -> str:
    at = datetime.fromisoformat(time) + timedelta(seconds=seconds)
    return at.astimezone(UTC).isoformat().replace("+00:00", "Z")


@pytest.fixture(scope="module")
def kept(floor: Floor) -> Kept:
    subject = floor.round.partition(":")[2]
    own = [fact for fact in told(floor) if fact.get("subject") == subject]
    times = sorted(fact["time"] for fact in own)
    since, until = shifted(times[0], -30), shifted(times[-1], 90)
    table = subject.partition("/")[0]
    ran = floor.cli(
        "dispute", "preserve", "--table", table, "--from", since, "--to", until,
        "--because", "A fall.", "--by", "S-2001", "--json",
    )  # fmt: skip
    assert ran.code == 0, ran.err
    (name,) = {each["window"] for each in ran.json}
    return Kept(name, table, since, until, ran.json)


def lines(folder: Path, name: str) -> list[dict[str, Any]]:
    return [json.loads(each) for each in (folder / name).read_bytes().splitlines()]


@pytest.mark.long
def test_a_dossier_of_a_window_holds_all_of_its_table_in_it_and_proves_itself(
    floor: Floor, kept: Kept, tmp_path: Path
) -> None:
    out = tmp_path / "dossier"
    ran = floor.cli("dossier", kept.name, "--by", "S-2001", "--out", out)
    assert ran.code == 0, ran.err
    code, said = floor.checked(out, alone=tmp_path / "empty")
    assert code == 0, said
    assert "The window is the one that its locks preserved" in said
    span = parse_time(kept.since), parse_time(kept.until)
    feed = told(floor)

    def within(fact: dict[str, Any]) -> bool:
        at = parse_time(fact["time"])
        assert at is not None
        assert span[0] is not None
        assert span[1] is not None
        return span[0] <= at <= span[1]

    at_table = [
        fact for fact in feed
        if fact.get("subject", "").partition("/")[0] == kept.table
        or fact["source"].split("/")[2] == kept.table
    ]  # fmt: skip
    inside = [fact.get("subject", "") for fact in at_table if within(fact)]
    rounds = {subject for subject in inside if subject.count("/") == 2}
    assert len(rounds) > 1
    due = {
        (fact["source"], fact["id"])
        for fact in at_table
        if within(fact) or fact.get("subject") in rounds
    }
    assert {(each["source"], each["id"]) for each in lines(out, "facts.jsonl")} == due
    manifest = json.loads((out / "manifest.json").read_bytes())
    assert {each["round"].partition(":")[2] for each in manifest["rulings"]} == rounds
    assert manifest["window"]["name"] == kept.name
    ruled = {json.loads((out / each["file"]).read_bytes())["round"] for each in manifest["rulings"]}
    assert ruled == rounds
    kinds = {each["type"] for each in lines(out, "case.jsonl")}
    assert kinds == {"roundledger.footage_locked.v1"}
    assert {"exported", "locked"} <= {each["what"] for each in custody(out)}
    assert list((out / "footage").iterdir())
    assert list((out / "clips").iterdir())
    report = (out / "report.html").read_text()
    assert "A fall." in report
    assert all(f"Round {each}:" in report for each in rounds)
    assert (out / "report.pdf").read_bytes().startswith(b"%PDF")
    assert (out / "coverage.txt").read_text().startswith("Window:")


@pytest.mark.long
def test_a_window_without_a_round_and_one_of_a_single_camera_are_handed_over_too(
    floor: Floor, kept: Kept, tmp_path: Path
) -> None:
    early = ("--from", "2020-01-01T00:00:00Z", "--to", "2020-01-01T00:10:00Z")
    camera = kept.locks[0]["camera"]
    instant = ("--table", kept.table, "--from", kept.since, "--to", kept.since)
    alone = ("--camera", camera, "--from", kept.since, "--to", kept.until)
    for number, what in enumerate((instant, alone)):
        ran = floor.cli("dispute", "preserve", *what, "--because", "x", "--by", "S-2001", "--json")
        assert ran.code == 0, ran.err
        out = tmp_path / str(number)
        made = floor.cli("dossier", ran.json[0]["window"], "--by", "S-2001", "--out", out)
        assert made.code == 0, made.err
        code, said = floor.checked(out, alone=tmp_path / "empty")
        assert code == 0, said
    nothing = floor.cli(
        "dispute", "preserve", "--camera", camera, *early, "--because", "x", "--by", "S-1", "--json"
    )
    ran = floor.cli("dossier", nothing.json[0]["window"], "--out", tmp_path / "none")
    assert (ran.code, "was on 0 tables then" in ran.err) == (2, True), ran.err


@pytest.mark.long
def test_windows_are_listed_with_the_name_that_a_dossier_asks_for(floor: Floor, kept: Kept) -> None:
    found = floor.cli("dispute", "windows", "--json").json
    (mine,) = [each for each in found if each["name"] == kept.name]
    assert (mine["because"], mine["by"], mine["table"]) == ("A fall.", "S-2001", kept.table)
    assert parse_time(mine["from"]) == parse_time(kept.since)
    assert kept.name in floor.cli("dispute", "windows").out.replace("\n", "")
    other = kept.name[:-6] + "000000"
    ran = floor.cli("dossier", other, "--out", floor.folder / "none")
    assert (ran.code, "No window" in ran.err) == (2, True), ran.err
    assert not (floor.folder / "none").exists()
