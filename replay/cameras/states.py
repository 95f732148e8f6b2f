"""What a camera has of a stretch of time: one of the seven states after another, without a break.

The one place that says so, for the lanes of a page and the statement of a dossier. It asks
`replay.cameras.timeline` at the middle of every stretch in which nothing changes, so that a stretch
has what each instant of it has. Reference times. Pure: it opens no file.
"""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING

from msgspec import Struct
from msgspec.structs import replace

from replay.cameras.clock_pieces import clock_pieces, epochs_of
from replay.cameras.clocks import DEVICE_PLUS_MINUS_US, to_reference
from replay.cameras.timeline import HOLE_US_MAX, State, sight

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from replay.cameras.coverage import Camera, Segment
    from replay.cameras.timeline import FrameLookup
    from replay.footage.library.files import FootageFiles

SEEN: frozenset[State] = frozenset(("recorded", "locked"))
"""States in which there is footage."""


class CameraState(Struct, frozen=True):
    """A stretch in which one state held, and why. Reference times, microseconds."""

    from_us: int
    to_us: int
    state: State
    says: str


def camera_states(
    name: str,
    camera: Camera,
    footage: FootageFiles | None,
    span: tuple[int, int],
    words: Callable[[FrameLookup], str],
) -> list[CameraState]:
    """The states of a camera from one time to another, without a break.

    footage: None where no file was looked for. words: what is said of a stretch, by what its middle
    has; stretches that meet with one state and the same words are one.
    """
    found = []
    for from_us, to_us in pairwise(sorted(_edges(camera, footage, span))):
        middle = sight(name, camera, (from_us + to_us) // 2, footage, DEVICE_PLUS_MINUS_US)
        found.append(CameraState(from_us, to_us, middle.state, words(middle)))
    return joined(found)


def joined(states: Iterable[CameraState]) -> list[CameraState]:
    """The same, where those that meet and are alike are one."""
    found: list[CameraState] = []
    for each in states:
        last = found[-1] if found else None
        if last and (last.to_us, last.state, last.says) == (each.from_us, each.state, each.says):
            found[-1] = replace(last, to_us=each.to_us)
        else:
            found.append(each)
    return found


def segments_in(camera: Camera, from_us: int, to_us: int) -> list[Segment]:
    """The segments that reach into a time, in order of it, each once."""
    found: dict[str, Segment] = {}
    for piece in clock_pieces(camera.clock, from_us, to_us):
        (_, begins_us), (_, ends_us) = piece.line[0], piece.line[-1]
        for each in camera.segments:
            over = each.start_us < ends_us and each.end_us > begins_us
            if over and piece.epoch in epochs_of(camera.clock, each):
                found.setdefault(each.body.sha256, each)
    return list(found.values())


def _edges(camera: Camera, footage: FootageFiles | None, span: tuple[int, int]) -> set[int]:
    """Where something may change: segments, holes in them, losses, locks, the clock."""
    clock = camera.clock
    edges = {told_us for told_us, _ in camera.lost}
    edges |= {piece.from_us for piece in clock_pieces(clock, *span)}
    for camera_us in _camera_edges(camera, footage, segments_in(camera, *span)):
        if clock is None:
            edges.add(camera_us)
        else:
            epochs = range(len(clock.epochs))
            edges |= {to_reference(clock, camera_us, epoch) for epoch in epochs}
    return {edge for edge in edges if span[0] < edge < span[1]} | set(span)


def _camera_edges(
    camera: Camera, footage: FootageFiles | None, over: Sequence[Segment]
) -> Iterator[int]:
    """Edges by the camera's clock. A handling of footage includes its last instant."""
    for handling in camera.handled:
        yield from (handling.from_us, handling.to_us + 1)
    for segment in over:
        yield from (segment.start_us, segment.end_us)
        kept = footage.kept.get(segment.body.sha256) if footage else None
        if kept and kept.times:
            for before, after in pairwise(kept.times.pts_us):
                if after - before > HOLE_US_MAX:
                    yield from (segment.start_us + before, segment.start_us + after)
