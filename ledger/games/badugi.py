"""Badugi Poker, 58 Pa. Code 637a.21: the lowest four cards of different suits and ranks.

The button, blinds and straddle are 21(b)-(e), the deal 21(f), the betting and the draws
21(g)-(j), the showdown 21(k). Four cards beat three, three two, and two
one: 21(k)(1)-(4).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ledger.rules.engine.game import Game, Reading
from ledger.rules.hands.cards import DECK
from ledger.rules.hands.lowball import badugi_if_known
from ledger.rules.poker import rounds
from ledger.rules.poker.cards import held
from ledger.rules.poker.pots import ODD_CHIP, Share

if TYPE_CHECKING:
    from ledger.rules.engine.table import Table
    from ledger.rules.hands.lowball import Badugi
    from ledger.rules.poker.betting import PokerBetting

PARAGRAPHS = {4: "21(k)(1)", 3: "21(k)(2)", 2: "21(k)(3)", 1: "21(k)(4)"}
"""Which paragraph a hand wins by, by its cards of different suits and ranks."""


def badugi(ring: PokerBetting, seat: int) -> Badugi | None:
    """The best badugi within a player's cards."""
    return badugi_if_known(held(ring, seat))


SHARES = (Share("badugi", badugi, section=lambda best: PARAGRAPHS[best.size], tied="21(k)(5)"),)


def play(t: Table) -> None:
    """One round, from the blinds to the pots."""
    rounds.draws(t, SHARES, "21")


GAME = Game(
    id="badugi",
    title="Badugi Poker",
    editions=rounds.EDITIONS,
    play=play,
    positions=9,
    deck=frozenset(DECK),
    wagers=rounds.wagers("21"),
    paytables=(),
    readings=(
        Reading(
            ODD_CHIP,
            ("first_left_of_button",),
            "21(k)(5)",
            "Who has the odd chip of tied hands is left to the Rules Submission.",
        ),
    ),
    irregularities=rounds.irregularities("21"),
    procedures=None,
    not_modelled={
        "21(a)": "on camera, not in the feed",
    },
    player_model=rounds.PLAYER_MODEL._replace(hole=4),
    options=rounds.options("21"),
    limits=rounds.LIMITS,
    rotation=rounds.button("21"),
    base=rounds.BASE,
    pots=True,
)
