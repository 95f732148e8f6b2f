"""Triple Draw Ace-5 Lowball Poker, 58 Pa. Code 637a.20: the lowest hand, aces low.

The button, blinds and straddle are 20(b)-(e), the deal 20(f), the betting and the draws
20(g)-(j), the showdown 20(k).
"""

from __future__ import annotations

from ledger.rules.engine.game import Game
from ledger.rules.hands.lowball import ace_to_five_if_known
from ledger.rules.poker.pots import PotShare
from ledger.rules.poker.rounds import draw_poker, odd_chip, own_cards

SHARES = (PotShare("low", own_cards(ace_to_five_if_known), "20(k)(4)", tied="20(k)(2)"),)
"""The A-5 low of a player: 20(k)(1), 20(k)(4)(i)-(iii)."""

GAME = Game(
    id="triple_draw_a_5",
    title="Triple Draw Ace-5 Lowball Poker",
    readings=(odd_chip("20(k)(2)"),),
    **draw_poker("20", SHARES),
)
