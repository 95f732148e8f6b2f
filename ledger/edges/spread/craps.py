"""Craps: how wagers vary throw by throw, each by what the throw moves its worth.

A bet is followed from the throw after it was placed to the throw that decides it. Given the point
and the numbers seen, throws do not depend on one another, so a hand's variance is their sum.
"""

from __future__ import annotations

from collections import Counter
from fractions import Fraction
from functools import cache
from typing import TYPE_CHECKING, NamedTuple

from ledger.edges.craps import BARRED, ELEVEN, LIKELY, POINTS, SEVEN, before_a_7
from ledger.edges.spread.moments import EVEN_FACE, FACE, Spread
from ledger.games.craps import BONUS, LAYS, LINE

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ledger.edges.spread.moments import DecidedBet
    from ledger.facts import DiceThrown
    from ledger.rules.engine.game import InForce

FACES = {FACE: "odds", EVEN_FACE: "even money"}
WAGERS = (*LINE, *LAYS, *BONUS)


class Live(NamedTuple):
    """A wager before a throw: what must be thrown yet."""

    wager: str  # or the face of a coupon on it
    point: int | None = None  # of a line bet; None: a come out roll
    needed: frozenset[int] = frozenset()  # of a Bonus wager


def known(rules: InForce) -> frozenset[str]:
    """The wagers, and faces of coupons, that have a spread."""
    del rules
    return frozenset(wager + face for wager in WAGERS for face in ("", *FACES))


def spread(rules: InForce, bets: Sequence[DecidedBet], throws: Sequence[DiceThrown]) -> Spread:
    """The spread of a hand's win, from the throw that decides each bet."""
    del rules
    totals = [sum(body.dice or ()) for body in throws]
    points = _points(totals)
    found = Fraction(0)
    by_throw: dict[int, Counter[Live]] = {}
    for bet, throw, since in bets:
        if throw is None or throw > len(totals):
            continue  # given back undecided
        first = min(since, throw - 1)
        for number in range(first, throw):
            its = before_throw(bet.wager, points[number], totals[since:number])
            by_throw.setdefault(number, Counter())[its] += bet.cents
            if number == first:
                found += bet.cents * worth(its)
    variance = sum((_variance(lives) for lives in by_throw.values()), Fraction(0))
    return Spread(found, variance)


def _points(totals: Sequence[int]) -> list[int | None]:
    """The point before each throw; None before a come out roll."""
    found: list[int | None] = [None]
    for total in totals:
        point = found[-1]
        if point is None:
            found.append(total if total in POINTS else None)
        else:
            found.append(None if total in (point, SEVEN) else point)
    return found


def _base(wager: str) -> tuple[str, str]:
    """A wager without its coupon's face, and the face's terms."""
    name, mark, _ = wager.partition("+")
    return name, wager[len(name) :] if mark else ""


def before_throw(wager: str, point: int | None, seen: Sequence[int]) -> Live:
    """A wager as it stands at a point, after the totals seen since it was placed."""
    name, _ = _base(wager)
    if name in LINE:
        return Live(wager, point=point)
    if name in BONUS:
        return Live(wager, needed=BONUS[name][0] - set(seen))
    return Live(wager)


@cache
def worth(live: Live) -> Fraction:
    """What the house stands to gain of a stake of one before the next throw."""
    name, _ = _base(live.wager)
    if name in BONUS:
        won = before_a_7(live.needed)
        return _mixed(live.wager, won, 1 - won)
    if name in LAYS:
        lost = before_a_7(frozenset({LAYS[name][0]}))
        return _mixed(live.wager, 1 - lost, lost)
    if live.point is not None:
        made = before_a_7(frozenset({live.point}))
        return _mixed(live.wager, *((made, 1 - made) if name == "pass" else (1 - made, made)))
    return sum((chance * _then(live, total) for total, chance in LIKELY.items()), Fraction(0))


def _mixed(wager: str, won: Fraction, lost: Fraction) -> Fraction:
    return won * _paid(wager) + lost * _lost(wager)


def _paid(wager: str) -> Fraction:
    """What the house gains if the wager wins."""
    name, face = _base(wager)
    if face == EVEN_FACE:
        return Fraction(-1)
    table = LINE.get(name) or (LAYS.get(name) or BONUS[name])[1]
    return -table.rows[-1].ratio


def _lost(wager: str) -> Fraction:
    return Fraction(0) if _base(wager)[1] else Fraction(1)


def _then(live: Live, total: int) -> Fraction:
    """What the house gains, or stands to gain, after a throw."""
    wins = _wins(live, total)
    if wins is not None:
        return _paid(live.wager) if wins else _lost(live.wager)
    name, _ = _base(live.wager)
    if name in BONUS:
        return worth(live._replace(needed=live.needed - {total}))
    if name in LINE and live.point is None:
        return worth(live._replace(point=total)) if total in POINTS else Fraction(0)  # 12 is barred
    return worth(live)


def _wins(live: Live, total: int) -> bool | None:
    """Whether a throw decides a wager for the player; None if it does not decide it."""
    name, _ = _base(live.wager)
    if name in BONUS:
        return False if total == SEVEN else True if live.needed == {total} else None
    if name in LAYS:
        return {SEVEN: True, LAYS[name][0]: False}.get(total)
    if live.point is None:
        if total in POINTS or (name == "dont_pass" and total == BARRED):
            return None
        return (total in (SEVEN, ELEVEN)) == (name == "pass")
    return {SEVEN: name != "pass", live.point: name == "pass"}.get(total)


def _variance(lives: Counter[Live]) -> Fraction:
    """The variance of what one throw moves."""
    each = sorted(lives.items(), key=lambda of: (of[0].wager, sorted(of[0].needed)))
    found = Fraction(0)
    for at, (one, cents) in enumerate(each):
        for two, others in each[at:]:
            found += (1 if one == two else 2) * cents * others * covariance(one, two)
    return found


@cache
def covariance(one: Live, two: Live) -> Fraction:
    """How the worths of two wagers move together in one throw."""
    return sum(
        (
            chance * (_then(one, total) - worth(one)) * (_then(two, total) - worth(two))
            for total, chance in LIKELY.items()
        ),
        Fraction(0),
    )
