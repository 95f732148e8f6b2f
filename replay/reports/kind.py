"""What a report is: its name, when it is due, its columns, and what works its rows out."""

from __future__ import annotations

from datetime import date, timedelta
from typing import TYPE_CHECKING, Literal, NamedTuple

from replay.reports.table import ReportColumn, ReportTable

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from pathlib import Path

    from infra.postgres.connection import Database
    from ledger.finance.statistics.hold import HoldLimit
    from ledger.finance.win import TableWin
    from replay.reports.table import Value

Every = Literal["day", "week", "month", "quarter"]
Period = Literal["day", "week", "month", "year"]


class AskedReport(NamedTuple):
    """What a report is worked out from: a day's wins, and the database.

    wins: of a closed day as they were signed, if the report is of the seal; else as `win` has them.
    since: the first gaming day of the period; the wins are sums from then on. version: of a closed
    day; None: the one that holds.
    """

    database: Database
    property: str
    gaming_day: str
    wins: Sequence[TableWin]
    since: str
    version: int | None = None
    kept: Path | None = None  # the folder of versions worked out before
    period: Period = "day"
    limits: Sequence[HoldLimit] = ()  # of hold; empty: those of regulations


class ReportKind(NamedTuple):
    """A report: its name, title, when it is due, and its table."""

    name: str
    title: str
    every: Every
    columns: Sequence[ReportColumn]
    rows: Callable[[AskedReport], Iterator[Sequence[Value]]]
    of_seal: bool = True  # it has the figures of the closed day; else it follows the record
    sums: bool = False  # it can be printed for a week, month or year to date
    of_tables: bool = True  # a day on which no table has money has none
    of_wins: bool = True  # its rows rest on the wins of each day of the period

    def first_day(self, gaming_day: str) -> str:
        """The first day that one print of it is of; its papers may be of a whole quarter."""
        return first_day(gaming_day, "month" if self.every == "quarter" else self.every)

    def table(self, asked: AskedReport) -> ReportTable:
        """The report's table."""
        return ReportTable(self.columns, [list(row) for row in self.rows(asked)], self.of_seal)


def columns(texts: str = "", money: str = "", counts: str = "") -> tuple[ReportColumn, ...]:
    """Columns by their names: texts, then amounts, then counts."""
    return (
        *(ReportColumn(name) for name in texts.split()),
        *(ReportColumn(name, "money") for name in money.split()),
        *(ReportColumn(name, "count") for name in counts.split()),
    )


def first_day(gaming_day: str, period: Period) -> str:
    """The first day of the week (Monday), month or year of a gaming day."""
    of = date.fromisoformat(gaming_day)
    if period == "week":
        return (of - timedelta(days=of.weekday())).isoformat()
    starts = {"day": of, "month": of.replace(day=1), "year": of.replace(month=1, day=1)}
    return starts[period].isoformat()


def days_between(first: str, last: str) -> list[str]:
    """Every day from the first to the last."""
    since, until = date.fromisoformat(first), date.fromisoformat(last)
    return [(since + timedelta(days=nth)).isoformat() for nth in range((until - since).days + 1)]
