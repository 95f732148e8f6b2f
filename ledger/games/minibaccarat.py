"""Minibaccarat, 58 Pa. Code Chapter 627a: House Money and pressing it, beside the standard game.

The chapter is printed in part. One coup is played in `ledger.rules.baccarat.coup`; here is where
this chapter prints what it shares with Midibaccarat and Baccarat, and what its House Money pays.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ledger.rules.baccarat import coup
from ledger.rules.engine.game import Edition, Game, InPart, Wager
from ledger.rules.engine.odds import paytable, row
from ledger.rules.hands.cards import DECK
from ledger.rules.wagers import house_money

if TYPE_CHECKING:
    from ledger.rules.engine.table import Table

HOUSE_MONEY = paytable(
    "house_money",
    "12(g)",
    [
        row("Player and Banker Pair", coup.paired(2), "15 to 1"),
        row("Player or Banker Pair", coup.paired(1), "3 to 1"),
    ],
)
# A pair in either hand wins by 7(a)(7)(i), so 7(a)(7)(ii) is read to lose where neither hand has
# one. The dealer, and not the player, moves what is pressed (8(d)(1)(ii)). 8(d)(1) sends to
# another paragraph for the odds than 12(g), which prints them.
PRINTED = coup.Printed(
    wagers="7(a)",
    closed="7(c)",
    dealt="8(d)",
    face="up",
    turned="8(d)",
    asks_turns=False,
    house_money=HOUSE_MONEY,
    settled="8(d)(1)",
    pressed="8(d)(1)(i)",
    thirds=("8(d)(2)", "8(d)(2)"),
    marked="2(b)(8)",
    paid="12",
)
TABLES = coup.base("12")


def play(t: Table) -> None:
    """One coup."""
    coup.play(t, PRINTED, TABLES)


GAME = Game(
    id="minibaccarat",
    title="Minibaccarat",
    editions=(Edition("627a", "proposed", None, None, "43 Pa.B., Doc. No. 13-230"),),
    play=play,
    positions=9,
    deck=frozenset(DECK),
    wagers=(
        Wager("player", "Player's Hand", "7(a)"),
        Wager("banker", "Banker's Hand", "7(a)"),
        Wager("tie", "Tie Wager", "7(a)"),
        Wager("house_money", "House Money Wager", "7(a)(7)", optional=True),
    ),
    paytables=(*TABLES, HOUSE_MONEY),
    readings=(house_money.reading("8(d)(1)(i)"),),
    irregularities={},
    procedures=None,
    not_modelled={
        "2(b)(7)": "equipment",
        "7(b)": "on camera, not in the feed",
        "8(e)": "on camera, not in the feed",
        "12(f)": InPart("Dragon 7 Insurance Wager"),
    },
    player_model=coup.PLAYER_MODEL,
    options=coup.options("2(b)(8)", "8(d)(1)(i)"),
    fees=("vigorish",),
    decks=8,
    base=coup.BASE,
)
