"""Five-card Omaha High, 58 Pa. Code 637a.19: two of five cards, three of the board.

The button, blinds and straddle are 19(b)-(e), the deal 19(f), the betting and the board 19(g)-(j),
the showdown 19(k). Nothing is printed of tied hands here: the
odd chip goes by 19(k)(2)(ii) and (iv), as of the high half of the other game.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ledger.rules.engine.game import Game, Reading
from ledger.rules.hands.best_five import highest_by_suit, omaha_high_if_known
from ledger.rules.hands.cards import DECK
from ledger.rules.poker import rounds
from ledger.rules.poker.cards import board, held
from ledger.rules.poker.pots import ODD_CHIP, Share

if TYPE_CHECKING:
    from ledger.rules.engine.table import Table
    from ledger.rules.hands.poker import Hand
    from ledger.rules.poker.betting import PokerBetting


def high(ring: PokerBetting, seat: int) -> Hand | None:
    """The high hand of 19(k)(1)."""
    return omaha_high_if_known(held(ring, seat), board(ring))


def claim(ring: PokerBetting, seat: int) -> tuple[int, ...]:
    """Tied hands by their highest card by suit, the highest first."""
    order = highest_by_suit(held(ring, seat), board(ring))
    return tuple(-suit for _, suit in order)  # the ranks of tied hands are the same


SHARES = (
    Share(
        "high",
        high,
        "19(k)(1)",
        tied="19(k)(2)(ii)",
        claim=claim,
        says=lambda hand: hand.category,
    ),
)


def play(t: Table) -> None:
    """One round, from the blinds to the pots."""
    rounds.omaha(t, SHARES)


GAME = Game(
    id="omaha_5_high",
    title="Five-card Omaha High",
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
            "Of tied hands nothing is printed for the High game. `by_suit` takes the highest card "
            "by suit, as of the high half of High-low Split.",
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
