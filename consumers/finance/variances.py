"""Hold beside its limits, from the wins of tables' gaming days and from what people explained."""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING, NamedTuple, get_args

from consumers.finance import papers
from consumers.finance.coupons_and_checks import variance_facts
from consumers.finance.round_sums import of_dealers
from consumers.finance.sealed import day_money, sealed_wins
from consumers.finance.sealed.sealed_wins import TABLES
from consumers.rounds.search_index import VIEW as SEARCH
from infra.postgres import tape
from infra.postgres.view_tables import reading
from ledger.errors import NotFound
from ledger.facts import VarianceExplained
from ledger.finance.statistics.charts import points
from ledger.finance.statistics.expected import expected_win
from ledger.finance.statistics.hold import (
    GAP,
    LIMITS,
    MoneyOfDay,
    Period,
    VarianceAsked,
    explanation,
    lines,
    spans,
    total,
)
from ledger.values import merged_order

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence
    from pathlib import Path

    from infra.postgres.connection import Database
    from ledger.finance.statistics.charts import ChartLimits, ChartPoint
    from ledger.finance.statistics.hold import (
        DaySpan,
        Explanation,
        HoldLimit,
        VarianceBy,
        VarianceLine,
    )
    from ledger.finance.table_day import DayMoney
    from ledger.finance.win import ExpectedWin
    from ledger.record.wire import Fact

VIEWS = (*sealed_wins.VIEWS, SEARCH)
"""The views to catch up before `read`."""


def read(
    database: Database,
    asked: VarianceAsked,
    limits: Sequence[HoldLimit],
    kept: Path | None = None,
) -> list[VarianceLine]:
    """The lines of one property, in order of group.

    kept: the folder of versions worked out before.
    """
    days = _days(database, asked, spans(asked, limits), kept)
    return lines(asked, days, limits, _explained(database, asked.property))


def of_table(
    database: Database,
    property_: str,
    table: str,
    gaming_day: str,
    *,
    more: Sequence[VarianceExplained] = (),
    kept: Path | None = None,
) -> Iterator[VarianceLine]:
    """The lines of a table that end on a day: by day, month and year, beside the regulations.

    more: explanations that count, too, and are not on record yet.
    """
    told = [*_explained(database, property_), *more]
    for period in get_args(Period):
        asked = VarianceAsked(property_, "table", period, gaming_day)
        days = _days(database, asked, spans(asked, LIMITS), kept, table)
        yield from lines(asked, days, LIMITS, told)


def _explained(database: Database, property_: str) -> list[VarianceExplained]:
    return _of_facts(variance_facts(database, property_).get(property_, []))


def _of_facts(facts: Iterable[Fact]) -> list[VarianceExplained]:
    return [fact.body for fact in facts if isinstance(fact.body, VarianceExplained)]


class SignedGap(NamedTuple):
    """What explanations say of the gaps of a table's day, cents."""

    signed: int | None = None  # explained or unexplained, by two people; None: they signed nothing
    alone: str = ""  # who alone signed one

    def after(self, of: Explanation) -> SignedGap:
        """The same after one more explanation."""
        if of.alone:
            return self._replace(alone=min(of.by, self.alone or of.by))
        return self._replace(signed=(self.signed or 0) + of.amount + of.unexplained)


def explained_days(database: Database, gaming_day: str) -> dict[tuple[str, str | None], SignedGap]:
    """What is explained of the gaps of a gaming day, by property and table."""
    found: dict[tuple[str, str | None], SignedGap] = {}
    for house, facts in variance_facts(database, None).items():
        asked = VarianceAsked(house, "table", "day", gaming_day)
        for each in map(explanation, _of_facts(facts)):
            if each.gaming_day == gaming_day and each.is_of(GAP, asked, each.table):
                of = found.get((house, each.table), SignedGap())
                found[house, each.table] = of.after(each)
    return found


def charts(
    database: Database,
    asked: VarianceAsked,
    limits: ChartLimits,
    kept: Path | None = None,
    *,
    since: str = "",
    table: str | None = None,
) -> list[ChartPoint]:
    """The points of control charts up to a day, in order of group and day; parameters as `read`.

    since: the first day, on which the sums begin. table: only that one.
    """
    return points(_days(database, asked, [(since, asked.until)], kept, table), limits, asked.by)


def luck(database: Database, asked: VarianceAsked, since: str) -> dict[str, ExpectedWin]:
    """The expected win of each group from a day to that asked for, where it is known."""
    days: dict[str, list[MoneyOfDay]] = defaultdict(list)
    for each in _days(database, asked, [(since, asked.until)], None):
        days[each.group].append(each)
    of_groups = ((group, total(group, its)) for group, its in days.items())
    return {group: of.expected for group, of in of_groups if of is not None and of.expected}


def only_property(database: Database) -> str | None:
    """The property on record; None if there is none or several."""
    houses = sorted(tape.properties(database))
    return houses[0] if len(houses) == 1 else None


def require_table(database: Database, property_: str, table: str, gaming_day: str) -> None:
    """Raise `NotFound` for a table or a gaming day that no money is of: a slip of the pen."""
    papers.require_table(database, property_, table)
    with reading(database, TABLES) as store:
        days = day_money.days_of_money(store, property_, [(gaming_day, gaming_day)])
    if not days:
        raise NotFound(
            f"No money is on record for gaming day {gaming_day}",
            where="day",
            hint="List days with `round-ledger win`.",
        )


def last_day(database: Database, property_: str) -> str | None:
    """The last gaming day that has money."""
    with reading(database, TABLES) as store:
        [(day,)] = store.query(
            "SELECT greatest((SELECT max(gaming_day) FROM {schema}.ruling_money"
            " WHERE property = %(property)s), (SELECT max(gaming_day) FROM {schema}.finance_facts"
            " WHERE property = %(property)s))",
            {"property": property_},
        )
    return str(day) if day is not None else None


def _days(
    database: Database,
    asked: VarianceAsked,
    within: Sequence[DaySpan],
    kept: Path | None,
    table: str | None = None,
) -> list[MoneyOfDay]:
    """The money of each group and day within some days. Closed days are as signed."""
    if asked.by == "dealer":
        return _of_dealers(database, asked, within)
    days = day_money.money_of_days(
        database, asked.property, within, kept=kept, by_shift=asked.by == "shift", table=table
    )
    return [each for found in days for each in grouped(found, asked.by)]


def grouped(found: Iterable[DayMoney], by: VarianceBy) -> list[MoneyOfDay]:
    """The money of each group and gaming day, shifts in order of time, as each table has them.

    Poker is left out: its bank holds nothing.
    """
    groups: dict[tuple[str, str], list[MoneyOfDay]] = defaultdict(list)
    tables: dict[tuple[str, str], list[str]] = defaultdict(list)
    for each in found:
        if each.owed is not None:
            names = {"table": each.table, "game": each.game, "shift": each.shift}
            name = str(names[by] or "")
            its = (each.drop, each.counted, each.owed, each.expected, each.pay_gap)
            of_table = MoneyOfDay(name, each.gaming_day, frozenset((each.table,)), *its)
            groups[each.gaming_day, name].append(of_table)
            tables[each.gaming_day, each.table].append(name)
    return _together(groups, merged_order(tables.values()) if by == "shift" else ())


def _together(
    groups: Mapping[tuple[str, str], Sequence[MoneyOfDay]], in_time: Sequence[str] = ()
) -> list[MoneyOfDay]:
    """The sum of each gaming day and group, in that order. in_time: groups that time orders."""
    nth = {name: place for place, name in enumerate(in_time)}
    keys = sorted(groups, key=lambda key: (key[0], nth.get(key[1], 0), key[1]))
    sums = ((day, total(name, groups[day, name])) for day, name in keys)
    return [of._replace(gaming_day=day) for day, of in sums if of is not None]


def _of_dealers(
    database: Database, asked: VarianceAsked, within: Sequence[DaySpan]
) -> list[MoneyOfDay]:
    """The money of the rounds that each dealer dealt. A dealer has no drop, and so no hold."""
    names = [*TABLES, *(each.name for each in SEARCH.tables)]
    with reading(database, names) as store:
        among = day_money.days_of_money(store, asked.property, within)
        found = of_dealers(store, asked.property, among)
    days: dict[tuple[str, str], list[MoneyOfDay]] = defaultdict(list)
    for (_, day, table, dealer), of in found.items():
        if dealer is None or of.poker:
            continue
        expected = None if of.lacks else expected_win(of.owed, of.spread)
        its = (None, None, of.owed, expected, of.tray - of.owed)  # rake is in no pay gap
        days[day, dealer].append(MoneyOfDay(dealer, day, frozenset((table,)), *its))
    return _together(days)
