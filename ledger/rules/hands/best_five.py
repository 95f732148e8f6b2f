"""The best five of more cards: any five of six or seven, or two of five and three of five.

637a.19(k) and (l) (five-card Omaha), 589.11(d)(2)(ii) (a bought sixth card) and 649a.6(d) (six
cards of two hands). Also the order of single cards by suit, which an odd chip follows.
"""

from __future__ import annotations

from itertools import combinations
from typing import TYPE_CHECKING

from ledger.rules.hands.cards import RANK, SUIT, if_known
from ledger.rules.hands.lowball import LOW_RANK, ace_to_five
from ledger.rules.hands.poker import hand_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from ledger.rules.hands.lowball import Low
    from ledger.rules.hands.poker import PokerHand

CardOrder = tuple[tuple[int, int], ...]
"""Rank and suit of each card of a hand, to compare with another hand's."""


def best_hand(cards: Sequence[str]) -> PokerHand:
    """The highest hand of any five of the cards.

    Raises KeyError for a card that is not one of 52, ValueError for fewer than five cards.
    """
    return max(hand_of(five) for five in combinations(cards, 5))


def _omaha(hole: Sequence[str], board: Sequence[str]) -> Iterator[tuple[str, ...]]:
    """Every five cards with exactly two in the hand and three on the board: 637a.19(k)."""
    boards = tuple(combinations(board, 3))
    for two in combinations(hole, 2):
        for three in boards:
            yield (*two, *three)


def omaha_high(hole: Sequence[str], board: Sequence[str]) -> PokerHand:
    """The highest hand of two hole cards and three of the board: 637a.19(k)(1).

    Raises KeyError for a card that is not one of 52, ValueError for too few cards.
    """
    return max(hand_of(five) for five in _omaha(hole, board))


def omaha_low(hole: Sequence[str], board: Sequence[str]) -> Low:
    """The best A-5 low of two hole cards and three of the board: 637a.19(k)(2)(i).

    `lowball.eight_or_better` says if it is in contention. Its cards may differ from the high
    hand's: 637a.19(l)(2). Raises as `omaha_high` does.
    """
    return max(ace_to_five(five) for five in _omaha(hole, board))


def highest_by_suit(hole: Sequence[str], board: Sequence[str]) -> CardOrder:
    """The cards of the best Omaha high, highest first. The greater of tied ones has the odd chip.

    637a.19(k)(2)(ii) and (iv): spades above hearts, diamonds and clubs. A card that tied hands
    share decides nothing, so the next one does.
    """
    best = omaha_high(hole, board)
    return max(
        tuple(sorted(((RANK[card], SUIT[card]) for card in five), reverse=True))
        for five in _omaha(hole, board)
        if hand_of(five) == best
    )


def lowest_by_suit(hole: Sequence[str], board: Sequence[str]) -> CardOrder:
    """The cards of the best Omaha low, lowest first. The lesser of tied ones has the odd chip.

    637a.19(k)(2)(iii) and (iv). The ace is the lowest rank and clubs the lowest suit.
    """
    best = omaha_low(hole, board)
    return min(
        tuple(sorted((LOW_RANK[card], SUIT[card]) for card in five))
        for five in _omaha(hole, board)
        if ace_to_five(five) == best
    )


best_hand_if_known = if_known(best_hand)
omaha_high_if_known = if_known(omaha_high)
omaha_low_if_known = if_known(omaha_low)
