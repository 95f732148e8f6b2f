"""House edges of each wager, exactly: fractions by enumeration, never by simulation.

No house offers a wager on which the player gains. If one appears here, the text was misread, or its
reading is listed by name. The paytables are the games' own. The chance of a hand or a drive is
worked out here without `play`, so that one checks the other.
"""

from __future__ import annotations

from dataclasses import replace
from importlib import import_module
from typing import TYPE_CHECKING, NamedTuple

from ledger.adjudication.submissions import in_force
from ledger.games import games

if TYPE_CHECKING:
    from collections.abc import Mapping
    from fractions import Fraction

    from ledger.rules.engine.game import InForce

NO_DAY = "9999-12-31"
"""A gaming day on which the newest edition is the nearest."""


class Edge(NamedTuple):
    """The house's share of a stake of one; negative if the player gains."""

    wager: str
    edge: Fraction
    how: str  # what was counted, and the player's strategy if he has decisions


def edges(game_id: str, readings: Mapping[str, str | bool] | None = None) -> list[Edge]:
    """The edges of a game under its default rules and these readings.

    Raises ModuleNotFoundError for a game whose edges are not worked out.
    """
    rules = in_force(games()[game_id], "", "", NO_DAY, [])
    return edges_under(replace(rules, readings={**rules.readings, **(readings or {})}))


def edges_under(rules: InForce) -> list[Edge]:
    """The edges of a game under the paytables, readings and options in force.

    Empty for a game that players play against one another: the house keeps nothing. Raises
    ModuleNotFoundError for a game whose edges are not worked out.
    """
    if rules.game.pots:
        return []
    found: list[Edge] = import_module(f"{__name__}.{rules.game.id}").edges(rules)
    return found
