"""The best five of more: two of the hand and three of the board, and the order of an odd chip."""

from __future__ import annotations

import pytest

from ledger.rules.hands.best_five import (
    best_hand,
    best_hand_if_known,
    highest_by_suit,
    lowest_by_suit,
    omaha_high,
    omaha_high_if_known,
    omaha_low,
    omaha_low_if_known,
)
from ledger.rules.hands.lowball import ace_to_five, eight_or_better
from ledger.rules.hands.poker import hand_of

# Hand, board, the best high, the best eight-or-better low.
DEALS = """
    Ah Kh 2c 3d 4s | Qh Jh 9h 8c 7d | Ah Kh Qh Jh 9h | none           | two and three hearts
    Ah 2c 3d 4s 5c | Kh Qh Jh Th 9s | Ah 5c Kh Qh Jh | none           | four hearts on the board
    Ac Ad Ah As Kc | 2c 7d 8h Js Qd | Ac Ad Qd Js 8h | none           | four aces held are a pair
    Kc Kd Qs Js 9s | 2h 2d 2c 2s 3h | Kc Kd 2h 2d 2c | none           | four 2s there are three
    Ac 2d Kh Qs Js | 3c 4d 5h 9c 9d | Ac 2d 3c 4d 5h | Ac 2d 3c 4d 5h | the same five both ways
    Ac 2d 9h 9s Kc | 9c 3d 4h 8s 8d | 9h 9s 9c 8s 8d | Ac 2d 3d 4h 8s | other cards for the low
    Ac 2d 3h 4s 5c | 8c 8d Ks Qh Jh | 8c 8d Ks Ac 5c | none           | one low rank on the board
    Ac 2d Kc Kd Ks | 2h 3s 8c 7d Qh | Kc Kd Qh 8c 7d | Ac 2d 3s 7d 8c | the 2 of the board not used
    6h 5h 4h 3h Kc | 2h Ah 7h Qs Qd | 6h 5h Ah 7h 2h | 4h 3h 2h Ah 7h | a flush is a low as well
"""


@pytest.mark.parametrize("row", [row for row in DEALS.splitlines() if row.strip()])
def test_637a_19_k_two_of_the_hand_and_three_of_the_board(row: str) -> None:
    hole, board, high, low, _ = (part.split() for part in row.split("|"))
    best = omaha_low(hole, board)
    assert eight_or_better(best) is (low != ["none"])
    if low != ["none"]:
        assert best == ace_to_five(low)
    assert omaha_high(hole, board) == hand_of(high)


def test_637a_19_k_2_ii_the_odd_chip_of_tied_highs_goes_by_suit_from_the_highest_card() -> None:
    board = ["Ah", "Kd", "7c", "5s", "2h"]
    spades = ["As", "Ks", "9d", "8c", "3d"]
    clubs = ["Ac", "Kc", "9s", "8d", "3s"]
    assert omaha_high(spades, board) == omaha_high(clubs, board)
    assert highest_by_suit(spades, board) > highest_by_suit(clubs, board)


def test_637a_19_k_2_iv_a_card_that_both_share_leaves_the_odd_chip_to_the_next_one() -> None:
    board = ["As", "Kd", "7c", "5s", "2h"]
    of_hearts = ["Kh", "Qh", "9d", "8c", "3d"]
    of_clubs = ["Kc", "Qc", "9s", "8d", "3s"]
    assert omaha_high(of_hearts, board) == omaha_high(of_clubs, board)
    assert highest_by_suit(of_hearts, board)[0] == highest_by_suit(of_clubs, board)[0]
    assert highest_by_suit(of_hearts, board) > highest_by_suit(of_clubs, board)


def test_637a_19_k_2_iii_the_odd_chip_of_tied_lows_goes_to_the_lowest_card_by_suit() -> None:
    board = ["3h", "4d", "8c", "Ks", "Qs"]
    clubs = ["Ac", "2d", "Kh", "Jh", "Td"]
    spades = ["As", "2c", "Kc", "Jc", "Tc"]
    assert omaha_low(clubs, board) == omaha_low(spades, board)
    assert lowest_by_suit(clubs, board) < lowest_by_suit(spades, board)


def test_589_11_d_2_ii_the_best_five_of_six_may_leave_any_card_out() -> None:
    six = ["9h", "8h", "7h", "6h", "5h", "Ac"]
    assert best_hand(six) == hand_of(six[:5])
    assert best_hand(["Ac", *six[:5]]) == hand_of(six[:5])
    assert best_hand(["Ac", "Ad", "Kc", "Kd", "Qs", "Qh"]) == hand_of(
        ["Ac", "Ad", "Kc", "Kd", "Qs"]
    )


def test_the_best_of_cards_with_one_not_known_is_none() -> None:
    hole, board = ["Ah", "Kh", "2c", "3d", "??"], ["Qh", "Jh", "9h", "8c", "7d"]
    assert omaha_high_if_known(hole, board) is None
    assert omaha_low_if_known(hole, board) is None
    assert best_hand_if_known([*hole, "Qh"]) is None
    assert best_hand_if_known([*hole[:4], *board]) == hand_of(["Ah", "Kh", "Qh", "Jh", "9h"])
    assert omaha_high_if_known([*hole[:4], "4s"], board) == hand_of(["Ah", "Kh", "Qh", "Jh", "9h"])
    assert omaha_low_if_known([*hole[:4], "4s"], board) is not None
