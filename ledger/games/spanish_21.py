"""Spanish 21, 58 Pa. Code Chapter 635a: decks without 10s, doubles on any number of cards, rescue.

Only 10(a) of the chapter is printed. The rest is the standard game as Blackjack plays it
(`ledger.rules.blackjack.standard`), cited by that chapter's paragraphs.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ledger.rules.blackjack.dealer import Peek
from ledger.rules.blackjack.hands import ANY_CARDS, RESCUED, Style, decision_weights
from ledger.rules.blackjack.standard import (
    BASE,
    Standard,
    deal,
    dealer_blackjack,
    even_money,
    lose_to_blackjack,
    options,
    play_out,
    styled,
    tables,
)
from ledger.rules.engine.game import Edition, Game, Option, PlayerModel, Wager
from ledger.rules.hands.twenty_one import DECK_48

if TYPE_CHECKING:
    from ledger.rules.engine.table import Table

HANDS, EVEN, INSURANCE = tables("spanish_21", "633a.13(a)", "633a.8")
SPANISH = Standard(
    wager="spanish_21",
    beside=(),
    placed="633a.6(e)",
    boxes="633a.6(f)",
    play="633a.7",
    results="633a.7(p)",
    split="633a.11",
    double="10(a)",
    pays=HANDS,
    even=EVEN,
    peek=Peek(
        INSURANCE,
        base="spanish_21",
        offered="633a.8",
        most="633a.8",
        lost="633a.8",
        read="633a.7(h)",
    ),
)
STYLE = Style(
    base=("spanish_21",),
    decided="633a.7",
    dealt="633a.7",
    double="10(a)",
    split="633a.11",
    aces="633a.11",
    double_cards=ANY_CARDS,
    after_double=(RESCUED,),  # the heading of 10: the wager is given up, the double taken back
    dead=True,
)


def play(t: Table) -> None:
    """One round, from the Spanish 21 Wagers to the last hand settled."""
    seats = deal(t, SPANISH)
    even = even_money(t, seats, SPANISH)
    found = dealer_blackjack(t, seats, SPANISH)
    left = [seat for seat in seats if seat not in even]
    if found:
        lose_to_blackjack(t, left, SPANISH)
    else:
        play_out(t, left, SPANISH, styled(t, STYLE))


GAME = Game(
    id="spanish_21",
    title="Spanish 21",
    editions=(Edition("635a", "proposed", None, None, "Pa.B. Doc. No. 13-230, filed 2013-02-08"),),
    play=play,
    positions=7,
    deck=frozenset(DECK_48),
    decks=6,
    wagers=(
        Wager("spanish_21", "Spanish 21 Wager", "10(a)"),
        Wager("insurance", "Insurance Wager", "633a.8"),
        Wager("double_down", "Double Down Wager", "10(a)"),
        Wager("split", "wager on a split hand", "633a.11"),
    ),
    paytables=(HANDS, EVEN, INSURANCE),
    readings=(),
    options=(
        *options("633a.7", "633a.11", "633a.6(f)"),
        Option(
            "player_21",
            ("ties", "wins"),
            "633a.7(p)",
            "Whether a player's 21, or Blackjack, wins though the dealer has one too.",
        ),
    ),
    irregularities={},
    procedures=None,
    base=f"{BASE} The decks have no 10s. A doubled hand below 21 may be rescued: the Spanish 21 "
    "Wager is given up, the Double Down Wager goes back.",
    not_modelled={},
    player_model=PlayerModel(
        always=("spanish_21",),
        sometimes={"insurance": 300},
        decision_weights=decision_weights,
    ),
)
