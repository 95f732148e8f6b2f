"""Five Card Hi-Lo: every hand of a player with every hand of the dealer, by points.

The points make 1,993 kinds of the 2,598,960 hands, by the number of cards of each of ten values.
Every kind of a player is compared with every kind of the dealer from the 47 cards left. The figures
are exact.
"""

from __future__ import annotations

from fractions import Fraction
from functools import cache
from itertools import combinations_with_replacement
from math import comb, prod
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import numpy.typing as npt

from ledger.edges import Edge
from ledger.games.five_card_hi_lo import (
    ANTE_BONUS,
    CARDS,
    POKER_BONUS,
    TIE,
    TIE_HIGH,
    TIE_LOW,
    WIN,
    Compared,
)
from ledger.rules.hands.cards import RANKS, SUITS
from ledger.rules.hands.points import aces_bonus, dealer_hi_lo, player_hi_lo
from ledger.rules.hands.poker import hand_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from ledger.rules.engine.game import InForce
    from ledger.rules.engine.odds import Paytable
    from ledger.rules.hands.points import HiLo

Ints = npt.NDArray[np.int64]

TENS = "TJQK"
VALUES = "A23456789T"  # a rank of each value, and its number of cards
IN_DECK = np.array([len(SUITS) * (len(TENS) if value == "T" else 1) for value in VALUES])
DEALT = comb(52 - CARDS, CARDS)  # the dealer's hands for each of a player's
CHOOSE = np.array([[comb(n, k) for k in range(CARDS + 1)] for n in range(max(IN_DECK) + 1)])

FOR_THE_ANTE = "set and played, or given up, as is best for the Ante; Play and Ante Bonus inside it"
FOR_TIES = "every hand played, set for the most ties"


def edges(rules: InForce) -> list[Edge]:
    """The edges of every wager before the cards: Ante, Tie Wager and Poker Bonus."""
    bonus = rules.paytable("poker_bonus", *POKER_BONUS)
    ante, tie, for_ties = base_game(rules)
    return [
        Edge("ante", ante, FOR_THE_ANTE),
        Edge("tie", tie, FOR_THE_ANTE),
        Edge("tie", for_ties, FOR_TIES),
        Edge("poker_bonus", poker_bonus(bonus, rules), "2,598,960 hands"),
    ]


class ValueCounts(NamedTuple):
    """Hands that hold the same number of cards of each value."""

    counts: tuple[int, ...]
    cards: tuple[str, ...]  # one of them; suits only distinguish its cards
    hands: int  # the number of such hands

    @property
    def settings(self) -> tuple[HiLo, ...]:
        """The points as which a player may set the hand."""
        return player_hi_lo(self.cards)


@cache
def kinds() -> tuple[ValueCounts, ...]:
    """Every kind of hand."""
    found = []
    for ranks in combinations_with_replacement(VALUES, CARDS):
        counts = tuple(ranks.count(value) for value in VALUES)
        hands = prod(comb(int(n), k) for n, k in zip(IN_DECK, counts, strict=True))
        if hands:
            cards = tuple(rank + SUITS[ranks[:at].count(rank) % 4] for at, rank in enumerate(ranks))
            found.append(ValueCounts(counts, cards, hands))
    return tuple(found)


class Dealers(NamedTuple):
    """The dealer's kinds of hand: cards of each value, and the points they are set as."""

    counts: Ints
    high: Ints
    low: Ints


@cache
def dealers() -> Dealers:
    """Every kind of the dealer's, in the order of `kinds`."""
    points = [dealer_hi_lo(kind.cards) for kind in kinds()]
    high, low = np.array(points, dtype=np.int64).T
    return Dealers(np.array([kind.counts for kind in kinds()], dtype=np.int64), high, low)


def ways(kind: ValueCounts) -> Ints:
    """The number of dealer's hands of each kind for a player's hand: DEALT in all."""
    left = IN_DECK - np.array(kind.counts)
    found: Ints = CHOOSE[left[None, :], dealers().counts].prod(axis=1)
    return found


def won(tables: Sequence[Paytable], setting: HiLo, hands: Ints, rules: InForce) -> Fraction:
    """The win of a stake of one by these tables over the dealer's hands; a loss if none pays."""
    high, low = np.sign(setting.high - dealers().high), np.sign(setting.low - dealers().low)
    total = Fraction(0)
    for by_high in (-1, 0, 1):
        for by_low in (-1, 0, 1):
            count = int(hands[(high == by_high) & (low == by_low)].sum())
            by = Compared(by_high, by_low)
            row = next(filter(None, (each.pays(by, rules.readings) for each in tables)), None)
            total += count * (row.ratio if row else -1)
    return total / DEALT


def base_game(rules: InForce) -> tuple[Fraction, Fraction, Fraction]:
    """The edges of the Ante and the Tie Wager by the Ante's best play, and of play for ties."""
    aces = rules.paytable("ante_bonus", *ANTE_BONUS)
    kept = rules.readings["ante_bonus_after_fold"]
    gained = [Fraction(0)] * 3
    for kind in kinds():
        hands = ways(kind)
        row = aces.pays(aces_bonus(kind.cards), rules.readings)
        bonus = row.ratio if row else Fraction(0)
        given_up = bonus - 1 if kept else Fraction(-1)
        ties = [won((TIE,), setting, hands, rules) for setting in kind.settings]
        played = [
            (2 * won((WIN, TIE_HIGH, TIE_LOW), setting, hands, rules) + bonus, tie)
            for setting, tie in zip(kind.settings, ties, strict=True)
        ]
        best = max([*played, (given_up, Fraction(-1))])
        for index, each in enumerate((*best, max(ties))):
            gained[index] += kind.hands * each
    every = sum(kind.hands for kind in kinds())
    ante, tie, for_ties = (-each / every for each in gained)
    return ante, tie, for_ties


def five_cards() -> Iterator[tuple[tuple[str, ...], int]]:
    """A hand of each class of five cards, and the number of hands in it."""
    for ranks in combinations_with_replacement(RANKS, CARDS):
        copies = [ranks.count(rank) for rank in set(ranks)]
        if max(copies) > len(SUITS):
            continue
        suited = len(SUITS) if len(copies) == CARDS else 0
        mixed = prod(comb(len(SUITS), count) for count in copies) - suited
        yield tuple(rank + SUITS[at % len(SUITS)] for at, rank in enumerate(ranks)), mixed
        if suited:
            yield tuple(rank + SUITS[0] for rank in ranks), suited


def poker_bonus(table: Paytable, rules: InForce) -> Fraction:
    """The edge of the Poker Bonus over every hand of five."""
    gained, hands = Fraction(0), 0
    for cards, count in five_cards():
        row = table.pays(hand_of(cards), rules.readings)
        gained += count * (row.ratio if row else -1)
        hands += count
    return -gained / hands
