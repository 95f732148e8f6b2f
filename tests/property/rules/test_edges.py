"""What the house keeps of every wager placed before a card or die is known, exactly.

None is in the player's favour under the default readings. Those that are under another reading are
listed by name: they are why the defaults are what they are (ADR 0020, 0021).
"""

from __future__ import annotations

import random
from collections import Counter
from dataclasses import replace
from fractions import Fraction
from functools import cache
from math import prod
from typing import TYPE_CHECKING

import numpy as np
import pytest

from ledger.adjudication.submissions import in_force
from ledger.edges import criss_cross_poker as cross
from ledger.edges import edges
from ledger.edges.three_dice_football import NEITHER, SHOWN, Ending, endings, outcomes
from ledger.facts import DiceThrown
from ledger.games import games, three_dice_football
from ledger.record.wire import Fact
from ledger.rules.engine.odds import as_json
from ledger.rules.engine.steps import Stop
from ledger.rules.engine.table import Table
from ledger.rules.hands.cards import DECK
from tests.contract.game_constants import game_constant, game_constant_or
from tests.suite.budget import rest_long
from tests.unit.games.rounds import ruling

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from ledger.edges import Edge
    from ledger.rules.engine.steps import Step

GAME_ID = "three_dice_football"


DEAR = {"blackjack", "five_card_hi_lo", "saigon_5_card"}
"""Games whose edges under every reading take longer than every day has."""

DEAR_BY_DEFAULT = {"baccarat", "five_card_hi_lo", "saigon_5_card", "three_card_poker"}
"""Games whose edges take a second under the default readings alone."""

QUICK_BY_DEFAULT = games().keys() - DEAR_BY_DEFAULT

_by_default = cache(edges)


@pytest.fixture
def by_default(game_id: str) -> list[Edge]:
    """The edges of a game under the default readings, worked out once, before a test is timed."""
    return _by_default(game_id)


def told(found: list[Edge]) -> str:
    """Each wager's edge in per cent to one place, in words; the first strategy of several."""
    per_cent: dict[str, str] = {}
    for each in found:
        tenths = abs(round(each.edge * 1000))
        sign = "-" if each.edge < 0 and tenths else ""
        per_cent.setdefault(each.wager, f"{sign}{tenths // 10}.{tenths % 10}")
    return " ".join(f"{wager} {edge}" for wager, edge in per_cent.items())


@pytest.mark.parametrize("game_id", rest_long(games(), everyday=QUICK_BY_DEFAULT))
def test_no_wager_favours_the_player_under_the_default_readings(
    game_id: str, by_default: list[Edge]
) -> None:
    listed = game_constant_or(game_id, "FAVOURABLE_DEFAULT", {})  # by name, each with its reason
    assert {each.wager for each in by_default if each.edge <= 0} == set(listed)
    assert told(by_default) == game_constant(game_id, "EDGES")


@pytest.mark.parametrize("game_id", rest_long(games(), everyday=QUICK_BY_DEFAULT))
def test_every_wager_placed_before_a_card_or_die_is_known_has_an_edge(
    game_id: str, by_default: list[Edge]
) -> None:
    placed = {wager.id for wager in games()[game_id].wagers} - game_constant(game_id, "LATER")
    counted = {name for each in by_default for name in each.wager.split(" and ")}
    assert counted == placed


@pytest.mark.parametrize("game_id", rest_long(games(), everyday=games().keys() - DEAR))
def test_readings_that_favour_the_player_are_those_listed_and_no_others(game_id: str) -> None:
    favourable = game_constant(game_id, "FAVOURABLE")
    for reading in games()[game_id].readings:
        for value in reading.values[1:]:
            found = {e.wager for e in edges(game_id, {reading.name: value}) if e.edge < 0}
            assert found == favourable.get(f"{reading.name}={as_json(value)}", set())


def test_661a_1_a_touchdown_beyond_zero_gives_the_player_42_in_a_thousand_on_six_plays() -> None:
    found = {
        each.wager: each.edge
        for each in edges("three_dice_football", {"touchdown_at": "beyond_zero"})
    }
    assert round(found["game_length_6"] * 1000) == -42


# -- Three Dice Football: the drive of the edges beside `play` -------------------------------------


def throws_of() -> dict[str | int, tuple[int, int, int]]:
    """A throw for each thing that a throw can be."""
    found: dict[str | int, tuple[int, int, int]] = {**SHOWN, -1: (1, 1, 5), 0: tuple(NEITHER)}
    for yards in range(1, 12):
        red = max(1, 8 - yards) if yards < 8 else 1
        total = yards + red
        first = max(1, total - 6)
        second = total - first
        if first == second == red:
            first, second = first - 1, second + 1
        found[yards] = (first, second, red)
    return found


class Throws:
    """A source that knows nothing but throws, and then ends."""

    ended = True
    may_be_lost = False

    def __init__(self, thrown: Sequence[tuple[int, int, int]]) -> None:
        self.facts = [_fact(dice) for dice in thrown]

    def take(self, step: Step) -> Fact | None:
        return self.facts.pop(0) if step.fact == "dice_thrown" and self.facts else None

    def wagers(self, names: Sequence[str], section: str, throw: int | None) -> list[Fact]:
        del names, section, throw
        return []

    def untaken(self, name: str, before: Sequence[str] = ()) -> list[Fact]:
        del name, before
        return []

    def of_hand(self, name: str, position: int, hand: int) -> list[Fact]:
        del name, position, hand
        return []


@cache
def _fact(dice: tuple[int, int, int]) -> Fact:
    body = DiceThrown(offensive=(dice[0], dice[1]), defensive=dice[2])
    return Fact(body, "/p/T-1/dealer", "1", 0, None, "T-1", None, None)


def played(
    readings: dict[str, str | bool], kinds_at: Callable[[int], list[str | int]]
) -> Counter[Ending]:
    """Every drive that `play` follows to its end, weighed by how many throws are like its own.

    `kinds_at` says which kinds of throw to follow at each play.
    """
    game = games()[GAME_ID]
    rules = replace(in_force(game, "p", "T-1", "2015-03-01", []), readings=readings)
    ways, thrown = outcomes(), throws_of()
    ended: list[three_dice_football.Drive] = []
    found: Counter[Ending] = Counter()
    open_drives: list[list[str | int]] = [[]]
    with pytest.MonkeyPatch.context() as patch:
        for settle in ("_score", "_stop"):
            patch.setattr(three_dice_football, settle, lambda _, drive, __: ended.append(drive))
        while open_drives:
            drive = open_drives.pop()
            table = Table(Throws([thrown[kind] for kind in drive]), rules)  # type: ignore[arg-type]
            try:
                game.play(table)
            except Stop:
                open_drives += [[*drive, kind] for kind in kinds_at(len(drive) + 1)]
                continue
            last = ended.pop()
            kind = drive[-1] if isinstance(drive[-1], str) else None
            weight = prod(ways[each] for each in drive) * 216 ** (6 - len(drive))
            found[Ending(last.scored, last.plays, kind)] += weight
    return found


def test_661a_6_play_ends_drives_of_some_throws_as_the_edges_say() -> None:
    """Four of 14 kinds of throw are followed at each play: their endings are the likely ones."""
    readings = {"touchdown_at": "zero_or_beyond", "new_downs": "on_reaching_10"}
    chance = random.Random(661)  # noqa: S311 - no secret
    kinds = list(outcomes())
    found = played(readings, lambda _: chance.sample(kinds, 4))
    likely = endings(readings)
    assert len(found) > 8
    assert all(weight <= likely[ending] * 216**6 for ending, weight in found.items())


@pytest.mark.long
@pytest.mark.parametrize("new_downs", ["on_reaching_10", "after_third_down"])
@pytest.mark.parametrize("touchdown_at", ["zero_or_beyond", "beyond_zero"])
def test_661a_6_play_ends_every_drive_as_the_edges_say(touchdown_at: str, new_downs: str) -> None:
    readings: dict[str, str | bool] = {"touchdown_at": touchdown_at, "new_downs": new_downs}
    kinds = list(outcomes())
    found = played(readings, lambda _: kinds)
    assert {ending: Fraction(weight, 216**6) for ending, weight in found.items()} == endings(
        readings
    )


# -- Criss-Cross Poker: the tables folded together beside rounds ruled one by one ------------------


def one_round(hole: tuple[str, str], row: list[str], column: list[str], middle: str) -> list[int]:
    """What a round wins on Antes of 100 and bets of 100: antes, across, down, middle."""
    cross_ = f"{column[0]} {row[0]} {middle} {row[1]} {column[1]}"
    script = f"""
        start
        1 ante_across 100
        1 ante_down 100
        nomorebets
        cross {cross_}
        deal 1 {hole[0]} {hole[1]}
        1 across 100
        turn 1 {row[0]} 3 {row[1]}
        1 down 100
        turn 0 {column[0]} 4 {column[1]}
        1 middle 100
        turn 2 {middle}
        show 1 {hole[0]} {hole[1]}
    """
    net = {each.wager: each.net for each in ruling(script, "criss_cross_poker").settlements}
    antes = net["ante_across"] + net["ante_down"]
    return [antes, net["across"], net["down"], net["middle"]]


@pytest.mark.parametrize("hole", [("Kc", "Kd"), ("9c", "8c"), ("Ac", "7d")])
def test_592_11_the_tables_of_the_edge_are_sums_of_rounds_as_they_are_ruled(
    hole: tuple[str, str],
) -> None:
    sums = cross.folded(hole, {"pair_of_tens": "push"})
    cards = [card for card in DECK if card not in hole]
    chance = random.Random("".join(hole))  # noqa: S311 - no secret
    for _ in range(3):
        picked = chance.sample(range(cross.LEFT), 4)
        row, column = cross.LINE[picked[0], picked[1]], cross.LINE[picked[2], picked[3]]
        left, right, far, near = (cards[index] for index in picked)
        rounds = [
            one_round(hole, [left, right], [far, near], middle)
            for middle in cards
            if middle not in (left, right, far, near)
        ]
        assert len(rounds) == cross.MIDDLES
        antes, across, down, middles = (sum(each) // 100 for each in zip(*rounds, strict=True))
        assert sums.apart[row, column]
        assert sums.antes[row, column] == antes
        assert sums.across[row, column] == across
        assert sums.across[column, row] == down
        assert sums.middle[row, column] == middles


def test_592_every_deal_is_counted_once() -> None:
    assert sum(ways for _, ways in cross.holes()) == 1326
    assert len(list(cross.holes())) == 169
    assert cross._apart().sum() == len(cross.LINES) * cross.COLUMNS


@pytest.mark.parametrize("hole", [("Kc", "Kd"), ("3c", "2d"), ("Jc", "Tc")])
def test_592_best_play_is_worth_no_less_than_any_other_with_the_same_cards(
    hole: tuple[str, str],
) -> None:
    sums = cross.folded(hole, {"pair_of_tens": "push"})
    every = cross.MIDDLES * cross.COLUMNS * len(cross.LINES)
    assert cross.best(sums).worth >= max(cross.pairs(sums, hole), -2 * every)


def test_592_11_best_play_is_the_best_of_every_multiple_and_of_giving_up_at_each_street() -> None:
    """The same choice written out: none, one, two or three times at each of the three bets."""
    antes, across, middle, apart = sums = cross.folded(("Jc", "Tc"), {"pair_of_tens": "push"})
    each, rows = cross.MIDDLES * cross.COLUMNS, len(cross.LINES)
    by_first = [-2 * each * rows]
    for first in (1, 2, 3):
        by_second = [np.full(rows, -(2 + first) * each)]
        for second in (1, 2, 3):
            given_up = np.full_like(antes, -(2 + first + second) * cross.MIDDLES)
            bets = antes + first * across + second * across.T
            chosen = np.maximum.reduce([given_up, *(bets + third * middle for third in (1, 2, 3))])
            by_second.append(np.where(apart, chosen, 0).sum(axis=1, dtype=np.int64))
        by_first.append(int(np.maximum.reduce(by_second).sum()))
    assert cross.best(sums).worth == max(by_first)


@pytest.mark.long
@pytest.mark.parametrize(("strategy", "reading"), cross.BASE_GAME)
def test_592_the_two_antes_edge_counted_over_every_deal(
    strategy: cross.Strategy, reading: str
) -> None:
    counted = cross.base_game(strategy, {"pair_of_tens": reading})
    assert counted == cross.BASE_GAME[strategy, reading]


def test_592_12_c_the_five_card_bonus_is_counted_over_every_hand_of_five() -> None:
    found = {each.wager: each.edge for each in edges("criss_cross_poker")}
    # 4, 36, 624, 3,744, 5,108, 10,200, 54,912 and 123,552 hands, and 9 ranks of 84,480 pairs.
    won = 250 * 4 + 100 * 36 + 40 * 624 + 15 * 3744 + 10 * 5108 + 6 * 10200 + 4 * 54912
    won += 3 * 123552 + 9 * 84480
    winning = 4 + 36 + 624 + 3744 + 5108 + 10200 + 54912 + 123552 + 9 * 84480
    assert found["five_card_bonus"] == Fraction(2598960 - winning - won, 2598960)
