"""Owed and paid at Poker: what was awarded of the pots is what was paid."""

from __future__ import annotations

import pytest

from ledger.games import games
from replay.rounds.owed import OwedLine, paid_beside_owed
from replay.rounds.story_text import moved_text
from tests.unit.games.card_room import OFFERED, SHORT
from tests.unit.games.rounds import facts_of, ruling
from tests.unit.rounds.test_pots import POKER
from tests.unit.web.test_round_page import told

GAME, DAY = "omaha_5_high", "2015-03-01"
SHOWN = SHORT + "muck 1\nhand 2\nhand 3\nhand 4\n"
PUSHED = "pot 0 2 4800\npot 1 2 6000\npot 2 2 4000\ndone"


def lines(script: str) -> dict[int, OwedLine]:
    found = paid_beside_owed(ruling(script, GAME, filed=OFFERED), facts_of(script, GAME, DAY))
    return {line.position: line for line in found}


def test_pots_that_went_to_who_won_them_differ_in_nothing() -> None:
    found = lines(SHOWN + PUSHED)
    assert {seat: line.difference for seat, line in found.items()} == dict.fromkeys((1, 2, 3, 4), 0)
    assert (found[2].owed, found[2].awarded, found[2].gained) == (9_600, 14_800, 9_600)
    assert moved_text(found[2]) == "awarded $148"
    assert (found[1].owed, found[1].gained) == (-5_200, -5_200)


def test_a_pot_that_was_pushed_to_another_is_too_much_for_him_and_too_little_for_the_winner() -> (
    None
):
    found = lines(SHOWN + PUSHED.replace("pot 1 2", "pot 1 4"))
    assert {seat: line.difference for seat, line in found.items()} == {
        1: 0, 2: -6_000, 3: 0, 4: 6_000,
    }  # fmt: skip


def test_while_the_round_is_open_there_is_no_difference_yet() -> None:
    assert all(line.difference is None for line in lines(SHOWN).values())


@pytest.mark.parametrize("game", POKER)
def test_a_simulated_round_without_a_mistake_differs_in_nothing(game: str) -> None:
    assert games()[game]
    its = told(game).story.lines
    assert its
    assert [line for line in its if line.difference] == []
