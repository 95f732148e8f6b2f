"""The mean and the variance of what a house wins by wagers whose outcomes hang together.

Money is in cents, and every figure an exact fraction.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from math import lcm
from operator import mul
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping, Sequence

FACE, EVEN_FACE = "+face", "+even face"
"""Beside a wager's name: the face of a coupon on it, paid at the wager's odds or even money."""

Gains = dict[str, Fraction]
"""What the house gains of a stake of one on each wager, in one outcome."""

Covariances = dict[tuple[str, str], Fraction]
"""By two wagers, in both orders."""


class Bet(NamedTuple):
    """A stake of one position, or the face of its coupon."""

    position: int
    wager: str
    cents: int


class DecidedBet(NamedTuple):
    """A bet as it was decided."""

    bet: Bet
    throw: int | None  # the throw that decided it, from 1; None: the round
    since: int = 0  # throws before it was placed


class Spread(NamedTuple):
    """The mean and the variance of a win."""

    mean: Fraction = Fraction(0)
    variance: Fraction = Fraction(0)

    def __add__(self, other: object) -> Spread:
        """The spread of two wins that have no outcome in common."""
        if not isinstance(other, Spread):
            return NotImplemented
        return Spread(self.mean + other.mean, self.variance + other.variance)


@dataclass(frozen=True)
class Moments:
    """The house's gains of stakes of one: their means, and how two of them vary together.

    A pair that is not named varies independently.
    """

    means: Mapping[str, Fraction]
    own: Covariances  # two wagers of one position, or one with itself
    other: Covariances  # wagers of two positions
    inside: frozenset[str] = frozenset()  # wagers and payouts that are part of another's gain

    def spread(self, bets: Iterable[Bet]) -> Spread:
        """The spread of the win of these bets, all of wagers that have a mean."""
        staked: Counter[str] = Counter()
        by_position: dict[int, Counter[str]] = defaultdict(Counter)
        for bet in bets:
            staked[bet.wager] += bet.cents
            by_position[bet.position][bet.wager] += bet.cents
        scaled = self._scaled
        mean = sum(cents * scaled.means[wager] for wager, cents in staked.items())
        variance = _both(staked, scaled.other)
        if self.own is not self.other:
            for its in by_position.values():
                variance += _both(its, scaled.own) - _both(its, scaled.other)
        return Spread(Fraction(mean, scaled.mean_over), Fraction(variance, scaled.over))

    @cached_property
    def _scaled(self) -> _Scaled:
        """The same in whole numbers, for speed."""
        mean_over = lcm(*(mean.denominator for mean in self.means.values()))
        vary = (*self.own.values(), *self.other.values())
        over = lcm(*(each.denominator for each in vary))
        return _Scaled(
            mean_over,
            {wager: whole(mean, mean_over) for wager, mean in self.means.items()},
            over,
            {pair: whole(each, over) for pair, each in self.own.items()},
            {pair: whole(each, over) for pair, each in self.other.items()},
        )


class _Scaled(NamedTuple):
    """Means and covariances as whole numbers over a common denominator each."""

    mean_over: int
    means: Mapping[str, int]
    over: int
    own: Mapping[tuple[str, str], int]
    other: Mapping[tuple[str, str], int]


def _both(staked: Mapping[str, int], vary: Mapping[tuple[str, str], int]) -> int:
    """The sum over every two wagers of both stakes and their covariance."""
    found = 0
    wagers = sorted(staked)
    for at, one in enumerate(wagers):
        for two in wagers[at:]:
            twice = 1 if one == two else 2
            found += twice * staked[one] * staked[two] * vary.get((one, two), 0)
    return found


@dataclass(frozen=True)
class OneOutcome:
    """Wagers that one outcome decides, for all positions alike, in whole numbers."""

    ways: Sequence[int]  # of all equally likely ones, how many end so: by outcome
    over: int  # the common denominator of all gains
    gains: Mapping[str, Sequence[int]]  # by wager and outcome

    @cached_property
    def means(self) -> Mapping[str, Fraction]:
        """The mean gain of a stake of one, by wager."""
        over = sum(self.ways) * self.over
        return {wager: Fraction(_sum(self.ways, its), over) for wager, its in self.gains.items()}

    def spread(self, bets: Iterable[Bet]) -> Spread:
        """The spread of the win of these bets, all of wagers that have a mean."""
        staked: Counter[str] = Counter()
        for bet in bets:
            staked[bet.wager] += bet.cents
        its = ([cents * gain for gain in self.gains[wager]] for wager, cents in staked.items())
        won = [sum(each) for each in zip(*its, strict=True)]  # by outcome; nothing without a bet
        ways, over = sum(self.ways), sum(self.ways) * self.over
        first, second = _sum(self.ways, won), _sum(self.ways, map(mul, won, won))
        return Spread(Fraction(first, over), Fraction(ways * second - first**2, over**2))


def one_outcome(outcomes: Collection[tuple[int, Gains]]) -> OneOutcome:
    """`outcomes`: how many of all equally likely ways end so, and what each wager gains."""
    over = lcm(*{gain.denominator for _, gains in outcomes for gain in gains.values()})
    wagers = sorted({wager for _, gains in outcomes for wager in gains})
    return OneOutcome(
        [count for count, _ in outcomes],
        over,
        {wager: [whole(gains[wager], over) for _, gains in outcomes] for wager in wagers},
    )


def whole(amount: Fraction, over: int) -> int:
    """A fraction over a multiple of its denominator."""
    return amount.numerator * (over // amount.denominator)


def _sum(ways: Iterable[int], amounts: Iterable[int]) -> int:
    return sum(map(mul, ways, amounts))


def joint(outcomes: Collection[tuple[int, Gains]], inside: frozenset[str] = frozenset()) -> Moments:
    """The moments of wagers that one outcome decides, as of wagers decided in other ways."""
    its = one_outcome(outcomes)
    over = (sum(its.ways) * its.over) ** 2
    vary: Covariances = {}
    wagers = list(its.gains)
    for at, one in enumerate(wagers):
        weighed = list(map(mul, its.ways, its.gains[one]))
        for two in wagers[at:]:
            both = sum(its.ways) * _sum(weighed, its.gains[two])
            both -= _sum(its.ways, its.gains[one]) * _sum(its.ways, its.gains[two])
            vary[one, two] = vary[two, one] = Fraction(both, over)
    return Moments(its.means, vary, vary, inside)


def with_faces(gains: Gains) -> Gains:
    """The gains with those of coupons' faces: a face is paid if its wager wins, and never lost."""
    found = dict(gains)
    for wager, gain in gains.items():
        found[wager + FACE] = min(gain, Fraction(0))
        found[wager + EVEN_FACE] = Fraction(-1) if gain < 0 else Fraction(0)
    return found
