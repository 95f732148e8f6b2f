"""Skewed device clocks: one shift of a device's times puts its facts back in order.

A clock that is off by minutes or days, as by a time zone, is found before the round is played.
Then all facts of the device lie apart in time from those of the other devices (ADR 0155).
"""

from __future__ import annotations

from itertools import groupby, pairwise
from typing import TYPE_CHECKING, NamedTuple

from ledger.facts import (
    CardBurned,
    CardsDealt,
    CardsTurned,
    DiceThrown,
    HandDiscarded,
    HandMucked,
    HandShown,
    HoleCardChecked,
    RoundCompleted,
    RoundStarted,
    RoundVoided,
)
from ledger.rules.engine.order import UNCERTAINTY_US

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from ledger.record.wire import Fact

SKEW_MIN_US = 2_000_000
"""The least shift that is called a skew, two seconds. Below it, facts are merely out of order."""

FACTS_MIN = 4
"""A shift counts only if it explains at least this many facts of the device."""

OUT_OF_ORDER_MIN = 2
"""A skew needs two facts out of order. A single one is a late fact, not a wrong clock."""

APART_US = 600_000_000
"""A gap of ten minutes within a round means that clocks disagree. After a real delay, devices go
on that reported facts before it."""

APART_FACTS_MIN = 3
"""One or two facts may really be late, as when a round is paid long after play."""

PLAYED = (
    CardBurned,
    CardsDealt,
    CardsTurned,
    DiceThrown,
    HandDiscarded,
    HandMucked,
    HandShown,
    HoleCardChecked,
)
"""Facts that never follow the end of a round. A single one outside it shows a wrong clock."""

STEP_US, STEPS_MAX = 1_000_000, 256
"""The first step between the shifts tried: one second, or a larger one for at most 256 tries."""


class Skew(NamedTuple):
    """A device, and the microseconds to add to its times."""

    source: str
    shift_us: int


class Apart(NamedTuple):
    """Devices whose facts lie apart in time from all others, and both groups of facts."""

    sources: frozenset[str]
    off: Sequence[Fact]  # in order of time; so are `others`
    others: Sequence[Fact]


def apart(facts: Sequence[Fact]) -> Apart | None:
    """The devices whose facts lie apart in time from those of most devices.

    None if the clocks agree, if a device has facts on both sides of the gap, or if there are too
    few facts to say so.
    """
    times = [fact.time_us for fact in facts]
    if max(times) - min(times) < APART_US:  # the usual case, which needs no sorting
        return None
    told = sorted(facts, key=lambda fact: fact.time_us)
    cuts = [i for i, (a, b) in enumerate(pairwise(told), 1) if b.time_us - a.time_us >= APART_US]
    if not cuts:
        return None
    groups = [told[low:high] for low, high in pairwise([0, *cuts, len(told)])]
    sources = [frozenset(fact.source for fact in group) for group in groups]
    if len(frozenset.union(*sources)) < sum(map(len, sources)):
        return None
    most = max(range(len(groups)), key=lambda at: (len(sources[at]), len(groups[at])))
    at = max(set(range(len(groups))) - {most}, key=lambda at: len(groups[at]))
    if len(groups[at]) < APART_FACTS_MIN and not _outside(groups[at], groups[most]):
        return None
    return Apart(sources[at], groups[at], groups[most])


def _outside(few: Sequence[Fact], others: Sequence[Fact]) -> bool:
    """Whether these lie before the round's start or after its end, where no such fact can be."""
    if few[0].time_us < others[0].time_us:
        return any(isinstance(fact.body, RoundStarted) for fact in others)
    closed = any(isinstance(fact.body, RoundCompleted | RoundVoided) for fact in others)
    return closed and all(isinstance(fact.body, PLAYED) for fact in few)


def span(facts: Sequence[Fact]) -> tuple[int, int]:
    """The first and last time of a round, microseconds, by most devices if clocks disagree."""
    found = apart(facts)
    times = [fact.time_us for fact in (found.others if found else facts)]
    return min(times), max(times)


def fitting(found: Apart, cost: Callable[[int], int]) -> int:
    """The shift with the fewest findings: the middle of the longest run of such shifts.

    `cost` gives the findings of a ruling under a shift. Shifts over the whole possible range are
    tried first, then smaller steps around the best.
    """
    low = found.others[0].time_us - found.off[-1].time_us  # between these two, both groups overlap
    high = found.others[-1].time_us - found.off[0].time_us
    step = max(STEP_US, (high - low) // STEPS_MAX)
    about = _least(range(low, high + step, step), cost)
    while step > UNCERTAINTY_US:
        about = _least(range(about - step, about + step + 1, step // 4), cost)
        step //= 4
    return about


def _least(shifts: Sequence[int], cost: Callable[[int], int]) -> int:
    """The middle of the longest run of shifts with the least cost."""
    costs = {shift: cost(shift) for shift in shifts}
    least = min(costs.values())
    runs = [list(run) for best, run in groupby(shifts, lambda at: costs[at] == least) if best]
    longest = max(runs, key=len)
    return longest[len(longest) // 2]


def skewed(
    pairs: Sequence[tuple[Fact, Fact]],
    more: Callable[[], Iterable[tuple[Fact, Fact]]] = tuple,
    *,
    sure: bool = True,
) -> Skew | None:
    """The device whose shift puts every pair (earlier, later) in order, or None.

    None as well if every pair is in order within the clocks' uncertainty. `more` gives pairs that
    are in order, if `sure`.
    """
    if sure and not any(early.time_us - late.time_us > UNCERTAINTY_US for early, late in pairs):
        return None
    pairs = [*pairs, *more()]
    for source in sorted({fact.source for pair in pairs for fact in pair}):
        shift = _shift(source, pairs)
        if shift is not None:
            return Skew(source, shift)
    return None


def together(skews: Sequence[Skew]) -> list[Skew]:
    """One skew for each device: the sum of those found one after the other."""
    shifts: dict[str, int] = {}
    for source, shift_us in skews:
        shifts[source] = shifts.get(source, 0) + shift_us
    return [Skew(source, shift_us) for source, shift_us in shifts.items()]


def _shift(source: str, pairs: Sequence[tuple[Fact, Fact]]) -> int | None:
    """The middle of the shifts that put every pair in order. None if none does.

    None as well if the shift is too small to be a skew.
    """
    low, high = -(2**62), 2**62
    explained = set()
    out_of_order = {
        (early if early.source == source else late).id
        for early, late in pairs
        if early.time_us - late.time_us > UNCERTAINTY_US
    }
    for early, late in pairs:
        apart = late.time_us - early.time_us
        if (early.source == source) == (late.source == source):
            if apart < 0:
                return None
        elif early.source == source:
            high = min(high, apart)
            explained.add(early.id)
        else:
            low = max(low, -apart)
            explained.add(late.id)
    if len(out_of_order) < OUT_OF_ORDER_MIN:
        return None
    if low > high or len(explained) < FACTS_MIN or low == -(2**62) or high == 2**62:
        return None
    middle = (low + high) // 2
    return middle if abs(middle) >= SKEW_MIN_US else None
