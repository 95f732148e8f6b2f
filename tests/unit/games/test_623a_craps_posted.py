"""Craps, 623a.3(b)(1)-(2): wagers are held to the table's posted minimum and maximum."""

from __future__ import annotations

import pytest

from tests.unit.games.rounds import ruling, text
from tests.unit.games.test_623a_craps import GAME, rolls

POSTED = (500, 10000)
TOO_LITTLE = "! wager_not_permitted 1 {} 500 / {} 623a.3(b)(1)"
TOO_MUCH = "! wager_not_permitted 1 {} 10000 / {} 623a.3(b)(2)"


def found(script: str, posted: tuple[int, int] = POSTED) -> list[str]:
    """The findings of a round at a table that posts these limits."""
    lines = text(ruling(f"start\n{script}", GAME, posted=posted))
    return [line for line in lines if line.startswith("!")]


@pytest.mark.parametrize(
    "wager", ["pass", "dont_pass", "lay_4", "lay_10", "all_small", "all_or_nothing", "all_tall"]
)
def test_623a_3_b_every_wager_is_held_to_the_minimum_and_the_maximum(wager: str) -> None:
    for cents, expected in (
        (499, TOO_LITTLE),
        (500, None),
        (10000, None),
        (10001, TOO_MUCH),
    ):
        wrong = found(f"1 {wager} {cents}\n{rolls('4 7')}")
        assert wrong == ([expected.format(wager, cents)] if expected else [])


def test_623a_3_b_without_posted_limits_nothing_is_found() -> None:
    script = f"start\n1 pass 1\n{rolls('4 7')}"
    assert not [line for line in text(ruling(script, GAME)) if line.startswith("!")]


def test_623a_3_b_what_a_wager_amounts_to_counts_when_the_dice_are_thrown() -> None:
    assert found(f"1 pass 300\n1 pass 200\n{rolls('4 7')}") == []
    assert found(f"1 pass 10100\nwithdraw 1 pass 100\n{rolls('4 7')}") == []
    taken = "1 pass 600\nwithdraw 1 pass 200\n"
    assert found(taken + rolls("4 7")) == [TOO_LITTLE.format("pass", 400)]
    # Betting is still open.
    open_ = text(ruling("start\n1 pass 300", GAME, posted=POSTED))
    assert not [line for line in open_ if line.startswith("!")]


def test_623a_3_b_a_wager_that_stays_up_is_found_once_and_a_new_one_again() -> None:
    assert found(f"1 pass 300\n{rolls('4 5 6 4 7')}") == [TOO_LITTLE.format("pass", 300)]
    again = f"1 pass 300\n{rolls('4 4')}\n1 pass 300\n{rolls('4 7')}"
    assert found(again) == [TOO_LITTLE.format("pass", 300)] * 2
    lower = f"1 lay_4 600\n{rolls('5')}\nwithdraw 1 lay_4 200\n{rolls('6 7')}"
    assert found(lower) == [TOO_LITTLE.format("lay_4", 400)]


def test_623a_3_b_chips_that_come_too_late_are_found_as_late_alone() -> None:
    script = f"1 pass 500\n{rolls('4')}\n1 pass 9900\n{rolls('7')}"
    assert found(script) == ["! late_wager 1 pass 623a.3(a)"]


def test_623a_3_b_the_wager_is_settled_all_the_same_and_the_finding_names_its_facts() -> None:
    script = f"start\n1 pass 300 | id w\n2 pass 500\n{rolls('4 7')}"
    said = ruling(script, GAME, posted=POSTED)
    assert [(each.position, each.net) for each in said.settlements] == [(1, -300), (2, -500)]
    [wrong] = said.findings
    assert [fact.id for fact in wrong.facts] == ["w", "opened"]
    assert wrong.says == (
        "Position 1's Pass Bet is not permitted: it is $3.00, and the posted minimum is $5.00 "
        "(623a.3(b)(1))."
    )
    [wrong] = ruling(script.replace("300", "20000"), GAME, posted=POSTED).findings
    assert "it is $200.00, and the posted maximum is $100.00 (623a.3(b)(2))" in wrong.says
