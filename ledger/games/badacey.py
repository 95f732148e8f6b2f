"""Badacey, 58 Pa. Code 637a.20(l)(2): half of the pot to the low hand, half to the badugi.

The button, blinds and straddle are 20(b)-(e), the deal 20(f), the betting and the draws
20(g)-(j), the showdown 20(k).
The best badugi is A-2-3-4, the ace low;
what cannot be split evenly goes to the low hand (20(l)(2)(ii)).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ledger.rules.engine.game import Game, Reading
from ledger.rules.hands.cards import DECK
from ledger.rules.hands.lowball import ace_to_five_if_known, badugi_if_known
from ledger.rules.poker import rounds
from ledger.rules.poker.cards import held
from ledger.rules.poker.pots import ODD_CHIP, Share

if TYPE_CHECKING:
    from ledger.rules.engine.table import Table
    from ledger.rules.hands.lowball import Badugi, Low
    from ledger.rules.poker.betting import PokerBetting

NO_BADUGI = "no_badugi"
FOUR = 4


def low(ring: PokerBetting, seat: int) -> Low | None:
    """The A-5 low of a player: 20(k)(1), 20(k)(4)(i)-(iii)."""
    return ace_to_five_if_known(held(ring, seat))


def badugi(ring: PokerBetting, seat: int) -> Badugi | None:
    """The best cards of different suits and ranks (20(l)(2)(i))."""
    return badugi_if_known(held(ring, seat))


def splits(ring: PokerBetting) -> bool:
    """Whether a badugi of fewer than four cards wins its half."""
    return ring.t.rules.readings[NO_BADUGI] == "best_three_card"


SHARES = (
    Share("low", low, "20(l)(2)(i)", tied="20(k)(2)", alone="20(l)(2)(i)"),
    Share(
        "badugi",
        badugi,
        "20(l)(2)(i)",
        tied="20(k)(2)",
        wins=lambda ring, best: best.size == FOUR or splits(ring),
        unclear=lambda best: best.size < FOUR,
        reading=NO_BADUGI,
    ),
)


def play(t: Table) -> None:
    """One round, from the blinds to the pots."""
    rounds.draws(t, SHARES, "20")


GAME = Game(
    id="badacey",
    title="Triple Draw Badacey Poker",
    editions=rounds.EDITIONS,
    play=play,
    positions=7,
    deck=frozenset(DECK),
    wagers=rounds.wagers("20"),
    paytables=(),
    readings=(
        Reading(
            NO_BADUGI,
            ("best_three_card", "low_hand_scoops"),
            "20(l)(2)(i)",
            "What becomes of the badugi half where nobody has four cards of different suits and "
            "ranks: the best badugi of fewer has it, or the low hand the whole pot.",
        ),
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
