"""Cards as codes: rank and suit, `Jk` for the joker, `??` for a card not known."""

from __future__ import annotations

from typing import TYPE_CHECKING, ParamSpec, TypeVar

from ledger.values import UNKNOWN_CARD

if TYPE_CHECKING:
    from collections.abc import Callable

P = ParamSpec("P")
T = TypeVar("T")

RANKS = "23456789TJQKA"
SUITS = "cdhs"

DECK: tuple[str, ...] = tuple(rank + suit for suit in SUITS for rank in RANKS)
"""One deck of 52, without a joker."""

JOKER = "Jk"

ONE_OF_EACH: tuple[str, ...] = (*DECK, JOKER)
"""Every card there is, once."""

RANK: dict[str, int] = {card: RANKS.index(card[0]) for card in DECK}
"""Rank of a card from 0 (deuce) to 12 (ace)."""

SUIT: dict[str, int] = {card: SUITS.index(card[1]) for card in DECK}


def known(cards: tuple[str, ...]) -> bool:
    """Whether every card is known."""
    return UNKNOWN_CARD not in cards


def if_known(reading: Callable[P, T]) -> Callable[P, T | None]:
    """A reading of cards that gives None if a card is not known or not in the deck."""

    def read(*args: P.args, **kwargs: P.kwargs) -> T | None:
        try:
            return reading(*args, **kwargs)
        except (KeyError, ValueError):
            return None

    return read
