"""`day` as finance runs it: two people close a day, open it again, and each version stays."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from tests.scenes.table_days import DAY, count, day_lines, fact, inventory, slip

if TYPE_CHECKING:
    from pathlib import Path

    from tests.fixtures.cli import Cli
    from tests.property.finance.floors import Line

TWO = ("--by", "F-3001", "--second", "F-3002")


def ingest(cli: Cli, folder: Path, *lines: Line) -> None:
    feed = folder / "feed.jsonl"
    feed.write_text("".join(json.dumps(each) + "\n" for each in lines))
    ran = cli("ingest", feed)
    assert ran.code == 0, ran.err


@pytest.mark.long
def test_a_day_is_closed_opened_again_and_closed_and_each_version_stays(
    cli: Cli, tmp_path: Path
) -> None:
    ingest(cli, tmp_path, *day_lines())
    one_person = cli("day", "close", DAY, "--by", "F-3001", "--second", "f-3001")
    assert (one_person.code, "second person" in one_person.err) == (2, True), one_person.err
    lacking = cli("day", "close", DAY, *TWO, "--json")
    assert (lacking.code, lacking.json[0]["missing"]) == (1, ["box:B1"]), lacking.err
    assert cli("win", "--version", "1", "--gaming-day", DAY).code == 2, "it stayed open"

    closed = cli("day", "close", DAY, *TWO, "--despite", "Box B1 is lost.", "--json")
    assert (closed.code, closed.json[0]["version"]) == (0, 1), closed.err
    first = cli("win", "--version", "1", "--gaming-day", DAY, "--json")
    assert first.json[0]["grade"] == "SEALED"
    again = cli("day", "close", DAY, *TWO)
    assert (again.code, "closed" in again.err) == (2, True), again.err

    ingest(cli, tmp_path, count(59, currency={"100": 30}))
    [late] = cli("win", "--gaming-day", DAY, "--json").json
    assert (late["version"], late["counted"], len(late["late"])) == (1, None, 1)
    reopened = cli("day", "reopen", DAY, *TWO, "--because", "The box was found.", "--json")
    assert (reopened.code, reopened.json[0]["sealed"]) == (0, False), reopened.err
    [second] = cli("day", "close", DAY, *TWO, "--json").json
    assert second["version"] == 2
    changed = {each["figure"]: each["after"] for each in second["adjustments"]}
    assert (changed["drop.cash"], changed["counted"]) == (3_000, 3_000)
    for _ in range(2):
        assert cli("win", "--version", "1", "--gaming-day", DAY, "--json").out == first.out


def test_a_day_says_who_closed_it_who_opened_it_again_and_why(cli: Cli, tmp_path: Path) -> None:
    ingest(cli, tmp_path, *day_lines())
    closed = cli("day", "close", DAY, *TWO, "--despite", "Box B1 is lost.", "--because", "Month.")
    assert "is closed: version 1, by F-3001 and F-3002." in closed.err
    assert "Closed though something is missing: Box B1 is lost." in closed.err
    assert "Reason: Month." in closed.err
    others = ("--by", "F-3003", "--second", "F-3004", "--because", "The box was found.")
    opened = cli("day", "reopen", DAY, *others)
    assert "is open again, by F-3003 and F-3004: The box was found." in opened.err
    assert "was closed: version 1, by F-3001 and F-3002." in opened.err
    [shown] = cli("day", "show", DAY, "--json").json
    assert (shown["by"], shown["despite"]) == ("F-3001", "Box B1 is lost.")
    assert (shown["reopened_by"], shown["reopened_second"]) == ("F-3003", "F-3004")
    assert shown["reopened_because"] == "The box was found."
    later = ("--by", "F-3005", "--second", "F-3006", "--despite", "It is lost again.")
    again = cli("day", "close", DAY, *later)
    assert again.code == 0, again.err
    told = again.err
    assert "is closed: version 2, by F-3005 and F-3006." in told
    assert "Version 1 was closed by F-3001 and F-3002." in told
    assert "It was opened again by F-3003 and F-3004: The box was found." in told
    first, second = cli("day", "show", DAY, "--json").json[0]["versions"]
    assert (first["by"], first["reopened_by"], first["digest"]) == (
        "F-3001",
        "F-3003",
        shown["digest"],
    )
    assert (second["version"], second["second"], second["reopened_by"]) == (2, "F-3006", None)


@pytest.mark.parametrize("command", ["win", "journal"])
def test_a_table_that_is_not_on_record_is_said(cli: Cli, tmp_path: Path, command: str) -> None:
    """The control is on record, and has no money on another day."""
    ingest(cli, tmp_path, *day_lines(count(59)))
    for more in ((), ("--json",), ("--property", "p")):
        refused = cli(command, "--table", "CC-99", *more)
        assert (refused.code, "Tables on record are CC-07." in refused.err) == (2, True), refused
    assert cli(command, "--table", "CC-07", "--gaming-day", "2026-03-29").code == 0


@pytest.mark.parametrize(
    ("one", "other"),
    [("  ", "F-2"), ("F-1", ""), ("", "F-2"), ("F-1", "f\u20111 "), ("F-1", "\uff26-1")],
)
def test_nobody_and_one_person_written_otherwise_are_not_two_people(
    cli: Cli, tmp_path: Path, one: str, other: str
) -> None:
    """The control is signed by two."""
    ingest(cli, tmp_path, *day_lines())
    people = ("--by", one, "--second", other)
    explain = ("variance", "explain", "CC-07", DAY, "--amount", "0", "--property", "p")
    for command in (("day", "close", DAY, "--despite", "x"), (*explain, "--because", "x")):
        refused = cli(*command, *people)
        assert refused.code == 2, refused.out
        assert "credential" in refused.err or "--by" in refused.err
        assert "/docs/facts" not in refused.err
        assert cli(*command, "--by", "F-1", "--second", "F-2").code == 0


@pytest.mark.parametrize(("table", "day"), [("CC-99", DAY), ("CC-07", "2026-03-29")])
def test_a_variance_of_no_table_or_day_on_record_is_not_explained(
    cli: Cli, tmp_path: Path, table: str, day: str
) -> None:
    ingest(cli, tmp_path, *day_lines())
    its = ("--amount", "0", "--property", "p", "--because", "x")
    refused = cli("variance", "explain", table, day, *its, *TWO)
    assert (refused.code, "on record" in refused.err) == (2, True), refused.out


def test_a_day_does_not_close_in_silence_over_money_of_a_table_without_a_day(
    cli: Cli, tmp_path: Path
) -> None:
    ingest(cli, tmp_path, *day_lines(slip("fill", "accepted", "F-1", 20, place="X-9"), count(59)))
    refused = cli("day", "close", DAY, *TWO)
    assert (refused.code, "X-9 lacks opener, closer." in refused.err) == (1, True), refused.out
    assert cli("day", "close", DAY, *TWO, "--despite", "X-9 was never opened.").code == 0


def test_shifts_are_shown_as_sums(cli: Cli, tmp_path: Path) -> None:
    second = fact("drop_box_attached", 30, "count-room", shift="night", **BOX | {"box": "B2"})
    ingest(cli, tmp_path, *day_lines(second, count(58), count(59, box="B2")))
    [found] = cli("win", "--by", "shift", "--json").json
    assert (found["table"], found["shift"], found["missing"]) == (None, "night", [])
    assert "shift" not in cli("win", "--json").json[0]
    shown = cli("win", "--by", "shift")
    assert (shown.code, "night" in shown.out) == (0, True), shown.err
    absent = cli("win", "--gaming-day", DAY, "--version", "1", "--by", "shift")
    assert (absent.code, "has no version 1" in absent.err) == (2, True), absent.err


@pytest.mark.parametrize("by", ["shift", "game", "pit", "house"])
def test_a_group_says_which_table_lacks_a_paper_or_has_a_gap(
    cli: Cli, tmp_path: Path, by: str
) -> None:
    ingest(cli, tmp_path, *day_lines(fact("cash_bought_in", 10, position=1, amount=10_000)))
    shown = cli("win", "--by", by)
    assert shown.code == 0, shown.err
    said = " ".join(shown.err.split())
    assert "CC-07 · count gap" in said
    assert "CC-07 · missing · box" in said


@pytest.mark.parametrize(
    "command", [("coupons",), ("coupons", "--quarter", "2026-Q4"), ("checks",), ("drop",)]
)
def test_a_command_is_the_first_one_of_a_ledger(
    cli: Cli, tmp_path: Path, command: tuple[str, ...]
) -> None:
    ingest(cli, tmp_path, fact("coupon_dropped", 12, serial="MP-1", face=500))
    ran = cli(*command)
    assert ran.code == 0, ran.err


def test_lines_of_two_casinos_say_whose_they_are(cli: Cli, tmp_path: Path) -> None:
    told = [
        fact("meter_read", 10, meter="straight_jack", amount=500),
        fact("counter_check_issued", 11, position=1, amount=500, check="K-1"),
        fact("coupon_dropped", 12, serial="MP-1", face=500),
    ]
    other = [each | {"source": each["source"].replace("/p/", "/q/")} for each in told]
    ingest(cli, tmp_path, *told, *other)
    for command in ("meters", "checks", "coupons"):
        ran = cli(command, "--json")
        assert [each.get("property") for each in ran.json] == ["p", "q"], (command, ran.err)
    shown = cli("coupons")
    assert ("serials" in shown.out, "no batch" in shown.err) == (False, True), "no empty table"


def test_a_casino_that_no_fact_names_is_no_empty_day(cli: Cli, tmp_path: Path) -> None:
    empty = cli("win", "--property", "p")
    assert (empty.code, "The record is empty" in empty.err) == (2, True), empty.err
    ingest(cli, tmp_path, *day_lines())
    signed = ("--by", "F-1", "--second", "F-2")
    to = ("--gaming-day", DAY, "--to", tmp_path / "x.csv")
    for command in (
        ("win",), ("win", "--by", "shift"), ("journal",), ("journal", "--redrive"), ("coupons",),
        ("checks",), ("meters",), ("drop",), ("rounds",), ("report", "boxes", *to),
        ("day", "show", DAY), ("day", "close", DAY, *signed),
        ("day", "reopen", DAY, *signed, "--because", "x"),
    ):  # fmt: skip
        ran = cli(*command, "--property", "lucky")
        assert (ran.code, ran.out) == (2, ""), command
        assert "No fact on record is of casino lucky" in ran.err
        assert "Casinos on record are p." in ran.err
    other_day = cli("win", "--property", "p", "--gaming-day", "2020-01-01")
    assert (other_day.code, "No money is on record" in other_day.err) == (0, True)


BOX = {"box": "B1", "table": "CC-07", "gaming_day": DAY}


def test_money_of_a_house_without_any_opening_or_box_is_said(cli: Cli, tmp_path: Path) -> None:
    ingest(cli, tmp_path, fact("cash_bought_in", 5, position=1, amount=500))
    ran = cli("win")
    assert ran.err.startswith("1 fact of money waits for a gaming day: no table was opened")
    ingest(cli, tmp_path, *day_lines(count(59)))
    assert "no table was opened" not in cli("win").err
    assert "No money is on record" in cli("win", "--gaming-day", "2020-01-01").err


def test_a_cause_that_no_item_shows_is_said_to_be_in_no_gap(cli: Cli, tmp_path: Path) -> None:
    sent = slip("fill", "dispatched", "F-1", 20, 2_000)
    ingest(cli, tmp_path, *day_lines(sent, count(59)))
    assert "cause +$20.00, in no gap · Fill Slip F-1" in cli("win").err
    ingest(cli, tmp_path, inventory("close", 502_000, 59))
    assert "cause +$20.00 · Fill Slip F-1" in cli("win").err
