"""Five-card hands: how many classes and hands there are, and a second opinion on their order."""

from __future__ import annotations

import random
from collections import Counter
from itertools import combinations, combinations_with_replacement, pairwise

import pytest
from pokerkit import StandardHighHand

from ledger.rules.hands.cards import DECK, RANKS, SUITS, known
from ledger.rules.hands.poker import (
    CATEGORIES,
    PAIR,
    ROYAL_FLUSH,
    STRAIGHT,
    STRAIGHT_FLUSH,
    hand_if_known,
    hand_of,
    is_a,
    pair_of,
    pair_or_better,
)


def suited_or_not() -> list[tuple[tuple[str, ...], int]]:
    """A hand of each class of ranks, and how many hands of 52 cards are like it."""
    found = []
    for ranks in combinations_with_replacement(RANKS, 5):
        copies = Counter(ranks)
        if max(copies.values()) > 4:
            continue
        suits = dict.fromkeys(copies, 0)
        cards = []
        ways = 1
        for rank in ranks:
            cards.append(
                rank + SUITS[(suits[rank] + len(cards)) % 4 if len(copies) == 5 else suits[rank]]
            )
            suits[rank] += 1
        for count in copies.values():
            ways *= (0, 4, 6, 4, 1)[count]
        if len(copies) == 5:
            found.append((tuple(rank + "s" for rank in ranks), 4))
            ways -= 4
        found.append((tuple(cards), ways))
    return found


# 592.6(b): classes and hands of each rank, from any table of poker hands.
COUNTS = """
    Royal flush          1        4
    Straight flush       9       36
    Four-of-a-kind     156      624
    Full house         156    3,744
    Flush            1,277    5,108
    Straight            10   10,200
    Three-of-a-kind    858   54,912
    Two pair           858  123,552
    Pair             2,860 1,098,240
    No pair          1,277 1,302,540
"""


def test_592_6_b_there_are_7462_classes_and_2598960_hands_each_in_its_category() -> None:
    classes: Counter[str] = Counter()
    hands: Counter[str] = Counter()
    values = set()
    for cards, ways in suited_or_not():
        hand = hand_of(cards)
        values.add(hand.value)
        classes[hand.category] += 1
        hands[hand.category] += ways
    assert values == set(range(7462))
    assert sum(hands.values()) == 2_598_960
    for line in COUNTS.strip().splitlines():
        category, of_classes, of_hands = line.strip().rsplit(maxsplit=2)
        assert classes[category] == int(of_classes.replace(",", "")), category
        assert hands[category] == int(of_hands.replace(",", "")), category


def test_592_6_b_categories_rank_in_the_printed_order() -> None:
    best = {}
    worst = {}
    for cards, _ in suited_or_not():
        hand = hand_of(cards)
        best[hand.category] = max(best.get(hand.category, hand), hand)
        worst[hand.category] = min(worst.get(hand.category, hand), hand)
    for lower, higher in pairwise(CATEGORIES):
        assert best[lower] < worst[higher]


def test_592_6_b_another_library_orders_the_same_hands_the_same_way() -> None:
    chance = random.Random(592)  # noqa: S311 - no secret
    hands = [chance.sample(DECK, 5) for _ in range(4000)]
    hands += [
        [*["5c", "4d", "3h", "2s", "Ac"]],
        [*["6c", "5d", "4h", "3s", "2c"]],
        [*["Ac", "Kd", "Qh", "Js", "Tc"]],
    ]
    hands += [
        [*["5c", "4c", "3c", "2c", "Ac"]],
        [*["6c", "5c", "4c", "3c", "2c"]],
        [*["Ac", "Kc", "Qc", "Jc", "9c"]],
    ]
    theirs = [StandardHighHand("".join(cards)) for cards in hands]
    ours = [hand_of(cards) for cards in hands]
    order = sorted(range(len(hands)), key=lambda index: ours[index].value)
    for low, high in pairwise(order):
        assert (ours[low].value == ours[high].value) == (theirs[low] == theirs[high])
        assert ours[low].value == ours[high].value or theirs[low] < theirs[high]


def test_592_6_b_the_whole_deck_agrees_with_another_library_on_every_class() -> None:
    ranked = sorted(suited_or_not(), key=lambda entry: hand_of(entry[0]).value)
    theirs = [StandardHighHand("".join(cards)) for cards, _ in ranked]
    assert all(low < high for low, high in pairwise(theirs))


STRAIGHTS = """
    Ac Kd Qh Js Tc   yes
    5c 4d 3h 2s Ac   yes
    6c 5d 4h 3s 2c   yes
    2c Ad Kh Qs Jc   no
    3c 2d Ah Ks Qc   no
    4c 3d 2h As Kc   no
    6c 5d 4h 3s Ac   no
"""


@pytest.mark.parametrize("row", [row for row in STRAIGHTS.splitlines() if row.strip()])
def test_592_6_a_an_ace_counts_low_with_5_4_3_2_alone(row: str) -> None:
    *cards, straight = row.split()
    assert (hand_of(cards).category == STRAIGHT) is (straight == "yes")


def test_592_6_a_the_wheel_is_the_lowest_straight_and_six_high_beats_it() -> None:
    wheel, six_high = (
        hand_of(["5c", "4d", "3h", "2s", "Ac"]),
        hand_of(["6c", "5d", "4h", "3s", "2c"]),
    )
    assert wheel < six_high
    assert hand_of(["5c", "4c", "3c", "2c", "Ac"]).category == STRAIGHT_FLUSH
    assert hand_of(["Ac", "Kc", "Qc", "Jc", "Tc"]).category == ROYAL_FLUSH


def test_592_6_a_suits_are_equal_and_the_order_of_cards_does_not_count() -> None:
    cards = ["Ac", "Ad", "7h", "4s", "2c"]
    assert hand_of(cards) is hand_of(cards[::-1])
    assert hand_of(cards) == hand_of(["Ah", "As", "7c", "4d", "2h"])


def test_a_hand_with_a_card_not_known_or_of_no_deck_is_none() -> None:
    assert hand_if_known(["Ac", "Ad", "7h", "4s", "??"]) is None
    assert hand_if_known(["Ac", "Ad", "7h", "4s", "Jk"]) is None
    assert hand_if_known(["Ac", "Ad", "7h", "4s", "2c"]) == hand_of(["Ac", "Ad", "7h", "4s", "2c"])
    assert known(("Ac", "2d"))
    assert not known(("Ac", "??"))


def test_rows_fit_pairs_by_rank_and_better_hands_only_where_they_say_so() -> None:
    pairs = {rank: hand_of([f"{rank}c", f"{rank}d", *others(rank)]) for rank in RANKS}
    assert {rank for rank, hand in pairs.items() if pair_of("6", "9")(hand)} == set("6789")
    assert {rank for rank, hand in pairs.items() if pair_of("J")(hand)} == set("JQKA")
    assert {rank for rank, hand in pairs.items() if pair_or_better("J")(hand)} == set("JQKA")
    two_pair, nothing = (
        hand_of(["2c", "2d", "3h", "3s", "4c"]),
        hand_of(["Ac", "Kd", "Qh", "Js", "9c"]),
    )
    assert pair_or_better("J")(two_pair)
    assert not pair_of("2")(two_pair)
    assert not pair_or_better("2")(nothing)
    assert is_a(PAIR)(pairs["2"])
    assert not is_a(PAIR)(two_pair)


def others(rank: str) -> list[str]:
    """Three cards that make no hand beside a pair of this rank."""
    return [card for card in ("2h", "4s", "7h", "9s") if card[0] != rank][:3]


def test_a_deck_is_52_cards_of_four_suits() -> None:
    assert len(set(DECK)) == 52
    assert len(list(combinations(DECK, 2))) == 1326
