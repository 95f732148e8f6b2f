"""A device whose clock is off: one shift of its times explains why its facts seem out of order.

A clock that is off by minutes or days, as by a time zone, is seen before the round is played: all
that its device tells stands apart from what the others tell (ADR 0155).
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
    from collections.abc import Callable, Sequence

    from ledger.record.wire import Fact

SKEW_MIN_US = 2_000_000
"""A clock is called skewed from two seconds on (below, facts are merely out of order)."""

FACTS_MIN = 4
"""A shift is believed only where it explains at least so many facts of the device."""

OUT_OF_ORDER_MIN = 2
"""One fact out of order is that fact: a late wager, not a clock."""

APART_US = 600_000_000
"""Facts of one round so far apart, ten minutes, are told by clocks that do not agree: a round that
is held up so long goes on with devices that had told of it before."""

APART_FACTS_MIN = 3
"""One or two facts may truly come late, as when a round is paid long after it was played."""

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
"""What nobody does with cards and dice once a round is closed, however few tell of it."""

STEP_US, STEPS_MAX = 1_000_000, 256
"""How finely a clock that stands apart is tried at first: this, or so often in all."""


class Skew(NamedTuple):
    """A device and what must be added to its times, microseconds."""

    source: str
    shift_us: int


class Apart(NamedTuple):
    """The devices whose facts of a round all stand apart from the others', and those facts."""

    sources: frozenset[str]
    off: Sequence[Fact]  # in order of time, as `others` are
    others: Sequence[Fact]


def apart(facts: Sequence[Fact]) -> Apart | None:
    """The devices that stand apart from most, where clocks do not agree; None where they do.

    None too where a device tells on both sides of the gap, and where it tells too little.
    """
    times = [fact.time_us for fact in facts]
    if max(times) - min(times) < APART_US:  # nearly always: nothing is sorted
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
    """Whether these stand before the round's beginning or after its end, where none of them can."""
    if few[0].time_us < others[0].time_us:
        return any(isinstance(fact.body, RoundStarted) for fact in others)
    closed = any(isinstance(fact.body, RoundCompleted | RoundVoided) for fact in others)
    return closed and all(isinstance(fact.body, PLAYED) for fact in few)


def span(facts: Sequence[Fact]) -> tuple[int, int]:
    """From when to when a round went on, as most devices tell it where clocks do not agree."""
    found = apart(facts)
    times = [fact.time_us for fact in (found.others if found else facts)]
    return min(times), max(times)


def fitting(found: Apart, cost: Callable[[int], int]) -> int:
    """The shift by which a ruling finds least: the middle of the longest run of such shifts.

    `cost` is what a ruling finds under a shift. Tried in steps over all that is possible, then in
    smaller ones about what fits best.
    """
    low = found.others[0].time_us - found.off[-1].time_us  # of the shifts that bring them together
    high = found.others[-1].time_us - found.off[0].time_us
    step = max(STEP_US, (high - low) // STEPS_MAX)
    about = _least(range(low, high + step, step), cost)
    while step > UNCERTAINTY_US:
        about = _least(range(about - step, about + step + 1, step // 4), cost)
        step //= 4
    return about


def _least(shifts: Sequence[int], cost: Callable[[int], int]) -> int:
    """The middle of the longest run of shifts that cost least."""
    costs = {shift: cost(shift) for shift in shifts}
    least = min(costs.values())
    runs = [list(run) for best, run in groupby(shifts, lambda at: costs[at] == least) if best]
    longest = max(runs, key=len)
    return longest[len(longest) // 2]


def skewed(pairs: Sequence[tuple[Fact, Fact]]) -> Skew | None:
    """The device whose shift puts every pair (earlier, later) in order, if one does.

    Only asked where some pair is out of order beyond the clocks' uncertainty.
    """
    if not any(early.time_us - late.time_us > UNCERTAINTY_US for early, late in pairs):
        return None
    for source in sorted({fact.source for pair in pairs for fact in pair}):
        shift = _shift(source, pairs)
        if shift is not None:
            return Skew(source, shift)
    return None


def together(skews: Sequence[Skew]) -> list[Skew]:
    """One of each device: what was found of it in turn, added up."""
    shifts: dict[str, int] = {}
    for source, shift_us in skews:
        shifts[source] = shifts.get(source, 0) + shift_us
    return [Skew(source, shift_us) for source, shift_us in shifts.items()]


def _shift(source: str, pairs: Sequence[tuple[Fact, Fact]]) -> int | None:
    """The middle of the shifts that satisfy every pair, or None: none does, or it is too small."""
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
