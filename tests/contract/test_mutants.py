"""The hand-settled cases fail for every mutant of a game's module but those that change nothing."""

from __future__ import annotations

from itertools import islice
from typing import TYPE_CHECKING, Any

import pytest

from ledger.adjudication import adjudicate
from ledger.games import games
from tests.contract.citations import ROOT
from tests.contract.game_constants import game_constant, game_constant_or, modules
from tests.contract.mutants import Mutant, mutants
from tests.suite.budget import rest_long

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Iterator

Case = tuple["Callable[..., None]", tuple[Any, ...]]


EVERYDAY = 200
"""The everyday suite tries every so-many-eth mutant; `make mutants` tries all, in half an hour."""
DEAR = {"asia_poker", "blackjack"}
"""Games whose cases take longer than every day has."""


def cases(game_id: str) -> list[Case]:
    """The hand-settled cases of a game, with the rows they are given; the longest comes last."""
    found: list[Case] = []
    for module in modules(game_id):
        for name, test in vars(module).items():
            if name.startswith("test_"):
                found += [(test, row) for row in _rows(test)]
    return sorted(found, key=lambda case: "on_every_throw" in case[0].__name__)


def _rows(test: Any) -> Iterator[tuple[Any, ...]]:  # noqa: ANN401 - a test carries its marks
    """The arguments a test is run with."""
    marks = [mark for mark in getattr(test, "pytestmark", ()) if mark.name == "parametrize"]
    if not marks:
        yield ()
    for mark in marks:
        names, rows = mark.args
        yield from (tuple(row) if isinstance(names, tuple) else (row,) for row in rows)


def killed(mutant: Mutant, with_cases: Iterable[Case]) -> bool:
    """Whether some case fails where the mutant stands for its games."""
    changed = mutant.games()
    if not changed:
        return True
    mutated = {**games(), **{game.id: game for game in changed}}
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(adjudicate, "games", lambda: mutated)
        for test, row in with_cases:
            try:
                test(*row)
            except Exception:  # noqa: BLE001 - however it fails, it fails
                return True
    return False


def survivors(game_id: str, every: int, but: Collection[str] = ()) -> tuple[set[str], int]:
    """Names of the mutants that no case kills, of every so-many-eth; and how many there were.

    but: names of mutants that may survive, so that nothing is learnt where they do.
    """
    chapter = games()[game_id].editions[0].chapter
    beside = game_constant_or(game_id, "BESIDE", ())
    with_cases = [case for each in (game_id, *beside) for case in cases(each)]
    sound = Mutant("none", lambda: (games()[game_id],))
    assert not killed(sound, with_cases), "a case fails as it is"
    left, tried = set(), 0
    for mutant in islice(_mutants(game_id, chapter, beside), 0, None, every):
        tried += 1
        if mutant.name not in but and not killed(mutant, with_cases):
            left.add(mutant.name)
    return left, tried


def _mutants(game_id: str, chapter: str, beside: Iterable[str]) -> Iterator[Mutant]:
    """Those of the game's module, and of the `SHARED` ones that it answers for.

    The cases of the games `BESIDE` it answer for those with its own. `CHANCE`: functions that only
    say how chance plays.
    """
    own, *others = (ROOT / f"ledger/games/{each}.py" for each in (game_id, *beside))
    shared = [ROOT / path for path in game_constant_or(game_id, "SHARED", ())]
    chance = game_constant_or(game_id, "CHANCE", ())
    for index, path in enumerate(shared):
        for mutant in mutants(path, chapter, [*shared[index + 1 :], own, *others]):
            if mutant.name.partition(":")[0] not in chance:
                yield mutant
    yield from mutants(own, chapter)


def mutants_least(game_id: str) -> int:
    """How many there are of a game at least; fewer where most of it is shared with others."""
    of_its_own = 0 if games()[game_id].pots else 300  # all but its hands is in the rules of Poker
    return int(game_constant_or(game_id, "MUTANTS_LEAST", of_its_own))


@pytest.mark.parametrize("game_id", rest_long(games(), everyday=games().keys() - DEAR))
def test_a_sample_of_mutants_fails_the_hand_settled_cases(game_id: str) -> None:
    left, tried = survivors(game_id, every=EVERYDAY, but=game_constant(game_id, "EQUIVALENT"))
    assert tried >= mutants_least(game_id) // (2 * EVERYDAY)
    assert not left


@pytest.mark.long
@pytest.mark.parametrize("game_id", games())
def test_a_fourth_of_the_mutants_fails_the_hand_settled_cases(game_id: str) -> None:
    left, tried = survivors(game_id, every=4, but=game_constant(game_id, "EQUIVALENT"))
    assert tried >= mutants_least(game_id) // 4
    assert not left


@pytest.mark.exhaustive
@pytest.mark.parametrize("game_id", games())
def test_every_mutant_of_a_game_fails_a_hand_settled_case_or_changes_nothing(game_id: str) -> None:
    left, tried = survivors(game_id, every=1)
    assert tried >= mutants_least(game_id)
    assert left == set(game_constant(game_id, "EQUIVALENT"))
