"""Hold against its limits: by table, game, shift or dealer; by day, month or year to date.

Hold is the counted win by the drop. It is None without a drop. A limit compares it with a base
level. What lies outside stays open until two people sign what they found, and what is left of it
lies within the limit.
"""

from __future__ import annotations

from collections import defaultdict
from datetime import date, timedelta
from fractions import Fraction
from typing import TYPE_CHECKING, Literal, NamedTuple

from msgspec import Struct

from ledger.finance.statistics.expected import summed
from ledger.finance.win import ExpectedWin  # noqa: TC001 - msgspec reads it at run time
from ledger.values import merged_order, person_of, sum_known

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from ledger.facts import VarianceExplained

Period = Literal["day", "month", "year"]
VarianceBy = Literal["table", "game", "shift", "dealer"]


class HoldLimit(Struct, frozen=True, kw_only=True):
    """How far a hold may lie from its base level before somebody must investigate.

    points: percentage points; sigmas: sigmas of the expected win, by the drop. One of both is set.
    base: win-to-drop of the business year before (in the first year of the month before), or of all
    days before. rolling_days: the hold compared is that of so many last days.
    """

    name: str
    source: str
    periods: list[Period]
    base: Literal["previous_year", "lifetime"] = "previous_year"
    points: str | None = None
    sigmas: str | None = None
    rolling_days: int | None = None


LIMITS = (
    HoldLimit(
        name="95 %",
        source="COMAR 36.05.03.25B(2)",
        periods=["day", "month", "year"],
        sigmas="1.96",
    ),
    HoldLimit(name="3 %", source="K.A.R. 112-108-51(c)", periods=["month"], points="3"),
    HoldLimit(
        name="4 %",
        source="OAC 3772-10-08(A)(2)",
        periods=["month"],
        base="lifetime",
        points="4",
        rolling_days=30,
    ),
)
"""The limits of regulations. The house adds its own."""


class MoneyOfDay(NamedTuple):
    """A group's money on one gaming day, or in one period; None: an input is missing."""

    group: str
    gaming_day: str
    tables: frozenset[str]
    drop: int | None
    win: int | None
    owed: int | None
    expected: ExpectedWin | None
    pay_gap: int | None


GAP = "gap"
"""What an explanation is about that is of the gaps of a day, and of no limit."""


class LimitCheck(Struct, frozen=True, kw_only=True):
    """A hold beside one limit. Percentages are decimal strings; None: it cannot be compared.

    off_base: the cents that the win lies above what the base level gives of the drop; negative if
    it lies below. explained, unexplained: what two people signed of them; left: the rest. open:
    the hold lies outside, and so does what is left.
    """

    limit: str
    source: str
    hold: str | None
    base_level: str | None
    allowed: str | None  # percentage points either way
    off_base: int | None
    outside: bool | None
    explained: int
    unexplained: int
    left: int | None
    open: bool


class Explanation(Struct, frozen=True, kw_only=True):
    """What two people signed about a table's variance. What one person alone signed closes none.

    amount: the cents explained; unexplained: those that stay without an explanation. about, period,
    shift: None: of every limit and line of the table that ends on the day.
    """

    table: str
    gaming_day: str
    amount: int
    because: str
    by: str
    second: str
    unexplained: int = 0
    about: str | None = None
    period: Period | None = None
    shift: str | None = None

    @property
    def alone(self) -> bool:
        """Whether one person alone signed it."""
        return person_of(self.by) == person_of(self.second)

    def is_of(self, about: str, asked: VarianceAsked, group: str) -> bool:
        """Whether it is of this limit, or of the gap, in the line of this group."""
        is_its = self.about in (None, about) and self.period in (None, asked.period)
        return is_its and (asked.by != "shift" or self.shift in (None, group))


class VarianceLine(Struct, frozen=True, kw_only=True):
    """A group's period beside its limits. explained: what was signed of its tables and last day.

    open: a limit is broken, and what two people signed leaves too much of it.
    """

    property: str
    by: VarianceBy
    group: str
    period: Period
    since: str
    until: str
    drop: int | None
    win: int | None
    hold: str | None
    owed: int | None
    expected: ExpectedWin | None
    pay_gap: int | None
    limits: list[LimitCheck]
    explained: list[Explanation]
    open: bool


class VarianceAsked(NamedTuple):
    """What is worked out: whose lines, of which period, up to which gaming day."""

    property: str
    by: VarianceBy
    period: Period
    until: str


DaySpan = tuple[str, str]
"""The first and the last of some gaming days."""


def spans(asked: VarianceAsked, limits: Iterable[HoldLimit]) -> list[DaySpan]:
    """The days that the lines rest on: the period, and what its limits compare it with.

    A dealer has no hold, so nothing to compare.
    """
    found = [(first_day(asked.period, asked.until), asked.until)]
    for limit in limits if asked.by != "dealer" else ():
        if asked.period in limit.periods:
            compared = _compared(limit, asked)
            found += [compared, *_base_spans(limit, compared[0])]
    return found


def lines(
    asked: VarianceAsked,
    days: Iterable[MoneyOfDay],
    limits: Sequence[HoldLimit],
    explained: Iterable[VarianceExplained],
) -> list[VarianceLine]:
    """A line for each group that has money in the period, in order as `by_group`.

    `days`: of all groups, those in `spans` or more.
    """
    signed = sorted(
        (explanation(each) for each in explained if each.gaming_day == asked.until),
        key=lambda each: (each.table, each.because),
    )
    since = first_day(asked.period, asked.until)
    found = []
    for group, its in by_group(days, asked.by).items():
        now = total(group, [each for each in its if since <= each.gaming_day <= asked.until])
        if now is not None:
            found.append(_line(asked, now, its, limits, signed))
    return found


def by_group(days: Iterable[MoneyOfDay], by: VarianceBy) -> dict[str, list[MoneyOfDay]]:
    """The days of each group, in order of its name; shifts in order of time, as the last day's.

    days: those of one day in that order.
    """
    found: dict[str, list[MoneyOfDay]] = defaultdict(list)
    names: dict[str, list[str]] = defaultdict(list)
    for each in days:
        found[each.group].append(each)
        names[each.gaming_day].append(each.group)
    in_time = merged_order(names[day] for day in sorted(names, reverse=True))
    return {group: found[group] for group in (in_time if by == "shift" else sorted(found))}


def _line(
    asked: VarianceAsked,
    now: MoneyOfDay,
    days: Sequence[MoneyOfDay],
    limits: Sequence[HoldLimit],
    signed: Sequence[Explanation],
) -> VarianceLine:
    mine = [each for each in signed if each.table in now.tables]
    checks = [
        _check(limit, asked, now.group, days, mine)
        for limit in limits
        if asked.period in limit.periods
    ]
    return VarianceLine(
        property=asked.property,
        by=asked.by,
        group=now.group,
        period=asked.period,
        since=first_day(asked.period, asked.until),
        until=asked.until,
        drop=now.drop,
        win=now.win,
        hold=percent(hold(now)),
        owed=now.owed,
        expected=now.expected,
        pay_gap=now.pay_gap,
        limits=checks,
        explained=mine,
        open=any(check.open for check in checks),
    )


def explanation(of: VarianceExplained) -> Explanation:
    """What a fact explains."""
    return Explanation(
        table=of.table,
        gaming_day=of.gaming_day,
        amount=of.amount,
        because=of.because,
        by=of.by,
        second=of.second,
        unexplained=of.unexplained or 0,
        about=of.about,
        period=of.period,
        shift=of.shift,
    )


def _compared(limit: HoldLimit, asked: VarianceAsked) -> DaySpan:
    """The days whose hold a limit compares."""
    if limit.rolling_days:
        return days_before(asked.until, limit.rolling_days - 1), asked.until
    return first_day(asked.period, asked.until), asked.until


def _check(
    limit: HoldLimit,
    asked: VarianceAsked,
    group: str,
    days: Sequence[MoneyOfDay],
    signed: Sequence[Explanation],
) -> LimitCheck:
    """A group's hold beside one limit."""
    span = _compared(limit, asked)
    compared = total(group, _between(days, *span))
    base = hold(_base(limit, group, span[0], days))
    mine, allowed = hold(compared), _allowed(limit, compared)
    its = [e for e in signed if not e.alone and e.is_of(limit.name, asked, group)]
    explained, unexplained = (sum(e.amount for e in its), sum(e.unexplained for e in its))
    off_base, told = _off_base(compared, base), explained + unexplained
    outside, is_open = None, False
    if compared is not None and mine is not None and base is not None and allowed is not None:
        outside = abs(mine - base) > allowed
        left = mine - base - Fraction(told, compared.drop or 1)
        is_open = outside and abs(left) > allowed
    return LimitCheck(
        limit=limit.name,
        source=limit.source,
        hold=percent(mine),
        base_level=percent(base),
        allowed=percent(allowed),
        off_base=off_base,
        outside=outside,
        explained=explained,
        unexplained=unexplained,
        left=None if off_base is None else off_base - told,
        open=is_open,
    )


def _base(
    limit: HoldLimit, group: str, since: str, days: Sequence[MoneyOfDay]
) -> MoneyOfDay | None:
    """The money that gives the base level: of the first of its spans that has a day."""
    found = (total(group, _between(days, *span)) for span in _base_spans(limit, since))
    return next((each for each in found if each is not None), None)


def _base_spans(limit: HoldLimit, since: str) -> list[DaySpan]:
    """The days that may give the base level of a period that begins on this day."""
    if limit.base == "lifetime":
        return [("", days_before(since, 1))]
    year = int(since[:4]) - 1
    last = days_before(first_day("month", since), 1)
    return [(f"{year}-01-01", f"{year}-12-31"), (first_day("month", last), last)]


def _allowed(limit: HoldLimit, of: MoneyOfDay | None) -> Fraction | None:
    """How far a hold may lie from its base level, as a share of the drop.

    None if sigma is 0, too: no wager is on record beside the drop, so nothing is known.
    """
    if limit.points is not None:
        return Fraction(limit.points) / 100
    if of is None or not of.drop or limit.sigmas is None:
        return None
    if of.expected is None or not of.expected.sigma:
        return None
    return Fraction(limit.sigmas) * of.expected.sigma / abs(of.drop)


def _off_base(of: MoneyOfDay | None, base: Fraction | None) -> int | None:
    """The cents that a win lies above what the base level gives of its drop, half to even."""
    if of is None or of.win is None or of.drop is None or base is None:
        return None
    return of.win - round(base * of.drop)


def _between(days: Iterable[MoneyOfDay], since: str, until: str) -> list[MoneyOfDay]:
    return [each for each in days if since <= each.gaming_day <= until]


# -- figures -------------------------------------------------------------------------------------


def total(group: str, days: Sequence[MoneyOfDay]) -> MoneyOfDay | None:
    """The sum of some days; None of no day. A figure that one of them lacks is None."""
    if not days:
        return None
    return MoneyOfDay(
        group,
        "",
        frozenset().union(*(each.tables for each in days)),
        sum_known(each.drop for each in days),
        sum_known(each.win for each in days),
        sum_known(each.owed for each in days),
        summed((each.owed, each.expected) for each in days),
        sum_known(each.pay_gap for each in days),
    )


def hold(of: MoneyOfDay | None) -> Fraction | None:
    """The counted win by the drop; None without a drop, or if either is not known."""
    if of is None or not of.drop or of.win is None:
        return None
    return Fraction(of.win, of.drop)


def percent(share: Fraction | None) -> str | None:
    """A share in percent with two places, half to even."""
    if share is None:
        return None
    hundredths = round(share * 10_000)
    sign = "-" if hundredths < 0 else ""
    return f"{sign}{abs(hundredths) // 100}.{abs(hundredths) % 100:02d}"


def first_day(period: Period, day: str) -> str:
    """The first day of the period that a day lies in."""
    return {"day": day, "month": f"{day[:8]}01", "year": f"{day[:5]}01-01"}[period]


def days_before(day: str, count: int) -> str:
    """The day so many days before."""
    return (date.fromisoformat(day) - timedelta(days=count)).isoformat()
