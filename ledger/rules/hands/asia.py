"""Asia Poker's three hands of four, two and one card, with one joker: 659a.6(a)-(c).

The chapter has its own order. Four aces are above a royal flush, other fours below a straight
flush, and a flush above a straight. All three hands compare with one another, as 659a.11(b) sets
them.
"""

from __future__ import annotations

from itertools import combinations
from typing import TYPE_CHECKING, NamedTuple

from ledger.rules.hands.cards import RANK, SUIT, if_known
from ledger.rules.hands.joker import JOKER
from ledger.rules.hands.poker import (
    FLUSH,
    FOUR_OF_A_KIND,
    NO_PAIR,
    PAIR,
    ROYAL_FLUSH,
    STRAIGHT,
    STRAIGHT_FLUSH,
    THREE_OF_A_KIND,
    TWO_PAIR,
)

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

FOUR_ACES = "Four aces"

CATEGORIES = (
    NO_PAIR,
    PAIR,
    TWO_PAIR,
    THREE_OF_A_KIND,
    STRAIGHT,
    FLUSH,
    FOUR_OF_A_KIND,
    STRAIGHT_FLUSH,
    ROYAL_FLUSH,
    FOUR_ACES,
)
"""The categories, lowest first: 659a.6(b)."""

_BY_PATTERN = {
    (1,): NO_PAIR,
    (1, 1): NO_PAIR,
    (2,): PAIR,
    (1, 1, 1, 1): NO_PAIR,
    (2, 1, 1): PAIR,
    (2, 2): TWO_PAIR,
    (3, 1): THREE_OF_A_KIND,
    (4,): FOUR_OF_A_KIND,
}
_ACE = RANK["As"]
_ACE_LOW = {_ACE, 0, 1, 2}
_HIGH_CARDS = 4


class SetHand(NamedTuple):
    """A high, medium or low hand. A greater value is the higher hand; equal ones are a copy.

    If hands of different sizes have the same leading ranks, the one with more cards is higher. It
    holds a card that is not in the other (659a.6(c)).
    """

    order: int  # category, 0 is no pair
    ranks: tuple[int, ...]  # by weight, 12 an ace; a straight has its place among straights
    category: str


def _named(category: str, ranks: tuple[int, ...]) -> SetHand:
    return SetHand(CATEGORIES.index(category), ranks, category)


def _of_a_kind(ranks: Sequence[int]) -> SetHand:
    """The hand that the ranks make, without runs."""
    weights = tuple(sorted(set(ranks), key=lambda rank: (-ranks.count(rank), -rank)))
    category = _BY_PATTERN[tuple(ranks.count(rank) for rank in weights)]
    if category == FOUR_OF_A_KIND and weights[0] == _ACE:
        category = FOUR_ACES
    return _named(category, weights)


def _run(ranks: Sequence[int], *, suited: bool, ace_low_straight: str) -> SetHand | None:
    """The straight, straight flush or royal flush of four ranks, or None.

    A-2-3-4 is below A-K-Q-J and above K-Q-J-10, or lowest: 659a.6(b)(3) and (6). A-K-Q-J of one
    suit is a royal flush, so that place makes A-2-3-4 the highest straight flush.
    """
    held = set(ranks)
    if len(held) < _HIGH_CARDS:
        return None
    if held == _ACE_LOW:
        place = 2 * _ACE - 1 if ace_low_straight == "as_printed" else 0
    elif max(held) - min(held) == _HIGH_CARDS - 1:
        place = 2 * max(held)
    else:
        return None
    if not suited:
        return _named(STRAIGHT, (place,))
    return _named(ROYAL_FLUSH if place == 2 * _ACE else STRAIGHT_FLUSH, (place,))


def high_hand(
    cards: Sequence[str],
    *,
    ace_low_straight: str = "as_printed",
    joker_in_flush: str = "highest_absent",
) -> SetHand:
    """The four-card hand, with the joker at its best: 659a.6(a)-(c).

    `ace_low_straight` is the Rules Submission's place for A-2-3-4: `as_printed` or `lowest`.
    `joker_in_flush` gives the joker's rank in a flush: the `highest_absent` of its suit, or an
    `ace` even beside one. Raises KeyError for a card that is not in the deck of 53.
    """
    natural = [card for card in cards if card != JOKER]
    ranks = [RANK[card] for card in natural]
    suited = len({SUIT[card] for card in natural}) == 1
    jokers = [_ACE] * (len(cards) - len(natural))
    found = [_of_a_kind([*ranks, *jokers])]
    for rank in range(13) if jokers else (None,):
        filled = ranks if rank is None else [*ranks, rank]
        run = _run(filled, suited=suited, ace_low_straight=ace_low_straight)
        found += [run] if run else []
    if suited:
        if jokers and joker_in_flush == "highest_absent":
            jokers = [max(set(range(13)) - set(ranks))]
        found.append(_named(FLUSH, tuple(sorted([*ranks, *jokers], reverse=True))))
    return max(found)


def small_hand(cards: Sequence[str]) -> SetHand:
    """The medium hand of two cards or the low hand of one, the joker an ace: 659a.6(a), (b)(9).

    Two cards are a pair or nothing. Raises KeyError for a card that is not in the deck of 53.
    """
    return _of_a_kind([_ACE if card == JOKER else RANK[card] for card in cards])


def rightly_set(high: SetHand, medium: SetHand, low: SetHand) -> bool:
    """Whether the hands fall in rank from high to low: 659a.11(b).

    Equal pairs in the high and medium hand are right: the high hand has two more cards.
    """
    return high > medium > low


class Ranking(NamedTuple):
    """The ranking in force: an option of 659a.6(b), a reading of 659a.6(a)."""

    ace_low_straight: str = "as_printed"
    joker_in_flush: str = "highest_absent"


class Three(NamedTuple):
    """A holder's three hands, as they rank."""

    high: SetHand
    medium: SetHand
    low: SetHand


Hands = dict[str, tuple[str, ...]]
"""Cards by the name of the hand they are set into: `high`, `medium`, `low`."""


def three_if_known(hands: Mapping[str, Sequence[str]] | None, by: Ranking) -> Three | None:
    """Three hands from their setting, or None if they are not known."""
    if hands is None:
        return None
    high = high_hand_if_known(hands["high"], **by._asdict())
    medium, low = (small_hand_if_known(hands[name]) for name in ("medium", "low"))
    return Three(high, medium, low) if high and medium and low else None


def settings(cards: Sequence[str], by: Ranking) -> Iterator[tuple[Three, Hands]]:
    """Every setting of seven cards that 659a.11(b) allows; none if a card is not known."""
    if any(card not in RANK and card != JOKER for card in cards):
        return
    places = range(len(cards))
    for held in combinations(places, _HIGH_CARDS):
        high = tuple(cards[place] for place in held)
        ranked = high_hand(high, **by._asdict())
        rest = [cards[place] for place in places if place not in held]
        for last, low in enumerate(rest):
            medium = tuple(rest[:last] + rest[last + 1 :])
            three = Three(ranked, small_hand(medium), small_hand((low,)))
            if rightly_set(*three):
                yield three, {"high": high, "medium": medium, "low": (low,)}


def highest_high(cards: Sequence[str], by: Ranking) -> tuple[Three, Hands]:
    """The setting with the highest high hand, and of those the highest medium hand."""
    return max(settings(cards, by), key=lambda setting: setting[0])


def hands_higher(mine: Three | None, theirs: Three | None) -> int | None:
    """How many of three hands are higher than the dealer's: 659a.11(f). None if not known."""
    if mine is None or theirs is None:
        return None
    return sum(one > other for one, other in zip(mine, theirs, strict=True))


high_hand_if_known = if_known(high_hand)
small_hand_if_known = if_known(small_hand)
