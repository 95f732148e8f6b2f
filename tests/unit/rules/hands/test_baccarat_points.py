"""Baccarat: points, third cards, and the known number of hands each side wins."""

from __future__ import annotations

from itertools import product

import pytest

from ledger.rules.hands.baccarat_points import (
    banker_draws,
    banker_draws_if_known,
    pairs,
    pairs_if_known,
    player_draws,
    player_draws_if_known,
    points_if_known,
    points_of,
    winner,
    winner_if_known,
)

POINTS = """
    Ac 9d      0
    Kc Qd      0
    Tc 9d      9
    7c 8d      5
    Ac Ad      2
    Kc Qd 5h   5
    9c 9d 9h   7
"""


@pytest.mark.parametrize("line", [line for line in POINTS.splitlines() if line.strip()])
def test_627a_a_hand_is_worth_the_last_digit_of_its_sum(line: str) -> None:
    *cards, points = line.split()
    assert points_of(cards) == int(points)


# The Banker's points by the Player's third card 0 to 9, as every layout prints it: D draws.
THIRD_CARDS = """
    0 DDDDDDDDDD
    1 DDDDDDDDDD
    2 DDDDDDDDDD
    3 DDDDDDDDSD
    4 SSDDDDDDSS
    5 SSSSDDDDSS
    6 SSSSSSDDSS
    7 SSSSSSSSSS
"""
CARD = ("Tc", "Ac", "2c", "3c", "4c", "5c", "6c", "7c", "8c", "9c")


@pytest.mark.parametrize("line", [line for line in THIRD_CARDS.splitlines() if line.strip()])
def test_627a_9_the_banker_draws_by_the_players_third_card(line: str) -> None:
    points, row = line.split()
    banker = ["Kc", CARD[int(points)]]
    for third, letter in enumerate(row):
        assert banker_draws(["2c", "3c", CARD[third]], banker) is (letter == "D"), third


def test_627a_9_where_the_player_stands_the_banker_draws_to_5() -> None:
    for points in range(8):
        assert banker_draws(["Kc", "6c"], ["Kc", CARD[points]]) is (points <= 5)


def test_627a_9_nobody_draws_against_a_natural() -> None:
    for natural in ("8c", "9c"):
        assert not player_draws(["Kc", "2c"], ["Kc", natural])
        assert not banker_draws(["Kc", natural], ["Kc", "2c"])
        assert not player_draws(["Kc", natural], ["Kc", "2c"])
        assert not banker_draws(["Kc", "2c"], ["Kc", natural])
    assert player_draws(["Kc", "5c"], ["Kc", "7c"])
    assert not player_draws(["Kc", "6c"], ["Kc", "2c"])


def shoe() -> list[int]:
    """Cards of each points in eight decks."""
    return [128, *[32] * 9]


def taken(left: list[int], values: tuple[int, ...]) -> int:
    """Ways to draw these values in this order, the shoe left without them."""
    ways = 1
    for value in values:
        ways *= left[value]
        left[value] -= 1
    return ways


def test_627a_12_eight_decks_give_each_side_the_known_number_of_hands() -> None:
    wins = dict.fromkeys(("player", "banker", "tie"), 0)
    for first in product(range(10), repeat=4):
        left = shoe()
        ways = taken(left, first)
        player, banker = [CARD[one] for one in first[:2]], [CARD[one] for one in first[2:]]
        # Both hands alike however their two cards lie.
        if first[0] > first[1] or first[2] > first[3]:
            continue
        ways *= (1 + (first[0] < first[1])) * (1 + (first[2] < first[3]))
        for result, more in drawn_out(player, banker, left):
            wins[result] += ways * more
    assert wins == {
        "player": 2_230_518_282_592_256,
        "banker": 2_292_252_566_437_888,
        "tie": 475_627_426_473_216,
    }


def drawn_out(player: list[str], banker: list[str], left: list[int]) -> list[tuple[str, int]]:
    """Every end of the hand, weighed by the ways of two more cards, drawn or not."""
    found = []
    total = sum(left)
    if not player_draws(player, banker):
        if not banker_draws(player, banker):
            return [(winner(player, banker), total * (total - 1))]
        return [
            (winner(player, [*banker, CARD[value]]), count * (total - 1))
            for value, count in enumerate(left)
        ]
    for value, count in enumerate(left):
        three = [*player, CARD[value]]
        if not banker_draws(three, banker):
            found.append((winner(three, banker), count * (total - 1)))
            continue
        for last, of_last in enumerate(left):
            ways = count * (of_last - (last == value))
            found.append((winner(three, [*banker, CARD[last]]), ways))
    return found


PAIRS = """
    Kc Kd   2c 3d   1
    Kc Qd   2c 2d   1
    Kc Kc   2c 2d   2
    Kc Qd   Tc Jd   0
    Kc Qd   2c 3d   0
"""


@pytest.mark.parametrize("line", [line for line in PAIRS.splitlines() if line.strip()])
def test_627a_7_a_7_a_pair_is_of_one_rank_and_third_cards_do_not_count(line: str) -> None:
    cards = line.split()
    count = int(cards.pop())
    assert pairs(cards[:2], cards[2:]) == count
    assert pairs([*cards[:2], "5h"], [*cards[2:], "6h"]) == count


def test_baccarat_hands_with_a_card_not_known_are_none() -> None:
    unknown, known = ["Kc", "??"], ["Kc", "2c"]
    assert points_if_known(unknown) is None
    assert points_if_known(known) == 2
    for evaluate in (player_draws_if_known, banker_draws_if_known, winner_if_known, pairs_if_known):
        assert evaluate(unknown, known) is None
        assert evaluate(known, known) is not None
