"""Minibaccarat, 58 Pa. Code Chapter 627a: House Money and its presses, in the standard game.

The chapter is printed in part. `ledger.rules.baccarat.coup` plays one coup. This module has the
paragraphs of this chapter for what it shares with Midibaccarat and Baccarat, and the odds of its
House Money.
"""

from __future__ import annotations

from ledger.rules.baccarat.coup import Printed, baccarat, paid_house_money
from ledger.rules.engine.game import Game, InPart

# A pair in either hand wins by 7(a)(7)(i), so 7(a)(7)(ii) is read to lose if neither hand has
# one. The dealer, and not the player, moves what is pressed (8(d)(1)(ii)). For the odds, 8(d)(1)
# names another paragraph than 12(g), which prints them.
PRINTED = Printed(
    wagers="7(a)",
    closed="7(c)",
    dealt="8(d)",
    face="up",
    turned="8(d)",
    asks_turns=False,
    house_money=paid_house_money("12(g)"),
    settled="8(d)(1)",
    pressed="8(d)(1)(i)",
    thirds=("8(d)(2)", "8(d)(2)"),
    marked="2(b)(8)",
    paid="12",
)

GAME = Game(
    id="minibaccarat",
    title="Minibaccarat",
    positions=9,
    not_modelled={
        "2(b)(7)": "equipment",
        "7(b)": "on camera, not in the feed",
        "8(e)": "on camera, not in the feed",
        "12(f)": InPart("Dragon 7 Insurance Wager"),
    },
    **baccarat("627a", PRINTED),
)
