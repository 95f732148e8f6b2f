"""Main pot and side pots at the playhead: what is in each, and who contests it."""

from __future__ import annotations

from collections import defaultdict
from functools import cache
from itertools import pairwise
from typing import TYPE_CHECKING
from xml.etree import ElementTree as ET

import pytest

from ledger.facts import PotAwarded
from ledger.games import games
from ledger.simulate import Plan, TablePlan, deal
from replay.rounds.pots import pots_at, put_in
from replay.rounds.reconstruct import reconstruct
from replay.web.table_svg import draw_table, pot_texts
from replay.web.table_svg.layouts import LAYOUTS
from tests.suite.budget import budget
from tests.unit.games.card_room import SHORT
from tests.unit.games.rounds import facts_of

if TYPE_CHECKING:
    from ledger.record.wire import Fact
    from replay.rounds.moment import Moment

POKER = sorted(game for game in games() if LAYOUTS[game].centre == "pot")
GAME = "omaha_5_high"
SVG = "{http://www.w3.org/2000/svg}"
ENDED = SHORT + "muck 1\nhand 2\nhand 3\nhand 4\npot 0 2 4800\npot 1 2 6000\npot 2 2 4000\ndone"


def moments(script: str) -> list[Moment]:
    return reconstruct(facts_of(script, GAME, "2026-11-20"))


def after(script: str, says: str) -> Moment:
    """The moment that a sentence describes."""
    return next(each for each in moments(script) if says in each.says)


def texts(svg: str) -> list[str]:
    return [each.text or "" for each in ET.fromstring(svg).iter(f"{SVG}text")]  # noqa: S314 - ours


def test_a_hand_with_two_all_ins_has_a_main_pot_and_two_side_pots_each_with_its_contestants() -> (
    None
):
    river = moments(SHORT)[-1]
    assert pot_texts(river, GAME) == [
        "Main pot $48, contested by positions 1, 2, 3 and 4.",
        "Side pot 1 $60, contested by positions 1, 2 and 4.",
        "Side pot 2 $40, contested by positions 1 and 2.",
    ]
    told = texts(draw_table(river, GAME))
    for line in ("Main $48", "(1 2 3 4)", "Side 1 $60", "(1 2 4)", "Side 2 $40", "(1 2)"):
        assert line in told, line
    assert not any(each.startswith("Pot ") for each in told)


def test_pots_grow_with_the_playhead_and_nobody_has_a_side_pot_before_somebody_is_all_in() -> None:
    limped = after(SHORT, "Position 2 decides: check")
    assert pot_texts(limped, GAME) == ["Main pot $8, contested by positions 1, 2, 3 and 4."]
    assert "Pot $8" in texts(draw_table(limped, GAME))
    first = next(each for each in moments(SHORT) if any(seat.all_in for seat in each.seats))
    assert [pot.positions for pot in pots_at(first)] == [[1, 2, 3, 4], [1, 2, 4]]
    assert pot_texts(moments(SHORT)[0], GAME) == []


def test_a_hand_that_was_folded_contests_nothing_and_its_chips_stay() -> None:
    folded = moments(SHORT.replace("act 2 call 5000", "act 2 fold"))[-3]
    assert [pot.positions for pot in pots_at(folded)] == [[1, 3, 4], [1, 4], [1]]
    assert pots_at(folded)[0].cents == 4_800 - 1_000
    assert pot_texts(folded, GAME)[2] == "Side pot 2 $20, position 1 alone."


def test_a_pot_that_was_awarded_is_off_the_table_and_the_others_are_not() -> None:
    pushed = after(ENDED, "of the main pot")
    assert [pot.left for pot in pots_at(pushed)] == [0, 6_000, 4_000]
    assert pot_texts(pushed, GAME) == [
        "Main pot $48, taken off the table.",
        "Side pot 1 $60, contested by positions 2 and 4.",
        "Side pot 2 $40, position 2 alone.",
    ]
    assert "Main taken" in texts(draw_table(pushed, GAME))


def test_without_stacks_on_record_a_call_for_less_makes_a_side_pot_too() -> None:
    bare = "\n".join(
        line.replace(" allin", "") for line in SHORT.splitlines() if "stack" not in line
    )
    assert pot_texts(moments(bare)[-1], GAME) == pot_texts(moments(SHORT)[-1], GAME)


def test_rake_comes_off_the_pot_that_is_told_and_else_off_the_main_pot() -> None:
    assert [p.left for p in pots_at(moments(SHORT + "rake 300 1")[-1])] == [4_800, 5_700, 4_000]
    assert [p.left for p in pots_at(moments(SHORT + "rake 300")[-1])] == [4_500, 6_000, 4_000]


def test_a_game_without_pots_tells_of_none() -> None:
    assert pot_texts(moments(SHORT)[-1], "craps") == []


MINUTES, MINUTES_LONG = 15, 40


@cache
def dealt(game: str, minutes: int) -> tuple[tuple[Fact, ...], ...]:
    """Rounds of a simulated table."""
    table = TablePlan(table="T-1", game=game, seats=games()[game].positions)
    found = defaultdict(list)
    for fact in deal(Plan(tables=(table,), minutes=minutes))[0]:
        if fact.round:
            found[fact.round].append(fact)
    return tuple(map(tuple, found.values()))


@budget("minutes", everyday=MINUTES, whole=MINUTES_LONG)
@pytest.mark.parametrize("game", POKER)
def test_pots_hold_what_was_put_in_less_what_was_taken_at_every_fact(
    game: str, minutes: int
) -> None:
    for its in dealt(game, minutes):
        for each in reconstruct(its):
            pots = pots_at(each)
            chips = sum(put_in(seat) for seat in each.seats)
            taken = sum(seat.awarded for seat in each.seats) + each.rake
            assert sum(pot.left for pot in pots) == chips - taken, each.says
            assert all(set(pot.positions) <= set(pots[0].positions) for pot in pots)


@budget("minutes", everyday=MINUTES, whole=MINUTES_LONG)
def test_simulated_rounds_have_side_pots(minutes: int) -> None:
    """The control: what is asserted above is not of main pots alone."""
    ends = (reconstruct(its)[-1] for game in POKER for its in dealt(game, minutes))
    assert max(len(pots_at(end)) for end in ends) > 1


@budget("minutes", everyday=MINUTES, whole=MINUTES_LONG)
@pytest.mark.parametrize("game", POKER)
def test_every_award_of_a_simulated_round_goes_to_one_who_contests_that_pot(
    game: str, minutes: int
) -> None:
    awards = 0
    for its in dealt(game, minutes):
        told = reconstruct(its)
        for before, now in pairwise(told):
            body = next(f.body for f in its if (f.source, f.id) == (now.source, now.id))
            if isinstance(body, PotAwarded):
                pot = pots_at(before)[body.pot]
                assert body.position in pot.positions
                assert body.amount <= pot.left
                awards += 1
    assert awards
