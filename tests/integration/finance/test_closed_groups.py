"""Shifts, games and houses of a closed day: what was signed, and what came later beside it."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from tests.scenes.table_days import DAY, count, day_lines, fact, inventory

if TYPE_CHECKING:
    from pathlib import Path

    from tests.fixtures.cli import Cli
    from tests.property.finance.floors import Line

TWO = ("--by", "F-1", "--second", "F-2")
BOX = {"table": "CC-07", "gaming_day": DAY}
SUMMED = ("fills", "credits", "counted", "moved", "owed", "count_gap", "pay_gap")


def ingest(cli: Cli, folder: Path, *lines: Line) -> None:
    feed = folder / "feed.jsonl"
    feed.write_text("".join(f"{json.dumps(each)}\n" for each in lines), encoding="utf-8")
    assert cli("ingest", feed).code == 0


def close(cli: Cli) -> None:
    ran = cli("day", "close", DAY, *TWO, "--json")
    assert ran.code == 0, ran.err


def won(cli: Cli, by: str, *more: str) -> list[dict[str, Any]]:
    ran = cli("win", "--gaming-day", DAY, "--by", by, "--json", *more)
    assert ran.code == 0, ran.err
    return ran.json


def figures(found: list[dict[str, Any]]) -> list[dict[str, Any]]:
    beside = ("late", "pending", "exceptions", "grade", "version")
    return [{name: of[name] for name in of if name not in beside} for of in found]


# -- shifts ----------------------------------------------------------------------------------------


def two_shifts() -> list[Line]:
    """A table-day cut by a count: each shift sells chips for its box."""
    between = {**inventory("drop", 495_000, 29)}
    between["data"] = {**between["data"], "shift": "day"}
    lines = day_lines(
        fact("cash_bought_in", 10, position=1, amount=5_000),
        between,
        fact("drop_box_attached", 30, "count-room", box="B2", shift="night", **BOX),
        fact("cash_bought_in", 40, position=1, amount=10_000),
        count(59, currency={"100": 50}),
        {**count(59, box="B2", currency={"100": 100}), "id": "second-box"},
        closer=485_000,
    )
    lines[1]["data"]["shift"] = "day"
    return lines


LATE = fact("cash_bought_in", 41, position=2, amount=2_500)


def late_facts() -> list[Line]:
    """A buy-in, a count that is corrected, and a box that names a third shift."""
    counted = two_shifts()[-3]
    body = {"of": {"source": counted["source"], "id": counted["id"]}, "because": "Mistyped."}
    data = {**counted["data"], "currency": {"100": 70}}
    people = {"by": "F-1", "second": "S-1"}
    swing = fact("drop_box_attached", 50, "count-room", box="B3", shift="swing", **BOX)
    return [LATE, fact("fact_corrected", 59, "office", data=data, **body, **people), swing]


@pytest.fixture
def house(cli: Cli, tmp_path: Path) -> Cli:
    """The command over a closed day of two shifts."""
    ingest(cli, tmp_path, *two_shifts())
    close(cli)
    return cli


def test_the_shifts_of_a_closed_day_are_those_that_were_signed(house: Cli, tmp_path: Path) -> None:
    before, said = won(house, "shift"), house(*SIGNED).out
    assert [(each["shift"], each["counted"]) for each in before] == [("day", 0), ("night", 0)]
    assert {(each["grade"], each["version"]) for each in before} == {("SEALED", 1)}
    assert json.loads(said.splitlines()[0]) == before[0]
    ingest(house, tmp_path, *late_facts())
    now = won(house, "shift")
    assert figures(now[:2]) == figures(before)
    assert house(*SIGNED).out == said, "a version says the same bytes for ever"
    for copy in (tmp_path / "home" / "sealed").iterdir():
        copy.unlink()
    assert house(*SIGNED).out == said, "worked out again from the record"
    [day] = won(house, "table")
    for name in SUMMED:
        amounts = [each["pending"].get(name, 0) for each in now]
        told = None if None in amounts else sum(amounts)
        assert told == day["pending"].get(name, 0) or day["pending"].get(name, 0) is None, name
    assert sorted(ref["id"] for of in now for ref in of["late"]) == sorted(
        each["id"] for each in late_facts()
    )
    [by_name] = [each for each in now if each["shift"] == "night"]
    assert LATE["id"] in [ref["id"] for ref in by_name["late"]]


SIGNED = ("win", "--gaming-day", DAY, "--by", "shift", "--version", "1", "--json")


def test_without_a_seal_the_same_late_facts_change_the_shifts(cli: Cli, tmp_path: Path) -> None:
    ingest(cli, tmp_path, *two_shifts())
    before = won(cli, "shift")
    ingest(cli, tmp_path, *late_facts())
    now = won(cli, "shift")
    assert figures(now[:2]) != figures(before)
    assert [each["shift"] for each in now] == ["day", "night", "swing"]


def test_a_shift_that_came_later_stands_apart_from_what_was_signed(
    house: Cli, tmp_path: Path
) -> None:
    ingest(house, tmp_path, *late_facts())
    [swing] = [each for each in won(house, "shift") if each["shift"] == "swing"]
    assert (swing["version"], [each["code"] for each in swing["exceptions"]]) == (0, ["not_signed"])


# -- a table that came later -----------------------------------------------------------------------


def other_table(*lines: Line) -> list[Line]:
    text = json.dumps(lines).replace("CC-07", "CC-08").replace('"B1"', '"B8"')
    told: list[Line] = json.loads(text.replace('"id": "', '"id": "other-'))
    return told


@pytest.mark.parametrize("by", ["house", "game", "pit"])
def test_a_closed_house_sums_what_was_signed_and_a_late_table_is_pending(
    cli: Cli, tmp_path: Path, by: str
) -> None:
    sold = fact("cash_bought_in", 10, position=1, amount=10_000)
    signed = day_lines(sold, count(59, currency={"100": 100}), closer=490_000)
    ingest(cli, tmp_path, *signed)
    close(cli)
    [before] = won(cli, by)
    more = fact("cash_bought_in", 11, position=2, amount=2_500)
    ingest(cli, tmp_path, more, *other_table(*day_lines(sold)))
    [now] = won(cli, by)
    tables = won(cli, "table")
    assert [(each["table"], each["version"]) for each in tables] == [("CC-07", 1), ("CC-08", 0)]
    assert figures([now]) == figures([before])
    assert (now["grade"], now["version"], now["counted"]) == ("SEALED", 1, 0)
    assert figures([now]) == figures(won(cli, by, "--version", "1"))
    names = {name for each in tables for name in each["pending"]}
    assert names == now["pending"].keys()
    for name in names:
        amounts = [each["pending"].get(name, 0) for each in tables]
        assert now["pending"][name] == (None if None in amounts else sum(amounts)), name
    assert now["pending"]["opener"] == 500_000, "all of the late table is pending"
    assert now["pending"]["counted"] is None, "its box is not counted"
    assert len(now["late"]) == sum(len(each["late"]) for each in tables) == 6
    assert [(each["table"], each["code"]) for each in now["exceptions"]] == [
        ("CC-08", "not_signed")
    ]


def test_a_table_that_left_the_day_takes_its_figures_out_of_it(cli: Cli, tmp_path: Path) -> None:
    sold = fact("cash_bought_in", 10, position=1, amount=10_000)
    signed = day_lines(sold, count(59, currency={"100": 100}), closer=490_000)
    ingest(cli, tmp_path, *signed, *other_table(*signed))
    close(cli)
    [before] = won(cli, "house")
    people = {"by": "F-1", "second": "S-1", "because": "Another day."}
    undone = [
        fact("fact_corrected", nth, "office", of={k: each[k] for k in ("source", "id")}, **people)
        for nth, each in enumerate(other_table(*signed))
    ]
    ingest(cli, tmp_path, *undone)
    [now] = won(cli, "house")
    assert figures([now]) == figures([before])
    assert (now["pending"]["opener"], now["pending"]["closer"]) == (-500_000, -490_000)


@pytest.mark.long
def test_journal_and_tax_of_a_closed_day_are_as_signed(cli: Cli, tmp_path: Path) -> None:
    sold = fact("cash_bought_in", 10, position=1, amount=10_000)
    counted = count(59, currency={"100": 100})
    ingest(cli, tmp_path, *day_lines(sold, counted, closer=490_000))
    close(cli)
    journal = ("journal", "--gaming-day", DAY)
    alone = ("journal", "--gaming-day", DAY, "--table", "CC-07", "--json")
    week = ("report", "tax-week", "--gaming-day", DAY, "--to", tmp_path / "tax.csv")
    before, of_table = cli(*journal).out, cli(*alone).out
    assert cli(*week).code == 0
    taxed = taxes(tmp_path)
    recount = {**count(60, 2, currency={"100": 90}), "id": "second"}
    late = other_table(*day_lines(sold, counted, closer=495_000))
    ingest(cli, tmp_path, recount, *late)
    assert cli(*journal).out == before
    assert cli(*alone).out == of_table
    assert cli("journal", "--gaming-day", DAY, "--table", "CC-08").out == ""
    assert cli(*week).code == 0
    assert taxes(tmp_path) == taxed
    people = (*TWO, "--because", "A box was counted again.")
    assert cli("day", "reopen", DAY, *people).code == 0
    assert cli(*journal).out != before, "an open day is as the record has it now"
    assert cli(*week).code == 0
    assert taxes(tmp_path) != taxed


def taxes(folder: Path) -> list[str]:
    """The lines of days and week in a report."""
    lines = (folder / "tax.csv").read_text().splitlines()
    return [line for line in lines if line.startswith((DAY, "week"))]
