"""Laws of rounding: the house keeps less than a chip, and the parts of a pot sum to it."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import strategies as st

from ledger.rules.engine import game
from ledger.rules.poker import pots
from tests.property.finance.floors import floor, worked_out
from tests.suite.budget import budget, examples

if TYPE_CHECKING:
    from collections.abc import Callable

UNITS = st.sampled_from([1, 5, 25, 50, 100])


def law_of_breakage(cents: int, odds: tuple[int, int], unit: int) -> None:
    exact = Fraction(cents * odds[0], odds[1])
    paid = game.broken(exact, unit)
    assert 0 <= exact - paid < unit
    assert paid % unit == 0


@examples(
    100,
    2_000,
    cents=st.integers(0, 10**9),
    odds=st.tuples(st.integers(0, 1_000), st.integers(1, 1_000)),
    unit=UNITS,
)
def test_what_a_payment_leaves_out_is_less_than_a_chip(
    cents: int, odds: tuple[int, int], unit: int
) -> None:
    law_of_breakage(cents, odds, unit)


def test_the_law_of_breakage_is_broken_by_a_model_that_rounds_up(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    law_of_breakage(700, (6, 5), 100)
    monkeypatch.setattr(game, "broken", lambda exact, unit: -int(-exact // unit) * unit)
    with pytest.raises(AssertionError):
        law_of_breakage(700, (6, 5), 100)


@budget("seeds", range(1), range(12))
def test_every_win_of_a_floor_is_paid_to_less_than_a_dollar_below_what_is_owed(
    seeds: range,
) -> None:
    for seed in seeds:
        for ruling in worked_out(floor(seed))[1]:
            for each in ruling.get("settlements", ()):
                assert 0 <= Fraction(each["exact_net"]) - each["net"] < 100 or each["net"] < 0


def law_of_pots(
    put_in: dict[int, int],
    contending: list[int],
    divide: Callable[[int, list[int], int], dict[int, int]],
    unit: int,
) -> None:
    """Side pots sum to what was put in, and the parts of each pot to the pot."""
    found = pots.pots_of(put_in, contending, set(contending))
    assert sum(pot.cents for pot in found) == sum(put_in.values())
    for pot in found:
        even = pot.cents // len(pot.players) // unit * unit
        odd = divide(pot.cents - even * len(pot.players), pot.players, unit)
        assert sum(odd.values()) + even * len(pot.players) == pot.cents
        assert all(cents >= 0 for cents in odd.values())


@examples(
    100,
    2_000,
    put_in=st.dictionaries(st.integers(1, 8), st.integers(0, 20_000), min_size=2),
    folded=st.sets(st.integers(1, 8), max_size=3),
    unit=UNITS,
)
def test_the_parts_of_a_pot_sum_to_it(put_in: dict[int, int], folded: set[int], unit: int) -> None:
    contending = [seat for seat in put_in if seat not in folded] or list(put_in)
    law_of_pots(put_in, contending, pots._handed_out, unit)


def test_the_law_of_pots_is_broken_by_a_model_that_keeps_the_odd_chip() -> None:
    def kept(over: int, tied: Any, unit: int) -> dict[int, int]:  # noqa: ANN401 - as the product
        return {}

    law_of_pots({1: 3_400, 2: 3_400, 3: 3_300}, [1, 2], pots._handed_out, 100)
    with pytest.raises(AssertionError):
        law_of_pots({1: 3_400, 2: 3_400, 3: 3_300}, [1, 2], kept, 100)
