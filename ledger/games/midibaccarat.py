"""Midibaccarat, 58 Pa. Code Chapter 629a: House Money and pressing it, beside the standard game.

The chapter is printed in part. One coup is played in `ledger.rules.baccarat.coup`; here is where
this chapter prints what it shares with Minibaccarat and Baccarat, and what its House Money pays.
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
    "12(h)",
    [
        row("Player and Banker Pair", coup.paired(2), "15 to 1"),
        row("Player or Banker Pair", coup.paired(1), "3 to 1"),
    ],
)
# A pair in either hand wins by 7(a)(7)(i), so 7(a)(7)(ii) is read to lose where neither hand has
# one. The dealer, and not the player, moves what is pressed (8(c)(3)(i)(B)). Play then goes on
# with the third cards (8(c)(3)(ii)).
PRINTED = coup.Printed(
    wagers="7(a)",
    closed="7(c)",
    dealt="8(c)",
    face="down",
    turned="8(c)(3)(i)",
    asks_turns=True,
    house_money=HOUSE_MONEY,
    settled="8(c)(3)(i)",
    pressed="8(c)(3)(i)(A)",
    thirds=("8(c)(4)", "8(c)(5)"),
    marked="2(b)(8)",
    paid="12",
)
TABLES = coup.base("12")


def play(t: Table) -> None:
    """One coup."""
    coup.play(t, PRINTED, TABLES)


GAME = Game(
    id="midibaccarat",
    title="Midibaccarat",
    editions=(Edition("629a", "proposed", None, None, "43 Pa.B., Doc. No. 13-230"),),
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
    readings=(house_money.reading("8(c)(3)(i)(A)"),),
    irregularities={},
    procedures=None,
    not_modelled={
        "2(b)(7)": "equipment",
        "7(b)": "on camera, not in the feed",
        "8(c)(6)": "on camera, not in the feed",
    },
    player_model=coup.PLAYER_MODEL,
    options=coup.options("2(b)(8)", "8(c)(3)(i)(A)"),
    fees=("vigorish",),
    decks=8,
    base=coup.BASE,
)
