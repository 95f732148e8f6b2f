"""Asia Poker's hands of four, two and one card: the chapter's own order, and the joker in it."""

from __future__ import annotations

from collections import Counter
from itertools import combinations, pairwise

import pytest

from ledger.rules.hands.asia import (
    CATEGORIES,
    high_hand,
    high_hand_if_known,
    rightly_set,
    small_hand,
    small_hand_if_known,
)
from ledger.rules.hands.cards import DECK

# 659a.6(b), highest first; hands beside one another are a copy.
AS_PRINTED = """
    Ac Ad Ah As = Ac Ad Ah Jk
    Ac Kc Qc Jc = Ac Kc Qc Jk = Kc Qc Jc Jk
    Ac 2c 3c 4c = 2c 3c 4c Jk = Ac 2c 4c Jk
    Kc Qc Jc Tc = Qc Jc Tc Jk
    Qc Jc Tc 9c = Jc Tc 9c Jk
    6c 5c 4c 3c = 5c 4c 3c Jk
    5c 4c 3c 2c = 5c 3c 2c Jk
    Kc Kd Kh Ks
    2c 2d 2h 2s
    Ac Kc Qc Tc = Ac Kc Tc Jk
    Ac Kc Qc 9c
    Ac Qc Jc Tc
    7c 5c 4c 2c
    6c 4c 3c 2c
    Ac Kd Qh Js = Kd Qh Js Jk = Ac Qh Js Jk
    Ac 2d 3h 4s = 2d 3h 4s Jk = Ac 3h 4s Jk
    Kc Qd Jh Ts = Qd Jh Ts Jk
    Qc Jd Th 9s
    6c 5d 4h 3s = 5d 4h 3s Jk
    5c 4d 3h 2s = 5d 3h 2s Jk
    Ac Ad Ah Ks = Ac Ad Ks Jk
    Ac Ad Ah Qs
    Kc Kd Kh As = Kc Kd Kh Jk
    2c 2d 2h 3s
    Ac Ad Kh Ks = Ac Kh Ks Jk
    Ac Ad 2h 2s = Ac 2h 2s Jk
    Kc Kd Qh Qs
    3c 3d 2h 2s
    Ac Ad Kh 9s = Ac Kh 9s Jk
    Ac Ad Kh 8s
    Ac Ad 4h 3s
    Kc Kd Ah Qs
    2c 2d Ah Ks
    2c 2d 5h 4s
    Ac Kd Qh 9s
    Ac Qd Jh 9s
    Kc Qd Jh 9s
    6c 5d 3h 2s
"""


def rows(text: str) -> list[list[list[str]]]:
    return [[hand.split() for hand in line.split("=")] for line in text.strip().splitlines()]


def test_659a_6_b_hands_rank_in_the_printed_order_and_equal_ones_are_copies() -> None:
    table = [[high_hand(cards) for cards in row] for row in rows(AS_PRINTED)]
    for row in table:
        assert len(set(row)) == 1, row
    for higher, lower in pairwise(table):
        assert higher[0] > lower[0], (higher[0], lower[0])
    assert tuple(dict.fromkeys(row[0].category for row in table)) == CATEGORIES[::-1]


# Published counts of four-card hands, the straight flushes and the fours parted as 659a.6(b) does.
FOUR_CARDS = {
    "Four aces": 1,
    "Royal flush": 4,
    "Straight flush": 40,
    "Four-of-a-kind": 12,
    "Flush": 2_816,
    "Straight": 2_772,
    "Three-of-a-kind": 2_496,
    "Two pair": 2_808,
    "Pair": 82_368,
    "No pair": 177_408,
}


@pytest.mark.long
def test_659a_6_b_there_are_270725_high_hands_each_in_its_category() -> None:
    assert Counter(high_hand(four).category for four in combinations(DECK, 4)) == FOUR_CARDS


def test_659a_6_b_3_and_6_a_submission_may_make_a_2_3_4_the_lowest_straight() -> None:
    for wheel, second, lowest in (
        ("Ac 2c 3c 4c", "Kc Qc Jc Tc", "5c 4c 3c 2c"),
        ("Ac 2d 3h 4s", "Kc Qd Jh Ts", "5c 4d 3h 2s"),
    ):
        hands = [cards.split() for cards in (wheel, second, lowest)]
        printed = [high_hand(cards) for cards in hands]
        chosen = [high_hand(cards, ace_low_straight="lowest") for cards in hands]
        assert printed[0] > printed[1] > printed[2]
        assert chosen[1] > chosen[2] > chosen[0]
        assert printed[0].category == chosen[0].category


def test_659a_6_b_3_a_submission_changes_no_hand_but_a_2_3_4() -> None:
    changed = {
        "".join(sorted(card[0] for card in four))
        for four in combinations(DECK[:26], 4)
        if high_hand(four) != high_hand(four, ace_low_straight="lowest")
    }
    assert changed == {"234A"}


def test_659a_6_a_the_joker_takes_the_higher_end_where_a_2_3_4_is_lowest() -> None:
    chosen = high_hand(["2d", "3h", "4s", "Jk"], ace_low_straight="lowest")
    assert chosen == high_hand(["2d", "3h", "4s", "5c"], ace_low_straight="lowest")


def test_659a_6_a_the_joker_in_a_flush_is_the_highest_card_absent_or_an_ace() -> None:
    with_joker = ["Ac", "9c", "5c", "Jk"]
    absent, ace = high_hand(with_joker), high_hand(with_joker, joker_in_flush="ace")
    assert absent == high_hand(["Ac", "Kc", "9c", "5c"])
    assert high_hand(["Ac", "Kc", "Qc", "9c"]) > absent
    assert ace > high_hand(["Ac", "Kc", "Qc", "9c"])
    without = ["Kc", "9c", "5c", "Jk"]
    assert high_hand(without) == high_hand(without, joker_in_flush="ace")
    assert high_hand(without) == high_hand(["Ac", "Kc", "9c", "5c"])


def test_659a_6_a_the_readings_of_the_joker_part_only_in_a_flush_with_an_ace() -> None:
    for three in combinations(DECK[:26], 3):
        cards = [*three, "Jk"]
        same = high_hand(cards) == high_hand(cards, joker_in_flush="ace")
        suited = len({card[1] for card in three}) == 1
        flush = suited and high_hand(cards).category == "Flush"
        assert same is not (flush and any(card[0] == "A" for card in three)), cards


# The joker is an ace and makes a pair of nothing else.
JOKERS = """
    Kc Kd 7h Jk   Pair             a pair of kings and an ace
    Kc Kd Kh Jk   Three-of-a-kind  the joker is no king
    Kc Qd 7h Jk   No pair          one ace
    Ac Qd 7h Jk   Pair             aces
    2c Kd Ah Jk   Pair             K-A-2 is no straight: 6(a)
    2c Ac Kd Jk   Pair             and the joker completes none round the ace
"""


@pytest.mark.parametrize("row", [row for row in JOKERS.splitlines() if row.strip()])
def test_659a_6_a_the_joker_is_an_ace_or_completes(row: str) -> None:
    cards, category = row.split()[:4], row[18:].split("  ", maxsplit=1)[0].strip()
    assert high_hand(cards).category == category


# High | medium | low | rightly set | why
SETTINGS = """
    7c 7d Kh 2s | 7h 7s | Ac | yes | equal pairs: the high hand has two more cards (11(b))
    6c 6d Kh Qs | 7h 7s | Ac | no  | the medium pair is higher
    8c 8d 3h 2s | 7h 7s | Ac | yes | the high pair is higher
    Ac Kd 3h 2s | 7h 7s | Qc | no  | a pair in the medium hand alone
    Ac Kd 9h 2s | Qc Jd | Tc | yes | by the highest card
    Ac 9d 5h 2s | Ad Kc | Qc | no  | the medium hand has the king beside the ace
    Ac Kd 5h 2s | Ad Kc | Qc | yes | the same two, and two more cards
    Kc Kd 5h 2s | Qd Jc | Ac | no  | the low ace is higher than the medium hand
    Kc Kd 5h 2s | Ad Jc | Ac | yes | an ace and a jack against an ace
    Kc Kd 5h 2s | Jk Jc | Ac | yes | the joker is an ace
    Kc Kd 5h 2s | Qd Jc | Jk | no  | the joker is an ace in the low hand too
    Kc Kd 5h 2s | Ac Jk | Qd | no  | a pair of aces in the medium hand
    2c 4c 7c 9c | Ac Ad | Kd | yes | a flush
    2c 2d 3c 3d | Ac Ad | Kd | yes | two pair
"""


@pytest.mark.parametrize("row", [row for row in SETTINGS.splitlines() if row.strip()])
def test_659a_11_b_the_hands_must_fall_in_rank(row: str) -> None:
    high, medium, low, answer, _ = (part.split() for part in row.split("|"))
    hands = high_hand(high), small_hand(medium), small_hand(low)
    assert rightly_set(*hands) is (answer == ["yes"])


def test_659a_6_c_small_hands_compare_by_pair_then_by_the_highest_card_not_in_the_other() -> None:
    order = ["Ac Ad", "Ac Jk", "Kc Kd", "2c 2d", "Ac Kd", "Ac Qd", "Kc Qd", "3c 2d"]
    hands = [small_hand(cards.split()) for cards in order]
    assert hands[0] == hands[1]
    assert all(higher > lower for higher, lower in pairwise(hands[1:]))
    assert small_hand(["Jk"]) == small_hand(["Ah"]) > small_hand(["Kh"]) > small_hand(["2h"])


def test_a_set_hand_with_a_card_not_known_is_none() -> None:
    assert high_hand_if_known(["Ac", "Ad", "Ah", "??"]) is None
    assert small_hand_if_known(["??"]) is None
    assert high_hand_if_known(["Ac", "Ad", "Ah", "Jk"]) == high_hand(["Ac", "Ad", "Ah", "As"])
    assert small_hand_if_known(["Ac"]) == small_hand(["Ac"])
