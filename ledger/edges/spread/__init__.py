"""How far a win may lie from its mean: the variance of a round's wagers, which share its cards.

Means are the exact edges. Covariances are exact where one outcome decides all wagers, and stated
models or measured figures elsewhere (ADR 0200).
"""

from __future__ import annotations

from fractions import Fraction
from importlib import import_module
from typing import TYPE_CHECKING, Any, NamedTuple

from ledger.edges import edges_under

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from ledger.edges.spread.moments import DecidedBet, Spread
    from ledger.facts import DiceThrown
    from ledger.rules.engine.game import InForce

BY_THROW = {"craps": "craps", "three_dice_football": "football"}
"""Games that are followed throw by throw, each with its module here."""


class RoundSpread(NamedTuple):
    """The spread of a round's win; None if a wager has none, and which those are."""

    spread: Spread | None
    lacks: tuple[str, ...] = ()


def of_round(
    rules: InForce, bets: Sequence[DecidedBet], throws: Sequence[DiceThrown]
) -> RoundSpread:
    """The spread of what the house wins by these bets. `throws`: the valid ones, in order."""
    if rules.game.id in BY_THROW:
        by_throw: Any = import_module(f"{__name__}.{BY_THROW[rules.game.id]}")
        lacks = _lacking(bets, by_throw.known(rules))
        return RoundSpread(None if lacks else by_throw.spread(rules, bets, throws), lacks)
    from ledger.edges.spread.kept import moments  # noqa: PLC0415 - it imports games

    its = moments(rules)
    if its is None:
        return RoundSpread(None, tuple(sorted({each.bet.wager for each in bets})))
    bets = [each for each in bets if each.bet.wager not in its.inside]
    lacks = _lacking(bets, frozenset(its.means))
    return RoundSpread(None if lacks else its.spread(each.bet for each in bets), lacks)


def means(rules: InForce) -> Mapping[str, Fraction]:
    """What the house keeps on average of a stake of one, by wager; a wager without one is not here.

    A wager that is part of another one's best play, such as a double, keeps nothing of its own.
    """
    if rules.game.id in BY_THROW:
        return {each.wager: each.edge for each in edges_under(rules)}
    from ledger.edges.spread.kept import moments  # noqa: PLC0415 - it imports games

    its = moments(rules)
    return {**its.means, **dict.fromkeys(its.inside, Fraction(0))} if its else {}


def _lacking(bets: Sequence[DecidedBet], known: frozenset[str]) -> tuple[str, ...]:
    """The wagers, and faces of coupons, without a spread under these rules."""
    return tuple(sorted({each.bet.wager for each in bets if each.bet.wager not in known}))
