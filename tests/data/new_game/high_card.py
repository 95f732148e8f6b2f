"""High Card, the game of the contributor's guide: one card each, and the higher wins even money.

It borrows the paragraphs of Criss-Cross Poker, Chapter 592, so that its cites resolve.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from ledger.rules.engine.game import Edition, Game, PlayerModel, Reading, Wager
from ledger.rules.engine.odds import PUSH, paytable, row
from ledger.rules.hands.cards import DECK, RANK
from ledger.rules.procedures import common_card_rules

if TYPE_CHECKING:
    from ledger.rules.engine.table import Table


class Cards(NamedTuple):
    """A player's card beside the dealer's."""

    player: str
    dealer: str


BET = paytable(
    "bet",
    "12(a)",
    [
        row("Higher card", lambda c: RANK[c.player] > RANK[c.dealer], "1 to 1"),
        row("Same rank", lambda c: RANK[c.player] == RANK[c.dealer], PUSH, ("tie", "push")),
    ],
)


def play(t: Table) -> None:
    """One card to each player and one to the dealer, who turns his last."""
    opening = t.wagers(("bet",), "7(d)")
    t.awaits(("bet",), "7(d)")
    t.close(opening, t.announce("no_more_bets_called", "8(b)"), "7(c)")
    seats = t.positions()
    held = {seat: t.deal("player", 1, "8(d)", seat) for seat in seats}
    dealer = t.deal("dealer", 1, "8(d)")
    t.counted({("dealer", None): 1, **{("player", seat): 1 for seat in seats}}, "13(c)")
    t.stub(len(DECK), "8(h)")
    t.turn("dealer", (0,), "11(g)")
    for seat in seats:
        t.turn("player", (0,), "11(g)", seat)
        known = held[seat][0] in RANK and dealer[0] in RANK
        cards = Cards(held[seat][0], dealer[0]) if known else None
        t.settle(seat, "bet", BET, cards, "11(h)(1)(i)", readings=("tie",))
        t.discard("11(i)", "player", seat)


GAME = Game(
    id="high_card",
    title="High Card",
    editions=(Edition("592", "temporary", "2014-07-12", "2016-07-12", "the contributor's guide"),),
    play=play,
    positions=6,
    deck=frozenset(DECK),
    wagers=(Wager("bet", "Bet", "7(d)"),),
    paytables=(BET,),
    readings=(Reading("tie", ("push", "lose"), "12(a)", "Two cards of one rank."),),
    irregularities=common_card_rules.irregularities("13(a)", "13(b)", "13(c)", "13(e)", "13(f)"),
    procedures=common_card_rules.CARE._replace(device_covered="13(g)"),
    not_modelled={},
    player_model=PlayerModel(always=("bet",), hole=1),
)
