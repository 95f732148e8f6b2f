"""The notes of a round's cases, placed on the round's timeline.

A note about a fact is placed at that fact, a note about a time at that time. A note about a
camera's time is placed where the camera's clock showed it, twice if the clock showed it twice.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from ledger.values import parse_time
from replay.cameras.clock_pieces import clock_pieces
from replay.cameras.clocks import to_reference
from replay.cameras.coverage import Camera

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from ledger.facts import Attached
    from replay.cameras.coverage import Coverage
    from replay.disputes.dispute import Dispute, Note
    from replay.rounds.story import Story
    from replay.web.pages.lanes import TableSpan


class PlacedNote(NamedTuple):
    """A note of a case at one of its times."""

    dispute: str
    property: str
    says: str
    by: str
    time_us: int | None  # by the reference clock; None: not within the round
    at: str
    after: int  # the number of the last fact by then; 0: before all


def noted(
    story: Story, coverage: Coverage, span: TableSpan, disputes: Sequence[Dispute]
) -> list[PlacedNote]:
    """Every note of every dispute about a round, by time."""
    found = []
    for case in disputes:
        for note in case.notes:
            for time_us, at in _instants(story, coverage, span, note):
                after = [m.number for m in story.moments if time_us and m.time_us <= time_us]
                its = (case.dispute, case.property, note.note, note.by)
                found.append(PlacedNote(*its, time_us, at, max(after, default=0)))
    return sorted(found, key=lambda each: (each.time_us is None, each.time_us or 0))


def _instants(
    story: Story, coverage: Coverage, span: TableSpan, note: Note
) -> Iterator[tuple[int | None, str]]:
    """The times of a note, each with its reason; at least one."""
    places = [place for each in note.moments for place in _places(story, coverage, span, each)]
    within = [(at, how) for at, how in places if span.from_us <= at <= span.to_us]
    if within:
        yield from within
    elif span.from_us <= note.time_us <= span.to_us:
        yield note.time_us, "when it was noted"
    else:
        yield None, "not on this round's timeline"


def _places(
    story: Story, coverage: Coverage, span: TableSpan, moment: Attached
) -> Iterator[tuple[int, str]]:
    """The times by the reference clock that a moment can mean."""
    fact = next(
        (
            each
            for each in story.moments
            if moment.fact and (each.source, each.id) == (moment.fact.source, moment.fact.id)
        ),
        None,
    )
    if moment.reference_time is not None:
        beside = f", with fact {fact.number}" if fact else ""
        yield _us(moment.reference_time), f"at this time{beside}"
    elif fact is not None:
        yield fact.time_us, f"at fact {fact.number}"
    if moment.camera is not None and moment.camera_time is not None:
        camera = coverage.cameras.get((span.property, moment.camera), Camera())
        camera_us = _us(moment.camera_time)
        for piece in clock_pieces(camera.clock, span.from_us, span.to_us):
            at = camera_us
            if camera.clock is not None:
                at = to_reference(camera.clock, camera_us, piece.epoch)
            if piece.from_us <= at < piece.to_us:
                yield at, f"at {moment.camera}'s {moment.camera_time}"


def _us(moment: str) -> int:
    """A time that was checked when it was received."""
    return parse_time(moment) or 0
