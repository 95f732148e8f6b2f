"""Three Dice Football: single play wagers over 216 throws, full game wagers over every drive.

A drive is followed here by the yards of a throw and the downs left, not by `play`.
"""

from __future__ import annotations

from collections import Counter
from fractions import Fraction
from itertools import product
from typing import TYPE_CHECKING, NamedTuple

from ledger.edges import Edge
from ledger.games.three_dice_football import (
    BY_LENGTH,
    DEFENSE,
    EXTRA_POINT,
    SINGLE_PLAY,
    TOUCHDOWN,
    Drive,
)
from ledger.rules.hands.dice import THROWS, Throw

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ledger.rules.engine.game import InForce
    from ledger.rules.engine.odds import Paytable

TRIPS, TURNOVER = "trips", "turnover"
Outcome = str | int  # a Trips TD, a turnover, or the yards that the marker moves
SHOWN = {TRIPS: Throw(2, 2, 2), TURNOVER: Throw(1, 1, 6)}  # a throw that represents its kind
NEITHER = Throw(1, 2, 3)
DEFENSIVE, TOTAL = range(1, 7), range(2, 13)
FIELD, GOAL, DOWNS, PLAYS_MAX = 20, 10, 3, 6


class Ending(NamedTuple):
    """The ending of a drive, which decides full game wagers."""

    scored: bool
    plays: int
    kind: str | None  # how its last throw ended it, if the throw alone did


def outcomes() -> dict[Outcome, int]:
    """The number of the 216 throws for a Trips TD, a turnover, and each number of yards."""
    ways: Counter[Outcome] = Counter()
    for red in DEFENSIVE:
        for total in TOTAL:
            throws = 6 - abs(7 - total)
            if total == 2 * red:  # one of these ways is the triple of the red die
                ways[TRIPS] += 1
                throws -= 1
            if red == max(DEFENSIVE) and total in {2, 3}:
                ways[TURNOVER] += throws
            else:
                ways[total - red if total >= red else -1] += throws
    return dict(ways)


def endings(readings: Mapping[str, str | bool]) -> dict[Ending, Fraction]:
    """The chance of each ending of a game.

    A drive's state is the yards to go, the downs left, and their kind. The kinds are: the first
    three, those after the 10 was reached if new ones wait for the third, and those from the 10.
    """
    found: Counter[Ending] = Counter()
    beyond = readings["touchdown_at"] == "beyond_zero"
    at_once = readings["new_downs"] == "on_reaching_10"
    standing = Counter({(FIELD, DOWNS, "first"): 1})
    for plays in range(1, PLAYS_MAX + 1):
        before, standing = standing, Counter()
        rest = len(THROWS) ** (PLAYS_MAX - plays)
        for ((to_go, downs, series), ways), (outcome, count) in product(
            before.items(), outcomes().items()
        ):
            if isinstance(outcome, str):
                found[Ending(outcome == TRIPS, plays, outcome)] += ways * count * rest
                continue
            left, downs_left = to_go - outcome, downs - 1
            reached = "reached" if series == "first" and left <= GOAL else series
            if left < 0 or (left == 0 and not beyond):
                found[Ending(scored=True, plays=plays, kind=None)] += ways * count * rest
            elif reached == "reached" and (at_once or not downs_left):
                standing[left, DOWNS, "goal"] += ways * count
            elif not downs_left:
                found[Ending(scored=False, plays=plays, kind=None)] += ways * count * rest
            else:
                standing[left, downs_left, reached] += ways * count
    every = len(THROWS) ** PLAYS_MAX
    return {ending: Fraction(ways, every) for ending, ways in found.items()}


def edges(rules: InForce) -> list[Edge]:
    """The edges of every wager of the game."""
    readings = rules.readings
    drives = {
        Drive(ending.scored, ending.plays, SHOWN.get(ending.kind or "", NEITHER)): likely
        for ending, likely in endings(readings).items()
    }
    full_game = {"touchdown": TOUCHDOWN, "defense": DEFENSE, **BY_LENGTH}
    scored = sum((likely for drive, likely in drives.items() if drive.scored), Fraction(0))
    extra = scored * (1 + _won(EXTRA_POINT, THROWS_LIKELY, readings)) - 1
    return [
        *(
            Edge(wager, -_won(table, drives, readings), "every drive")
            for wager, table in full_game.items()
        ),
        Edge("extra_point", -extra, "every drive, and 216 throws after a touchdown"),
        *(
            Edge(wager, -_won(table, THROWS_LIKELY, readings), "216 throws")
            for wager, table in SINGLE_PLAY.items()
        ),
    ]


THROWS_LIKELY = dict.fromkeys(THROWS, Fraction(1, 216))


def _won(
    table: Paytable,
    outcomes_likely: Mapping[Throw, Fraction] | Mapping[Drive, Fraction],
    readings: Mapping[str, str | bool],
) -> Fraction:
    """The average gain of a stake of one."""
    gained = Fraction(0)
    for outcome, likely in outcomes_likely.items():
        row = table.pays(outcome, readings)
        gained += likely * (row.ratio if row else -1)
    return gained
