"""Saigon 5 Card: the Ante over every deal of card values, the Bonus over every hand of five.

Only the values of cards matter to the Ante, so hands are multisets of eleven values. Each is
weighed by the number of its deals after the other hand is dealt. The pot belongs to the players.
"""

from __future__ import annotations

from collections import Counter
from fractions import Fraction
from functools import cache
from itertools import combinations_with_replacement
from math import comb, prod
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import numpy.typing as npt

from ledger.edges import Edge
from ledger.games.saigon_5_card import BONUS, FIVE
from ledger.rules.hands.cards import JOKER, RANKS, SUITS
from ledger.rules.hands.joker import saigon_bonus
from ledger.rules.hands.points import dealer_count

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from ledger.rules.engine.game import InForce

Ints = npt.NDArray[np.int64]

VALUES = "A23456789TJ"
"""The values of cards, ace to ten; J is the joker."""
HELD = (*[4] * 9, 16, 1)
BEST = "three that qualify wherever there are some, with the highest count; every deal of values"


def edges(rules: InForce) -> list[Edge]:
    """The edges of the Ante under the reading of the dealer's joker, the Bonus, and the pot."""
    return [
        Edge("ante", ante(str(rules.readings["dealer_joker"])), BEST),
        Edge("bonus", bonus(rules), "2,869,685 hands"),
        Edge("pot", Fraction(0), "players against players: the house keeps nothing"),
    ]


@cache
def ante(dealer_joker: str) -> Fraction:
    """The edge of the Ante, in sums over every pair of hands."""
    hands, mine, his, ways = deals(dealer_joker)
    gained = dealt = 0
    for index in range(len(hands)):
        of_dealer, here = ways(index)
        won = int(of_dealer[his < mine[index]].sum())
        lost = int(of_dealer[his > mine[index]].sum())
        half = 1 if mine[index] == FIVE else 2
        gained += here * (half * won - 2 * lost)
        dealt += here * int(of_dealer.sum())
    return Fraction(-gained, 2 * dealt)


class Deals(NamedTuple):
    """Every hand of values, its Point Count as a player's and the dealer's, and their ways."""

    hands: list[tuple[int, ...]]
    mine: Ints
    his: Ints
    ways: Callable[[int], tuple[Ints, int]]  # of a hand: for each dealer's hand, and its own


def deals(dealer_joker: str) -> Deals:
    """Every deal of values, under the reading of the dealer's joker."""
    every = combinations_with_replacement(range(len(VALUES)), 5)
    hands: list[tuple[int, ...]] = [hand for hand in every if _there(hand)]
    held = np.array([[hand.count(value) for value in range(len(VALUES))] for hand in hands])
    mine = np.array([dealer_count(_cards(hand)) for hand in hands])
    his = np.array([dealer_count(_cards(hand), dealer_joker) for hand in hands])
    choose = np.array([[comb(left, count) for count in range(6)] for left in range(17)])

    def ways(index: int) -> tuple[Ints, int]:
        left = np.array(HELD) - held[index]
        own = zip(HELD, map(int, held[index]), strict=True)
        return (
            choose[left[None, :], held].prod(axis=1),
            prod(comb(all_, count) for all_, count in own),
        )

    return Deals(hands, mine, his, ways)


def value_of(card: str) -> int:
    """The place of a card's value in `VALUES`."""
    if card == JOKER:
        return len(VALUES) - 1
    return VALUES.index("T" if card[0] in "TJQK" else card[0])


def _there(hand: tuple[int, ...]) -> bool:
    """Whether the deck holds these cards of each value."""
    return all(hand.count(value) <= HELD[value] for value in set(hand))


def _cards(hand: tuple[int, ...]) -> list[str]:
    """Cards of these values, in any suits."""
    return [JOKER if VALUES[value] == "J" else VALUES[value] + "c" for value in hand]


def bonus(rules: InForce) -> Fraction:
    """The edge of the Bonus: hands of five, and of four with the joker, by ranks and one suit."""
    gained, hands = Fraction(0), 0
    for cards, ways in hands_of_five():
        row = BONUS.pays(saigon_bonus(cards), rules.readings)
        gained += ways * (row.ratio if row else -1)
        hands += ways
    return -gained / hands


def hands_of_five() -> Iterator[tuple[tuple[str, ...], int]]:
    """One hand of each class of five cards, the joker among them, and the number in it."""
    for size, joker in ((5, ()), (4, (JOKER,))):
        for cards, ways in _classes(size):
            yield (*cards, *joker), ways


def _classes(size: int) -> Iterator[tuple[list[str], int]]:
    """One hand of each class of this size, suited or not, and the number of hands in it."""
    for ranks in combinations_with_replacement(RANKS, size):
        copies = Counter(ranks)
        if max(copies.values()) > len(SUITS):
            continue
        suited = len(SUITS) if len(copies) == size else 0
        mixed = prod(comb(len(SUITS), count) for count in copies.values()) - suited
        for suits, ways in (("c", suited), ("cdhs", mixed)):
            if ways:
                yield [rank + suits[n % len(suits)] for n, rank in enumerate(ranks)], ways
