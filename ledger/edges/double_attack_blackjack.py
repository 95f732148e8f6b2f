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
    readings = rules.readings
    half = readings["surrender_double_down"] == "half"
    game = Game21(
        tens=3,
        blackjack=Fraction(1),
        double_any=True,
        surrender="any",
        after_double=Fraction(-1) if half else Fraction(-3, 2),
        bust_ties=readings["both_bust"] == "tie",
    )
    return [
        Edge("bet", bet(game), HOW),
        Edge("bust_it", bust_it(), "every order of three cards of the 384"),
    ]


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
def bust_it() -> Fraction:
    """The edge of Bust It. Ranks alone decide, except for three 8s."""
    gained = Fraction(0)
    for ranks in product(RANKS, repeat=3):
        each = DECKS * len(SUITS)
        if ranks != ("8", "8", "8"):
            gained += _ways(ranks, each) * _pays([f"{rank}c" for rank in ranks], {})
    for suits in product(SUITS, repeat=3):
        gained += _ways(suits, DECKS) * _pays([f"8{suit}" for suit in suits], {})
    cards = DECKS * len(SUITS) * len(RANKS)
    return -gained / (cards * (cards - 1) * (cards - 2))


def _ways(kinds: Sequence[str], each: int) -> int:
    """The number of orders in which these many cards of each kind are drawn."""
    found = 1
    for index, kind in enumerate(kinds):
        found *= each - list(kinds[:index]).count(kind)
    return found


def _pays(cards: Sequence[str], readings: Mapping[str, object]) -> Fraction:
    row = BUST_IT.pays(bust_it_if_known(cards), readings)
    return row.ratio if row else Fraction(-1)
