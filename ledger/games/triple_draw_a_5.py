"""Triple Draw Ace-5 Lowball Poker, 58 Pa. Code 637a.20: the lowest hand, aces low.

The button, blinds and straddle are 20(b)-(e), the deal 20(f), the betting and the draws
20(g)-(j), the showdown 20(k).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ledger.rules.engine.game import Game, Reading
from ledger.rules.hands.cards import DECK
from ledger.rules.hands.lowball import ace_to_five_if_known
from ledger.rules.poker import rounds
from ledger.rules.poker.cards import held
from ledger.rules.poker.pots import ODD_CHIP, Share

if TYPE_CHECKING:
    from ledger.rules.engine.table import Table
    from ledger.rules.hands.lowball import Low
    from ledger.rules.poker.betting import PokerBetting


def low(ring: PokerBetting, seat: int) -> Low | None:
    """The A-5 low of a player: 20(k)(1), 20(k)(4)(i)-(iii)."""
    return ace_to_five_if_known(held(ring, seat))


SHARES = (Share("low", low, "20(k)(4)", tied="20(k)(2)"),)


def play(t: Table) -> None:
    """One round, from the blinds to the pots."""
    rounds.draws(t, SHARES, "20")


GAME = Game(
    id="triple_draw_a_5",
    title="Triple Draw Ace-5 Lowball Poker",
    editions=rounds.EDITIONS,
    play=play,
    positions=7,
    deck=frozenset(DECK),
    wagers=rounds.wagers("20"),
    paytables=(),
    readings=(
        Reading(
            ODD_CHIP,
            ("first_left_of_button",),
            "20(k)(2)",
            "Who has the odd chip of tied hands is left to the Rules Submission.",
        ),
    ),
    irregularities=rounds.irregularities("20"),
    procedures=None,
    not_modelled={
        "20(a)": "on camera, not in the feed",
    },
    player_model=rounds.PLAYER_MODEL._replace(hole=5),
    options=rounds.options("20"),
    limits=rounds.LIMITS,
    rotation=rounds.button("20"),
    base=rounds.BASE,
    pots=True,
)
