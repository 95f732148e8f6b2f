"""Bonus hands with one joker: five cards of Saigon 5 Card, seven of Asia Poker.

680a.6(c) and 659a.6(a), (d): the joker is an ace, or any card that completes a straight, a flush, a
straight flush or a royal flush. Only categories are paid, so ranks are left out.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, NamedTuple

from ledger.rules.hands.cards import DECK, RANK, RANKS, SUIT, if_known
from ledger.rules.hands.poker import (
    FLUSH,
    FOUR_OF_A_KIND,
    FULL_HOUSE,
    ROYAL_FLUSH,
    STRAIGHT,
    STRAIGHT_FLUSH,
    THREE_OF_A_KIND,
    TWO_PAIR,
    hand_of,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

JOKER = "Jk"

FIVE_ACES = "Five aces"
ROYAL_WITHOUT_JOKER = "Royal flush, no joker"
ROYAL_WITH_JOKER = "Royal flush, with a joker"
EIGHTS_AND_TRIPS = "Three-of-a-kind and four 8s"
EIGHTS_AND_TRIPS_WITH_JOKER = "Three-of-a-kind and four 8s, with a joker"
NATURAL_STRAIGHT_FLUSH = "Natural straight flush"
STRAIGHT_FLUSH_WITH_JOKER = "Straight flush with a joker"
NINE_HIGH = "9-high"
NO_BONUS = "No bonus hand"

SAIGON_BONUS = (
    NO_BONUS,
    TWO_PAIR,
    THREE_OF_A_KIND,
    STRAIGHT,
    FLUSH,
    FULL_HOUSE,
    FOUR_OF_A_KIND,
    STRAIGHT_FLUSH,
    ROYAL_WITH_JOKER,
    ROYAL_WITHOUT_JOKER,
    FIVE_ACES,
)
"""Saigon 5 Card's bonus hands, lowest first: 680a.6(c) and 680a.12(c)."""

ASIA_BONUS = (
    NO_BONUS,
    STRAIGHT,
    THREE_OF_A_KIND,
    FLUSH,
    FULL_HOUSE,
    NINE_HIGH,
    FOUR_OF_A_KIND,
    STRAIGHT_FLUSH_WITH_JOKER,
    NATURAL_STRAIGHT_FLUSH,
    ROYAL_FLUSH,
    FIVE_ACES,
    EIGHTS_AND_TRIPS_WITH_JOKER,
    EIGHTS_AND_TRIPS,
)
"""Asia Poker's bonus hands, lowest first: 659a.6(d), 659a.12(b). Trips are above a straight, 9-high
above a full house."""

_ACE = RANK["As"]
_EIGHT = RANK["8s"]
_ROYAL = frozenset(range(8, 13))
_RUNS = (frozenset((_ACE, 0, 1, 2, 3)), *(frozenset(range(low, low + 5)) for low in range(9)))
_NINE_HIGH = tuple(
    frozenset(RANKS.index(rank) for rank in ranks) for ranks in ("9876432", "9875432")
)
_COMPLETED = (STRAIGHT, FLUSH, STRAIGHT_FLUSH, ROYAL_FLUSH)


class BonusHand(NamedTuple):
    """The hand that pays a bonus wager. A greater value is higher in its game's list."""

    value: int
    category: str


def _completions(four: Sequence[str]) -> Iterable[str]:
    """The categories of four cards and a joker."""
    for card in DECK:
        if card not in four:
            category = hand_of((*four, card)).category
            if category in _COMPLETED or RANK[card] == _ACE:
                yield ROYAL_WITH_JOKER if category == ROYAL_FLUSH else category


def saigon_bonus(cards: Sequence[str]) -> BonusHand:
    """The Bonus Wager's hand of five cards, with or without the joker: 680a.6(c).

    A pair and less is `NO_BONUS`. Raises KeyError for a card that is not in the deck of 53.
    """
    four = [card for card in cards if card != JOKER]
    if len(four) == len(cards):
        category = hand_of(cards).category
        found = [ROYAL_WITHOUT_JOKER if category == ROYAL_FLUSH else category]
    elif all(RANK[card] == _ACE for card in four):
        found = [FIVE_ACES]
    else:
        found = list(_completions(four))
    value = max(SAIGON_BONUS.index(name) if name in SAIGON_BONUS else 0 for name in found)
    return BonusHand(value, SAIGON_BONUS[value])


def _suited(cards: Sequence[str]) -> list[set[int]]:
    """The ranks held of each suit."""
    return [{RANK[card] for card in cards if SUIT[card] == suit} for suit in range(4)]


def _completes(runs: Iterable[frozenset[int]], held: Iterable[set[int]], absent: int) -> bool:
    """Whether one of the runs is held except for this many cards."""
    return any(len(run - ranks) <= absent for run in runs for ranks in held)


def asia_bonus(cards: Sequence[str]) -> BonusHand:
    """The best Bonus Wager hand in seven cards, with or without the joker: 659a.6(d).

    Four 8s and two aces with the joker have a category of their own. The text does not say whether
    the joker may be the third ace. If it may not, the hand is a four-of-a-kind. Raises KeyError for
    a card that is not in the deck of 53.
    """
    natural = [card for card in cards if card != JOKER]
    jokers = len(cards) - len(natural)
    suits, ranks = _suited(natural), {RANK[card] for card in natural}
    held = Counter(RANK[card] for card in natural)
    copies = held + Counter({_ACE: jokers})
    most = [count for _, count in copies.most_common(2)]
    others = [count for rank, count in copies.items() if rank != _EIGHT]
    eights = held[_EIGHT] == 4 and others == [3]  # noqa: PLR2004 - four and three are the hand
    tests = (
        (EIGHTS_AND_TRIPS, eights and not jokers),
        (EIGHTS_AND_TRIPS_WITH_JOKER, eights),
        (FIVE_ACES, copies[_ACE] > len("cdhs")),
        (ROYAL_FLUSH, _completes((_ROYAL,), suits, jokers)),
        (NATURAL_STRAIGHT_FLUSH, _completes(_RUNS, suits, 0)),
        (STRAIGHT_FLUSH_WITH_JOKER, _completes(_RUNS, suits, jokers)),
        (FOUR_OF_A_KIND, most[0] >= 4),  # noqa: PLR2004 - four of a kind
        (NINE_HIGH, ranks in _NINE_HIGH),  # seven ranks leave no place for the joker
        (FULL_HOUSE, most >= [3, 2]),
        (FLUSH, any(len(suit) + jokers >= len(_ROYAL) for suit in suits)),
        (THREE_OF_A_KIND, most[0] >= 3),  # noqa: PLR2004 - three of a kind
        (STRAIGHT, _completes(_RUNS, (ranks,), jokers)),
    )
    category = next((name for name, holds in tests if holds), NO_BONUS)
    return BonusHand(ASIA_BONUS.index(category), category)


saigon_bonus_if_known = if_known(saigon_bonus)
asia_bonus_if_known = if_known(asia_bonus)
