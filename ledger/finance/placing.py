"""Which table and gaming day a fact of money belongs to. Arrival decides nothing.

A fact of a round belongs to the round's day. A fact with a `gaming_day` belongs to that day. Any
other belongs to the day of its table's last `drop_box_attached` or `table_opened` at or before it.
"""

from __future__ import annotations

from bisect import bisect_right
from calendar import monthrange
from datetime import date, timedelta
from itertools import pairwise
from typing import TYPE_CHECKING, Any, NamedTuple

from ledger.facts import AdjustmentPaid, DisputeRaised, DropBoxAttached, TableOpened
from ledger.rules.engine.ruling import FactRef
from ledger.values import parse_round

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Mapping

    from ledger.record.wire import Fact

OPENS_DAY = (TableOpened, DropBoxAttached)
"""Facts that begin a gaming day at their table, or go on with it."""

TableId = tuple[str, str]
"""Property and table."""

FactId = tuple[str, str]
"""Source and id of a fact."""

DisputeId = tuple[str, str]
"""Property and number of a dispute."""


def table_of(fact: Fact) -> TableId:
    """The table of a fact by its content; a correction may have changed it."""
    if fact.round:
        return fact.round[:2]
    _, property_, place, _ = fact.source.split("/")
    return property_, getattr(fact.body, "table", None) or place


class DisputeUse(NamedTuple):
    """A fact that raises a dispute or pays amends for it, with its table. Sorts by time."""

    time_us: int
    source: str
    id: str
    table: TableId


class PaperUse(NamedTuple):
    """A fact that drops a coupon at a table, or voids a counter check. Sorts by time."""

    time_us: int
    source: str
    id: str
    table: TableId
    gaming_day: str  # empty: before the table's first

    @property
    def ref(self) -> FactRef:
        """The fact."""
        return FactRef(self.source, self.id)

    @property
    def day(self) -> tuple[str, str, str]:
        """Property, gaming day and table."""
        return self.table[0], self.gaming_day, self.table[1]


def paid_at(
    fact: Fact, disputed: Mapping[DisputeId, DisputeUse], tables: Collection[TableId]
) -> TableId:
    """The table of a fact. Amends of another place than a table are of the disputed round's.

    tables: as `tables_with_day`.
    """
    own = table_of(fact)
    if own in tables or not isinstance(fact.body, AdjustmentPaid) or fact.body.table or fact.round:
        return own
    raised = disputed.get((own[0], fact.body.dispute))
    return raised.table if raised else own


def tables_with_day(facts: Iterable[Fact]) -> set[TableId]:
    """The places that are tables: those that a fact opens, or gives a box."""
    return {table_of(fact) for fact in facts if isinstance(fact.body, OPENS_DAY)}


def disputed_tables(facts: Iterable[Fact]) -> dict[DisputeId, DisputeUse]:
    """The first fact that raises each dispute, with the table of its round."""
    found: dict[DisputeId, DisputeUse] = {}
    for fact in facts:
        if isinstance(fact.body, DisputeRaised):
            property_ = fact.source.split("/")[1]
            if round_ := parse_round(fact.body.round, property_):
                its = DisputeUse(*by_time(fact), round_[:2])
                key = property_, fact.body.dispute
                found[key] = min(found.get(key, its), its)
    return found


def by_time(fact: Fact) -> tuple[int, str, str]:
    """The order of facts by their clocks; facts of one microsecond by source and id."""
    return fact.time_us, fact.source, fact.id


def own_day(fact: Fact) -> str | None:
    """The gaming day that a fact names, itself or by its round."""
    if fact.round:
        return fact.round.gaming_day
    day: Any = getattr(fact.body, "gaming_day", None)
    return day if isinstance(day, str) else None


def calendar_date(label: str) -> date:
    """The date of a gaming day; for a label that is no day of the calendar, the nearest one.

    Only a round's subject may have such a label. The order of labels is kept.
    """
    year, month, day = map(int, label.split("-"))
    if not 1 <= month <= 12:  # noqa: PLR2004 - months
        month, day = (1, 1) if month < 1 else (12, 31)
    year = max(year, 1)
    return date(year, month, min(max(day, 1), monthrange(year, month)[1]))


def day_before(day: str) -> str:
    """The label of the gaming day before; empty for a label that is no day of the calendar."""
    return _days_on(day, -1)


def day_after(day: str) -> str:
    """The label of the gaming day after; empty as in `day_before`."""
    return _days_on(day, 1)


def _days_on(day: str, days: int) -> str:
    try:
        return (date.fromisoformat(day) + timedelta(days=days)).isoformat()
    except (ValueError, OverflowError):
        return ""


class Days:
    """The gaming days of one table over time."""

    def __init__(self, facts: Iterable[Fact]) -> None:
        """`facts`: all facts of the table that begin a day; others are ignored."""
        starts = sorted(
            (fact.time_us, fact.source, fact.id, own_day(fact))
            for fact in facts
            if isinstance(fact.body, OPENS_DAY)
        )
        self._times = [start[0] for start in starts]
        self._days = [start[3] for start in starts]

    @property
    def first(self) -> str | None:
        """The day that its first fact begins."""
        return self._days[0] if self._days else None

    @property
    def last_open(self) -> dict[str, str]:
        """The gaming day on which the table was open before each day; no entry for the first."""
        found: dict[str, str] = {}
        for before, day in pairwise(self._days):
            if before and day and before != day:
                found.setdefault(day, before)
        return found

    def spans(self, gaming_day: str) -> Iterator[tuple[int, int | None]]:
        """The times of a gaming day, each from its first microsecond to the next day's first.

        None: there is no next day yet.
        """
        ends: list[int | None] = [*self._times[1:], None]
        for since, day, until in zip(self._times, self._days, ends, strict=False):
            if day == gaming_day:
                yield since, until

    def at(self, time_us: int) -> str | None:
        """The gaming day at a time; None before the first."""
        nth = bisect_right(self._times, time_us)
        return self._days[nth - 1] if nth else None

    def of(self, fact: Fact) -> str | None:
        """The gaming day of a fact of this table; None if it comes before the first."""
        return own_day(fact) or self.at(fact.time_us)
