"""Bonus hands with the joker: what it may be, what it may not, and how many hands there are."""

from __future__ import annotations

from collections import Counter
from itertools import combinations, product
from math import comb

import pytest

from ledger.rules.hands.cards import DECK
from ledger.rules.hands.joker import (
    ASIA_BONUS,
    JOKER,
    SAIGON_BONUS,
    asia_bonus,
    asia_bonus_if_known,
    saigon_bonus,
    saigon_bonus_if_known,
)

# Cards | the row of 680a.12(c) | why
SAIGON = """
    Ac Ad Ah As Jk | Five aces                  | 6(c)(1)
    Ac Kc Qc Jc Tc | Royal flush, no joker      | 6(c)(2)
    Ac Kc Qc Jc Jk | Royal flush, with a joker  | 6(c)(3)
    Kc Qc Jc Tc Jk | Royal flush, with a joker  | the joker as the ace is still no natural royal
    Ac Kc Jc Tc Jk | Royal flush, with a joker  | the joker in the middle
    9c 8c 7c 6c 5c | Straight flush             | 6(c)(4)
    9c 8c 7c 5c Jk | Straight flush             | completed
    2c 3c 4c 5c Jk | Straight flush             | the joker as a 6 or an ace
    Ac 2c 3c 4c Jk | Straight flush             | 5-4-3-2-A
    Ac Ad Ah Jk 2c | Four-of-a-kind             | the joker as an ace
    Kc Kd Kh Ks Jk | Four-of-a-kind             | five of another kind there are not
    Kc Kd Kh Jk 2c | Three-of-a-kind            | the joker is no king
    Kc Kd Kh Jk Ac | Full house                 | the joker as an ace beside an ace
    Kc Kd Ac Ad Jk | Full house                 | three aces and two kings
    Kc Kd Qc Qd Jk | Two pair                   | the joker makes no full house of kings
    Ac Kc 9c 4c Jk | Flush                      | completed beside an ace
    9c 7c 4c 2c Jk | Flush                      | completed
    9c 8d 7c 6c Jk | Straight                   | completed
    Ac Kd Qc Jc Jk | Straight                   | completed at the 10
    Ac 2d 3c 5c Jk | Straight                   | completed at the 4
    Ac Ad Jk 9c 4d | Three-of-a-kind            | aces
    Ac 9d 9c 4d Jk | Two pair                   | aces and nines
    Ac 9d 8c 4d Jk | No bonus hand              | a pair of aces pays nothing
    9c 9d 8c 4d Jk | No bonus hand              | the joker pairs no 8
    Kc Qd 8c 4d Jk | No bonus hand              | one ace
    Qc Kd Ac 2d Jk | No bonus hand              | no straight round the ace
    9c 9d 8c 4d 2s | No bonus hand              | a pair
    9c 9d 8c 8d 2s | Two pair                   | 6(c)(10)
"""


@pytest.mark.parametrize("row", [row for row in SAIGON.splitlines() if row.strip()])
def test_680a_6_c_the_bonus_hand_is(row: str) -> None:
    cards, category, _ = (part.strip() for part in row.split("|"))
    assert saigon_bonus(cards.split()).category == category


# Hands with the joker among C(52, 4). They are from the published table of five cards of 53 with a
# joker that is an ace or completes a straight or flush, less the 2,598,960 hands without it.
SAIGON_WITH_JOKER = {
    "Five aces": 1,
    "Royal flush, with a joker": 20,
    "Straight flush": 204 - 40 - 20,
    "Four-of-a-kind": 828 - 624,
    "Full house": 4_368 - 3_744,
    "Flush": 7_804 - 5_108,
    "Straight": 20_532 - 10_200,
    "Three-of-a-kind": 63_360 - 54_912,
    "Two pair": 138_600 - 123_552,
}


@pytest.mark.long
def test_680a_6_c_hands_with_the_joker_are_as_many_as_published() -> None:
    found = Counter(saigon_bonus((*four, JOKER)).category for four in combinations(DECK, 4))
    del found["No bonus hand"]
    assert found == SAIGON_WITH_JOKER


# One hand a row of 680a.12(c), lowest first.
PRINTED = (
    "9c 9d 8c 4d 2s",
    "9c 9d 8c 8d 2s",
    "9c 9d 9h 8d 2s",
    "9c 8d 7c 6c 5c",
    "9c 7c 4c 3c 2c",
    "9c 9d 9h 2d 2s",
    "9c 9d 9h 9s 2s",
    "9c 8c 7c 6c 5c",
    "Kc Qc Jc Tc Jk",
    "Ac Kc Qc Jc Tc",
    "Ac Ad Ah As Jk",
)


def test_680a_12_c_the_rows_rank_in_the_printed_order() -> None:
    assert [saigon_bonus(row.split("|")[0].split()).value for row in PRINTED] == list(
        range(len(SAIGON_BONUS))
    )


# Seven cards | the row of 659a.12(b) | why
ASIA = """
    8c 8d 8h 8s Kc Kd Kh | Three-of-a-kind and four 8s               | 6(d)(1)
    8c 8d 8h 8s Ac Ad Ah | Three-of-a-kind and four 8s               | three aces
    8c 8d 8h 8s Ac Ad Jk | Three-of-a-kind and four 8s, with a joker | the third ace
    8c 8d 8h 8s Kc Kd Jk | Four-of-a-kind                            | the joker is no king
    8c 8d 8h 8s Kc Kd 2h | Four-of-a-kind                            | a pair
    8c 8d 8h 9s 9c 9d 9h | Four-of-a-kind                            | four 9s and three 8s
    8c 8d 8h Jk Kc Kd Kh | Full house                                | the joker is no 8
    Ac Ad Ah As Jk 2c 3d | Five aces                                 | 6(d)(2)
    Ac Ad Ah Jk 2c 2d 2h | Four-of-a-kind                            | four aces
    Ac Kc Qc Jc Tc 2d 2h | Royal flush                               | 6(d)(3)
    Ac Kc Qc Tc Jk 2d 2h | Royal flush                               | with the joker
    Kc Qc Jc Tc 9c Jk 2h | Royal flush                               | before a straight flush
    9c 8c 7c 6c 5c 2d Ah | Natural straight flush                    | 6(d)(4)
    9c 8c 7c 6c 5c 2d Jk | Natural straight flush                    | the joker is not used
    5c 4c 3c 2c Ac Kd Kh | Natural straight flush                    | ace low
    9c 8c 7c 5c Jk 2d Ah | Straight flush with a joker               | 6(d)(5)
    4c 3c 2c Ac Jk 9d 8h | Straight flush with a joker               | ace low
    9c 8c 7c 5c Jk 9d 9h | Straight flush with a joker               | and three of a kind it is not
    Kc Kd Kh Ks Jk 2d 3h | Four-of-a-kind                            | 6(d)(6)
    9c 8d 7h 6s 4c 3d 2h | 9-high                                    | 6(d)(7)
    9c 8d 7h 5s 4c 3d 2h | 9-high                                    | 6(d)(7)
    9c 8c 7c 6c 4c 3d 2h | 9-high                                    | before a flush
    9c 8d 7h 6s 5c 3d 2h | Straight                                  | 6-5 is a straight
    9c 8d 6h 5s 4c 3d 2h | Straight                                  | no 7
    9c 8d 7h 6s 4c 3d Jk | Straight                                  | the joker is no 2 of a 9-high
    9c 8d 7h 6s 4c 2d 2h | No bonus hand                             | a pair
    Kc Kd Kh Ac Jk 2d 3h | Full house                                | 6(d)(8)
    Kc Kd Kh 2c 2d 2h 7s | Full house                                | two threes of a kind
    9c 7c 4c 3c 2c Kd Kh | Flush                                     | 6(d)(9)
    9c 7c 4c 2c Jk Kd Kh | Flush                                     | with the joker
    Kc Kd Kh 2c 7d 9s Jc | Three-of-a-kind                           | 6(d)(10)
    Ac Ad Jk 2c 7d 9s Jh | Three-of-a-kind                           | aces
    9c 8d 7h 6s 5c 9h 9d | Three-of-a-kind                           | before a straight
    9c 8d 7h 6s 5c Ah Ad | Straight                                  | 6(d)(11)
    9c 8d 7h 5s Jk Ah Kd | Straight                                  | with the joker
    Kc Kd 7h 7s 2c 2h Jk | No bonus hand                             | three pairs and one ace
    Kc Qd 9h 7s 2c 3h Jk | No bonus hand                             | one ace
"""


@pytest.mark.parametrize("row", [row for row in ASIA.splitlines() if row.strip()])
def test_659a_6_d_the_bonus_hand_is(row: str) -> None:
    cards, category, _ = (part.strip() for part in row.split("|"))
    assert asia_bonus(cards.split()).category == category


def test_659a_6_d_the_list_ranks_in_the_printed_order() -> None:
    best = {}
    for row in ASIA.strip().splitlines():
        cards, category, _ = (part.strip() for part in row.split("|"))
        best[category] = asia_bonus(cards.split())
    assert [one.category for one in sorted(best.values())] == list(ASIA_BONUS)


@pytest.mark.long
def test_659a_6_d_1_three_aces_with_the_joker_add_6_hands_to_48() -> None:
    rest = [card for card in (*DECK, JOKER) if card[0] != "8"]
    eights = ("8c", "8d", "8h", "8s")
    found = Counter(asia_bonus((*eights, *three)).category for three in combinations(rest, 3))
    assert found["Three-of-a-kind and four 8s"] == 48
    assert found["Three-of-a-kind and four 8s, with a joker"] == 6
    assert sum(found.values()) == comb(49, 3)


def test_659a_6_d_2_there_are_1128_hands_of_five_aces() -> None:
    aces = ("Ac", "Ad", "Ah", "As", JOKER)
    others = [card for card in DECK if card[0] != "A"]
    found = Counter(asia_bonus((*aces, *two)).category for two in combinations(others, 2))
    assert found == {"Five aces": 1128}


@pytest.mark.parametrize("ranks", ["9876432", "9875432"])
def test_659a_6_d_7_a_9_high_is_one_however_it_is_suited(ranks: str) -> None:
    hands = product(*([rank + suit for suit in "cdhs"] for rank in ranks))
    found = Counter(asia_bonus(cards).category for cards in hands)
    assert found == {"9-high": 4**7}


def test_a_bonus_hand_with_a_card_not_known_is_none() -> None:
    assert saigon_bonus_if_known(["Ac", "Ad", "Ah", "As", "??"]) is None
    assert asia_bonus_if_known(["Ac", "Ad", "Ah", "As", "Jk", "2c", "??"]) is None
    assert saigon_bonus_if_known(["Ac", "Ad", "Ah", "As", "Jk"]) is not None
    assert asia_bonus_if_known(["Ac", "Ad", "Ah", "As", "Jk", "2c", "3c"]) is not None
