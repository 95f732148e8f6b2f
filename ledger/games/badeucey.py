"""Badeucey, 58 Pa. Code 637a.20(l)(1): half of the pot to the low hand, half to the badugi.

The button, blinds and straddle are 20(b)-(e), the deal 20(f), the betting and the draws 20(g)-(j),
the showdown 20(k). The best badugi is 2-3-4-5, the ace high. An odd chip goes to the low hand
(20(l)(1)(ii)).
"""

from __future__ import annotations

from ledger.rules.engine.game import Game
from ledger.rules.hands.lowball import ace_high_badugi_if_known, deuce_to_seven_if_known
from ledger.rules.poker.rounds import draw_poker, low_and_badugi, no_badugi, odd_chip

HALVES = "20(l)(1)(i)"

SHARES = low_and_badugi(deuce_to_seven_if_known, ace_high_badugi_if_known, HALVES, tied="20(k)(2)")
"""The 2-7 low (20(k)(1), 20(k)(3)(i)-(iii)), and the best cards of different suits and ranks
(20(l)(1)(i))."""

GAME = Game(
    id="badeucey",
    title="Triple Draw Badeucey Poker",
    readings=(no_badugi(HALVES), odd_chip("20(k)(2)")),
    **draw_poker("20", SHARES),
)
