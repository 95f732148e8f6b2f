"""Five-card Omaha High-low Split Eight or Better, 58 Pa. Code 637a.19: the pot in two halves.

The button, blinds and straddle are 19(b)-(e), the deal 19(f), the betting and the board 19(g)-(j),
the showdown 19(k). The two hands need not be of the same cards (19(l)(2));
in a kill pot the stakes are higher, as filed (19(l)(3)).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ledger.rules.engine.game import Game, Reading
from ledger.rules.hands.best_five import (
    highest_by_suit,
    lowest_by_suit,
    omaha_high_if_known,
    omaha_low_if_known,
)
from ledger.rules.hands.cards import DECK
from ledger.rules.hands.lowball import eight_or_better
from ledger.rules.poker import rounds
from ledger.rules.poker.cards import board, held
from ledger.rules.poker.pots import ODD_CHIP, Share

if TYPE_CHECKING:
    from ledger.rules.engine.table import Table
    from ledger.rules.hands.best_five import CardOrder
    from ledger.rules.hands.lowball import Low
    from ledger.rules.hands.poker import Hand
    from ledger.rules.poker.betting import PokerBetting


def high(ring: PokerBetting, seat: int) -> Hand | None:
    """The high hand of a player (19(k)(2)(i))."""
    return omaha_high_if_known(held(ring, seat), board(ring))


def low(ring: PokerBetting, seat: int) -> Low | None:
    """The low hand of a player; whether it is in contention is 19(l)(1)."""
    return omaha_low_if_known(held(ring, seat), board(ring))


def high_claim(ring: PokerBetting, seat: int) -> tuple[int, ...]:
    """Tied highs by their highest card by suit, the highest first (19(k)(2)(ii), (iv))."""
    order = highest_by_suit(held(ring, seat), board(ring))
    return tuple(-suit for _, suit in order)  # the ranks of tied hands are the same


def low_claim(ring: PokerBetting, seat: int) -> CardOrder:
    """Tied lows by their lowest card by suit, the lowest first (19(k)(2)(iii)-(iv))."""
    return lowest_by_suit(held(ring, seat), board(ring))


SHARES = (
    Share(
        "high",
        high,
        "19(k)(2)(i)",
        tied="19(k)(2)(ii)",
        claim=high_claim,
        says=lambda hand: hand.category,
        alone="19(l)(1)",
    ),
    Share(
        "low",
        low,
        "19(k)(2)(i)",
        tied="19(k)(2)(iii)",
        claim=low_claim,
        wins=lambda _, best: eight_or_better(best),
    ),
)


def play(t: Table) -> None:
    """One round, from the blinds to the pots."""
    rounds.omaha(t, SHARES)


GAME = Game(
    id="omaha_5_hi_lo",
    title="Five-card Omaha High-low Split Eight or Better",
    editions=rounds.EDITIONS,
    play=play,
    positions=8,
    deck=frozenset(DECK),
    wagers=rounds.wagers("19"),
    paytables=(),
    readings=(
        Reading(
            ODD_CHIP,
            ("by_suit", "first_left_of_button"),
            "19(k)(2)(ii)",
            "The odd chip of tied hands goes by suit, of highs to the highest card, of lows to the "
            "lowest, or to the player the Rules Submission names.",
        ),
    ),
    irregularities=rounds.irregularities("19"),
    procedures=None,
    not_modelled={
        "19(a)": "on camera, not in the feed",
    },
    player_model=rounds.PLAYER_MODEL._replace(hole=5),
    options=rounds.options("19"),
    limits=rounds.LIMITS,
    rotation=rounds.button("19"),
    base=rounds.BASE,
    pots=True,
)
