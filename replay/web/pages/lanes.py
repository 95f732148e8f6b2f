"""The cameras of a round's table over time, and the states of their footage.

Times are by the reference clock.
"""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING, NamedTuple

from replay.cameras.coverage import Camera, mapped_cameras
from replay.cameras.timeline import SEEN, CameraState, camera_states, joined, segments_in

if TYPE_CHECKING:
    from replay.cameras.coverage import Coverage, Segment
    from replay.cameras.timeline import FrameLookup
    from replay.footage.library.files import FootageFiles


class TableSpan(NamedTuple):
    """A span of time at a table, by the reference clock."""

    property: str
    table: str
    from_us: int
    to_us: int


def cameras_on(coverage: Coverage, span: TableSpan) -> list[str]:
    """Every camera that was mapped to the table at any time of a span, by name."""
    changes = coverage.mapped.get((span.property, span.table), ())
    names = {name for told, name, on in changes if on and span.from_us <= told <= span.to_us}
    return sorted(names | set(mapped_cameras(coverage, span.property, span.table, span.from_us)))


def lane_of(
    coverage: Coverage, footage: FootageFiles, span: TableSpan, camera: str
) -> list[CameraState]:
    """The states of a camera's footage over a span, without gaps between them."""
    its = coverage.cameras.get((span.property, camera), Camera())
    changes = coverage.mapped.get((span.property, span.table), ())
    edges = {told for told, name, _ in changes if name == camera}
    inside = {edge for edge in edges if span.from_us < edge < span.to_us}
    found: list[CameraState] = []
    for times in pairwise(sorted(inside | {span.from_us, span.to_us})):
        if camera in mapped_cameras(coverage, span.property, span.table, times[0]):
            found += camera_states(camera, its, footage, times, _words)
        else:
            says = f"{camera} was not mapped to this table then."
            found.append(CameraState(*times, "no_camera_mapped", says))
    return joined(found)


def segments_of(coverage: Coverage, span: TableSpan, camera: str) -> list[Segment]:
    """The segments of a camera that overlap a span, in order, each once."""
    its = coverage.cameras.get((span.property, camera), Camera())
    return segments_in(its, span.from_us, span.to_us)


def _words(of: FrameLookup) -> str:
    """Why there is no footage; empty for footage, whose sentence is about a single frame."""
    return "" if of.state in SEEN else of.says
