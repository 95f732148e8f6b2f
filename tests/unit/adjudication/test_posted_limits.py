"""Which opening of a table posts the limits that a round is held to (623a.3(b)-(c))."""

from __future__ import annotations

import random
from typing import TYPE_CHECKING

import pytest
from msgspec.structs import replace

from ledger.adjudication.feed import adjudicate
from ledger.facts import FactCorrected, FactRef, TableOpened
from ledger.record.wire import Fact
from ledger.rules.engine.ruling import Ruling
from tests.unit.games.rounds import SECOND_US, facts_of

if TYPE_CHECKING:
    from collections.abc import Sequence

DAY = "2015-03-01"
ROUND = facts_of("start\n1 pass 300\nroll 2 2\nroll 3 4\ntake 1 pass 300\ndone", "craps", DAY)
FOUND = ("wager_not_permitted", 500, 300, "623a.3(b)(1)")


def opened(id_: str, least: int, at_s: int, *, game: str = "craps", day: str = DAY) -> Fact:
    """An opening of the table so many seconds after the round's first fact, or before it."""
    body = TableOpened(game=game, gaming_day=day, min_wager=least, max_wager=50000)
    at_us = ROUND[0].time_us + at_s * SECOND_US
    return Fact(body, "/hollywood/T-1/terminal", id_, at_us, None, "T-1", None, None)


def judged(facts: Sequence[Fact]) -> Ruling:
    """The round's ruling, whatever order its feed arrives in."""
    mixed = random.Random(5).sample(list(facts), len(facts))  # noqa: S311 - repeatable
    (one,), (two,) = (
        [said for said in adjudicate(feed) if isinstance(said, Ruling)] for feed in (facts, mixed)
    )
    assert one == two
    return one


def found(*openings: Fact) -> list[tuple[object, ...]]:
    """What is found of the round's wager after these openings, but for a lacking submission."""
    ruling = judged([*openings, *ROUND])
    return [(f.code, f.expected, f.recorded, f.section) for f in ruling.findings]


def test_623a_3_c_the_limits_posted_at_the_table_hold() -> None:
    assert found() == []
    assert found(opened("a", 300, -60)) == []
    assert found(opened("a", 500, -60)) == [FOUND]
    assert found(opened("a", 500, 0)) == [FOUND]


@pytest.mark.parametrize(
    "other",
    [
        opened("b", 100, 1),  # during the round: it holds from the next one on
        opened("b", 100, -61),  # posted over
        opened("b", 100, -60),  # at the same time, and of a lesser id than "c"
    ],
)
def test_623a_3_c_the_latest_opening_before_the_round_holds(other: Fact) -> None:
    assert found(opened("c", 500, -60), other) == [FOUND]


def test_623a_3_c_an_opening_for_another_game_or_day_posts_no_limit_for_this_one() -> None:
    assert found(opened("a", 500, -60, game="three_dice_football")) == []
    assert found(opened("a", 500, -60, day="2015-02-28")) == []
    elsewhere = replace(opened("a", 500, -60), source="/hollywood/T-2/terminal", table="T-2")
    assert found(elsewhere) == []


def test_623a_3_c_a_corrected_opening_changes_the_rounds_that_it_decides() -> None:
    first = opened("a", 100, -60)
    data = {"game": "craps", "gaming_day": DAY, "min_wager": 500, "max_wager": 50000}
    of = FactRef(first.source, first.id)

    def corrected(data: dict[str, object] | None) -> Fact:
        body = FactCorrected(of=of, data=data, because="the sign", by="S-1", second="S-2")
        return Fact(body, "/hollywood/office/desk", "k", 9, None, None, None, None)

    ruling = judged([first, *ROUND, corrected(data)])
    assert [finding.code for finding in ruling.findings] == ["wager_not_permitted"]
    assert ruling.before is not None
    assert ruling.before.findings == []
    # A correction that changes nothing of the round leaves its ruling as it is.
    same = judged([first, *ROUND, corrected({**data, "min_wager": 200})])
    assert same.before is None
    never = judged([opened("a", 500, -60), *ROUND, corrected(None)])
    assert never.findings == []
    assert never.before is not None
