"""Three Dice Football: how wagers vary throw by throw, full game wagers by the field they leave.

A throw decides its single play wagers, and moves the worth of every full game wager. The variance
of a game is the sum over its throws: given the field, throws do not depend on one another.
"""

from __future__ import annotations

from collections import Counter
from fractions import Fraction
from functools import cache
from math import lcm
from typing import TYPE_CHECKING, NamedTuple

from ledger.edges.spread.moments import OneOutcome, Spread, one_outcome, whole, with_faces
from ledger.edges.three_dice_football import (
    DOWNS,
    FIELD,
    GOAL,
    NEITHER,
    SHOWN,
    TRIPS,
    Outcome,
    outcomes,
)
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
    from collections.abc import Iterable, Mapping, Sequence

    from ledger.edges.spread.moments import Bet, DecidedBet, Gains
    from ledger.facts import DiceThrown
    from ledger.rules.engine.game import InForce
    from ledger.rules.engine.odds import Paytable

FULL_GAME = {"touchdown": TOUCHDOWN, "defense": DEFENSE, **BY_LENGTH}
EXTRA = "extra_point"
"""The wager, and the purpose of its throw."""

Chosen = tuple[tuple[str, str | bool], ...]
"""The readings in force, in order of name."""


class Field(NamedTuple):
    """A game before a throw; `drive` once it has ended."""

    to_go: int = FIELD
    downs: int = DOWNS  # left
    series: str = "first"  # "reached": the 10, and new downs wait; "goal": they have begun
    plays: int = 0
    drive: Drive | None = None

    def after(self, outcome: Outcome, readings: Mapping[str, str | bool]) -> Field:
        """The game after a throw."""
        plays = self.plays + 1
        if isinstance(outcome, str):
            return self._replace(drive=Drive(outcome == TRIPS, plays, SHOWN[outcome]))
        left, downs = self.to_go - outcome, self.downs - 1
        reached = "reached" if self.series == "first" and left <= GOAL else self.series
        if left < 0 or (left == 0 and readings["touchdown_at"] != "beyond_zero"):
            return self._replace(drive=Drive(scored=True, plays=plays, last=NEITHER))
        if reached == "reached" and (readings["new_downs"] == "on_reaching_10" or not downs):
            return Field(left, DOWNS, "goal", plays)
        if not downs:
            return self._replace(drive=Drive(scored=False, plays=plays, last=NEITHER))
        return Field(left, downs, reached, plays)


def kind_of(throw: Throw) -> Outcome:
    """How a throw counts for the field: the yards that the marker moves, or how it ends."""
    if throw.triple:
        return TRIPS
    if throw.turnover:
        return "turnover"
    return -1 if throw.penalty else throw.gain


@cache
def moments(field: Field, chosen: Chosen) -> OneOutcome:
    """One throw from this field; a full game wager gains what its worth moves."""
    readings = dict(chosen)
    now = worth(field, chosen)
    found = []
    for outcome, ways in WAYS:
        then = worth(field.after(outcome, readings), chosen)
        gains = {wager: then[wager] - now[wager] for wager in then}
        found.append((ways, gains | _single(outcome, chosen)))
    return one_outcome(found)


@cache
def _single(outcome: Outcome, chosen: Chosen) -> Gains:
    """What the house gains of each single play wager, faces of coupons apart."""
    return with_faces({wager: _gain(table, _SHOWS[outcome], chosen) for wager, table in _SINGLE})


WAYS = tuple(outcomes().items())
_SINGLE = tuple(SINGLE_PLAY.items())
_SHOWS: dict[Outcome, Throw] = {kind_of(throw): throw for throw in reversed(THROWS)}
"""A throw of each kind. It is all that single play wagers ask for."""


@cache
def worth(field: Field, chosen: Chosen) -> Gains:
    """What the house stands to gain of each full game wager, faces of coupons apart."""
    readings = dict(chosen)
    if field.drive:
        drive = field.drive
        gains = {wager: _gain(table, drive, chosen) for wager, table in FULL_GAME.items()}
        extra = extra_point(chosen).means
        found = with_faces(gains)
        for name in with_faces({EXTRA: Fraction(0)}):
            found[name] = extra[name] if drive.scored else Fraction(name == EXTRA)
        return found
    then = [(ways, worth(field.after(outcome, readings), chosen)) for outcome, ways in WAYS]
    over = lcm(*{gain.denominator for _, gains in then for gain in gains.values()})
    total: Counter[str] = Counter()
    for ways, gains in then:
        for wager, gain in gains.items():
            total[wager] += ways * whole(gain, over)
    return {wager: Fraction(gain, over * len(THROWS)) for wager, gain in total.items()}


@cache
def extra_point(chosen: Chosen) -> OneOutcome:
    """The throw for the extra point."""
    return one_outcome(
        [(1, with_faces({EXTRA: _gain(EXTRA_POINT, throw, chosen)})) for throw in THROWS]
    )


def _gain(table: Paytable, outcome: object, chosen: Chosen) -> Fraction:
    row = table.pays(outcome, dict(chosen))
    return -row.ratio if row else Fraction(1)


def known(rules: InForce) -> frozenset[str]:
    """The wagers, and faces of coupons, that have a spread."""
    chosen = _chosen(rules)
    return frozenset((*moments(Field(), chosen).means, *extra_point(chosen).means))


def _chosen(rules: InForce) -> Chosen:
    return tuple(sorted(rules.readings.items()))


def spread(rules: InForce, bets: Sequence[DecidedBet], throws: Sequence[DiceThrown]) -> Spread:
    """The spread of a game's win."""
    chosen = _chosen(rules)
    whole = [each.bet for each in bets if each.throw is None]
    single: dict[int, list[Bet]] = {}
    for each in bets:
        if each.throw is not None:
            single.setdefault(each.throw, []).append(each.bet)
    start = worth(Field(), chosen)
    found = Spread(sum((bet.cents * start[bet.wager] for bet in whole), Fraction(0)))
    field = Field()
    for number, throw in enumerate(_downs(throws), 1):
        if field.drive:
            break
        found += moments(field, chosen).spread([*whole, *single.get(number, ())])
        field = field.after(kind_of(throw), rules.readings)
    if field.drive and field.drive.scored:
        its = extra_point(chosen).spread(bet for bet in whole if bet.wager.startswith(EXTRA))
        found += Spread(variance=its.variance)
    return found


def _downs(throws: Iterable[DiceThrown]) -> list[Throw]:
    """The throws of the drive, in order."""
    return [
        Throw(*body.offensive, body.defensive)
        for body in throws
        if body.offensive and body.defensive and body.purpose != EXTRA
    ]
