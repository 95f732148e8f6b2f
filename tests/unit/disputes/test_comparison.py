"""A dispute beside its round: what is left of a difference once adjustments are counted."""

from __future__ import annotations

from typing import TYPE_CHECKING
from zoneinfo import ZoneInfo

from ledger.values import RoundId
from replay.cli.disputes.dispute import draw_case
from replay.disputes.comparison import compare
from replay.disputes.dispute import Adjusted, Claim, Dispute
from replay.rounds.owed import OwedLine
from replay.rounds.story import Story

if TYPE_CHECKING:
    import pytest

    from replay.disputes.comparison import CaseComparison

ROUND = RoundId("hollywood", "CC-07", "2026-11-20", 231)
CLAIM = Claim(ROUND, 3, "Paid short.", "F-330", 0)


def line(position: int, difference: int) -> OwedLine:
    """A wager that was owed $25 and paid so much more or less."""
    return OwedLine(
        position=position, hand=1, wager="ante", name="Ante", throw=None, stake=2_500,
        outcome="win", row=None, odds="1 to 1", rows=None, owed=2_500, paid=2_500 + difference,
        collected=0, returned=0, difference=difference, paytable=None, section="592.11(h)(4)",
        reading=None, reading_value=None, paid_from="table", facts=[],
    )  # fmt: skip


def seen(*paid: tuple[int, int]) -> CaseComparison:
    """Position 3 claims to be $25 short, and is; paid: position and cents."""
    told = Story(
        ROUND, "criss_cross_poker", (), (), (), (), (), None, [line(3, -2_500), line(5, 0)], (), {}
    )
    adjustments = tuple(Adjusted(who, cents, "cage", "S-1", 0) for who, cents in paid)
    case = Dispute(property="hollywood", dispute="D-17", claims=(CLAIM,), adjustments=adjustments)
    return compare(case, told)


def test_what_another_position_was_paid_leaves_the_claimant_as_short_as_before() -> None:
    other = seen((5, 2_500))
    assert (other.difference, other.left) == (-2_500, -2_500)
    assert (other.adjusted, other.adjusted_others) == (None, 2_500)
    assert [(each.position, each.amount) for each in other.adjustments] == [(5, 2_500)]


def test_what_the_claimant_was_paid_is_counted() -> None:
    both = seen((5, 2_500), (3, 1_000), (3, 1_500))
    assert (both.left, both.adjusted, both.adjusted_others) == (0, 2_500, 2_500)
    nobody = seen()
    assert (nobody.left, nobody.adjusted, nobody.adjusted_others) == (-2_500, None, None)


def test_the_command_says_who_was_paid_and_what_is_left_of_the_claimants_difference(
    capsys: pytest.CaptureFixture[str],
) -> None:
    draw_case(seen((5, 2_500)), ZoneInfo("UTC"))
    told = capsys.readouterr().out
    assert "$25.00 to position 5 from the cage by S-1" in told
    [left] = [row for row in told.splitlines() if " left " in row]
    assert "-$25 " in left
