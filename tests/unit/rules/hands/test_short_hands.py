"""Hands of two, three and six cards: counts, the mini-royal, and what House Money pays."""

from __future__ import annotations

from collections import Counter
from itertools import combinations, pairwise

import pytest

from ledger.rules.hands.cards import DECK
from ledger.rules.hands.poker import ROYAL_FLUSH, STRAIGHT_FLUSH, hand_of
from ledger.rules.hands.short_hands import (
    is_super_royal,
    mini_royal_flush,
    queen_high,
    six_card_hand,
    six_card_hand_if_known,
    three_card_hand,
    three_card_hand_if_known,
    two_card_hand,
    two_card_hand_if_known,
)

THREE_CARDS = {
    "Straight flush": 48,
    "Three-of-a-kind": 52,
    "Straight": 720,
    "Flush": 1_096,
    "Pair": 3_744,
    "No pair": 16_440,
}


def test_649a_6_there_are_22100_three_card_hands_in_741_classes() -> None:
    hands = [three_card_hand(three) for three in combinations(DECK, 3)]
    assert Counter(hand.category for hand in hands) == THREE_CARDS
    assert {hand.value for hand in hands} == set(range(741))
    assert sum(mini_royal_flush(hand) for hand in hands) == 4
    assert sum(map(queen_high, hands)) == 22_100 - 6_720


# Highest first.
ORDER = """
    Ac Kc Qc
    Kc Qc Jc
    3c 2c Ac
    Ac Ad Ah
    2c 2d 2h
    Ac Kd Qh
    4c 3d 2h
    3c 2d Ah
    Ac Kc Jc
    5c 3c 2c
    Ac Ad Kh
    Ac Ad 2h
    Kc Kd Ah
    2c 2d 3h
    Ac Kd Jh
    Kc Ad 2h
    5c 3d 2h
"""


def test_649a_6_a_straight_outranks_a_flush_and_a_2_3_is_the_lowest_one() -> None:
    hands = [three_card_hand(line.split()) for line in ORDER.strip().splitlines()]
    assert all(higher > lower for higher, lower in pairwise(hands))


def test_649a_6_e_a_mini_royal_flush_is_the_highest_straight_flush_of_one_suit() -> None:
    hands = {three_card_hand(three) for three in combinations(DECK, 3)}
    assert [hand for hand in hands if mini_royal_flush(hand)] == [max(hands)]
    assert max(hands).category == STRAIGHT_FLUSH
    assert not mini_royal_flush(three_card_hand(["Ac", "Kc", "Qd"]))


# 649a.6(d)(8): cards | super royal | category of the best five
SIX = """
    Ah Kh Qh Jh Th 9h | yes | Royal flush
    Ah Kh Qh Jh Th 9s | no  | Royal flush
    Ah Kh Qh Jh Th 8h | no  | Royal flush
    Kh Qh Jh Th 9h 8h | no  | Straight flush
    Ac Kd Qh Js Tc 9d | no  | Straight
    Ah Ad Ac As Kh Kd | no  | Four-of-a-kind
    Ah Ad Kc Ks 2h 2d | no  | Two pair
"""


@pytest.mark.parametrize("line", [line for line in SIX.splitlines() if line.strip()])
def test_649a_6_d_8_a_super_royal_is_six_in_a_row_of_one_suit(line: str) -> None:
    cards, answer, category = (part.strip() for part in line.split("|"))
    found = six_card_hand(cards.split())
    assert is_super_royal(found) is (answer == "yes")
    assert found.category == category


def test_649a_6_d_a_super_royal_is_a_royal_flush_where_no_row_names_it() -> None:
    found = six_card_hand(["Ah", "Kh", "Qh", "Jh", "Th", "9h"])
    assert (found.category, found.best) == (ROYAL_FLUSH, hand_of(["Ah", "Kh", "Qh", "Jh", "Th"]))


TWO = """
    Ac Kc   Ace-king suited
    Ac Kd   Ace-king of two suits
    Kc Qc   Two-card straight flush
    Kc Qd   Two-card straight
    Ac 2c   Two-card straight flush
    2c Ad   Two-card straight
    Tc Kd   No House Money hand
    Tc Jd   Two-card straight
    9c 9d   Pair
    9c 9c   Pair
    Kc 2c   No House Money hand
    4c 6c   No House Money hand
"""


@pytest.mark.parametrize("line", [line for line in TWO.splitlines() if line.strip()])
def test_633a_13_n_the_first_two_cards_are(line: str) -> None:
    first, second, category = line.split(maxsplit=2)
    assert two_card_hand([first, second]).category == category
    assert two_card_hand([second, first]).category == category


def test_633a_1_two_cards_of_one_deck_are_as_many_as_they_should() -> None:
    assert Counter(two_card_hand(two).category for two in combinations(DECK, 2)) == {
        "Ace-king suited": 4,
        "Ace-king of two suits": 12,
        "Two-card straight flush": 48,
        "Two-card straight": 144,
        "Pair": 78,
        "No House Money hand": 1326 - 286,
    }


def test_a_short_hand_with_a_card_not_known_is_none() -> None:
    assert three_card_hand_if_known(["Ac", "Kc", "??"]) is None
    assert six_card_hand_if_known(["Ah", "Kh", "Qh", "Jh", "Th", "??"]) is None
    assert two_card_hand_if_known(["Ac", "??"]) is None
    assert three_card_hand_if_known(["Ac", "Kc", "Qc"]) is not None
    assert six_card_hand_if_known(["Ah", "Kh", "Qh", "Jh", "Th", "9h"]) is not None
    assert two_card_hand_if_known(["Ac", "Kc"]) is not None
