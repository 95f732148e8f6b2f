"""The Bust It Wager of Double Attack Blackjack: how a third card busts the dealer (665a.7(m))."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from ledger.rules.hands.cards import SUIT
from ledger.rules.hands.twenty_one import VALUE, dealer_draws, total_if_known

if TYPE_CHECKING:
    from collections.abc import Sequence

_TWO, _THREE = 2, 3
_COLORS = ({SUIT["8c"], SUIT["8s"]}, {SUIT["8d"], SUIT["8h"]})


class BustIt(NamedTuple):
    """A dealer's three cards in excess of 21: 665a.7(m)(2)(i)."""

    value: int  # value of the third; 0 if his cards are no such three
    eights: str | None  # "suit" or "color" if all three are 8s of one


NOT_BUSTED = BustIt(0, None)


def bust_it_if_known(cards: Sequence[str]) -> BustIt | None:
    """How a dealer's third card brings him above 21; None if a card is not known."""
    two, three = total_if_known(cards[:_TWO]), total_if_known(cards[:_THREE])
    if two is None or three is None or len(cards) < _TWO:
        return None
    if not dealer_draws(two):
        return NOT_BUSTED
    if len(cards) < _THREE:
        return None
    if not three.bust:
        return NOT_BUSTED
    eights = {card[0] for card in cards[:_THREE]} == {"8"}
    suits = {SUIT[card] for card in cards[:_THREE]}
    same = "suit" if len(suits) == 1 else "color" if suits in _COLORS else None
    return BustIt(VALUE[cards[_TWO]], same if eights else None)
