"""Double Attack Blackjack: the Bet by best play, Bust It over every three cards of the shoe.

Published: 0.62 % of the Bet from eight decks by best play (wizardofodds.com, Double Attack
Blackjack). Here cards are drawn from full decks, so the figure differs a little.
"""

from __future__ import annotations

from fractions import Fraction
from functools import cache
from itertools import product
from typing import TYPE_CHECKING

from ledger.edges import Edge
from ledger.edges.best_of_21 import (
    DRAWS,
    Game21,
    beside_blackjack,
    blackjack_chance,
    without_blackjack,
)
from ledger.games.double_attack_blackjack import BUST_IT
from ledger.rules.hands.bust_it import bust_it_if_known
from ledger.rules.hands.cards import SUITS

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from ledger.rules.engine.game import InForce

HOW = (
    "best play, a Double Attack as large as the Bet where it gains, all later wagers inside it, "
    "every card drawn from full decks (infinite deck)"
)
DECKS = 8
RANKS = "23456789JQKA"


def edges(rules: InForce) -> list[Edge]:
    """The edges of the Bet by best play, and of Bust It over every three cards."""
    game = game_of(rules)
    return [
        Edge("bet", bet(game), HOW),
        Edge("bust_it", bust_it(), "every order of three cards of the 384"),
    ]


def game_of(rules: InForce) -> Game21:
    """The game of 21 under the rules in force."""
    readings = rules.readings
    half = readings["surrender_double_down"] == "half"
    return Game21(
        tens=3,
        blackjack=Fraction(1),
        double_any=True,
        surrender="any",
        after_double=Fraction(-1) if half else Fraction(-3, 2),
        bust_ties=readings["both_bust"] == "tie",
    )


def bet(game: Game21) -> Fraction:
    """The edge of a Bet of one. A Double Attack Wager goes back on a dealer's Blackjack."""
    gained = Fraction(0)
    for up in DRAWS:
        lost = blackjack_chance(game, up)
        worth = without_blackjack(game, up)
        stakes = 2 if worth > 0 else 1
        gained += game.chance(up) * (lost * beside_blackjack(game) + (1 - lost) * stakes * worth)
    return -gained


@cache
def busts() -> dict[Fraction, Fraction]:
    """The chance of each pay of Bust It. Ranks alone decide, except for three 8s."""
    found: dict[Fraction, Fraction] = {}
    cards = DECKS * len(SUITS) * len(RANKS)
    every = cards * (cards - 1) * (cards - 2)
    each = DECKS * len(SUITS)
    drawn = [
        (_ways(ranks, each), [f"{rank}c" for rank in ranks])
        for ranks in product(RANKS, repeat=3)
        if ranks != ("8", "8", "8")
    ]
    drawn += [
        (_ways(suits, DECKS), [f"8{suit}" for suit in suits]) for suits in product(SUITS, repeat=3)
    ]
    for ways, three in drawn:
        pays = _pays(three, {})
        found[pays] = found.get(pays, Fraction(0)) + Fraction(ways, every)
    return found


def bust_it() -> Fraction:
    """The edge of Bust It."""
    return -sum((chance * pays for pays, chance in busts().items()), Fraction(0))


def bust_it_variance() -> Fraction:
    """The variance of its gain."""
    square = sum((chance * pays**2 for pays, chance in busts().items()), Fraction(0))
    return square - bust_it() ** 2


@cache
def pays_of_values(up: int, hole: int, third: int) -> Fraction:
    """What Bust It pays on average for a dealer's cards of these values, from full decks."""
    names = {10: "K", 1: "A"}
    ranks = [names.get(value, str(value)) for value in (up, hole, third)]
    if ranks != ["8", "8", "8"]:
        return _pays([f"{rank}c" for rank in ranks], {})
    every = [_pays([f"8{suit}" for suit in suits], {}) for suits in product(SUITS, repeat=3)]
    return sum(every, Fraction(0)) / len(every)


def _ways(kinds: Sequence[str], each: int) -> int:
    """The number of orders in which these many cards of each kind are drawn."""
    found = 1
    for index, kind in enumerate(kinds):
        found *= each - list(kinds[:index]).count(kind)
    return found


def _pays(cards: Sequence[str], readings: Mapping[str, object]) -> Fraction:
    row = BUST_IT.pays(bust_it_if_known(cards), readings)
    return row.ratio if row else Fraction(-1)
