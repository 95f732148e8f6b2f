"""The games with rules here, found in this folder: one file a game, each ending in `GAME`."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from importlib import import_module
from pkgutil import iter_modules
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ledger.rules.engine.game import Game


class _Games(Mapping[str, "Game"]):
    """The games by id, which names the file; a file is imported when its game is asked for."""

    def __init__(self) -> None:
        self._ids = sorted(module.name for module in iter_modules(__path__))

    def __getitem__(self, game_id: str) -> Game:
        if game_id not in self._ids:
            raise KeyError(game_id)
        game: Game = import_module(f"{__name__}.{game_id}").GAME
        if game.id != game_id:
            raise ValueError(f"the file {game_id}.py has the game {game.id}")
        return game

    def __iter__(self) -> Iterator[str]:
        return iter(self._ids)

    def __len__(self) -> int:
        return len(self._ids)


@cache
def games() -> Mapping[str, Game]:
    """Every game by its id, in order of id."""
    return _Games()
