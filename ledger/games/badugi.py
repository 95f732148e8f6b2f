"""Badugi Poker, 58 Pa. Code 637a.21: the lowest four cards of different suits and ranks.

The button, blinds and straddle are 21(b)-(e), the deal 21(f), the betting and the draws 21(g)-(j),
the showdown 21(k). Four cards beat three, three beat two, and two beat one: 21(k)(1)-(4).
"""

from __future__ import annotations

from ledger.rules.engine.game import Game
from ledger.rules.hands.lowball import badugi_if_known
from ledger.rules.poker.pots import PotShare
from ledger.rules.poker.rounds import draw_poker, odd_chip, own_cards

PARAGRAPHS = {4: "21(k)(1)", 3: "21(k)(2)", 2: "21(k)(3)", 1: "21(k)(4)"}
"""The paragraph a hand wins by, from its number of cards of different suits and ranks."""

SHARES = (
    PotShare(
        "badugi",
        own_cards(badugi_if_known),
        section=lambda best: PARAGRAPHS[best.size],
        tied="21(k)(5)",
    ),
)

GAME = Game(
    id="badugi",
    title="Badugi Poker",
    readings=(odd_chip("21(k)(5)"),),
    **draw_poker("21", SHARES),
)
