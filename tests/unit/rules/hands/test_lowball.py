"""Low hands: class counts, the printed best hands, and where the orders part."""

from __future__ import annotations

from collections import Counter
from itertools import combinations, combinations_with_replacement

import pytest

from ledger.rules.hands.cards import DECK, RANKS
from ledger.rules.hands.lowball import (
    Badugi,
    Low,
    ace_high_badugi_if_known,
    ace_high_badugi_of,
    ace_to_five,
    ace_to_five_if_known,
    badugi_if_known,
    badugi_of,
    deuce_to_seven,
    deuce_to_seven_if_known,
    eight_or_better,
)
from ledger.rules.hands.poker import FLUSH, NO_PAIR, STRAIGHT, STRAIGHT_FLUSH


def every_class() -> list[list[str]]:
    """A hand of each class of ranks, suited where five ranks can be."""
    found = []
    for ranks in combinations_with_replacement(RANKS, 5):
        if len(set(ranks)) > 1:
            found.append([rank + suit for rank, suit in zip(ranks, "cdhsc", strict=True)])
        if len(set(ranks)) == 5:
            found.append([rank + "h" for rank in ranks])
    return found


def test_637a_6_d_there_are_7462_deuce_to_seven_classes() -> None:
    lows = {deuce_to_seven(cards) for cards in every_class()}
    assert {low.value for low in lows} == set(range(7462))
    # Ten straights less the wheel, which counts as an ace-high hand; its flush likewise.
    assert Counter(low.category for low in lows)[STRAIGHT] == 9
    assert Counter(low.category for low in lows)[NO_PAIR] == 1278
    assert Counter(low.category for low in lows)[FLUSH] == 1278


def test_637a_6_d_there_are_6175_ace_to_five_classes() -> None:
    lows = {ace_to_five(cards) for cards in every_class()}
    assert {low.value for low in lows} == set(range(6175))
    assert Counter(low.category for low in lows)[NO_PAIR] == 1287
    assert sum(eight_or_better(low) for low in lows) == 56


@pytest.mark.long
@pytest.mark.parametrize("evaluate", [badugi_of, ace_high_badugi_of])
def test_637a_21_k_there_are_1092_badugi_classes_in_270725_hands(evaluate: object) -> None:
    assert callable(evaluate)
    hands = Counter(evaluate(four) for four in combinations(DECK, 4))
    assert {one.value for one in hands} == set(range(1092))
    assert Counter(one.size for one in hands) == {4: 715, 3: 286, 2: 78, 1: 13}
    # 13 x 12 x 11 x 10 badugis; the rest as any table of badugi hands has it.
    of_size: Counter[int] = Counter()
    for one, count in hands.items():
        of_size[one.size] += count
    assert of_size == {4: 17_160, 3: 154_440, 2: 96_252, 1: 2_873}


# Better first; the game, two hands, and the better one is the left.
BETTER = """
    2-7   7c 5d 4h 3s 2c   7c 6d 4h 3s 2c   the best is 7-5-4-3-2: 637a.20(k)(3)(ii)
    2-7   7c 5d 4h 3s 2c   7c 5c 4c 3c 2c   not all of one suit
    2-7   8c 5d 4h 3s 2c   6c 5d 4h 3s 2c   a straight counts: 637a.20(k)(3)(iii)
    2-7   Kc Qd Jh Ts 8c   Ac 5d 4h 3s 2c   an ace is high only: 637a.20(k)(3)(i)
    2-7   Ac 5d 4h 3s 2c   Ac 6d 4h 3s 2c   5-4-3-2-A is no straight but the best ace-high
    2-7   Ac 5d 4h 3s 2c   2c 2d 3h 4s 5c   an ace-high is better than a pair
    2-7   2c 2d 3h 4s 5c   Ac Ad 3h 4s 5c   a low pair is better
    2-7   Kc Kd 3h 4s 5c   2c 2d 3h 3s 4c   one pair is better than two
    2-7   6c 5d 4h 3s 2c   Kh Qh 9h 4h 2h   a straight is better than a flush
    2-7   7h 5h 4h 3h 2h   Ah 5h 4h 3h 2h   the lower flush is better, the ace high in it
    2-7   Ah 5h 4h 3h 2h   2c 2d 2h 3s 3c   5-4-3-2-A of one suit is a flush only
    A-5   5c 4d 3h 2s Ac   6c 4d 3h 2s Ac   the best is 5-4-3-2-A: 637a.20(k)(4)(ii)
    A-5   6c 5d 4h 3s 2c   7c 4d 3h 2s Ac   a straight does not count: 637a.20(k)(4)(iii)
    A-5   8h 6h 4h 3h 2h   8c 7d 3h 2s Ac   a flush does not count
    A-5   Kc Qd Jh Ts 9c   Ac Ad 2h 3s 4c   no pair is better than the lowest pair
    A-5   Ac Ad 4h 3s 2c   2c 2d 4h 3s Ac   a pair of aces is the lowest pair: 637a.20(k)(4)(i)
    A-5   8c 7d 6h 5s 4c   9c 4d 3h 2s Ac   the highest card counts first: 637a.20(k)(1)
"""


@pytest.mark.parametrize("row", [row for row in BETTER.splitlines() if row.strip()])
def test_637a_20_k_the_left_hand_is_better(row: str) -> None:
    game, rest = row.split(maxsplit=1)[0], row.split()[1:]
    evaluate = deuce_to_seven if game == "2-7" else ace_to_five
    assert evaluate(rest[:5]) > evaluate(rest[5:10])


def test_637a_20_k_the_best_hands_are_the_printed_ones() -> None:
    assert max(every_class(), key=deuce_to_seven) == ["2c", "3d", "4h", "5s", "7c"]
    best = max(ace_to_five(cards) for cards in every_class())
    assert (
        best
        == ace_to_five(["5h", "4h", "3h", "2h", "Ah"])
        == ace_to_five(["5c", "4d", "3h", "2s", "Ac"])
    )


def test_637a_20_k_3_i_an_ace_high_straight_flush_is_the_worst_deuce_to_seven_hand() -> None:
    assert min(every_class(), key=deuce_to_seven) == ["Th", "Jh", "Qh", "Kh", "Ah"]
    assert deuce_to_seven(["6h", "5h", "4h", "3h", "2h"]).category == STRAIGHT_FLUSH


# Cards, the badugi within them with aces low, and with aces high (637a.20(l)(1)).
BADUGIS = """
    Ac 2d 3h 4s      4 3 2 A    A 4 3 2
    2c 3d 4h 5s      5 4 3 2    5 4 3 2
    Ac 2d 3h 4s 5c   4 3 2 A    5 4 3 2
    Ac 2c 3d 4h 5s   5 4 3 A    5 4 3 2
    Kc Qd Jh Ts      K Q J T    K Q J T
    Ac 2d 3h 4h      3 2 A      A 3 2
    Ac Ad 3h 4s      4 3 A      A 4 3
    4c 4d 3d 2d      4 2        4 2
    Ac Ad Ah As      A          A
    Kc 9c 5c 2c      2          2
    Kc Kd 2c 2d      K 2        K 2
    Ac Kc Qd Qh 2s   Q 2 A      K Q 2
    3c 3d 2c 2d Ah   3 2 A      A 3 2
"""


@pytest.mark.parametrize("row", [row for row in BADUGIS.splitlines() if row.strip()])
def test_637a_21_k_the_best_subset_of_different_suits_and_ranks_is_taken(row: str) -> None:
    cards, low, high = (part.split() for part in row.strip().split("  ") if part.strip())
    assert badugi_of(cards).ranks == tuple("A23456789TJQK".index(rank) for rank in low)
    assert ace_high_badugi_of(cards).ranks == tuple(RANKS.index(rank) for rank in high)


def test_637a_21_k_2_any_badugi_beats_any_three_cards_and_so_on_down() -> None:
    four, three, two, one = (
        badugi_of(["Kc", "Qd", "Jh", "Ts"]),
        badugi_of(["Ac", "2d", "3h", "3h"]),
        badugi_of(["Ac", "2d", "2d", "Ac"]),
        badugi_of(["Ac", "Ad", "Ah", "As"]),
    )
    assert four > three > two > one
    assert badugi_of(["Kc", "2d", "3h", "4s"]) < badugi_of(["Qc", "Jd", "Th", "9s"])


def test_637a_20_l_the_best_badugi_is_2345_in_badeucey_and_a234_in_badacey() -> None:
    fours = list(
        combinations([rank + suit for suit, rank in zip("cdhscd", "A23456", strict=True)], 4)
    )
    of_four = [list(four) for four in fours if len({card[1] for card in four}) == 4]
    assert max(of_four, key=badugi_of) == ["Ac", "2d", "3h", "4s"]
    assert {card[0] for card in max(of_four, key=ace_high_badugi_of)} == set("2345")
    assert ace_high_badugi_of(["Ac", "2d", "3h", "4s"]) < ace_high_badugi_of(
        ["Kc", "2d", "3h", "4s"]
    )


# 637a.19(l)(1): a low needs five ranks of 8 or less.
EIGHTS = """
    8c 7d 6h 5s 4c   yes
    8c 7c 6c 5c 4c   yes
    5c 4d 3h 2s Ac   yes
    9c 4d 3h 2s Ac   no
    8c 8d 3h 2s Ac   no
    Ac Ad 3h 2s 4c   no
    Kc 4d 3h 2s Ac   no
"""


@pytest.mark.parametrize("row", [row for row in EIGHTS.splitlines() if row.strip()])
def test_637a_19_l_1_a_pair_or_a_card_above_8_is_no_low(row: str) -> None:
    *cards, answer = row.split()
    assert eight_or_better(ace_to_five(cards)) is (answer == "yes")


def test_637a_19_l_1_every_eight_or_better_low_is_better_than_every_other() -> None:
    lows = [ace_to_five(cards) for cards in every_class()]
    worst = min(low for low in lows if eight_or_better(low))
    assert worst > max(low for low in lows if not eight_or_better(low))


@pytest.mark.parametrize(
    "evaluate",
    [deuce_to_seven_if_known, ace_to_five_if_known, badugi_if_known, ace_high_badugi_if_known],
)
def test_a_low_hand_with_a_card_not_known_or_a_joker_is_none(evaluate: object) -> None:
    assert callable(evaluate)
    assert evaluate(["7c", "5d", "4h", "3s", "??"]) is None
    assert evaluate(["7c", "5d", "4h", "3s", "Jk"]) is None
    assert isinstance(evaluate(["7c", "5d", "4h", "3s", "2c"]), Low | Badugi)


def test_a_badugi_of_no_cards_is_refused() -> None:
    with pytest.raises(ValueError, match="no cards"):
        badugi_of([])
