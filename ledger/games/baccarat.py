"""Baccarat, 58 Pa. Code Chapter 631a: House Money and its presses, in the standard game.

The chapter is printed in part. `ledger.rules.baccarat.coup` plays one coup. This module has the
paragraphs of this chapter for what it shares with Minibaccarat and Midibaccarat, and the odds of
its House Money.
"""

from __future__ import annotations

from ledger.rules.baccarat.coup import Printed, baccarat, paid_house_money
from ledger.rules.engine.game import Game

# A pair in either hand wins by 8(a)(7)(i), so 8(a)(7)(ii) is read to lose where neither hand has
# one. The dealer, and not the player, moves what is pressed (9(e)(1)(ii)).
PRINTED = Printed(
    wagers="8(a)",
    closed="8(c)",
    dealt="9(e)",
    face="down",
    turned="9(e)",
    asks_turns=True,
    house_money=paid_house_money("13(h)"),
    settled="9(e)(1)",
    pressed="9(e)(1)(i)",
    thirds=("9(e)(2)", "9(e)(2)"),
    marked="2(b)(8)",
    paid="13",
)

GAME = Game(
    id="baccarat",
    title="Baccarat",
    positions=14,
    not_modelled={
        "2(b)(7)": "equipment",
        "8(b)": "on camera, not in the feed",
        "9(f)": "on camera, not in the feed",
    },
    **baccarat("631a", PRINTED),
)
