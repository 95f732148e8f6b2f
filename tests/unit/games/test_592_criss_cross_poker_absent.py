"""Criss-Cross Poker: one fact is not on record, and no device counted it. What is ruled then."""

from __future__ import annotations

import pytest

from tests.unit.games.cross import GAME
from tests.unit.games.rounds import lines, ruling, text
from tests.unit.games.test_592_criss_cross_poker_record import FULLY_PAID

SINGLY = FULLY_PAID.replace("automated_shoe", "manual_shoe").replace(
    "deal 1 8c Qs\n    deal 2 Kc 4d", "deal 1 8c\n    deal 2 Kc\n    deal 1 Qs\n    deal 2 4d"
)
# The line that is gone, the status then, and every finding.
GONE = """
    nomorebets      > complete > step_missing
    deal 1 8c       > complete > step_missing
    deal 1 Qs       > complete > step_missing
    deal 2 Kc       > void     > misdeal should_have_been_void {paid}
    turn 1 8s 3 3c  > complete > step_missing
    turn 0 9h 4 Ah  > complete > step_missing
    turn 2 9d       > complete > step_missing
    show 1 8c Qs    > complete > step_missing
    fold 2          > complete > step_missing
    1 down 3000     > awaiting > step_missing
    rack 1          > complete >
"""
PAID = "wrongly_collected wrongly_collected overpaid"


def found_without(line: str) -> tuple[str, list[str]]:
    """Status and findings of the fully paid round without one of its lines."""
    rest = [each for each in lines(SINGLY) if each != line]
    assert len(rest) == len(lines(SINGLY)) - 1
    told = text(ruling("\n".join(rest), GAME))
    codes = [each.split()[1] for each in told if each.startswith("!")]
    return told[0], codes


@pytest.mark.parametrize("case", lines(GONE))
def test_592_one_fact_gone_is_a_step_missing_and_a_misdeal_only_where_no_turn_shows_the_card(
    case: str,
) -> None:
    line, status, codes = (part.strip() for part in case.split(">"))
    told_status, told = found_without(line)
    assert (told_status, sorted(told)) == (status, sorted(codes.format(paid=PAID).split()))


def test_592_13_d_a_street_turned_early_voids_and_one_not_on_record_does_not() -> None:
    """The same turn: before the Down Bets it shows cards early, after them another is lost."""
    early = SINGLY.replace("turn 1 8s 3 3c\n", "turn 2 9d\n    turn 1 8s 3 3c\n", 1)
    ruled = ruling(early, GAME)
    assert (ruled.status, {s.section for s in ruled.settlements}) == ("void", {"592.13(d)"})
    assert found_without("turn 1 8s 3 3c") == ("complete", ["step_missing"])
