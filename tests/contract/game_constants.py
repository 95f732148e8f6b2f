"""Constants that a game's own tests name: so that contract tests need no line for a new game."""

from __future__ import annotations

import importlib
import re
from typing import TYPE_CHECKING, Any

from tests.contract.citations import ROOT

if TYPE_CHECKING:
    from types import ModuleType


def modules(game_id: str) -> list[ModuleType]:
    """The test modules of a game: `test_<chapter>_<game>*.py`."""
    its = re.compile(rf"test_[0-9]+[a-z]?_{game_id}")  # and not those of a game whose name ends so
    paths = sorted(p for p in (ROOT / "tests/unit/games").glob("test_*.py") if its.match(p.name))
    return [importlib.import_module(f"tests.unit.games.{path.stem}") for path in paths]


def game_constant(game_id: str, name: str) -> Any:  # noqa: ANN401 - a constant of the game's tests
    """The constant of this name in the game's tests. Raises AssertionError where there is none."""
    found = [getattr(module, name) for module in modules(game_id) if hasattr(module, name)]
    assert len(found) == 1, f"the tests of {game_id} have {len(found)} {name}; write one"
    return found[0]


def game_constant_or(game_id: str, name: str, otherwise: Any) -> Any:  # noqa: ANN401 - as above
    """The constant of this name in the game's tests, or another value where they have none."""
    found = [getattr(module, name) for module in modules(game_id) if hasattr(module, name)]
    return found[0] if found else otherwise
