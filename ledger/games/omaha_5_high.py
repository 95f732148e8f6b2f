"""Five-card Omaha High, 58 Pa. Code 637a.19: two of five cards, three of the board.

The button, blinds and straddle are 19(b)-(e), the deal 19(f), the betting and the board 19(g)-(j),
the showdown 19(k). Nothing is printed about tied hands here. The odd chip goes by 19(k)(2)(ii) and
(iv), as for the high half of the other game.
"""

from __future__ import annotations

from ledger.rules.engine.game import Game
from ledger.rules.hands.best_five import omaha_high_if_known
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
        "19(k)(1)",
        tied="19(k)(2)(ii)",
        claim=highest_suit_first,
        says=lambda hand: hand.category,
    ),
)

GAME = Game(
    id="omaha_5_high",
    title="Five-card Omaha High",
    readings=(
        odd_chip_by_suit(
            "19(k)(2)(ii)",
            "For the High game nothing is printed about tied hands. `by_suit` takes the highest "
            "card by suit, as for the high half of High-low Split.",
        ),
    ),
    **five_card_omaha(SHARES),
)
