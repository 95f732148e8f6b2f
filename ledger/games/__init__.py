"""The games with rules here, found in this folder: one file a game, each ending in `GAME`."""

from __future__ import annotations

from functools import cache
from importlib import import_module
from pkgutil import iter_modules
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ledger.rules.engine.game import Game


@cache
def games() -> Mapping[str, Game]:
    """Every game by its id, in order of id."""
    names = sorted(module.name for module in iter_modules(__path__))
    found = [import_module(f"{__name__}.{name}").GAME for name in names]
    return {game.id: game for game in found}
