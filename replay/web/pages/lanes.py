"""What covers a round between its facts: stretches of one state a camera, each with its cause.

Times are the reference's. It asks `replay.cameras.timeline` at the middle of every stretch and
decides nothing itself.
"""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING, NamedTuple

from replay.cameras.clock_pieces import clock_pieces, epochs_of
from replay.cameras.clocks import DEVICE_PLUS_MINUS_US, to_reference
from replay.cameras.coverage import Camera, mapped_cameras
from replay.cameras.timeline import HOLE_US_MAX, sight

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from replay.cameras.coverage import Coverage, Segment
    from replay.cameras.timeline import Sight, State
    from replay.footage.library.files import FootageIndex

_MERGED = ("recorded", "locked")
"""States whose words tell of one frame, and so never agree between two stretches."""


class Stretch(NamedTuple):
    """A stretch of time in which a camera has, or has not, footage for one reason."""

    from_us: int
    to_us: int
    state: State
    says: str


class Span(NamedTuple):
    """A stretch of time at a table of a property, by the reference clock."""

    property: str
    table: str
    from_us: int
    to_us: int


def cameras_on(known: Coverage, span: Span) -> list[str]:
    """Every camera that was mapped to the table at any time of a stretch, by name."""
    changes = known.mapped.get((span.property, span.table), ())
    names = {name for told, name, on in changes if on and span.from_us <= told <= span.to_us}
    return sorted(names | set(mapped_cameras(known, span.property, span.table, span.from_us)))


def stretches(known: Coverage, footage: FootageIndex, span: Span, camera: str) -> list[Stretch]:
    """What a camera has of a span, without a break from its beginning to its end."""
    found: list[Stretch] = []
    its = known.cameras.get((span.property, camera), Camera())
    for from_us, to_us in pairwise(sorted(_edges(known, footage, span, camera))):
        middle = (from_us + to_us) // 2
        on = camera in mapped_cameras(known, span.property, span.table, middle)
        seen = sight(camera, its, middle, footage, DEVICE_PLUS_MINUS_US) if on else None
        stretch = Stretch(from_us, to_us, *_told(camera, seen))
        if found and found[-1][2:] == stretch[2:]:
            found[-1] = found[-1]._replace(to_us=to_us)
        else:
            found.append(stretch)
    return found


def segments_of(known: Coverage, span: Span, camera: str) -> list[Segment]:
    """The segments of a camera that reach into a span, in order of the span, each once."""
    its = known.cameras.get((span.property, camera), Camera())
    found: dict[str, Segment] = {}
    for piece in clock_pieces(its.clock, span.from_us, span.to_us):
        (_, from_us), (_, to_us) = piece.line[0], piece.line[-1]
        for each in its.segments:
            over = each.start_us < to_us and each.end_us > from_us
            if over and piece.epoch in epochs_of(its.clock, each):
                found.setdefault(each.body.sha256, each)
    return list(found.values())


def _told(camera: str, seen: Sight | None) -> tuple[State, str]:
    if seen is None:
        return "no_camera_mapped", f"{camera} was not mapped to this table then."
    return seen.state, "" if seen.state in _MERGED else seen.says


def _edges(known: Coverage, footage: FootageIndex, span: Span, camera: str) -> set[int]:
    """Where something may change: segments, holes in them, losses, locks, what was mapped."""
    its = known.cameras.get((span.property, camera), Camera())
    changes = known.mapped.get((span.property, span.table), ())
    edges = {told for told, name, _ in changes if name == camera}
    edges |= {told for told, _ in its.lost}
    edges |= {piece.from_us for piece in clock_pieces(its.clock, span.from_us, span.to_us)}
    for camera_us in _camera_edges(its, footage, segments_of(known, span, camera)):
        if its.clock is None:
            edges.add(camera_us)
        else:
            edges |= {
                to_reference(its.clock, camera_us, epoch) for epoch in range(len(its.clock.epochs))
            }
    inside = {edge for edge in edges if span.from_us < edge < span.to_us}
    return inside | {span.from_us, span.to_us}


def _camera_edges(its: Camera, footage: FootageIndex, over: Sequence[Segment]) -> Iterator[int]:
    """Edges by the camera's clock."""
    for handling in its.handled:
        yield from (handling.from_us, handling.to_us)
    for segment in over:
        yield from (segment.start_us, segment.end_us)
        kept = footage.kept.get(segment.body.sha256)
        if kept and kept.times:
            for before, after in pairwise(kept.times.pts_us):
                if after - before > HOLE_US_MAX:
                    yield from (segment.start_us + before, segment.start_us + after)
