"""Three dice as a throw, against a table of totals by the defensive die read from 661a.1."""

from __future__ import annotations

from collections import Counter

from ledger.edges.three_dice_football import outcomes
from ledger.rules.hands.dice import THROWS, Throw
from tests.unit.games.test_661a_three_dice_football import KIND


def test_661a_1_every_throw_is_one_of_trips_turnover_penalty_no_gain_or_a_gain() -> None:
    assert len(set(THROWS)) == 216
    for throw in THROWS:
        kind = KIND[str(throw.first + throw.second)][str(throw.defensive)]
        if throw.first == throw.second == throw.defensive:
            kind = "*"
        assert throw.triple is (kind == "*")
        assert throw.turnover is (kind == "T")
        assert throw.penalty is (kind == "P")
        assert throw.gain == (int(kind) if kind.isdigit() else 0)


def test_661a_1_six_trips_three_turnovers_and_the_yards_of_the_rest() -> None:
    counted: Counter[str | int] = Counter()
    for throw in THROWS:
        yards = -1 if throw.penalty else throw.gain
        counted["trips" if throw.triple else "turnover" if throw.turnover else yards] += 1
    assert counted["trips"] == 6
    assert counted["turnover"] == 3
    assert counted == Counter(outcomes())


def test_661a_1_three_ones_are_a_trips_td_and_no_gain_of_one() -> None:
    throw = Throw(1, 1, 1)
    assert throw.triple
    assert throw.gain == 0
    assert not throw.penalty


def test_661a_8_a_ones_are_counted_on_all_three_dice() -> None:
    assert [Throw(*dice).ones for dice in ((2, 3, 4), (1, 3, 4), (2, 1, 1), (1, 1, 1))] == [
        0,
        1,
        2,
        3,
    ]
