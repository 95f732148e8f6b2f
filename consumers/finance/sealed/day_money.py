"""The money of tables' gaming days that hold and luck rest on: of closed days as it was signed."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from functools import partial
from itertools import chain
from queue import SimpleQueue
from typing import TYPE_CHECKING

from consumers.finance import shifts, wins
from consumers.finance.sealed import seals
from consumers.finance.sealed.sealed_wins import TABLES, said
from infra.postgres.view_tables import reading, reading_beside
from ledger.finance.table_day import money, money_of_win

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence
    from pathlib import Path

    from infra.postgres.connection import Database
    from infra.postgres.view_tables import ViewStore
    from ledger.finance.statistics.hold import DaySpan
    from ledger.finance.table_day import DayMoney

_NEXT_DAY = """least(
    (SELECT min(gaming_day) FROM {{schema}}.ruling_money
      WHERE property = %(property)s AND gaming_day {after}),
    (SELECT min(gaming_day) FROM {{schema}}.finance_facts
      WHERE property = %(property)s AND gaming_day {after}))"""
_DAYS_OF_MONEY = f"""
WITH RECURSIVE found (day) AS (
    SELECT {_NEXT_DAY.format(after=">= %(since)s")}
    UNION ALL SELECT {_NEXT_DAY.format(after="> found.day")} FROM found WHERE day < %(until)s)
SELECT day FROM found WHERE day <= %(until)s
"""  # noqa: S608 - put together from constants


def days_of_money(store: ViewStore, property_: str, spans: Iterable[DaySpan]) -> list[str]:
    """The gaming days in these spans that have money. Each is found by index."""
    found: set[str] = set()
    for since, until in spans:
        asked = {"property": property_, "since": since, "until": until}
        found |= {day for (day,) in store.query(_DAYS_OF_MONEY, asked)}
    return sorted(found)


def money_of_days(
    database: Database,
    property_: str,
    spans: Iterable[DaySpan],
    *,
    kept: Path | None = None,
    by_shift: bool = False,
    table: str | None = None,
) -> Iterator[list[DayMoney]]:
    """The money of the days in these spans, a day at a time: as signed, or of an open day now."""
    with reading(database, TABLES) as store:
        days = days_of_money(store, property_, spans)
        sealed = {
            day: its.sealed for (_, day), its in seals.read(store, property_).items() if its.sealed
        }
        of_open = partial(_money_of_open_days, property_=property_, table=table, by_shift=by_shift)
        open_days = [day for day in days if day not in sealed]
        with _two_at_once(store, of_open, open_days) as found:
            for day in days:
                if day in sealed:
                    signed = said(store, property_, sealed[day], kept, by_shift=by_shift).wins
                    yield [money_of_win(each) for each in signed if table in (None, each.table)]
                else:
                    yield next(found)


OPEN_DAYS_READ = 7
"""Open days that are read at once, so that few facts are read again for the day after theirs."""


@contextmanager
def _two_at_once(
    store: ViewStore,
    read_: Callable[[ViewStore, Sequence[str]], list[list[DayMoney]]],
    days: Sequence[str],
) -> Iterator[Iterator[list[DayMoney]]]:
    """What is read of each day, in order. Some days are read while others are worked out."""
    weeks = [days[nth : nth + OPEN_DAYS_READ] for nth in range(0, len(days), OPEN_DAYS_READ)]
    if len(weeks) < 2:  # noqa: PLR2004 - nothing to divide
        yield chain.from_iterable(read_(store, week) for week in weeks)
        return
    with reading_beside(store) as other:
        free: SimpleQueue[ViewStore] = SimpleQueue()
        for each in (store, other):
            free.put(each)

        def of_week(week: Sequence[str]) -> list[list[DayMoney]]:
            mine = free.get()
            try:
                return read_(mine, week)
            finally:
                free.put(mine)

        pool = ThreadPoolExecutor(2)
        try:
            yield chain.from_iterable(pool.map(of_week, weeks))
        finally:
            pool.shutdown(cancel_futures=True)


def _money_of_open_days(
    store: ViewStore, days: Sequence[str], *, property_: str, table: str | None, by_shift: bool
) -> list[list[DayMoney]]:
    records = wins.money_records(store, property_, days, table, by_shift=by_shift)
    found: dict[str, list[DayMoney]] = {day: [] for day in days}
    its = (
        shifts.money_of_records(store, records)
        if by_shift
        else [money(records[key]) for key in sorted(records)]
    )
    for each in its:
        found[each.gaming_day].append(each)
    return list(found.values())
