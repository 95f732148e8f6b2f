"""The journal read from the views is that of the feed, whole or a day at a time."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from consumers.finance import journal
from consumers.registry import install
from consumers.runtime.lifecycle import catch_up
from replay.text.journal import beancount, hledger
from tests.property.finance.floors import entered
from tests.scenes.bookkeeping import beancount_says
from tests.scenes.table_days import DAY, NEXT, count, day_lines, fact, next_day
from tests.scenes.view_feeds import Prefix, received, record

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from infra.postgres.connection import Database
    from tests.fixtures.cli import Cli
    from tests.property.finance.floors import Line

LAST = "2026-11-22"


def three_days() -> list[Line]:
    """CC-07 on three days. It has no counts on the second one, and no opener on the third."""
    sold = fact("cash_bought_in", 10, position=1, amount=10_000)
    first = day_lines(sold, count(59, currency={"10000": 1}), closer=490_000)
    opened, box, _, *others = day_lines(sold, count(59), closer=470_000)
    return [*first, *next_day(opened, box, sold), *next_day(opened, box, *others, day=LAST)]


def put(database: Database, lines: Sequence[Line]) -> None:
    rows = record(database, [received(json.dumps(each).encode()) for each in lines])
    install(database)
    catch_up(database, Prefix(rows, len(rows)), journal.VIEWS)


def test_the_entries_of_a_day_are_the_same_whether_one_day_is_asked_for_or_all(
    database: Database,
) -> None:
    lines = three_days()
    put(database, lines)
    whole = journal.read(database)
    assert whole == entered(lines)
    assert beancount_says(whole) == []
    for day in (DAY, NEXT, LAST):
        alone = journal.read(database, gaming_day=day)
        assert [e for e in alone if e.entry != "carried"] == [
            e for e in whole if e.gaming_day == day
        ]
        assert beancount_says(alone) == []
    carried = alone[0]
    assert carried.entry == "carried"
    assert {each.account: each.amount for each in carried.postings} == {
        "assets:tray:CC-07": 480_000,
        "assets:box:CC-07:cash": 10_000,
        "equity:opening": -490_000,
    }
    assert journal.read(database, table="CC-08") == []


def test_the_command_prints_the_journal_for_each_program(cli: Cli, tmp_path: Path) -> None:
    feed = tmp_path / "feed.jsonl"
    feed.write_text("".join(f"{json.dumps(each)}\n" for each in three_days()), encoding="utf-8")
    cli("ingest", feed)
    whole = entered(three_days())
    assert cli("journal").out.splitlines() == list(hledger(whole))
    assert cli("journal", "--format", "beancount").out.splitlines() == list(beancount(whole))
    (opening, *_) = cli("journal", "--json", "--gaming-day", DAY).json
    assert (opening["entry"], opening["balances"][0]["amount"]) == ("opening", 500_000)
    refused = cli("journal", "--json", "--format", "beancount")
    assert (refused.code, "exclude each other" in refused.err) == (2, True)
