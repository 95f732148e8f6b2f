"""Low hands: deuce-to-seven, ace-to-five and badugi. The greater value is the better hand.

637a.6(c) and (d) turn the high hands round. 637a.20(k) and (l) and 637a.21(k) say how far. Suits
never rank. The game decides which half of which pot a hand wins.
"""

from __future__ import annotations

from functools import cache
from itertools import combinations, combinations_with_replacement
from typing import TYPE_CHECKING, NamedTuple

from ledger.rules.hands.cards import DECK, RANK, RANKS, SUIT, if_known
from ledger.rules.hands.poker import (
    BY_PATTERN,
    CATEGORIES,
    FLUSH,
    NO_PAIR,
    STRAIGHT,
    hand_of,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ledger.rules.hands.poker import PokerHand

LOW_RANK: dict[str, int] = {card: (RANK[card] + 1) % len(RANKS) for card in DECK}
"""Rank of a card with the ace low, from 0 (ace) to 12 (king)."""

_WHEEL = (3, 2, 1, 0, -1)  # 5-4-3-2-A as ranked among high hands
_ACE_HIGH_WHEEL = (12, 3, 2, 1, 0)
_EIGHT = 7
_COPIES = {
    card: 1 << 3 * rank for card, rank in LOW_RANK.items()
}  # three bits count a rank's cards


class Low(NamedTuple):
    """A class of five-card low hands; the greater one is the better hand, equal ones tie."""

    value: int
    category: str
    ranks: tuple[int, ...]  # by weight: the pair before its kickers; the ace is 12, or 0 if low


class Badugi(NamedTuple):
    """A class of badugi hands; the greater one is the better (lower) hand, equal ones tie."""

    value: int
    size: int  # number of cards of different suits and ranks: 4 is a badugi
    ranks: tuple[int, ...]  # ranks, highest first; the ace is 0, or 12 if high


@cache
def _deuce_table() -> dict[int, Low]:
    """Deuce-to-seven lows by the value of the high hand of the same cards."""
    hands = []
    for ranks in combinations_with_replacement(RANKS, 5):
        if len(set(ranks)) > 1:
            hands.append(hand_of([rank + suit for rank, suit in zip(ranks, "cdhsc", strict=True)]))
        if len(set(ranks)) == len(ranks):
            hands.append(hand_of([rank + "s" for rank in ranks]))
    found = [(*_ace_high(hand), hand.value) for hand in hands]
    found.sort(key=lambda entry: (CATEGORIES.index(entry[0]), entry[1]), reverse=True)
    return {
        high: Low(value, category, weights) for value, (category, weights, high) in enumerate(found)
    }


def _ace_high(hand: PokerHand) -> tuple[str, tuple[int, ...]]:
    """Category and ranks of a high hand in which an ace is never low: 637a.20(k)(3)(i)."""
    if hand.ranks == _WHEEL:
        return (NO_PAIR if hand.category == STRAIGHT else FLUSH), _ACE_HIGH_WHEEL
    return hand.category, hand.ranks


def deuce_to_seven(cards: Sequence[str]) -> Low:
    """The 2-7 low of five cards: aces are high; straights and flushes count against the hand.

    637a.6(c) and (d), 637a.20(k)(3). 7-5-4-3-2 of mixed suits is the best. 5-4-3-2-A is a hand of
    no pair with an ace. Raises KeyError for a card that is not one of 52.
    """
    return _deuce_table()[hand_of(cards).value]


@cache
def _five_table() -> dict[int, Low]:
    """Ace-to-five lows by the cards of each rank."""
    found = []
    for ranks in combinations_with_replacement(range(13), 5):
        weights = tuple(sorted(set(ranks), key=lambda rank: (-ranks.count(rank), -rank)))
        category = BY_PATTERN.get(tuple(ranks.count(rank) for rank in weights))
        if category is not None:  # five cards of one rank are not in the deck
            found.append((category, weights, sum(1 << 3 * rank for rank in ranks)))
    found.sort(key=lambda entry: (CATEGORIES.index(entry[0]), entry[1]), reverse=True)
    return {
        key: Low(value, category, weights) for value, (category, weights, key) in enumerate(found)
    }


def ace_to_five(cards: Sequence[str]) -> Low:
    """The A-5 low of five cards: aces are low, straights and flushes do not count.

    637a.6(c) and (d), 637a.20(k)(4); 5-4-3-2-A is the best. Raises KeyError for a card that is not
    one of 52.
    """
    one, two, three, four, five = cards
    key = _COPIES[one] + _COPIES[two] + _COPIES[three] + _COPIES[four] + _COPIES[five]
    return _five_table()[key]


def eight_or_better(low: Low) -> bool:
    """Whether an A-5 low has five different ranks, none above 8: 637a.19(l)(1).

    Every such hand is better than every other, so the best low decides whether there is one.
    """
    return low.category == NO_PAIR and low.ranks[0] <= _EIGHT


@cache
def _badugi_table() -> dict[tuple[int, ...], Badugi]:
    """Badugi hands by their ranks, lowest first."""
    found: list[tuple[int, ...]] = []
    for size in range(1, 5):
        of_size = combinations(range(13), size)
        found += sorted(of_size, key=lambda ranks: ranks[::-1], reverse=True)
    return {ranks: Badugi(value, len(ranks), ranks[::-1]) for value, ranks in enumerate(found)}


def _best_badugi(cards: Sequence[str], rank: dict[str, int]) -> Badugi:
    """The best subset whose cards differ in suit and in rank."""
    table = _badugi_table()
    for size in range(min(4, len(cards)), 0, -1):
        found = [
            table[tuple(sorted(ranks))]
            for some in combinations(cards, size)
            if len({SUIT[card] for card in some}) == size
            and len(ranks := {rank[card] for card in some}) == size
        ]
        if found:
            return max(found)
    raise ValueError("no cards: a badugi hand needs one at least")


def badugi_of(cards: Sequence[str]) -> Badugi:
    """The best badugi in one to five cards, aces low: 637a.21(k) and 637a.20(l)(2)(i).

    More cards beat fewer. Then the lower highest card wins, and so on down. A-2-3-4 is the best.
    Raises KeyError for a card that is not one of 52, ValueError for no cards.
    """
    return _best_badugi(cards, LOW_RANK)


def ace_high_badugi_of(cards: Sequence[str]) -> Badugi:
    """The best badugi in one to five cards, aces high: the half of Badeucey, 637a.20(l)(1)(i).

    2-3-4-5 is the best. Raises as `badugi_of` does.
    """
    return _best_badugi(cards, RANK)


deuce_to_seven_if_known = if_known(deuce_to_seven)
ace_to_five_if_known = if_known(ace_to_five)
badugi_if_known = if_known(badugi_of)
ace_high_badugi_if_known = if_known(ace_high_badugi_of)
