"""Spanish 21: its wager by best play from a shoe of infinitely many decks.

Published figures (0.76 % if the dealer hits soft 17, wizardofodds.com) are of a game whose 21s
always win and which pays bonuses. Neither is printed here, so this one keeps more.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ledger.edges import Edge
from ledger.edges.best_of_21 import edge, standard
from ledger.games.spanish_21 import HANDS

if TYPE_CHECKING:
    from ledger.edges.best_of_21 import Game21
    from ledger.rules.engine.game import InForce

HOW = "best play, all later wagers inside it, every card drawn from full decks (infinite deck)"


def edges(rules: InForce) -> list[Edge]:
    """The edge of the Spanish 21 Wager."""
    return [Edge("spanish_21", edge(game_of(rules)), HOW)]


def game_of(rules: InForce) -> Game21:
    """The game of 21 under the rules in force."""
    pays = rules.paytable("spanish_21", HANDS)
    blackjack = pays.pays("blackjack", rules.readings)
    return standard(
        dict(rules.options),
        tens=3,
        blackjack=blackjack.ratio if blackjack else HANDS.rows[0].ratio,
        double_any=True,
    )
