"""The order of facts: by time, by a device's own counter, never by arrival; what is out of it."""

from __future__ import annotations

import random

import pytest

from ledger.facts import NoMoreBetsCalled
from ledger.record.wire import Fact
from ledger.rules.engine.clock_skew import FACTS_MIN, SKEW_MIN_US, skewed
from ledger.rules.engine.order import UNCERTAINTY_US, gaps, in_order, inversions

BODY = NoMoreBetsCalled()


def told(
    device: str, name: str, time_us: int, sequence: int | None = None, boot: str | None = None
) -> Fact:
    return Fact(BODY, f"/p/T-1/{device}", name, time_us, None, "T-1", boot, sequence)


def names(facts: list[Fact]) -> str:
    return "".join(fact.id for fact in facts)


def test_facts_stand_by_time_whatever_order_they_arrive_in() -> None:
    facts = [told("a", "1", 10), told("b", "2", 20), told("a", "3", 30), told("b", "4", 40)]
    chance = random.Random(7)  # noqa: S311 - no secret
    for _ in range(20):
        assert names(in_order(chance.sample(facts, len(facts)))) == "1234"


def test_where_a_clock_steps_back_the_counter_holds_the_order() -> None:
    facts = [
        told("a", "1", 10, 1),
        told("a", "2", 90, 2),
        told("a", "3", 20, 3),
        told("b", "4", 50),
    ]
    assert names(in_order(facts[::-1])) == "1423"


def test_a_new_boot_restarts_the_counter() -> None:
    facts = [told("a", "1", 10, 8, "x"), told("a", "2", 20, 9, "x"), told("a", "3", 30, 1, "y")]
    assert names(in_order(facts[::-1])) == "123"
    assert gaps(facts) == []


def test_without_a_counter_on_all_of_a_devices_facts_time_alone_orders_them() -> None:
    facts = [told("a", "1", 10, 5), told("a", "2", 20), told("a", "3", 30, 4)]
    assert names(in_order(facts[::-1])) == "123"


def test_ties_go_by_source_and_then_as_they_came() -> None:
    facts = [told("b", "3", 10), told("a", "1", 10), told("a", "2", 10)]
    assert names(in_order(facts)) == "123"


def test_a_gap_in_a_devices_counter_says_how_many_facts_are_missing() -> None:
    facts = [
        told("a", "1", 10, 4),
        told("a", "2", 20, 7),
        told("b", "3", 30, 1),
        told("b", "4", 40, 2),
    ]
    (gap,) = gaps(facts)
    assert (gap.before.id, gap.after.id, gap.missing) == ("1", "2", 2)


RANKS = """
    1 2 3 4 5     none
    2 1 3 4 5     one
    1 5 2 3 4     1
    1 2 4 5 3     4
    3 4 5 1 2     3 4
"""


@pytest.mark.parametrize("row", [row.strip() for row in RANKS.splitlines() if row.strip()])
def test_the_fewest_that_explain_it_are_out_of_order(row: str) -> None:
    ranks, out = (part.split() for part in row.split("    ", 1))
    found = inversions([(int(rank), told("a", rank, int(rank))) for rank in ranks])
    where = [inversion.at for inversion in found]
    if out == ["one"]:
        assert len(where) == 1
    else:
        assert where == [int(at) for at in out if at != "none"]


def test_order_is_uncertain_between_two_devices_within_their_clocks_and_certain_beyond() -> None:
    for apart, uncertain in ((UNCERTAINTY_US, True), (UNCERTAINTY_US + 1, False)):
        asked = [(1, told("a", "late", apart)), (0, told("b", "early", 0))]
        assert [each.uncertain for each in inversions(asked)] == [uncertain]
    same = [(1, told("a", "late", 10)), (0, told("a", "early", 0))]
    assert [each.uncertain for each in inversions(same)] == [False]


def _pairs(shift_us: int, count: int) -> list[tuple[Fact, Fact]]:
    """Facts of two devices in turn, a second apart, device b's clock off by so much."""
    second = 1_000_000
    pairs = []
    for turn in range(count):
        mine, theirs = (
            told("a", f"a{turn}", 2 * turn * second),
            told("b", f"b{turn}", (2 * turn + 1) * second + shift_us),
        )
        after = told("a", f"a{turn + 1}", (2 * turn + 2) * second)
        pairs += [(mine, theirs), (theirs, after)]
    return pairs


def test_one_shift_that_explains_enough_facts_is_a_skewed_clock() -> None:
    off = skewed(_pairs(5_000_000, FACTS_MIN))
    assert off is not None
    assert abs(off.shift_us) >= SKEW_MIN_US
    assert skewed(_pairs(0, FACTS_MIN)) is None
    # Fewer facts of either device than that are merely out of order.
    assert skewed(_pairs(5_000_000, 1)) is None


def test_facts_of_one_device_out_of_order_are_no_skew() -> None:
    pairs = _pairs(5_000_000, FACTS_MIN)
    pairs.append((told("a", "x", 9_000_000), told("a", "y", 1_000_000)))
    pairs.append((told("b", "x", 9_000_000), told("b", "y", 1_000_000)))
    assert skewed(pairs) is None
