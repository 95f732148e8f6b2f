"""Craps: every wager exactly, over the 36 throws of two dice.

Published: Pass 1.414 %, Don't Pass 1.364 % of what is bet, All Small and All Tall at 34 to 1 7.76
%, All Or Nothing At All at 175 to 1 7.46 %. A Lay Bet without vigorish keeps nothing.
"""

from __future__ import annotations

from fractions import Fraction
from functools import cache
from itertools import product
from typing import TYPE_CHECKING

from ledger.edges import Edge
from ledger.games.craps import BONUS, LAYS, LINE

if TYPE_CHECKING:
    from ledger.rules.engine.game import InForce

SIDES = range(1, 7)
ROLLS = [first + second for first, second in product(SIDES, SIDES)]
LIKELY = {total: Fraction(ROLLS.count(total), len(ROLLS)) for total in range(2, 13)}
SEVEN, ELEVEN, BARRED = 7, 11, 12
POINTS = (4, 5, 6, 8, 9, 10)


def edges(rules: InForce) -> list[Edge]:
    """The edges of every wager. No reading changes one: only throws after the wager count."""
    del rules
    made = sum(LIKELY[point] * before_a_7(frozenset({point})) for point in POINTS)
    missed = sum(LIKELY[point] for point in POINTS) - made
    come_out_7_or_11 = LIKELY[SEVEN] + LIKELY[ELEVEN]
    how = "36 throws on the come out roll, then the point before a 7"
    passes, bars = (LINE[wager].rows[-1].ratio for wager in ("pass", "dont_pass"))
    won = come_out_7_or_11 + made
    won_against = LIKELY[2] + LIKELY[3] + missed
    lost_against = 1 - won_against - LIKELY[BARRED]
    return [
        Edge("pass", 1 - won - won * passes, how),
        Edge("dont_pass", lost_against - won_against * bars, f"{how}; of every bet made"),
        *(_lay(wager) for wager in LAYS),
        *(_bonus(wager) for wager in BONUS),
    ]


def _lay(wager: str) -> Edge:
    """The edge of a 7 before the number. At true odds it is 0; a vigorish is not printed."""
    number, table = LAYS[wager]
    lost = before_a_7(frozenset({number}))
    how = "a 7 before the number, without vigorish: true odds"
    return Edge(wager, lost - (1 - lost) * table.rows[0].ratio, how)


def _bonus(wager: str) -> Edge:
    """The edge of all of its numbers, in any order, before a 7."""
    needed, table = BONUS[wager]
    won = before_a_7(frozenset(needed))
    how = "every order of its numbers before a 7"
    return Edge(wager, 1 - won - won * table.rows[0].ratio, how)


@cache
def before_a_7(needed: frozenset[int]) -> Fraction:
    """The chance that all of these numbers are thrown before a 7."""
    if not needed:
        return Fraction(1)
    ends = LIKELY[SEVEN] + sum(LIKELY[number] for number in needed)
    goes_on = sum(LIKELY[number] * before_a_7(needed - {number}) for number in needed)
    return goes_on / ends
