"""What the house keeps of each wager, exactly: fractions by enumeration, never by simulation.

No house offers a wager that the player gains on, so where one comes out here the text was misread,
or the reading is listed by name. Paytables are the games' own; how likely a hand or a drive is, is
worked out here apart from `play`, so that one checks the other.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, NamedTuple

from ledger.games import games

if TYPE_CHECKING:
    from collections.abc import Mapping
    from fractions import Fraction


class Edge(NamedTuple):
    """The house's share of a stake of one; negative where the player gains."""

    wager: str
    edge: Fraction
    how: str  # what was counted, and how the player plays where he decides anything


def default_readings(game_id: str) -> dict[str, str | bool]:
    """Every reading of a game at its default."""
    return {reading.name: reading.default for reading in games()[game_id].readings}


def edges(game_id: str, readings: Mapping[str, str | bool] | None = None) -> list[Edge]:
    """The edges of a game; readings not named stand at their default.

    Raises ModuleNotFoundError for a game whose edges are not worked out.
    """
    in_force = default_readings(game_id) | dict(readings or {})
    found: list[Edge] = import_module(f"{__name__}.{game_id}").edges(in_force)
    return found
