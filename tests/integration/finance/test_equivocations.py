"""A fact of money that a device records twice, with two amounts, is an exception of its day."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from tests.scenes.table_days import DAY, count, day_lines, fact, next_day

if TYPE_CHECKING:
    from pathlib import Path

    from tests.fixtures.cli import Cli
    from tests.property.finance.floors import Line

SOLD = fact("cash_bought_in", 10, position=1, amount=10_000)
TWO = ("--by", "F-1", "--second", "F-2")


def otherwise(of: Line, **data: Any) -> Line:  # noqa: ANN401 - any field
    return {**of, "data": {**of["data"], **data}}


def ingest(cli: Cli, folder: Path, *lines: Line) -> int:
    feed = folder / "feed.jsonl"
    feed.write_text("".join(f"{json.dumps(each)}\n" for each in lines), encoding="utf-8")
    return cli("ingest", feed).code


def won(cli: Cli, *more: str) -> list[dict[str, Any]]:
    ran = cli("win", "--json", *more)
    assert ran.code == 0, ran.err
    return ran.json


def test_two_amounts_for_one_fact_are_named_until_they_are_worked_off(
    cli: Cli, tmp_path: Path
) -> None:
    lines = day_lines(SOLD, count(59, currency={"10000": 1}))
    assert ingest(cli, tmp_path, *lines, SOLD, *next_day(*lines)) == 0, "a duplicate is none"
    assert [each["exceptions"] for each in won(cli)] == [[], []]
    ingest(cli, tmp_path, otherwise(SOLD, amount=25_000))
    first, second = won(cli)
    assert second["exceptions"] == []
    assert first["exceptions"] == [
        {
            "code": "equivocation",
            "says": "/p/CC-07/d recorded fact cash_bought_in-CC-07-10 twice: cash_bought_in of "
            "$100.00 is on record, cash_bought_in of $250.00 is number 1 in quarantine.",
            "facts": [{"source": SOLD["source"], "id": SOLD["id"]}],
        }
    ]
    assert won(cli, "--gaming-day", DAY, "--table", "CC-07") == [first]
    assert cli("win", "--property", "elsewhere").code == 2, "no fact is of it"
    assert cli("day", "close", DAY, *TWO, "--json").code == 0
    sealed = won(cli, "--gaming-day", DAY)[0]
    assert sealed["exceptions"] == first["exceptions"], "it waits, whether the day is closed or not"
    assert won(cli, "--gaming-day", DAY, "--version", "1")[0]["exceptions"] == []
    true = fact("fact_corrected", 30, "office", **corrected(SOLD, amount=25_000))
    (tmp_path / "true.json").write_text(json.dumps(true), encoding="utf-8")
    assert cli("quarantine", "release", "1", "--as", tmp_path / "true.json").code == 0
    assert won(cli, "--gaming-day", DAY)[0]["exceptions"] == []


def corrected(of: Line, **data: Any) -> dict[str, Any]:  # noqa: ANN401 - any field
    people = {"because": "The terminal was right.", "by": "F-1", "second": "S-1"}
    target = {"source": of["source"], "id": of["id"]}
    return {"of": target, "data": {**of["data"], **data}, **people}


def test_what_touches_no_money_is_no_exception_and_another_table_sees_its_own(
    cli: Cli, tmp_path: Path
) -> None:
    seat = fact("seat_taken", 5, positions=[1])
    paid = fact("adjustment_paid", 20, dispute="D-1", position=1, amount=500, paid_from="table")
    there = otherwise(count(59), table="CC-08")
    ingest(cli, tmp_path, *day_lines(seat, paid, count(59)), next_table())
    ingest(cli, tmp_path, otherwise(seat, positions=[2]), there)
    here, other = won(cli)
    assert [(each["table"], [e["code"] for e in each["exceptions"]]) for each in (here, other)] == [
        ("CC-07", ["equivocation"]),
        ("CC-08", ["equivocation"]),
    ]


def next_table() -> Line:
    opened = day_lines()[0]
    source = opened["source"].replace("CC-07", "CC-08")
    return {**opened, "source": source}
