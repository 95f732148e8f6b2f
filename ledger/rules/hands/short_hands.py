"""Hands of two, three and six cards: Three Card Poker, two-card House Money, Straight Jack.

649a.6, 633a.1 and 633a.7(o)(3). The documents do not print (b) of 649a.6, so the common order of
three-card hands holds: a straight above a flush.
"""

from __future__ import annotations

from functools import cache
from itertools import combinations_with_replacement
from typing import TYPE_CHECKING, NamedTuple

from ledger.rules.hands.best_five import best_hand
from ledger.rules.hands.cards import RANK, SUIT, if_known
from ledger.rules.hands.poker import (
    FLUSH,
    NO_PAIR,
    PAIR,
    ROYAL_FLUSH,
    STRAIGHT,
    STRAIGHT_FLUSH,
    THREE_OF_A_KIND,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ledger.rules.hands.poker import PokerHand

THREE_CARD = (NO_PAIR, PAIR, FLUSH, STRAIGHT, THREE_OF_A_KIND, STRAIGHT_FLUSH)
"""The categories, lowest first: with three cards a straight is rarer than a flush."""

ACE_KING_SUITED = "Ace-king suited"
TWO_CARD_STRAIGHT_FLUSH = "Two-card straight flush"
TWO_CARD_STRAIGHT = "Two-card straight"
ACE_KING_OFF_SUIT = "Ace-king of two suits"
NO_HOUSE_MONEY = "No House Money hand"

_ACE, _KING, _QUEEN = RANK["As"], RANK["Ks"], RANK["Qs"]
_BY_PATTERN = {(1, 1, 1): NO_PAIR, (2, 1): PAIR, (3,): THREE_OF_A_KIND}
_WHEEL = (_ACE, 1, 0)
_SIX_ROYAL = set(range(RANK["9s"], _ACE + 1))


class ThreeCardHand(NamedTuple):
    """A class of three-card hands. A greater value is the higher hand; equal ones tie."""

    value: int
    category: str
    ranks: tuple[int, ...]  # ranks by weight: the pair before its kicker; 12 is an ace


def _classify(ranks: tuple[int, ...], *, suited: bool) -> tuple[str, tuple[int, ...]]:
    weights = tuple(sorted(set(ranks), key=lambda rank: (-ranks.count(rank), -rank)))
    category = _BY_PATTERN[tuple(ranks.count(rank) for rank in weights)]
    if category != NO_PAIR:
        return category, weights
    if weights == _WHEEL:
        weights = (1, 0, -1)
    if weights[0] - weights[2] == 2:  # noqa: PLR2004 - three cards in a row
        return (STRAIGHT_FLUSH if suited else STRAIGHT), weights
    return (FLUSH if suited else NO_PAIR), weights


@cache
def _table() -> dict[tuple[int, bool], ThreeCardHand]:
    """Hands by the number of each rank, and by whether they are of one suit."""
    found = [
        (*_classify(ranks, suited=suited), sum(1 << 2 * rank for rank in ranks), suited)
        for ranks in combinations_with_replacement(range(13), 3)
        for suited in ((False, True) if len(set(ranks)) == len(ranks) else (False,))
    ]
    found.sort(key=lambda entry: (THREE_CARD.index(entry[0]), entry[1]))
    return {
        (key, suited): ThreeCardHand(value, category, weights)
        for value, (category, weights, key, suited) in enumerate(found)
    }


def three_card_hand(cards: Sequence[str]) -> ThreeCardHand:
    """The hand of three cards: 649a.6. Raises KeyError for a card that is not one of 52."""
    one, two, three = cards
    key = (1 << 2 * RANK[one]) + (1 << 2 * RANK[two]) + (1 << 2 * RANK[three])
    return _table()[key, SUIT[one] == SUIT[two] == SUIT[three]]


def mini_royal_flush(hand: ThreeCardHand) -> bool:
    """Whether a hand is ace, king and queen of one suit: 649a.6(e).

    Its row precedes that of a straight flush. It is the highest straight flush in any case, so
    hands compare the same with and without it.
    """
    return hand.category == STRAIGHT_FLUSH and hand.ranks[0] == _ACE


def queen_high(hand: ThreeCardHand) -> bool:
    """Whether a dealer's hand qualifies by the standard game: a queen or better."""
    return hand.category != NO_PAIR or hand.ranks[0] >= _QUEEN


class SixCardHand(NamedTuple):
    """A player's three cards and the dealer's three, for the Six Card Bonus: 649a.6(d)."""

    super_royal: bool  # all six in a row of one suit, ace to 9
    best: PokerHand  # best hand of any five

    @property
    def category(self) -> str:
        """The category of the best five. A Super Royal is a royal flush if no row names it."""
        return self.best.category


def six_card_hand(cards: Sequence[str]) -> SixCardHand:
    """The Six Card Bonus hand of six cards. Raises KeyError for a card that is not one of 52."""
    best = best_hand(cards)
    super_royal = best.category == ROYAL_FLUSH and {RANK[card] for card in cards} == _SIX_ROYAL
    return SixCardHand(super_royal and len({SUIT[card] for card in cards}) == 1, best)


def is_super_royal(found: SixCardHand) -> bool:
    """Whether six cards are ace to 9 of one suit: 649a.6(d)(8), only in paytable E."""
    return found.super_royal


class TwoCardHand(NamedTuple):
    """A blackjack player's first two cards, as House Money pays them: 633a.1, 633a.13(n)."""

    category: str


def two_card_hand(cards: Sequence[str]) -> TwoCardHand:
    """The House Money hand of two cards, of one deck or of several.

    An ace is next to a 2 and to a king. Ace-king of two suits has a category of its own: only
    633a.7(o)(3)(i), of another wager, calls it a two-card straight. A 10 and a king differ in rank,
    so they are not a pair. Raises KeyError for a card that is not one of 52.
    """
    low, high = sorted(RANK[card] for card in cards)
    suited = len({SUIT[card] for card in cards}) == 1
    if low == high:
        return TwoCardHand(PAIR)
    if (low, high) == (_KING, _ACE):
        return TwoCardHand(ACE_KING_SUITED if suited else ACE_KING_OFF_SUIT)
    if high - low == 1 or (low, high) == (0, _ACE):
        return TwoCardHand(TWO_CARD_STRAIGHT_FLUSH if suited else TWO_CARD_STRAIGHT)
    return TwoCardHand(NO_HOUSE_MONEY)


three_card_hand_if_known = if_known(three_card_hand)
six_card_hand_if_known = if_known(six_card_hand)
two_card_hand_if_known = if_known(two_card_hand)
