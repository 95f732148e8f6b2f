"""Lunar Poker: the Super Wager over every hand of five, the Ante by simulation.

The Ante's later choices (cards, a dealer forced) are too many to enumerate. Its edge is therefore
that of a named strategy that buys nothing, sampled with a seed. `python -m
ledger.edges.lunar_poker` counts the figures kept here again.
"""

from __future__ import annotations

import random
from collections import Counter
from fractions import Fraction
from itertools import combinations_with_replacement
from math import comb, prod
from typing import TYPE_CHECKING

from ledger.edges import Edge
from ledger.games.lunar_poker import BET, SUPER
from ledger.rules.hands.cards import DECK, RANKS, SUITS
from ledger.rules.hands.lunar import combinations_in, paid_rows, qualifies, super_hand
from ledger.rules.hands.poker import hand_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ledger.rules.engine.game import InForce

ROUNDS, SEED = 2_000_000, 589
HOW = (
    "a Bet with an ace-king or better, else a fold, nothing bought, no dealer forced; "
    "2,000,000 rounds by chance, within 0.6 % of the Ante"
)
ANTE = {"best_paying": -377_378, "next_best": -381_660}
"""Antes gained by the player in these rounds, by reading of 11(e)(1)(ii), from `ante`."""


def edges(rules: InForce) -> list[Edge]:
    """The edge of the Super Wager by its paytable, counted now, and of the Ante, as sampled."""
    gained = ANTE[str(rules.readings["second_combination"])]
    return [
        Edge("ante", Fraction(-gained, ROUNDS), HOW),
        Edge("super", super_wager(rules), "2,598,960 hands, each declared that wins"),
    ]


def super_wager(rules: InForce) -> Fraction:
    """The edge of the Super Wager: every class of ranks, by one suit, one color, and others."""
    return super_moments(rules)[0]


def super_moments(rules: InForce) -> tuple[Fraction, Fraction]:
    """The mean and the variance of what the house gains of the Super Wager."""
    table = rules.paytable("super", *SUPER)
    mean, square, hands = Fraction(0), Fraction(0), 0
    for cards, ways in _classes():
        row = table.pays(super_hand(cards), rules.readings)
        gain = -row.ratio if row else Fraction(1)
        mean += ways * gain
        square += ways * gain**2
        hands += ways
    return mean / hands, square / hands - (mean / hands) ** 2


def _classes() -> Iterator[tuple[list[str], int]]:
    """One hand of each class, and the number of hands in it."""
    for ranks in combinations_with_replacement(RANKS, 5):
        held = Counter(ranks)
        if max(held.values()) > len(SUITS):
            continue
        every = prod(comb(4, count) for count in held.values())
        suited = 4 if len(held) == len(ranks) else 0
        colored = 2 * prod(comb(2, count) for count in held.values()) - suited
        for suits, ways in (
            ("cccc", suited),
            ("cs", colored),
            ("cdhs", every - suited - colored),
        ):
            if ways:
                yield _hand(ranks, suits), ways


def _hand(ranks: tuple[str, ...], suits: str) -> list[str]:
    """Cards of these ranks in alternating suits: never one card twice if `ways` is above zero."""
    return [rank + suits[place % len(suits)] for place, rank in enumerate(ranks)]


def ante(rounds: int = ROUNDS, seed: int = SEED) -> dict[str, int]:
    """Antes gained by the player, by reading; `ANTE` keeps them for its number of rounds."""
    chance = random.Random(seed)  # noqa: S311 - repeatable, not for security
    gained = {"best_paying": 0, "next_best": 0}
    for _ in range(rounds):
        cards = chance.sample(DECK, 10)
        for reading, net in lunar_round(cards[:5], cards[5:]).items():
            gained[reading] += net
    return gained


def lunar_round(player: list[str], house: list[str]) -> dict[str, int]:
    """The player's win of a round, in Antes, by reading."""
    mine, dealer = hand_of(player), hand_of(house)
    if not qualifies(mine):
        net = -1
    elif not qualifies(dealer):
        net = 1
    elif mine <= dealer:
        net = -3 if mine < dealer else 0
    else:
        found = combinations_in(player)
        return {
            reading: int(2 * sum(row.ratio for row in paid_rows(found, BET.rows, reading)))
            for reading in ("best_paying", "next_best")
        }
    return dict.fromkeys(("best_paying", "next_best"), net)


if __name__ == "__main__":
    print(ante())  # noqa: T201 - the figures to keep
