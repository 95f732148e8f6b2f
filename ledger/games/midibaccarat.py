"""Midibaccarat, 58 Pa. Code Chapter 629a: House Money and its presses, in the standard game.

The chapter is printed in part. `ledger.rules.baccarat.coup` plays one coup. This module has the
paragraphs of this chapter for what it shares with Minibaccarat and Baccarat, and the odds of its
House Money.
"""

from __future__ import annotations

from ledger.rules.baccarat.coup import Printed, baccarat, paid_house_money
from ledger.rules.engine.game import Game

# A pair in either hand wins by 7(a)(7)(i), so 7(a)(7)(ii) is read to lose where neither hand has
# one. The dealer, and not the player, moves what is pressed (8(c)(3)(i)(B)). Play then goes on
# with the third cards (8(c)(3)(ii)).
PRINTED = Printed(
    wagers="7(a)",
    closed="7(c)",
    dealt="8(c)",
    face="down",
    turned="8(c)(3)(i)",
    asks_turns=True,
    house_money=paid_house_money("12(h)"),
    settled="8(c)(3)(i)",
    pressed="8(c)(3)(i)(A)",
    thirds=("8(c)(4)", "8(c)(5)"),
    marked="2(b)(8)",
    paid="12",
)

GAME = Game(
    id="midibaccarat",
    title="Midibaccarat",
    positions=9,
    not_modelled={
        "2(b)(7)": "equipment",
        "7(b)": "on camera, not in the feed",
        "8(c)(6)": "on camera, not in the feed",
    },
    **baccarat("629a", PRINTED),
)
