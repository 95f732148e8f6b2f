"""The sides of a dispute: claimed, seen, on record, owed, paid; or hidden for blind review.

It decides nothing. A reviewer who has neither observed nor seen the claim gets nothing that
discloses what was claimed, recorded, owed or observed by others.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec import Struct

if TYPE_CHECKING:
    from collections.abc import Sequence

    from consumers.disputes.disputes import CaseTask, Status
    from replay.disputes.dispute import (
        Adjusted,
        Claim,
        Dispute,
        Note,
        Observation,
        Resolved,
        Revealed,
    )
    from replay.rounds.owed import OwedLine
    from replay.rounds.story import Story

SHARED = frozenset(("dice_thrown", "no_roll_called", "starting_position_determined"))
"""Facts that concern the whole table, even if they name a position."""


class RecordedFact(Struct, frozen=True):
    """One fact of the round as a sentence. number: from 1, in the order of the round."""

    number: int
    time: str  # by the device's clock
    says: str
    source: str
    id: str


class CaseComparison(Struct, frozen=True, kw_only=True):
    """One dispute as one person may see it. Money in cents; times in microseconds.

    difference: what the patron received too much (+) or too little (-) by the ruling. left: the
    same after adjustments to the claimant's position. Both are None while the round is open or
    without a ruling.
    """

    property: str
    dispute: str
    status: Status
    hidden: bool  # from this person, until they observe or see the claim
    round: str | None
    position: int | None
    raised_us: int | None
    raised_by: str | None
    claims: Sequence[Claim] = ()  # the first one counts
    saw: Sequence[Observation] = ()
    shown: Sequence[RecordedFact] = ()  # recorded facts of the position and of the whole table
    lines: Sequence[OwedLine] = ()  # the position's: owed by the ruling, moved by the dealer
    owed: int | None = None
    moved: int | None = None  # winnings less stakes lost
    difference: int | None = None
    left: int | None = None
    adjustments: Sequence[Adjusted] = ()
    adjusted: int | None = None  # adjustments to the claimant's position; None: none
    adjusted_others: int | None = None  # to any other
    notes: Sequence[Note] = ()
    tasks: Sequence[CaseTask] = ()
    revealed: Sequence[Revealed] = ()
    outcome: Resolved | None = None
    missing: Sequence[str] = ()  # sentences: what the record lacks


def compare(case: Dispute, story: Story | None, reviewer: str | None = None) -> CaseComparison:
    """Compare a dispute with its round. story: None if no fact of the round is on record.

    reviewer: the employee under blind review; None shows everything.
    """
    hidden = reviewer is not None and not case.knows(reviewer)
    if hidden:
        return _heading(case, hidden=True)
    claim = case.claim
    lines = (
        [line for line in story.lines if claim and line.position == claim.position] if story else []
    )
    differences = [line.difference for line in lines]
    settled = None not in differences and bool(lines)
    difference = sum(each or 0 for each in differences) if settled else None
    position = claim.position if claim else None
    adjusted = _paid([each for each in case.adjustments if each.position == position])
    others = _paid([each for each in case.adjustments if each.position != position])
    whole = _heading(case, hidden=False)
    return CaseComparison(
        property=whole.property,
        dispute=whole.dispute,
        status=whole.status,
        hidden=False,
        round=whole.round,
        position=whole.position,
        raised_us=whole.raised_us,
        raised_by=whole.raised_by,
        claims=case.claims,
        saw=case.observations,
        shown=_shown(story, claim) if story and claim else [],
        lines=lines,
        owed=sum(line.owed for line in lines) if lines else None,
        moved=sum(line.gained for line in lines) if lines else None,
        difference=difference,
        left=None if difference is None else difference + (adjusted or 0),
        adjustments=case.adjustments,
        adjusted=adjusted,
        adjusted_others=others,
        notes=case.notes,
        tasks=case.tasks,
        revealed=case.revealed,
        outcome=case.outcome,
        missing=_missing(story, claim),
    )


def _heading(case: Dispute, *, hidden: bool) -> CaseComparison:
    """What everyone may know: round and position, not the claim."""
    claim = case.claim
    status: Status = "resolved" if case.outcome else "raised" if claim else "not_raised"
    return CaseComparison(
        property=case.property,
        dispute=case.dispute,
        status=status,
        hidden=hidden,
        round=claim.round.subject if claim and claim.round else None,
        position=claim.position if claim else None,
        raised_us=claim.time_us if claim else None,
        raised_by=claim.by if claim else None,
    )


def _paid(adjustments: Sequence[Adjusted]) -> int | None:
    return sum(each.amount for each in adjustments) if adjustments else None


def _shown(story: Story, claim: Claim) -> list[RecordedFact]:
    """The facts of the claimant's position and of the whole table, in the order of the round."""
    return [
        RecordedFact(moment.number, time, moment.says, moment.source, moment.id)
        for moment, time in zip(story.moments, story.times, strict=True)
        if moment.position in (None, claim.position) or moment.fact in SHARED
    ]


def _missing(story: Story | None, claim: Claim | None) -> Sequence[str]:
    if claim is None:
        return ["No claim of this dispute is on record."]
    if claim.round is None:
        return ["The claim names a round of another property."]
    if story is None:
        return [f"No fact of round {claim.round.subject} is on record."]
    return story.missing
