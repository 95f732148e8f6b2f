"""Chips taken back at any game against the house: only those that lay there."""

from __future__ import annotations

import pytest

from ledger.games import games
from tests.unit.games.rounds import ruling

AGAINST_THE_HOUSE = sorted(game.id for game in games().values() if not game.pots)


def opening(game_id: str) -> str:
    """A wager that opens a round."""
    habit = games()[game_id].player_model
    return (*habit.always, habit.otherwise or "")[0]


@pytest.mark.parametrize("game_id", AGAINST_THE_HOUSE)
def test_more_than_lay_there_cannot_be_taken_back(game_id: str) -> None:
    wager = opening(game_id)
    for taken, found in (("500", []), ("200", []), ("501", ["wager_not_permitted"])):
        script = f"start\n1 {wager} 500\nwithdraw 1 {wager} {taken}"
        told = ruling(script, game_id).findings
        assert [each.code for each in told] == found
        assert all((each.position, each.wager) == (1, wager) for each in told)
        assert [
            each.says.count("$5.01 was taken back, but only $5.00 was there") for each in told
        ] == ([1] * len(found))
    nothing = ruling(f"start\n2 {wager} 500\nwithdraw 1 {wager} 300", game_id).findings
    assert [(each.code, each.position) for each in nothing] == [("wager_not_permitted", 1)]


@pytest.mark.parametrize("game_id", AGAINST_THE_HOUSE)
def test_where_facts_were_lost_what_lay_there_may_be_among_them(game_id: str) -> None:
    wager = opening(game_id)
    script = f"start | seq 1\n1 {wager} 500 | seq 3\nwithdraw 1 {wager} 600 | seq 4"
    told = ruling(script, game_id).findings
    assert [each.code for each in told] == ["fact_missing"]
