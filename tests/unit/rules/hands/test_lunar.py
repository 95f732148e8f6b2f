"""Lunar Poker's hands: the order, ace-king, the Super Wager and the second combination."""

from __future__ import annotations

from itertools import combinations, pairwise

import pytest

from ledger.rules.engine.odds import row
from ledger.rules.hands.cards import DECK
from ledger.rules.hands.lunar import (
    ACE_KING,
    combinations_in,
    forced_discard,
    holds_ace_king,
    holds_ace_king_queen,
    paid_rows,
    qualifies,
    same_colored_five,
    same_colored_straight,
    super_hand,
    super_hand_if_known,
)
from ledger.rules.hands.poker import (
    FLUSH,
    FOUR_OF_A_KIND,
    FULL_HOUSE,
    PAIR,
    ROYAL_FLUSH,
    STRAIGHT,
    STRAIGHT_FLUSH,
    THREE_OF_A_KIND,
    TWO_PAIR,
    hand_of,
    is_a,
)

BET = [
    row("Royal flush", is_a(ROYAL_FLUSH), "100 to 1"),
    row("Straight flush", is_a(STRAIGHT_FLUSH), "50 to 1"),
    row("Four-of-a-kind", is_a(FOUR_OF_A_KIND), "20 to 1"),
    row("Full house", is_a(FULL_HOUSE), "7 to 1"),
    row("Flush", is_a(FLUSH), "5 to 1"),
    row("Straight", is_a(STRAIGHT), "4 to 1"),
    row("Three-of-a-kind", is_a(THREE_OF_A_KIND), "3 to 1"),
    row("Two pair", is_a(TWO_PAIR), "2 to 1"),
    row("One pair", is_a(PAIR), "1 to 1"),
    row("Ace-king", is_a(ACE_KING), "1 to 1"),
]

# Cards | paid in all by the best-paying second | by the next best | why
PAID = """
    As Ah Kd 8c 9h    |   2 |   2 | the printed example of 11(e)(1)(ii)
    Ks Kh Kd Kc Ah    |  21 |  20 | four kings, and the ace beside one
    As Ah 5d 5c Kh    |   3 |   2 | two pair and ace-king
    As Ah Kd Kc 5h    |   2 |   2 | ace-king takes only cards of the two pair
    As Kh Qd Jc Th    |   4 |   4 | ace-king takes only cards of the straight
    As Ad Ac Kc 5h    |   4 |   3 | three aces and ace-king
    As Ad Ac Kc Kh    |   7 |   7 | a full house takes all five
    Ah Kh 9h 8h 2h    |   5 |   5 | a flush takes all five
    Ah Kh Qh Jh Th    | 100 | 100 | a royal flush takes all five
    Ah Ks 9h 8h 2h    |   1 |   1 | ace-king alone
    9s 9h Ad Kc 2h    |   2 |   2 | a pair and ace-king
    9s 9h Qd Kc 2h    |   1 |   1 | a pair alone
    9s 7h Qd Kc 2h    |   0 |   0 | nothing
    As Kh Qd Jc Th 9s |   8 |   8 | two straights
    3d 4d 5s 6s 7c 4c |   8 |   8 | two straights by either 4
    Ah Kh 9h 8h 7h 2h |  10 |  10 | two flushes
    As Ah Kd Kc Qh Qd |   4 |   4 | two two pairs
    As Ah Ad Ac Kh Kd |  27 |  27 | four aces, and a full house with the kings
    As Ah Ad Kc Kh Kd |  14 |  14 | two full houses
    As Ah Ad Kc Kh Qd |   7 |   7 | the queen makes no combination
    As Ah Kd Kc Qh Jd |   2 |   2 | nothing with the queen or the jack
    Ah Kh 9h 8h 7h Ks |   6 |   6 | a flush and a pair of kings
    Ah Kh Qh Jh Th 9h | 150 | 150 | a royal flush and a straight flush
    Ah Kh Qh Jh Th 9s | 104 | 104 | a royal flush and a straight
    9h 8h 7h 6h 5h 2h |  55 |  55 | a straight flush and a flush
    Ac As Qd Jc Kh Th |   8 |   8 | a straight by either ace
    As Ah 5d 5c 2h 3d |   2 |   2 | no second one
"""


@pytest.mark.parametrize("line", [line for line in PAID.splitlines() if line.strip()])
def test_589_11_e_1_ii_the_bet_is_paid_for_two_combinations_at_most(line: str) -> None:
    cards, best, next_, _ = (part.strip() for part in line.split("|"))
    for second, expected in (("best_paying", best), ("next_best", next_)):
        found = combinations_in(cards.split())
        paid = paid_rows(found, BET, second)
        assert len(paid) <= 2
        assert sum(one.ratio for one in paid) == int(expected), second


def test_589_11_e_1_ii_the_first_combination_is_that_of_the_best_hand() -> None:
    for five in list(combinations(DECK, 5))[::977]:
        hand, found = hand_of(five), combinations_in(five)
        first = found[0].category if found else "nothing"
        if hand.category == "No pair":
            assert first == (ACE_KING if qualifies(hand) else "nothing")
        else:
            assert first == hand.category


def test_589_12_c_the_second_row_follows_the_odds_given_and_not_ours() -> None:
    generous = [
        one._replace(ratio=one.ratio * 100) if one.label == "Ace-king" else one for one in BET
    ]
    cards = ["As", "Ks", "Qd", "Jd", "Td", "Kd"]
    assert [one.label for one in paid_rows(combinations_in(cards), BET)] == ["Straight", "Straight"]
    paid = paid_rows(combinations_in(cards), generous)
    assert [one.label for one in paid] == ["Straight", "Ace-king"]


# Higher | lower; = a tie. 589.6(c) after the rank inside the category.
ORDER = """
    6c 5d 4h 3s 2c > 5c 4d 3h 2s Ac
    9c 9d Kh 3s 2c > 5c 5d Ah 3s 2d
    9c 9d 9h 3s 2c > 5c 5d 5h As Kd
    9c 9d 2h 2s 3c > 8c 8d 7h 7s Ad
    Ac Kd 5h 3s 2c > Ad Qd Jh Ts 9d
    Ac Kd 5h 4s 2c > Ad Kc 5d 3s 2d
    Ac Kd 5h 4s 2c = Ad Kc 5d 4h 2d
    2c 2d 4h 5s 7c > Ac Kd Qh Js 9c
"""


@pytest.mark.parametrize("line", [line for line in ORDER.splitlines() if line.strip()])
def test_589_6_c_the_card_not_in_the_other_hand_decides_last(line: str) -> None:
    higher, lower = (hand_of(part.split()) for part in line.replace("=", ">").split(">"))
    assert higher >= lower
    assert (higher == lower) is ("=" in line)


QUALIFIES = """
    Ac Kd 5h 3s 2c   yes
    Ac Kd Qh Js 9c   yes
    2c 2d 5h 3s 4c   yes
    Ac 5d 4h 3s 2c   yes
    Ac Qd Jh Ts 9c   no
    Kc Qd Jh Ts 8c   no
"""


@pytest.mark.parametrize("line", [line for line in QUALIFIES.splitlines() if line.strip()])
def test_589_6_b_10_a_dealer_qualifies_with_an_ace_king_or_better(line: str) -> None:
    *cards, answer = line.split()
    assert qualifies(hand_of(cards)) is (answer == "yes")


def test_589_11_e_2_ii_a_dealer_who_does_not_qualify_gives_up_the_only_highest_card() -> None:
    assert forced_discard(["3c", "Qd", "Ah", "Ts", "9c"]) == "Ah"
    for five in list(combinations(DECK, 5))[::4999]:
        if not qualifies(hand_of(five)):
            assert len({card[0] for card in five}) == 5


def pays(cards: str, ace_king: object) -> str:
    """The Super Wager's row, the table read from the top as 589.12(b) prints it."""
    assert callable(ace_king)
    found = super_hand(cards.split())
    tests = (
        ("Four-of-a-kind", is_a(FOUR_OF_A_KIND)(found)),
        ("Same-colored straight", same_colored_straight(found)),
        ("Full house", is_a(FULL_HOUSE)(found)),
        ("Flush", is_a(FLUSH)(found)),
        ("Straight", is_a(STRAIGHT)(found)),
        ("Three-of-a-kind", is_a(THREE_OF_A_KIND)(found)),
        ("Ace-king", ace_king(found)),
        ("Same colored five", same_colored_five(found)),
    )
    return next((name for name, holds in tests if holds), "lost")


# Cards | with an ace-king | with an ace-king-queen
SUPER = """
    9c 9d 9h 9s 2c | Four-of-a-kind        | Four-of-a-kind
    9c 8s 7c 6s 5c | Same-colored straight | Same-colored straight
    9h 8d 7h 6d 5h | Same-colored straight | Same-colored straight
    9h 8h 7h 6h 5h | Same-colored straight | Same-colored straight
    Ah Kh Qh Jh Th | Same-colored straight | Same-colored straight
    9h 8h 7h 6h 5s | Straight              | Straight
    9c 9d 9h 2s 2c | Full house            | Full house
    Ac 9c 7c 3c 2c | Flush                 | Flush
    9c 9d 9h As Kc | Three-of-a-kind       | Three-of-a-kind
    Ac Kd Qh 9s 2c | Ace-king              | Ace-king
    Ac Kd Jh 9s 2c | Ace-king              | lost
    Ac Ad Kh 9s 2c | Ace-king              | lost
    Ac Ks Jc 9s 2c | Ace-king              | Same colored five
    Ac As Kc 9s 2c | Ace-king              | Same colored five
    9c 9s 7c 7s 2c | Same colored five     | Same colored five
    9c 9s 7c 7s 2d | lost                  | lost
"""


@pytest.mark.parametrize("line", [line for line in SUPER.splitlines() if line.strip()])
def test_589_6_d_the_super_wager_pays_the_highest_ranking_row(line: str) -> None:
    cards, printed, licensed = (part.strip() for part in line.split("|"))
    assert pays(cards, holds_ace_king) == printed
    assert pays(cards, holds_ace_king_queen) == licensed


def test_589_12_a_an_instant_payout_is_a_royal_or_a_straight_flush_of_five() -> None:
    royal, low = hand_of(["Ah", "Kh", "Qh", "Jh", "Th"]), hand_of(["Ah", "2h", "3h", "4h", "5h"])
    assert is_a(ROYAL_FLUSH)(royal)
    assert not is_a(STRAIGHT_FLUSH)(royal)
    assert is_a(STRAIGHT_FLUSH)(low)


def test_589_6_b_combinations_come_highest_first() -> None:
    found = combinations_in(["Ah", "Ad", "Kh", "Kd", "Qh", "Qs"])
    assert all(high[:2] >= low[:2] for high, low in pairwise(found))
    assert {one.category for one in found} == {TWO_PAIR, PAIR, ACE_KING}


def test_a_lunar_hand_with_a_card_not_known_is_none() -> None:
    cards = ["Ah", "Ad", "Kh", "Kd", "??"]
    assert super_hand_if_known(cards) is None
    assert super_hand_if_known([*cards[:4], "2c"]) is not None
    assert paid_rows((), BET) == ()
