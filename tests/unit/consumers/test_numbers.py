"""Sets of numbers as bits are the sets they stand for, and small."""

from __future__ import annotations

import itertools
import tracemalloc
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from consumers.relay.number_set import Numbers

if TYPE_CHECKING:
    from collections.abc import Callable

SMALL = 1_500_000  # bytes
NUMBER = st.one_of(st.integers(1, 40), st.integers(4_080, 4_120), st.integers(1, 30_000))
CHANGES = st.lists(st.tuples(st.booleans(), NUMBER, st.integers(-2, 10_000)), max_size=8)


@given(CHANGES)
def test_it_holds_what_a_set_would(changes: list[tuple[bool, int, int]]) -> None:
    ours, plain = Numbers(), set[int]()
    for adds, first, more in changes:
        if adds:
            ours.add(first, first + more)
            plain |= set(range(first, first + more + 1))
        else:
            ours.remove(first, first + more)
            plain -= set(range(first, first + more + 1))
    assert (len(ours), bool(ours)) == (len(plain), bool(plain))
    ranges = list(ours.ranges())
    assert [n for low, high in ranges for n in range(low, high + 1)] == sorted(plain)
    assert all(high + 1 < low for (_, high), (low, _) in itertools.pairwise(ranges))
    edges = {first + more + by for _, first, more in changes for by in (-1, 0, 1)}
    assert all((number in ours) == (number in plain) for number in edges if number > 0)


def octets(make: Callable[[], object]) -> int:
    """What it takes at most while it is made."""
    tracemalloc.start()
    try:
        kept = make()
        assert kept
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


@pytest.mark.long
def test_millions_in_one_range_and_every_second_one_are_small() -> None:
    def whole() -> Numbers:
        numbers = Numbers()
        numbers.add(1, 10_000_000)
        assert len(numbers) == 10_000_000
        return numbers

    def every_second() -> Numbers:
        numbers = Numbers()
        for number in range(1, 1_000_000, 2):
            numbers.add(number, number)
        assert len(numbers) == 500_000
        return numbers

    assert octets(whole) < SMALL
    assert octets(every_second) < SMALL
    assert octets(lambda: set(range(1, 1_000_000, 2))) > 10 * SMALL, "the control: a plain set"
