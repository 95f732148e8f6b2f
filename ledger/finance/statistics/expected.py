"""The expected win of a round and of a day: its mean, sigma, and how far the owed win is from it.

The owed win is what the rulings say. So `z` is luck: a dealer's error is no part of it.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from fractions import Fraction
from math import isqrt, lcm
from typing import TYPE_CHECKING, NamedTuple

from ledger.edges.spread import RoundSpread, of_round
from ledger.edges.spread.moments import EVEN_FACE, FACE, Bet, DecidedBet, Spread
from ledger.facts import CouponRefused, DecisionMade, DiceThrown, NoRollCalled, WagerPlaced
from ledger.finance.win import ExpectedWin
from ledger.games import games
from ledger.rules.wagers.house_money import PRESS
from ledger.values import parse_round

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from ledger.adjudication.submissions import RulesFor
    from ledger.record.wire import Fact
    from ledger.rules.engine.coupons import CouponBatch
    from ledger.rules.engine.ruling import Ruling, Settlement


class OddsInForce(NamedTuple):
    """What the expected win of a round rests on beside its facts and ruling."""

    rules_for: RulesFor
    batches: Sequence[CouponBatch] = ()  # of coupons, of every property

    def terms(self, property_: str, serial: str) -> str:
        """The terms of a coupon; those of a batch that is not on record are the wager's odds."""
        its = (each for each in self.batches if each.property == property_ and each.holds(serial))
        batch = next(its, None)
        return batch.terms.terms if batch else "odds"


def expected_of(ruling: Ruling, told: Sequence[Fact], odds: OddsInForce) -> RoundSpread:
    """The spread of a round's owed win. `told`: its facts, in order.

    A round that is void, or of no known game, has bets of nothing.
    """
    game, round_ = games().get(ruling.game or ""), parse_round(ruling.round, ruling.property)
    if game is None or round_ is None or ruling.status == "void":
        return RoundSpread(Spread())
    throws = ValidThrows(told)
    lay = _Lay(ruling.property, told, throws, odds)
    bets = [bet for each in ruling.settlements for bet in lay.decided(each)]
    pressed = any(isinstance(f.body, DecisionMade) and f.body.decision == PRESS for f in told)
    found = of_round(odds.rules_for(game, round_), bets, throws.valid)
    return RoundSpread(None, (*found.lacks, PRESS)) if pressed else found


class ValidThrows:
    """The valid throws of a round, and how many there were before each fact."""

    def __init__(self, told: Sequence[Fact]) -> None:
        refused = {
            (fact.body.of.source, fact.body.of.id)
            for fact in told
            if isinstance(fact.body, NoRollCalled) and fact.body.of
        }
        self.valid: list[DiceThrown] = []
        self.before: dict[int, int] = {}  # by `id` of the fact
        for fact in told:
            if isinstance(fact.body, DiceThrown) and (fact.source, fact.id) not in refused:
                self.valid.append(fact.body)
            self.before[id(fact)] = len(self.valid)


class _Lay:
    """The places of chips and coupons: since which throw, and the faces on each wager."""

    def __init__(
        self, property_: str, told: Sequence[Fact], throws: ValidThrows, odds: OddsInForce
    ) -> None:
        refused = {fact.body.serial for fact in told if isinstance(fact.body, CouponRefused)}
        self._placed: dict[tuple[int, str], list[int]] = defaultdict(list)
        self._faces: dict[tuple[int, str], dict[str, tuple[str, int]]] = defaultdict(dict)
        self._decided: dict[tuple[int, str], int] = {}
        for fact in told:
            body = fact.body
            if not isinstance(body, WagerPlaced):
                continue
            spot = (body.position, body.wager)
            self._placed[spot].append(throws.before[id(fact)])
            if body.coupon and body.coupon.serial not in refused:
                even = odds.terms(property_, body.coupon.serial) == "even_money"
                face = (EVEN_FACE if even else FACE, body.coupon.face)
                self._faces[spot][body.coupon.serial] = face

    def decided(self, each: Settlement) -> Iterator[DecidedBet]:
        """The bets that a settlement decides: its stake, and the faces of coupons on it."""
        if each.outcome == "void":
            return
        spot, throw = (each.position, each.wager), each.throw
        since = 0
        if throw is not None:
            before = self._decided.get(spot, 0)
            since = min(
                (count for count in self._placed[spot] if before <= count < throw),
                default=throw - 1,
            )
            self._decided[spot] = throw
        yield DecidedBet(Bet(*spot, each.stake), throw, since)
        if each.hand == 1:
            for mark, face in self._faces.pop(spot, {}).values():
                yield DecidedBet(Bet(each.position, each.wager + mark, face), throw, since)


def sum_of(parts: Iterable[tuple[str, str]]) -> Spread:
    """The spread of wins that share no cards, from their means and variances as text."""
    means: Counter[int] = Counter()
    variances: Counter[int] = Counter()
    for mean, variance in parts:
        for sums, text in ((means, mean), (variances, variance)):
            numerator, _, over = text.partition("/")
            sums[int(over or 1)] += int(numerator)
    return Spread(_total(means), _total(variances))


def _total(sums: Mapping[int, int]) -> Fraction:
    """The sum of numerators over each denominator."""
    over = lcm(*sums)
    return Fraction(sum(numerator * (over // by) for by, numerator in sums.items()), over)


# -- a day's --------------------------------------------------------------------------------------


def expected_win(owed: int | None, spread: Spread | None) -> ExpectedWin | None:
    """The expected win of a day; None if a wager lacks its spread, or nothing is owed: poker."""
    if owed is None or spread is None:
        return None
    off = owed - spread.mean
    return ExpectedWin(
        win=round(spread.mean), sigma=root(spread.variance), z=_in_sigmas(off, spread.variance)
    )


def summed(parts: Iterable[tuple[int | None, ExpectedWin | None]]) -> ExpectedWin | None:
    """The expected win of tables together, from their owed and expected wins in whole cents.

    Poker has neither. None if another table has none. One table alone keeps its own.
    """
    banked = [(owed, expected) for owed, expected in parts if owed is not None]
    known = [(owed, expected) for owed, expected in banked if expected is not None]
    if not known or len(known) < len(banked):
        return None
    if len(known) == 1:
        return known[0][1]
    mean = sum(expected.win for _, expected in known)
    variance = sum(expected.sigma**2 for _, expected in known)
    return expected_win(sum(owed for owed, _ in known), Spread(Fraction(mean), Fraction(variance)))


def root(variance: Fraction) -> int:
    """The square root of an exact fraction, to the nearest whole number, half to even."""
    low = isqrt(variance.numerator // variance.denominator)
    off = 4 * variance.numerator - (2 * low + 1) ** 2 * variance.denominator  # of the middle
    return low + (off > 0 or (off == 0 and low % 2 == 1))


def _in_sigmas(off: Fraction, variance: Fraction) -> str | None:
    """How many sigmas a difference is, to two places; None if there is no sigma."""
    if not variance:
        return None
    hundredths = root(off * off * 10_000 / variance)
    sign = "-" if off < 0 and hundredths else ""
    return f"{sign}{hundredths // 100}.{hundredths % 100:02d}"
