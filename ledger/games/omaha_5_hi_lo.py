"""Five-card Omaha High-low Split Eight or Better, 58 Pa. Code 637a.19: the pot in two halves.

The button, blinds and straddle are 19(b)-(e), the deal 19(f), the betting and the board 19(g)-(j),
the showdown 19(k). The two hands may have different cards (19(l)(2)). In a kill pot the stakes are
higher, as filed (19(l)(3)).
"""

from __future__ import annotations

from ledger.rules.engine.game import Game
from ledger.rules.hands.best_five import lowest_by_suit, omaha_high_if_known, omaha_low_if_known
from ledger.rules.hands.lowball import eight_or_better
from ledger.rules.poker.pots import PotShare
from ledger.rules.poker.rounds import (
    five_card_omaha,
    highest_suit_first,
    odd_chip_by_suit,
    with_board,
)

SHARES = (
    PotShare(
        "high",
        with_board(omaha_high_if_known),
        "19(k)(2)(i)",
        tied="19(k)(2)(ii)",
        claim=highest_suit_first,  # also 19(k)(2)(iv)
        says=lambda hand: hand.category,
        alone="19(l)(1)",
    ),
    PotShare(
        "low",
        with_board(omaha_low_if_known),
        "19(k)(2)(i)",
        tied="19(k)(2)(iii)",
        claim=with_board(lowest_by_suit),  # the lowest card first: 19(k)(2)(iii)-(iv)
        wins=lambda _, best: eight_or_better(best),
    ),
)

GAME = Game(
    id="omaha_5_hi_lo",
    title="Five-card Omaha High-low Split Eight or Better",
    readings=(
        odd_chip_by_suit(
            "19(k)(2)(ii)",
            "The odd chip of tied hands goes by suit, of highs to the highest card, of lows to the "
            "lowest, or to the player the Rules Submission names.",
        ),
    ),
    **five_card_omaha(SHARES),
)
