"""Finds the parts of segments that show a time, for each camera of a table. It opens no file.

Requested times are by the reference clock. They are mapped to each camera's clock with its
uncertainty. If a clock was set in between, there is a window for each piece (ADR 0138). Times
without footage are reported as gaps.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from ledger.values import format_time
from replay.cameras.clock_pieces import epochs_of, reach, steps
from replay.cameras.clocks import in_epoch, to_reference
from replay.cameras.coverage import Camera
from replay.cameras.timeline import HOLE_US_MAX
from replay.footage.clips.clips import SegmentCut

if TYPE_CHECKING:
    from replay.cameras.clock_pieces import ClockStep
    from replay.cameras.coverage import Coverage, Segment

OVERLAP_US_MAX = 2_000_000
"""If two segments overlap by more than this on the camera's clock, the clock was set."""


class Piece(NamedTuple):
    """The part of a request that a window covers if the clock was set; by the reference clock.

    The time of setting is not known between two checks, so the windows of both sides cover it.
    """

    number: int  # from 1
    of: int
    from_us: int
    to_us: int
    says: str  # how the clock was set


class CutWindow(NamedTuple):
    """A span of one camera's time, by its own clock, in microseconds."""

    from_us: int
    to_us: int
    plus_minus_us: int | None  # None: the clock was never checked
    epoch: int | None
    piece: Piece | None = None  # None: the clock was not set in between


class Cut(NamedTuple):
    """A camera's footage of a time: the parts to cut, and what is missing."""

    camera: str
    window: CutWindow
    stretches: tuple[SegmentCut, ...]
    missing: tuple[tuple[int, int], ...]  # gaps, from and to by the camera's clock


def windows(camera: Camera, from_us: int, to_us: int) -> list[CutWindow]:
    """The windows on a camera's clock for a span of reference time, one for each piece, in order.

    Every frame of the span is in one of them, no matter when the clock was set between its checks.
    """
    clock = camera.clock
    if clock is None:
        return [CutWindow(from_us, to_us, None, None)]
    spans = []
    for epoch in range(len(clock.epochs)):
        first, last = reach(clock, epoch)
        start, end = max(first, from_us), min(last, to_us)
        if start < end:
            spans.append((epoch, start, end))
    told = " ".join(each.says for each in steps(clock) if _meets(each, from_us, to_us))
    found = []
    for number, (epoch, start, end) in enumerate(spans, 1):
        first_at, last_at = (in_epoch(clock, epoch, at) for at in (start, end))
        piece = Piece(number, len(spans), start, end, told) if len(spans) > 1 else None
        doubt_us = max(first_at.plus_minus_us, last_at.plus_minus_us)
        found.append(CutWindow(first_at.time_us, last_at.time_us, doubt_us, epoch, piece))
    return found


def piece_told(wanted: CutWindow) -> dict[str, object] | None:
    """The piece of a window as JSON; None if the window covers the whole request."""
    piece = wanted.piece
    if piece is None:
        return None
    told = piece._asdict() | {"from": format_time(piece.from_us), "to": format_time(piece.to_us)}
    return {name: told[name] for name in ("number", "of", "from", "to", "says")}


def name_of(found: Cut) -> str:
    """A camera's name, with the piece if there are several: `CC-07-A-1of2`."""
    piece = found.window.piece
    return f"{found.camera}-{piece.number}of{piece.of}" if piece else found.camera


def reference_us(camera: Camera, camera_us: int, epoch: int | None) -> int:
    """The reference time at which a camera's clock showed a time; the same time if never checked.

    epoch: as a `CutWindow` has it.
    """
    if camera.clock is None or epoch is None:
        return camera_us
    return to_reference(camera.clock, camera_us, epoch)


def cut(coverage: Coverage, property_: str, name: str, from_us: int, to_us: int) -> list[Cut]:
    """One camera's footage of a span of reference time, for each piece of its clock."""
    camera = coverage.cameras.get((property_, name), Camera())
    return [cut_camera(name, camera, each) for each in windows(camera, from_us, to_us)]


def cut_camera(name: str, camera: Camera, wanted: CutWindow) -> Cut:
    """One camera's footage of a span of its own time."""
    stretches, missing, reached = [], [], wanted.from_us
    for segment in _in_order(camera, wanted):
        if segment.start_us - reached > HOLE_US_MAX:
            missing.append((reached, segment.start_us))
        first = max(wanted.from_us - segment.start_us, 0)
        last = min(wanted.to_us, segment.end_us) - segment.start_us
        stretches.append(SegmentCut(segment.body.sha256, first, last))
        reached = max(reached, segment.end_us)
    if wanted.to_us - reached > HOLE_US_MAX:
        missing.append((reached, wanted.to_us))
    return Cut(name, wanted, tuple(stretches), tuple(missing))


def may_show(camera: Camera, segment: Segment, wanted: CutWindow) -> bool:
    """Whether a segment may show part of a window: it overlaps and may be of its epoch."""
    if segment.end_us <= wanted.from_us or segment.start_us >= wanted.to_us:
        return False
    return wanted.epoch is None or wanted.epoch in epochs_of(camera.clock, segment)


def _meets(step: ClockStep, from_us: int, to_us: int) -> bool:
    return step.from_us <= to_us and step.to_us >= from_us


def _in_order(camera: Camera, wanted: CutWindow) -> list[Segment]:
    """Segments that overlap a window, each time only once if that can be decided.

    If two segments have one time, the one likelier to be of the window's epoch is used, then the
    one reported nearer to it. If neither decides, both are used.
    """
    about_us = reference_us(camera, (wanted.from_us + wanted.to_us) // 2, wanted.epoch)
    found: list[tuple[tuple[int, int], Segment]] = []
    for segment in camera.segments:
        if not may_show(camera, segment, wanted):
            continue
        epoch = wanted.epoch
        rank = 0 if epoch is None else epochs_of(camera.clock, segment).index(epoch)
        key = rank, abs(segment.told_us - about_us)
        twice = bool(found) and found[-1][1].end_us - segment.start_us > OVERLAP_US_MAX
        if twice and key < found[-1][0]:
            found[-1] = (key, segment)
        elif not twice or key == found[-1][0]:
            found.append((key, segment))
    return [segment for _, segment in found]
