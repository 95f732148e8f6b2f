"""Baccarat, 58 Pa. Code Chapter 631a: House Money and pressing it, beside the standard game.

The chapter is printed in part. One coup is played in `ledger.rules.baccarat.coup`; here is where
this chapter prints what it shares with Minibaccarat and Midibaccarat, and what its House Money
pays.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ledger.rules.baccarat import coup
from ledger.rules.engine.game import Edition, Game, Wager
from ledger.rules.engine.odds import paytable, row
from ledger.rules.hands.cards import DECK
from ledger.rules.wagers import house_money

if TYPE_CHECKING:
    from ledger.rules.engine.table import Table

HOUSE_MONEY = paytable(
    "house_money",
    "13(h)",
    [
        row("Player and Banker Pair", coup.paired(2), "15 to 1"),
        row("Player or Banker Pair", coup.paired(1), "3 to 1"),
    ],
)
# A pair in either hand wins by 8(a)(7)(i), so 8(a)(7)(ii) is read to lose where neither hand has
# one. The dealer, and not the player, moves what is pressed (9(e)(1)(ii)).
PRINTED = coup.Printed(
    wagers="8(a)",
    closed="8(c)",
    dealt="9(e)",
    face="down",
    turned="9(e)",
    asks_turns=True,
    house_money=HOUSE_MONEY,
    settled="9(e)(1)",
    pressed="9(e)(1)(i)",
    thirds=("9(e)(2)", "9(e)(2)"),
    marked="2(b)(8)",
    paid="13",
)
TABLES = coup.base("13")


def play(t: Table) -> None:
    """One coup."""
    coup.play(t, PRINTED, TABLES)


GAME = Game(
    id="baccarat",
    title="Baccarat",
    editions=(Edition("631a", "proposed", None, None, "43 Pa.B., Doc. No. 13-230"),),
    play=play,
    positions=14,
    deck=frozenset(DECK),
    wagers=(
        Wager("player", "Player's Hand", "8(a)"),
        Wager("banker", "Banker's Hand", "8(a)"),
        Wager("tie", "Tie Wager", "8(a)"),
        Wager("house_money", "House Money Wager", "8(a)(7)", optional=True),
    ),
    paytables=(*TABLES, HOUSE_MONEY),
    readings=(house_money.reading("9(e)(1)(i)"),),
    irregularities={},
    procedures=None,
    not_modelled={
        "2(b)(7)": "equipment",
        "8(b)": "on camera, not in the feed",
        "9(f)": "on camera, not in the feed",
    },
    player_model=coup.PLAYER_MODEL,
    options=coup.options("2(b)(8)", "9(e)(1)(i)"),
    fees=("vigorish",),
    decks=8,
    base=coup.BASE,
)
