"""Error rates with exact limits: intervals, the funnel, who stands out, and the trend.

A line is settled with or without an error, so the errors of a group are binomial. Every limit here
is of that distribution, not of a normal one: errors are rare.
"""

from __future__ import annotations

from math import log
from typing import TYPE_CHECKING, Literal, NamedTuple

from scipy.special import bdtr, betainc, betaincinv

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

NAMED_AT = 0.05
"""The share of groups named that may be named by chance alone, and of floors that name any."""

Outside = Literal["", "95 %", "99.8 %"]

FUNNEL: Mapping[Outside, float] = {"95 %": 0.95, "99.8 %": 0.998}
"""The levels of the funnel's two pairs of limits."""

DOUBLED = 2
"""The trend watches for a rate so many times the house's."""

Verdict = Literal["more", "fewer", "chance", "none"]
"""More or fewer errors than chance explains; perhaps chance; nothing to compare."""

_SAYS: dict[Verdict, str] = {
    "more": "more than chance explains",
    "fewer": "fewer than chance explains",
    "chance": "may be chance",
    "none": "nothing to compare",
}


class ErrorCount(NamedTuple):
    """Lines settled and errors among them; cents that patrons lost by them, and the house."""

    settlements: int = 0
    errors: int = 0
    short: int = 0
    over: int = 0

    def plus(self, other: ErrorCount) -> ErrorCount:
        """Both together."""
        return ErrorCount(*(one + two for one, two in zip(self, other, strict=True)))


class ComparedGroup(NamedTuple):
    """A group beside the house. Rates are errors a line; p: corrected for the groups looked at."""

    name: str
    counted: ErrorCount
    low: float
    high: float
    house: float
    p: float
    verdict: Verdict
    outside: Outside  # of the funnel's limits

    @property
    def says(self) -> str:
        """The comparison in words."""
        of = f"{self.counted.errors:,} in {self.counted.settlements:,}"
        return f"{of}, house {per_1000(self.house)} per 1,000: {_SAYS[self.verdict]}."


class TrendPoint(NamedTuple):
    """A group's gaming day on the CUSUM. It alarms above 1, and then begins again."""

    gaming_day: str
    settlements: int
    errors: int
    level: float  # the sum by its limit
    alarm: bool


def total(counts: Iterable[ErrorCount]) -> ErrorCount:
    """All counts together."""
    found = ErrorCount()
    for each in counts:
        found = found.plus(each)
    return found


def rate(of: ErrorCount) -> float:
    """Errors a line; 0 without any line."""
    return of.errors / of.settlements if of.settlements else 0.0


def per_1000(of: float) -> str:
    """A rate as it is written, by 1,000 lines."""
    thousand = of * 1000
    return f"{thousand:.2f}" if 0 < thousand < 1 else f"{thousand:,.1f}"


def interval(of: ErrorCount, level: float = 0.95) -> tuple[float, float]:
    """The exact interval of a rate (Clopper and Pearson); from 0 to 1 without any line."""
    errors, lines, rest = of.errors, of.settlements, (1 - level) / 2
    low = 0.0 if errors == 0 else float(betaincinv(errors, lines - errors + 1, rest))
    high = 1.0 if errors == lines else float(betaincinv(errors + 1, lines - errors, 1 - rest))
    return low, high


def limits(lines: int, house: float, level: float) -> tuple[int, int]:
    """The fewest and most errors in so many lines that chance gives at this level."""
    rest = (1 - level) / 2
    return _least(lines, house, rest), _least(lines, house, 1 - rest)


def _least(lines: int, house: float, share: float) -> int:
    """The least count that is not exceeded with this chance."""
    low, high = 0, lines
    while low < high:
        middle = (low + high) // 2
        if bdtr(middle, lines, house) >= share:
            high = middle
        else:
            low = middle + 1
    return low


def at_least(errors: int, lines: int, house: float) -> float:
    """The chance of so many errors or more in so many lines at the house's rate."""
    return 1.0 if errors == 0 else float(betainc(errors, lines - errors + 1, house))


def at_most(errors: int, lines: int, house: float) -> float:
    """The chance of so many errors or fewer."""
    return float(bdtr(errors, lines, house))


def corrected(chances: Sequence[float]) -> list[float]:
    """Each chance corrected for how many were looked at (Benjamini and Hochberg)."""
    order = sorted(range(len(chances)), key=chances.__getitem__, reverse=True)
    found, least = [1.0] * len(chances), 1.0
    for above, nth in enumerate(order):
        least = min(least, chances[nth] * len(chances) / (len(chances) - above))
        found[nth] = least
    return found


def compared(groups: Mapping[str, ErrorCount]) -> list[ComparedGroup]:
    """Each group beside all of them together, in the order given."""
    house = rate(total(groups.values()))
    counts = list(groups.values())
    more = corrected([at_least(each.errors, each.settlements, house) for each in counts])
    fewer = corrected([at_most(each.errors, each.settlements, house) for each in counts])
    return [
        ComparedGroup(
            name,
            count,
            *interval(count),
            house,
            min(above, below),
            _verdict(count, above, below),
            _outside(count, house),
        )
        for (name, count), above, below in zip(groups.items(), more, fewer, strict=True)
    ]


def _verdict(of: ErrorCount, above: float, below: float) -> Verdict:
    if not of.settlements:
        return "none"
    return "more" if above <= NAMED_AT else "fewer" if below <= NAMED_AT else "chance"


def _outside(of: ErrorCount, house: float) -> Outside:
    """The funnel's widest limits that a group lies outside of."""
    found: Outside = ""
    for name, level in FUNNEL.items():
        low, high = limits(of.settlements, house, level)
        if not low <= of.errors <= high:
            found = name
    return found


# -- the trend ------------------------------------------------------------------------------------


def decision(groups: int, days: int) -> float:
    """The limit of the sums. At most `NAMED_AT` of floors without a bad dealer reach it.

    A sum that begins on one day reaches it with a chance of at most 1 in e to the limit. There are
    as many such beginnings as there are days of groups.
    """
    return log(max(1, groups * days) / NAMED_AT)


def trend(days: Mapping[str, ErrorCount], house: float, limit: float) -> Iterator[TrendPoint]:
    """A group's CUSUM by gaming day: it rises while its rate is nearer the double of the house's.

    `days`: in order. A house without an error has no trend.
    """
    if not 0 < house * DOUBLED < 1:
        return
    for_error, for_none = log(DOUBLED), log((1 - DOUBLED * house) / (1 - house))
    level = 0.0
    for day, of in days.items():
        without = of.settlements - of.errors
        level = max(0.0, level + of.errors * for_error + without * for_none)
        yield TrendPoint(day, of.settlements, of.errors, level / limit, level >= limit)
        if level >= limit:
            level = 0.0
