"""Five-card Poker hands: 7,462 classes, found by a product of primes.

The order is the common one (592.6(b) and its like): royal flush down to no pair. An ace is high, or
low in 5-4-3-2-A. Suits never rank. Every class is one shared `PokerHand`, so hands compare by
value.
"""

from __future__ import annotations

from functools import cache
from itertools import combinations_with_replacement
from math import prod
from typing import TYPE_CHECKING, NamedTuple

from ledger.rules.hands.cards import RANK, RANKS, SUIT, if_known

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

_PRIMES = (2, 3, 5, 7, 11, 13, 17, 19, 23, 29, 31, 37, 41)
_PRIME: dict[str, int] = {card: _PRIMES[rank] for card, rank in RANK.items()}

NO_PAIR = "No pair"
PAIR = "Pair"
TWO_PAIR = "Two pair"
THREE_OF_A_KIND = "Three-of-a-kind"
STRAIGHT = "Straight"
FLUSH = "Flush"
FULL_HOUSE = "Full house"
FOUR_OF_A_KIND = "Four-of-a-kind"
STRAIGHT_FLUSH = "Straight flush"
ROYAL_FLUSH = "Royal flush"

CATEGORIES = (
    NO_PAIR,
    PAIR,
    TWO_PAIR,
    THREE_OF_A_KIND,
    STRAIGHT,
    FLUSH,
    FULL_HOUSE,
    FOUR_OF_A_KIND,
    STRAIGHT_FLUSH,
    ROYAL_FLUSH,
)
"""The categories, lowest first."""

BY_PATTERN = {
    (1, 1, 1, 1, 1): NO_PAIR,
    (2, 1, 1, 1): PAIR,
    (2, 2, 1): TWO_PAIR,
    (3, 1, 1): THREE_OF_A_KIND,
    (3, 2): FULL_HOUSE,
    (4, 1): FOUR_OF_A_KIND,
}
"""Categories by the number of cards of each rank, without straights and flushes."""

_WHEEL = (12, 3, 2, 1, 0)


class PokerHand(NamedTuple):
    """A class of five-card hands. A greater value is the higher hand; equal ones tie."""

    value: int  # 0 is 7-5-4-3-2, 7461 a royal flush
    category: str
    ranks: tuple[int, ...]  # ranks by weight: the pair before its kickers; 0 is a deuce


def _classify(ranks: tuple[int, ...], *, suited: bool) -> tuple[str, tuple[int, ...]]:
    """Category and ranks by weight of five ranks, of one suit or not."""
    by_weight = tuple(sorted(set(ranks), key=lambda rank: (-ranks.count(rank), -rank)))
    category = BY_PATTERN[tuple(ranks.count(rank) for rank in by_weight)]
    if category != NO_PAIR:
        return category, by_weight
    if by_weight == _WHEEL:
        by_weight = (3, 2, 1, 0, -1)
    straight = by_weight[0] - by_weight[-1] == len(by_weight) - 1
    if straight and suited:
        return (ROYAL_FLUSH if by_weight[0] == RANK["As"] else STRAIGHT_FLUSH), by_weight
    if straight:
        return STRAIGHT, by_weight
    return (FLUSH if suited else NO_PAIR), by_weight


@cache
def _tables() -> tuple[dict[int, PokerHand], dict[int, PokerHand]]:
    """Hands by product of primes: of mixed suits, and of one suit."""
    found = []
    for ranks in combinations_with_replacement(range(13), 5):
        key = prod(_PRIMES[rank] for rank in ranks)
        if len(set(ranks)) > 1:
            found.append((_classify(ranks, suited=False), key, False))
        if len(set(ranks)) == len(ranks):
            found.append((_classify(ranks, suited=True), key, True))
    found.sort(key=lambda entry: (CATEGORIES.index(entry[0][0]), entry[0][1]))
    mixed: dict[int, PokerHand] = {}
    suited_: dict[int, PokerHand] = {}
    for value, ((category, weights), key, suited) in enumerate(found):
        (suited_ if suited else mixed)[key] = PokerHand(value, category, weights)
    return mixed, suited_


def hand_of(cards: Sequence[str]) -> PokerHand:
    """The hand of five known cards. Cards of several decks may repeat a rank up to four times.

    Raises KeyError for a card that is not one of 52, or five of a kind.
    """
    one, two, three, four, five = cards
    mixed, suited = _tables()
    key = _PRIME[one] * _PRIME[two] * _PRIME[three] * _PRIME[four] * _PRIME[five]
    suit = SUIT[one]
    if suit == SUIT[two] == SUIT[three] == SUIT[four] == SUIT[five] and key in suited:
        return suited[key]
    return mixed[key]


def is_a(category: str) -> Callable[[PokerHand], bool]:
    """Fits hands of exactly this category."""
    return lambda hand: hand.category == category


def pair_of(lowest: str, highest: str = "A") -> Callable[[PokerHand], bool]:
    """Fits one pair of a rank within the two given, both included."""
    low, high = RANKS.index(lowest), RANKS.index(highest)
    return lambda hand: hand.category == PAIR and low <= hand.ranks[0] <= high


def pair_or_better(lowest: str) -> Callable[[PokerHand], bool]:
    """Fits a pair of at least this rank and every higher hand."""
    low = RANKS.index(lowest)
    return lambda hand: hand.category != NO_PAIR and (hand.category != PAIR or hand.ranks[0] >= low)


hand_if_known = if_known(hand_of)
