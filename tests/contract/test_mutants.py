"""The hand-settled cases fail for every mutant of a game's module but those that change nothing."""

from __future__ import annotations

import importlib
from itertools import islice
from typing import TYPE_CHECKING, Any

import pytest

from ledger import adjudicate
from ledger.games import games
from tests.contract.citations import ROOT
from tests.contract.mutants import Mutant, mutants

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

Case = tuple["Callable[..., None]", tuple[Any, ...]]

ASKED_BY_NAME = "the record is asked for wagers by name, and the source is not told the section"
NO_ORDER = "the names of the wagers asked for are a set; each is settled in a step of its own"
A_SET = "a hand is a set of cards, as the cards to turn are; what a bet may be is a set of amounts"
NEVER_LOST = "a wager that the branch has already won cannot be lost there"

EQUIVALENT: dict[str, dict[str, str]] = {
    "criss_cross_poker": {
        "STREETS: (1, 3) -> (3, 1)": A_SET,
        "STREETS: (0, 4) -> (4, 0)": A_SET,
        "STREETS: ('ante_across', 'ante_down') -> ('ante_down', 'ante_across')": A_SET,
        "MULTIPLES: (1, 2, 3) -> (2, 1, 3)": A_SET,
        "MULTIPLES: (1, 2, 3) -> (1, 3, 2)": A_SET,
        ": (1, 2, 3) -> (2, 1, 3)": A_SET,
        ": (1, 2, 3) -> (1, 3, 2)": A_SET,
        ": (0, 2, 4) -> (2, 0, 4)": A_SET,
        ": (0, 2, 4) -> (0, 4, 2)": A_SET,
        "play: ('ante_across', 'ante_down', 'five_card_bonus') -> "
        "('ante_down', 'ante_across', 'five_card_bonus')": NO_ORDER,
        "play: ('ante_across', 'ante_down', 'five_card_bonus') -> "
        "('ante_across', 'five_card_bonus', 'ante_down')": NO_ORDER,
        "play: '7(d)' -> '7(e)'": ASKED_BY_NAME,
        "play: '' -> 'x'": "no way of dealing has either name",
        "play: (0, 1) -> (1, 0)": A_SET,
        "_dealt_in: (across, down) -> (down, across)": "whether 0 is one of two has no order",
        "_dealt_in: Gt -> GtE": "asked only where the two differ",
        "_settle_hands: [*hole, *(cross[box] for box in boxes)] -> "
        "[*(cross[box] for box in boxes), *hole]": A_SET,
    },
    "three_dice_football": {
        "SINGLE_PLAY: 0 -> -1": "each of these tables pays one wager: the first is the last",
        "BY_LENGTH: 0 -> -1": "each of these tables pays one wager: the first is the last",
        "BY_LENGTH: (QUICK_STRIKE, GAME_CHANGER, *GAME_LENGTH) -> "
        "(GAME_CHANGER, QUICK_STRIKE, *GAME_LENGTH)": "661a.6(f) gives no order among these",
        "BY_LENGTH: (QUICK_STRIKE, GAME_CHANGER, *GAME_LENGTH) -> "
        "(QUICK_STRIKE, *GAME_LENGTH, GAME_CHANGER)": "661a.6(f) gives no order among these",
        "FULL_GAME: ('touchdown', 'defense', 'extra_point', *BY_LENGTH) -> "
        "('defense', 'touchdown', 'extra_point', *BY_LENGTH)": NO_ORDER,
        "FULL_GAME: ('touchdown', 'defense', 'extra_point', *BY_LENGTH) -> "
        "('touchdown', 'extra_point', 'defense', *BY_LENGTH)": NO_ORDER,
        "FULL_GAME: ('touchdown', 'defense', 'extra_point', *BY_LENGTH) -> "
        "('touchdown', 'defense', *BY_LENGTH, 'extra_point')": NO_ORDER,
        "play: '6(b)' -> '6(c)'": ASKED_BY_NAME,
        "play: '6(b)' -> '6(c)' #2": ASKED_BY_NAME,
        "_endings: 2 -> 3": "no wager is on a seventh play",
        "_endings: Is -> IsNot": "a wager looks at the score or at the last throw, never at both",
        "_endings: (TRIPS, last) -> (last, TRIPS)": NO_ORDER,
        "_drive: '3(e)' -> '4'": ASKED_BY_NAME,
        "_score: '6(f)(2)' -> '6(g)'": NEVER_LOST,
        "_stop: '6(f)(1)' -> '6(f)(2)'": NEVER_LOST,
    },
}


def cases(chapter: str) -> list[Case]:
    """The hand-settled cases of a chapter, with the rows they are given; the longest comes last."""
    found: list[Case] = []
    for path in sorted((ROOT / "tests/unit/games").glob(f"test_{chapter}_*.py")):
        module = importlib.import_module(f"tests.unit.games.{path.stem}")
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


def killed(mutant: Mutant, game_id: str, with_cases: Iterable[Case]) -> bool:
    """Whether some case fails where the mutant stands for the game."""
    if mutant.game is None:
        return True
    mutated = {**games(), game_id: mutant.game}
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(adjudicate, "games", lambda: mutated)
        for test, row in with_cases:
            try:
                test(*row)
            except Exception:  # noqa: BLE001 - however it fails, it fails
                return True
    return False


def survivors(game_id: str, every: int) -> tuple[set[str], int]:
    """Names of the mutants that no case kills, of every so-many-eth; and how many there were."""
    chapter = games()[game_id].editions[0].chapter
    with_cases = cases(chapter)
    sound = Mutant("none", games()[game_id])
    assert not killed(sound, game_id, with_cases), "a case fails without any mutant"
    path = ROOT / f"ledger/games/{game_id}.py"
    tried = list(islice(mutants(path, chapter), 0, None, every))
    left = {mutant.name for mutant in tried if not killed(mutant, game_id, with_cases)}
    return left, len(tried)


@pytest.mark.parametrize("game_id", games())
def test_a_sample_of_mutants_fails_the_hand_settled_cases(game_id: str) -> None:
    left, tried = survivors(game_id, every=9)
    assert tried > 50
    assert left <= set(EQUIVALENT[game_id])


@pytest.mark.long
@pytest.mark.parametrize("game_id", games())
def test_every_mutant_of_a_game_fails_a_hand_settled_case_or_changes_nothing(game_id: str) -> None:
    left, tried = survivors(game_id, every=1)
    assert tried > 500
    assert left == set(EQUIVALENT[game_id])
