"""Moments under the rules in force: worked out once, kept for the printed rules, or measured.

`python -m ledger.edges.spread.kept` works them out again and prints `kept.json`.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping
from dataclasses import replace
from fractions import Fraction
from functools import cache
from importlib import import_module
from importlib.resources import files
from typing import TYPE_CHECKING, Any, NamedTuple

from ledger.adjudication.submissions import in_force
from ledger.edges import NO_DAY, asia_poker, edges_under
from ledger.edges.spread.moments import EVEN_FACE, FACE, Moments
from ledger.games import games
from ledger.games.asia_poker import BONUS as ASIA_BONUS
from ledger.games.lunar_poker import SUPER
from ledger.rules.engine.odds import as_json

if TYPE_CHECKING:
    from ledger.edges.spread.moments import Covariances
    from ledger.rules.engine.game import InForce

COUNTED = {
    "baccarat": "baccarats",
    "blackjack": "twenty_one",
    "double_attack_blackjack": "twenty_one",
    "five_card_hi_lo": "against_dealer",
    "midibaccarat": "baccarats",
    "minibaccarat": "baccarats",
    "saigon_5_card": "against_dealer",
    "spanish_21": "twenty_one",
    "three_card_poker": "against_dealer",
}
"""Games whose wagers are decided together at the end of a round, and the file that counts them."""

MEASURED = ("asia_poker", "criss_cross_poker", "lunar_poker")
"""Games whose covariances come from `measured.json`."""


class RulesKey(NamedTuple):
    """What the moments of a game depend on, as text."""

    game: str
    chosen: str


def moments(rules: InForce) -> Moments | None:
    """The moments of a game's wagers; None if it has none, or is settled throw by throw.

    A wager that lacks its mean or a covariance under these rules is not among them.
    """
    if rules.game.id not in COUNTED and rules.game.id not in MEASURED:
        return None
    key = _key(rules)
    if key not in _FOUND:
        _FOUND[key] = _printed().get(key) or worked_out(rules)
    return _FOUND[key]


_FOUND: dict[RulesKey, Moments] = {}


def _key(rules: InForce) -> RulesKey:
    chosen = [dict(of) for of in (rules.paytables, rules.readings, rules.options)]
    return RulesKey(rules.game.id, json.dumps(chosen, sort_keys=True))


def worked_out(rules: InForce) -> Moments:
    """The moments by enumeration, or with what was measured: up to seconds for a game."""
    game = rules.game.id
    if game in MEASURED:
        return _with_measured(rules)
    file = import_module(f"ledger.edges.spread.{COUNTED[game]}")
    found: Moments = (file.moments if hasattr(file, "moments") else getattr(file, game))(rules)
    return _with_six_card_bonus(rules, found, file) if game == "three_card_poker" else found


# -- kept -----------------------------------------------------------------------------------------


@cache
def _printed() -> dict[RulesKey, Moments]:
    """The moments of `kept.json`: of each game under no Rules Submission."""
    kept: dict[str, Any] = json.loads(files(__package__).joinpath("kept.json").read_bytes())
    return {_key(_unfiled(game)): _read(its) for game, its in kept.items()}


def _unfiled(game: str) -> InForce:
    return in_force(games()[game], "", "", NO_DAY, [])


def _read(kept: Mapping[str, Any]) -> Moments:
    own, other = (_pairs(kept[name]) for name in ("own", "other"))
    means = {wager: Fraction(mean) for wager, mean in kept["means"].items()}
    return Moments(means, own, own if own == other else other, frozenset(kept["inside"]))


def _pairs(kept: Mapping[str, str]) -> Covariances:
    found: Covariances = {}
    for name, text in kept.items():
        one, _, two = name.partition(", ")
        found[one, two] = found[two, one] = Fraction(text)
    return found


def as_kept(found: Moments) -> dict[str, Any]:
    """Moments as `kept.json` has them."""

    def pairs(vary: Covariances) -> dict[str, str]:
        return {f"{one}, {two}": str(vary[one, two]) for one, two in sorted(vary) if one <= two}

    return {
        "means": {wager: str(mean) for wager, mean in sorted(found.means.items())},
        "own": pairs(found.own),
        "other": pairs(found.other),
        "inside": sorted(found.inside),
    }


# -- measured -------------------------------------------------------------------------------------


class Measured:
    """The measured covariances of a game: of one position, and of two."""

    def __init__(self, game: str) -> None:
        told = json.loads(files(__package__).joinpath("measured.json").read_bytes())[game]
        self._own, self._other = told["own"], told["other"]

    def own(self, one: str, two: str) -> Fraction:
        """The covariance of two wagers of one position."""
        return _millionths(self._own, one, two)

    def other(self, one: str, two: str) -> Fraction:
        """The covariance of wagers of two positions."""
        return _millionths(self._other, one, two)


def _millionths(told: Mapping[str, list[int]], one: str, two: str) -> Fraction:
    return Fraction(told[", ".join(sorted((one, two)))][0], 1_000_000)


class SideWager(NamedTuple):
    """A side wager: its name where it was measured, and its exact mean and variance."""

    wager: str
    measured: str
    mean: Fraction
    variance: Fraction
    is_shared: bool = False  # the same for every position


def _with_measured(rules: InForce) -> Moments:
    """The moments of a game whose main wager is measured."""
    told = Measured(rules.game.id)
    if rules.game.id == "asia_poker":
        return _asia_poker(rules, told)
    means = {edge.wager: edge.edge for edge in reversed(edges_under(rules))}
    if rules.game.id == "lunar_poker":
        name = f"ante {rules.readings['second_combination']}"
        main = _main(("ante",), means["ante"], told, name)
        main = replace(main, inside=frozenset(("bet",)))
        return _beside(main, name, _super(rules), told)
    if rules.readings["pair_of_tens"] != "push":
        return Moments({}, {}, {})  # the other reading is not measured
    antes = ("ante_across", "ante_down")
    mean = means[" and ".join(antes)]
    main = _main(antes, mean, told, "antes")
    counted = _edges(rules).BEST_SQUARE / 4 - mean**2  # of both Antes, each half of the gain
    main = replace(
        main,
        own=dict.fromkeys(main.own, counted),
        inside=frozenset(("across", "down", "middle")),
    )
    return _beside(main, "antes", _five_card_bonus(rules), told)


def _main(wagers: tuple[str, ...], mean: Fraction, told: Measured, name: str) -> Moments:
    """The moments of a measured main wager; two Antes of one position win alike."""
    pairs = [(one, two) for one in wagers for two in wagers]
    return Moments(
        dict.fromkeys(wagers, mean),
        dict.fromkeys(pairs, told.own(name, name)),
        dict.fromkeys(pairs, told.other(name, name)),
    )


def _beside(main: Moments, name: str, side: SideWager | None, told: Measured) -> Moments:
    """The moments with a side wager."""
    if side is None:
        return main
    own, other = dict(main.own), dict(main.other)
    own[side.wager, side.wager] = side.variance
    if side.is_shared:
        other[side.wager, side.wager] = side.variance
    for wager in main.means:
        own[wager, side.wager] = own[side.wager, wager] = told.own(name, side.measured)
        shared = told.own if side.is_shared else told.other
        other[wager, side.wager] = other[side.wager, wager] = shared(name, side.measured)
    return replace(main, means={**main.means, side.wager: side.mean}, own=own, other=other)


def _asia_poker(rules: InForce, told: Measured) -> Moments:
    name, won, pays = "asia_poker", asia_poker.chance_to_win(), asia_poker.PAYS
    mean = 1 - won * (1 + pays)
    variance = won * (1 - won) * (1 + pays) ** 2
    shared = told.other(name, name)
    means = {name: mean, name + FACE: -won * pays, name + EVEN_FACE: -won}
    # The face is a linear function of the gain: it is won with the wager.
    parts = {name: Fraction(1), name + FACE: pays / (1 + pays), name + EVEN_FACE: 1 / (1 + pays)}
    own = {(one, two): parts[one] * parts[two] * variance for one in parts for two in parts}
    other = {(one, two): parts[one] * parts[two] * shared for one in parts for two in parts}
    table = rules.paytable("bonus", *ASIA_BONUS)
    if table.letter is None:
        return Moments(means, own, other)
    bonus = f"bonus {table.letter}"
    mean_of, variance_of = asia_poker.bonus_moments(table, rules)
    means["bonus"] = mean_of
    own["bonus", "bonus"] = variance_of
    for one, part in parts.items():
        own[one, "bonus"] = own["bonus", one] = part * told.own(name, bonus)
        other[one, "bonus"] = other["bonus", one] = part * told.other(name, bonus)
    return Moments(means, own, other)


def _edges(rules: InForce) -> Any:  # noqa: ANN401 - a file that is read when it is asked for
    return import_module(f"ledger.edges.{rules.game.id}")


def _super(rules: InForce) -> SideWager | None:
    table = rules.paytable("super", *SUPER)
    if table.letter is None:
        return None
    name = f"super {table.letter} {as_json(rules.readings['super_ace_king'])}"
    return SideWager("super", name, *_edges(rules).super_moments(rules))


def _five_card_bonus(rules: InForce) -> SideWager:
    mean, variance = _edges(rules).five_card_bonus_moments(rules.readings)
    return SideWager("five_card_bonus", "five_card_bonus", mean, variance, is_shared=True)


def _with_six_card_bonus(rules: InForce, found: Moments, file: Any) -> Moments:  # noqa: ANN401
    """The Six Card Bonus at the printed odds, for which its covariances were measured."""
    if any(isinstance(odds, Mapping) for odds in rules.paytables.values()):
        return found
    told, name = Measured("three_card_poker"), "six_card_bonus"
    mean, variance = file.six_card_bonus(rules)
    own, other = dict(found.own), dict(found.other)
    own[name, name], other[name, name] = variance, told.other(name, name)
    for wager in found.means:
        own[wager, name] = own[name, wager] = told.own(wager, name)
        other[wager, name] = other[name, wager] = told.other(wager, name)
    return replace(found, means={**found.means, name: mean}, own=own, other=other)


if __name__ == "__main__":
    chosen = sys.argv[1:] or [*COUNTED, *MEASURED]
    kept = {game: as_kept(worked_out(_unfiled(game))) for game in sorted(chosen)}
    print(json.dumps(kept, indent=1))  # noqa: T201 - the figures to keep
