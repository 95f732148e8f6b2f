"""One player's round of Criss-Cross Poker that the tests bend, and what the text owes for it.

The Across Hand 8-9-3-8-Q is a pair of 8s. The Down Hand 9-9-A-8-Q and the cross 9-8-9-3-A are pairs
of 9s. That is five pushes, and the Five Card Bonus pays 1 to 1.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.unit.games.rounds import lines, ruling, text

if TYPE_CHECKING:
    from typing import Unpack

    from tests.unit.games.rounds import Around

GAME = "criss_cross_poker"

START = """
    start manual_shoe
    1 ante_across 1000
    1 ante_down 1000
    1 five_card_bonus 500
    nomorebets
"""
DEAL = """
    cross 9h 8s 9d 3c Ah
    deal 1 8c Qs
"""
PLAY = """
    1 across 2000
    turn 1 8s 3 3c
    1 down 1000
    turn 0 9h 4 Ah
    1 middle 3000
    turn 2 9d
    show 1 8c Qs
"""
PAID = """
    back 1 ante_across 1000
    back 1 across 2000
    back 1 ante_down 1000
    back 1 down 1000
    back 1 middle 3000
    pay 1 five_card_bonus 500
    rack 1
    done
"""
PLAYED = """
    complete
    1 ante_across     1000 push   +0 592.12(a) Pair of 6s through 10s, Push
    1 across          2000 push   +0 592.12(b) Pair of 6s through 10s, Push
    1 ante_down       1000 push   +0 592.12(a) Pair of 6s through 10s, Push
    1 down            1000 push   +0 592.12(b) Pair of 6s through 10s, Push
    1 middle          3000 push   +0 592.12(b) Pair of 6s through 10s, Push
    1 five_card_bonus  500 win  +500 592.12(c) Pair of 6s or better, 1 to 1
"""
RETURNED = """
    back 1 ante_across 1000
    back 1 ante_down 1000
    back 1 five_card_bonus 500
    void
"""


def voided(section: str) -> str:
    """The opening wagers of the round above, given back."""
    return f"""
        void
        1 ante_across     1000 void +0 592.{section}
        1 ante_down       1000 void +0 592.{section}
        1 five_card_bonus  500 void +0 592.{section}
    """


def check(script: str, expected: str, **around: Unpack[Around]) -> None:
    """A script's whole ruling, line by line."""
    assert text(ruling(script, GAME, **around)) == lines(expected)
