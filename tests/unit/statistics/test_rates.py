"""Exact limits of error rates: who is named by chance alone, and who is found."""

from __future__ import annotations

from fractions import Fraction
from math import comb

import numpy as np
import pytest

from ledger.statistics.rates import (
    ErrorCount,
    at_least,
    compared,
    corrected,
    decision,
    interval,
    limits,
    rate,
    total,
    trend,
)

DEALERS = 16
DEMO_ERRORS, DEMO_SETTLEMENTS, DEMO_ROUNDS = 6, 27_184, 1_632  # counted in the demonstration
DEMO = DEMO_ERRORS / DEMO_SETTLEMENTS
LINES = 2_000 * DEMO_SETTLEMENTS // DEMO_ROUNDS  # of 2,000 rounds


def generator(seed: int) -> np.random.Generator:
    return np.random.default_rng(seed)


def floor(chance: np.random.Generator, rates: list[float], lines: int) -> dict[str, ErrorCount]:
    """A floor: each dealer settles about as many lines, each with the chance of an error."""
    settled = chance.integers(lines // 2, lines * 3 // 2, len(rates))
    errors = chance.binomial(settled, rates)
    return {
        f"D-{1000 + nth}": ErrorCount(int(n), int(k))
        for nth, (n, k) in enumerate(zip(settled, errors, strict=True))
    }


def named(groups: dict[str, ErrorCount]) -> list[str]:
    return [each.name for each in compared(groups) if each.verdict == "more"]


def floors_that_name_one(count: int, seed: int) -> int:
    chance = generator(seed)
    return sum(bool(named(floor(chance, [DEMO] * DEALERS, LINES))) for _ in range(count))


def found_of_fourfold(count: int, seed: int, *, times: int = 4) -> int:
    """How often the one with so many times the house's rate is named after 2,000 rounds."""
    chance, found = generator(seed), 0
    for _ in range(count):
        groups = floor(chance, [DEMO] * (DEALERS - 1), LINES)
        groups["D-bad"] = ErrorCount(LINES, int(chance.binomial(LINES, DEMO * times)))
        found += "D-bad" in named(groups)
    return found


def alarming_floors(count: int, seed: int, days: int = 30) -> int:
    """Floors without a bad dealer on which any dealer's trend alarms in a month."""
    chance, found = generator(seed), 0
    for _ in range(count):
        floors = [floor(chance, [DEMO] * DEALERS, 1_000) for _ in range(days)]
        house = rate(total(each for of in floors for each in of.values()))
        limit = decision(DEALERS, days)
        found += any(
            point.alarm
            for name in floors[0]
            for point in trend({f"{n:02d}": of[name] for n, of in enumerate(floors)}, house, limit)
        )
    return found


def covered(count: int, seed: int, lines: int, true: float) -> int:
    chance, found = generator(seed), 0
    for errors in chance.binomial(lines, true, count):
        low, high = interval(ErrorCount(lines, int(errors)))
        found += low <= true <= high
    return found


# -- exact ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(("errors", "lines"), [(0, 10), (1, 10), (5, 20), (20, 20)])
def test_an_intervals_ends_are_where_the_exact_tail_is_a_fortieth(errors: int, lines: int) -> None:
    """Against sums of fractions: no library reckons them."""
    low, high = interval(ErrorCount(lines, errors))
    for end, counts in ((low, range(errors, lines + 1)), (high, range(errors + 1))):
        if 0 < end < 1:
            p = Fraction(end)
            tail = sum(comb(lines, k) * p**k * (1 - p) ** (lines - k) for k in counts)
            assert abs(float(tail) - 0.025) < 1e-9
    assert (low == 0) == (errors == 0)
    assert (high == 1) == (errors == lines)
    assert interval(ErrorCount()) == (0, 1)


@pytest.mark.parametrize("level", [0.95, 0.998])
def test_the_funnels_limits_are_the_exact_counts(level: float) -> None:
    house = Fraction(1, 40)
    for lines in (1, 40, 300):
        chances = [comb(lines, k) * house**k * (1 - house) ** (lines - k) for k in range(lines + 1)]
        low, high = limits(lines, float(house), level)
        rest = (1 - Fraction(str(level))) / 2
        assert sum(chances[:low]) < rest <= sum(chances[: low + 1])
        assert sum(chances[:high]) < 1 - rest <= sum(chances[: high + 1])


def test_the_correction_is_that_of_benjamini_and_hochberg() -> None:
    """The example of their paper of 1995, section 4: four of fifteen stand at 5 %."""
    chances = [
        0.0001, 0.0004, 0.0019, 0.0095, 0.0201, 0.0278, 0.0298, 0.0344, 0.0459, 0.3240, 0.4262,
        0.5719, 0.6528, 0.7590, 1.0,
    ]  # fmt: skip
    assert [each <= 0.05 for each in corrected(chances)] == [True] * 4 + [False] * 11
    assert corrected([]) == []
    assert corrected(chances[::-1]) == corrected(chances)[::-1]


def test_a_row_says_in_words_what_its_figures_are() -> None:
    groups = {"D-1": ErrorCount(1_210, 5), "D-2": ErrorCount(120_000, 250), "D-3": ErrorCount(0, 0)}
    says = {each.name: each.says for each in compared(groups)}
    assert says["D-1"] == "5 in 1,210, house 2.1 per 1,000: may be chance."
    assert says["D-3"] == "0 in 0, house 2.1 per 1,000: nothing to compare."
    worse = compared(groups | {"D-4": ErrorCount(1_210, 20)})[-1]
    assert worse.says == "20 in 1,210, house 2.2 per 1,000: more than chance explains."
    assert worse.outside == "99.8 %"


def test_a_house_without_an_error_names_nobody() -> None:
    groups = {"D-1": ErrorCount(100, 0), "D-2": ErrorCount(50, 0)}
    assert [each.verdict for each in compared(groups)] == ["chance", "chance"]
    assert at_least(1, 100, 0.0) == 0
    assert list(trend({"2026-11-20": ErrorCount(100, 0)}, 0.0, 5)) == []


def test_dollars_of_patrons_and_of_the_house_are_never_set_off() -> None:
    both = ErrorCount(10, 1, short=1_500).plus(ErrorCount(10, 1, over=1_000))
    assert both == ErrorCount(20, 2, 1_500, 1_000)


# -- by chance ------------------------------------------------------------------------------------


def test_few_floors_without_a_bad_dealer_name_one() -> None:
    assert floors_that_name_one(100, seed=1) <= 5


def test_a_fourfold_rate_is_found_and_an_equal_one_is_not() -> None:
    assert found_of_fourfold(50, seed=2) >= 45
    assert found_of_fourfold(50, seed=2, times=1) <= 3


def test_a_trend_seldom_alarms_without_a_bad_dealer_and_does_with_one() -> None:
    assert alarming_floors(10, seed=3) <= 1
    days = {f"{day:02d}": ErrorCount(1_000, 2) for day in range(30)}
    assert any(each.alarm for each in trend(days, DEMO, decision(DEALERS, 30)))


@pytest.mark.long
def test_of_1000_floors_without_a_bad_dealer_at_most_50_name_one() -> None:
    assert floors_that_name_one(1_000, seed=11) <= 50


@pytest.mark.long
def test_of_1000_dealers_with_a_fourfold_rate_at_least_900_are_found() -> None:
    assert found_of_fourfold(1_000, seed=12) >= 900


@pytest.mark.long
def test_of_1000_floors_without_a_bad_dealer_at_most_50_alarm() -> None:
    assert alarming_floors(1_000, seed=13) <= 50


@pytest.mark.long
@pytest.mark.parametrize(("lines", "true"), [(500, 0.002), (6_000, 0.0021), (33_000, 0.00088)])
def test_an_interval_holds_the_true_rate_95_times_in_100(lines: int, true: float) -> None:
    assert covered(20_000, seed=14, lines=lines, true=true) >= 19_000
