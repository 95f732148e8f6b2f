"""A device whose clock is off: one shift of its times explains why its facts seem out of order."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from ledger.rules.order import UNCERTAINTY_US

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ledger.wire import Fact

SKEW_MIN_US = 2_000_000
"""A clock is called skewed from two seconds on (below, facts are merely out of order)."""

FACTS_MIN = 4
"""A shift is believed only where it explains at least so many facts of the device."""

OUT_OF_ORDER_MIN = 2
"""One fact out of order is that fact: a late wager, not a clock."""


class Skew(NamedTuple):
    """A device and what must be added to its times, microseconds."""

    source: str
    shift_us: int


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
