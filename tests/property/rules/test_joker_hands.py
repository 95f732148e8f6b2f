"""Seven cards with a joker: the best bonus hand is the best that any five of them make."""

from __future__ import annotations

import random
from itertools import combinations

import pytest

from ledger.rules.hands.cards import DECK
from ledger.rules.hands.joker import ASIA_BONUS, JOKER, asia_bonus, saigon_bonus

ROYALS = ("Royal flush, no joker", "Royal flush, with a joker")


def of_five(five: tuple[str, ...]) -> str:
    """The Asia Poker row of five cards, by the other chapter's evaluator (680a.6(c))."""
    category = saigon_bonus(five).category
    if category in ROYALS:
        return "Royal flush"
    if category == "Straight flush":
        return "Straight flush with a joker" if JOKER in five else "Natural straight flush"
    return category if category in ASIA_BONUS else "No bonus hand"


@pytest.mark.long
def test_659a_6_d_seven_cards_are_worth_their_best_five() -> None:
    chance = random.Random(659)  # noqa: S311 - no secret
    seen = set()
    for turn in range(1_500):
        # Few ranks and suits, so that every row comes up.
        deck = [card for card in DECK if turn % 3 or card[0] in "89TJQKA"]
        deck = [card for card in deck if turn % 2 or card[1] in "ch"]
        cards = (*chance.sample(deck, 6), JOKER if turn % 5 else "2s")
        found = asia_bonus(cards)
        if found.category in ("9-high", "Three-of-a-kind and four 8s, with a joker"):
            continue
        best = max(map(of_five, combinations(cards, 5)), key=ASIA_BONUS.index)
        assert found.category == best, cards
        seen.add(best)
    assert len(seen) >= 9
