"""What the house keeps of each wager, exactly: fractions by enumeration, never by simulation.

No house offers a wager that the player gains on, so where one comes out here the text was misread,
or the reading is listed by name. Paytables are the games' own; how likely a hand or a drive is, is
worked out here apart from `play`, so that one checks the other.
"""

from __future__ import annotations

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
    """The house's share of a stake of one; negative where the player gains."""

    wager: str
    edge: Fraction
    how: str  # what was counted, and how the player plays where he decides anything


def edges(game_id: str, readings: Mapping[str, str | bool] | None = None) -> list[Edge]:
    """The edges of a game as it is ruled where nothing is filed, but for these readings.

    Raises ModuleNotFoundError for a game whose edges are not worked out.
    """
    rules = in_force(games()[game_id], "", "", NO_DAY, [])
    return edges_under(rules._replace(readings={**rules.readings, **(readings or {})}))


def edges_under(rules: InForce) -> list[Edge]:
    """The edges of a game under the paytables, readings and options in force.

    None of a game that players play against one another: what one loses another wins. Raises
    ModuleNotFoundError as above.
    """
    if rules.game.pots:
        return []
    found: list[Edge] = import_module(f"{__name__}.{rules.game.id}").edges(rules)
    return found
