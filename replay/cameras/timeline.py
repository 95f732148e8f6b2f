"""Finds the frame of each camera for each fact of a round, or the reason for none.

It opens no file. Footage is searched first, and a reason only if there is none (ADR 0014). Every
time has its uncertainty: the device's plus the clock mapping's, or none for a clock never checked.
The states of a span, for lanes and statements, are those at the middle of each part in which
nothing changes.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from itertools import pairwise
from operator import itemgetter
from typing import TYPE_CHECKING, Literal

from msgspec import Struct
from msgspec.structs import replace

from ledger.values import quantity
from replay.cameras.clock_pieces import clock_pieces, clock_warning, epochs_of
from replay.cameras.clocks import DEVICE_PLUS_MINUS_US, to_camera, to_reference
from replay.cameras.coverage import (
    Camera,
    expired_by,
    expiry_of,
    held_by,
    is_off_line,
    lock_on,
    mapped_cameras,
    property_of,
)
from replay.footage.library.files import label_name
from replay.text.times import utc

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from ledger.record.wire import Fact
    from replay.cameras.coverage import Coverage, Segment
    from replay.footage.decoding.decoder import FrameIndex
    from replay.footage.library.files import FootageFiles

State = Literal["recorded", "gap", "expired", "locked", "no_camera_mapped", "off_line", "altered"]
"""`recorded` and `locked` (held as evidence) have footage; the others say why there is none."""

SEEN: frozenset[State] = frozenset(("recorded", "locked"))
"""States in which there is footage."""

HOLE_US_MAX = 500_000
"""A time longer than this without a frame is a gap."""

UNCHECKED = (
    "This camera's clock was never checked: its own time is used, and may be wrong by any amount."
)
"""The warning for every picture of a camera whose clock was never checked."""


class FrameLookup(Struct, frozen=True, kw_only=True):
    """One camera's footage for one fact. Times in microseconds; a camera's are by its own clock."""

    camera: str | None  # None if no camera was mapped to the table
    state: State
    says: str  # the state as a sentence, with warnings
    clock: Literal["checked", "never_checked"] | None = None
    camera_time_us: int | None = None
    plus_minus_us: int | None = None  # None: the clock was never checked
    epoch: int | None = None
    from_check_us: int | None = None  # distance to the nearest clock check
    segment: str | None = None  # SHA-256
    path: str | None = None  # the segment's label; never opened
    frame: int | None = None  # the first at or after the fact's time
    pts_us: int | None = None
    frames: tuple[int, int] | None = None  # first and last within the uncertainty
    beyond: bool = False  # the uncertainty extends beyond this segment


class CameraState(Struct, frozen=True):
    """A span with one state of footage, and why. Reference times in microseconds."""

    from_us: int
    to_us: int
    state: State
    says: str


class FactSights(Struct, frozen=True):
    """A fact and the footage of each camera on its table."""

    source: str
    id: str
    time_us: int  # the device's clock
    plus_minus_us: int  # of the device's clock
    sights: tuple[FrameLookup, ...]


def timeline(
    facts: Iterable[Fact],
    coverage: Coverage,
    footage: FootageFiles | None,
    device_plus_minus_us: int = DEVICE_PLUS_MINUS_US,
) -> tuple[FactSights, ...]:
    """For each fact, in the given order, the footage of every camera then mapped to its table.

    footage: None if no folder was named; then the recorded facts count, without frame numbers.
    """
    doubt_us = device_plus_minus_us
    return tuple(
        FactSights(
            fact.source,
            fact.id,
            fact.time_us,
            doubt_us,
            sights_at(
                coverage, property_of(fact), fact.table or "", fact.time_us, footage, doubt_us
            ),
        )
        for fact in facts
    )


def sights_at(
    coverage: Coverage,
    place: str,
    table: str,
    time_us: int,
    footage: FootageFiles | None,
    doubt_us: int = DEVICE_PLUS_MINUS_US,
) -> tuple[FrameLookup, ...]:
    """The footage of every camera then mapped to a table, for a device's time."""
    names = mapped_cameras(coverage, place, table, time_us)
    if not names:
        says = f"No camera was mapped to {table or 'this place'} then."
        return (FrameLookup(camera=None, state="no_camera_mapped", says=says),)
    cameras = ((name, coverage.cameras.get((place, name), Camera())) for name in names)
    return tuple(sight(name, camera, time_us, footage, doubt_us) for name, camera in cameras)


def sight(
    name: str, camera: Camera, time_us: int, footage: FootageFiles | None, doubt_us: int = 0
) -> FrameLookup:
    """One camera's footage of a reference time that is uncertain by `doubt_us`."""
    instant, camera_us = _instant(name, camera, time_us, doubt_us)
    found = _look(instant, camera, camera_us, time_us, footage)
    doubt = clock_warning(camera.clock, time_us) if camera.clock else UNCHECKED
    return replace(found, says=f"{found.says} {doubt}") if doubt else found


def sight_of_camera_time(
    name: str, camera: Camera, camera_us: int, footage: FootageFiles | None
) -> FrameLookup:
    """One camera's footage of a time by its own clock."""
    blank = FrameLookup(
        camera=name, state="gap", says="", camera_time_us=camera_us, plus_minus_us=0
    )
    return _look(blank, camera, camera_us, camera_us, footage)


def _instant(name: str, camera: Camera, time_us: int, doubt_us: int) -> tuple[FrameLookup, int]:
    """The time to search on the camera's clock; its state is found later."""
    blank = FrameLookup(
        camera=name, state="gap", says="", camera_time_us=time_us, clock="never_checked"
    )
    if camera.clock is None:
        return blank, time_us
    there = to_camera(camera.clock, time_us)
    checked = replace(
        blank,
        clock="checked",
        camera_time_us=there.time_us,
        plus_minus_us=there.plus_minus_us + doubt_us,
        epoch=there.epoch,
        from_check_us=there.from_check_us,
    )
    return checked, there.time_us


def _look(
    sight: FrameLookup, camera: Camera, camera_us: int, time_us: int, footage: FootageFiles | None
) -> FrameLookup:
    segment = _segment_at(camera, sight.epoch, camera_us, time_us)
    if segment is None:
        return _nothing(sight, camera, camera_us, time_us)
    sight = replace(sight, segment=segment.body.sha256, path=segment.body.path)
    if footage is None:
        expiry = expiry_of(camera, camera_us)
        if expiry:
            return replace(sight, state="expired", says=expired_by(expiry))
        says = "Recorded; no frame was searched, since no footage folder was named."
        return _kept(sight, camera, camera_us, says)
    file = footage.kept.get(segment.body.sha256)
    if file is None:
        return _not_at_hand(sight, camera, camera_us, footage)
    if file.times is None:
        says = f"Recorded and unaltered, but the file cannot be read: {file.problem}."
        return _kept(sight, camera, camera_us, says)
    return _frame(sight, camera, segment, file.times)


def _segment_at(camera: Camera, epoch: int | None, camera_us: int, time_us: int) -> Segment | None:
    """The segment with the first frame at or after a time of the camera's clock.

    A clock that was set back shows one time twice, in two segments. The one likelier to be of the
    epoch is used, then the one reported nearer to the fact. A pause too short for a gap belongs to
    the later segment.
    """
    its, starts = [], itemgetter(0)
    first = bisect_left(camera.segments, camera_us - HOLE_US_MAX - camera.longest_us, key=starts)
    last = bisect_right(camera.segments, camera_us + HOLE_US_MAX, key=starts)
    for segment in camera.segments[first:last]:
        if camera_us <= segment.end_us + HOLE_US_MAX:
            epochs = epochs_of(camera.clock, segment)
            if epoch is None or epoch in epochs:
                its.append((0 if epoch is None else epochs.index(epoch), segment))
    over = [(rank, each) for rank, each in its if each.start_us <= camera_us < each.end_us]
    if over:
        return min(over, key=lambda one: (one[0], abs(one[1].told_us - time_us)))[1]
    before, after = _neighbours([each for _, each in its], camera_us)
    if before and after and after.start_us - before.end_us <= HOLE_US_MAX:
        return after
    return None


def _neighbours(segments: list[Segment], camera_us: int) -> tuple[Segment | None, Segment | None]:
    """The last segment that ended before a time, and the first that began after it."""
    begun = bisect_right(segments, camera_us, key=lambda segment: segment.start_us)
    before = max(segments[:begun], key=lambda segment: segment.end_us, default=None)
    return before, segments[begun] if begun < len(segments) else None


def _frame(sight: FrameLookup, camera: Camera, segment: Segment, times: FrameIndex) -> FrameLookup:
    """The first frame at or after the time, and all frames within the uncertainty."""
    camera_us = sight.camera_time_us or 0
    pts = times.pts_us
    target_us = camera_us - segment.start_us
    number = min(bisect_left(pts, target_us), len(pts) - 1)
    hole_us = pts[number] - pts[number - 1] if number and pts[number] > target_us else 0
    if hole_us > HOLE_US_MAX:
        return replace(sight, says=f"The segment has no frame for {_seconds(hole_us)} here.")
    doubt_us = sight.plus_minus_us or 0
    first = min(bisect_left(pts, target_us - doubt_us), number)
    last = max(bisect_right(pts, target_us + doubt_us) - 1, number)
    beyond = target_us < doubt_us or target_us + doubt_us > segment.end_us - segment.start_us
    says = f"Frame {number} of {len(pts)} in {segment.body.path}."
    if len(pts) != segment.body.frames:
        says += f" The record counts {quantity(segment.body.frames, 'frame')} in it."
    found = replace(sight, frame=number, pts_us=pts[number], frames=(first, last), beyond=beyond)
    return _kept(found, camera, camera_us, says)


def _kept(sight: FrameLookup, camera: Camera, camera_us: int, says: str) -> FrameLookup:
    """The lookup of available footage: recorded, or locked and for what."""
    lock = lock_on(camera, camera_us)
    if lock:
        says += f" {held_by(lock)}."
        return replace(sight, state="locked", says=says)
    if expiry_of(camera, camera_us):
        says += " By the record it has expired, but it is still here."
    return replace(sight, state="recorded", says=says)


def _not_at_hand(
    sight: FrameLookup, camera: Camera, camera_us: int, footage: FootageFiles
) -> FrameLookup:
    """The lookup of a recorded segment without a file of its bytes."""
    expiry = expiry_of(camera, camera_us)
    if expiry:
        return replace(sight, state="expired", says=expired_by(expiry))
    name = label_name(sight.path or "")
    if name in footage.strangers:
        says = f"{name} is in the footage folder, but its bytes are not those recorded."
    else:
        says = f"{sight.path} was recorded, but no file in the footage folder has its bytes."
    return replace(sight, state="altered", says=says)


def _nothing(sight: FrameLookup, camera: Camera, camera_us: int, time_us: int) -> FrameLookup:
    """The reason why no segment covers the time."""
    expiry = expiry_of(camera, camera_us)
    if expiry:
        return replace(sight, state="expired", says=expired_by(expiry))
    if is_off_line(camera, time_us):
        return replace(sight, state="off_line", says="The camera was reported lost.")
    before, after = _neighbours(camera.segments, camera_us)
    ends = f"the last ends at {utc(before.end_us)}" if before else "none before"
    begins = f"the next begins at {utc(after.start_us)}" if after else "none after"
    says = f"No footage of this time: {ends}, {begins} (camera's clock)."
    doubt_us = sight.plus_minus_us or 0
    ends_near = before is not None and camera_us - before.end_us < doubt_us
    begins_near = after is not None and after.start_us - camera_us < doubt_us
    if ends_near or begins_near:
        says += " There is footage within the uncertainty."
    return replace(sight, says=says)


def _seconds(span_us: int) -> str:
    return f"{span_us // 1_000_000}.{span_us // 1000 % 1000:03d} s"


def camera_states(
    name: str,
    camera: Camera,
    footage: FootageFiles | None,
    span: tuple[int, int],
    words: Callable[[FrameLookup], str],
) -> list[CameraState]:
    """The states of a camera over a span, without gaps.

    footage: None if files were not searched. words: gives the sentence of a part from the lookup
    of its middle. Adjacent parts with the same state and sentence are joined.
    """
    found = []
    for from_us, to_us in pairwise(sorted(_edges(camera, footage, span))):
        middle = sight(name, camera, (from_us + to_us) // 2, footage, DEVICE_PLUS_MINUS_US)
        found.append(CameraState(from_us, to_us, middle.state, words(middle)))
    return joined(found)


def joined(states: Iterable[CameraState]) -> list[CameraState]:
    """The states, with adjacent equal ones joined."""
    found: list[CameraState] = []
    for each in states:
        last = found[-1] if found else None
        if last and (last.to_us, last.state, last.says) == (each.from_us, each.state, each.says):
            found[-1] = replace(last, to_us=each.to_us)
        else:
            found.append(each)
    return found


def segments_in(camera: Camera, from_us: int, to_us: int) -> list[Segment]:
    """The segments that overlap a span, by time, each once."""
    found: dict[str, Segment] = {}
    for piece in clock_pieces(camera.clock, from_us, to_us):
        (_, begins_us), (_, ends_us) = piece.line[0], piece.line[-1]
        for each in camera.segments:
            over = each.start_us < ends_us and each.end_us > begins_us
            if over and piece.epoch in epochs_of(camera.clock, each):
                found.setdefault(each.body.sha256, each)
    return list(found.values())


def _edges(camera: Camera, footage: FootageFiles | None, span: tuple[int, int]) -> set[int]:
    """Times at which the state may change: segments, gaps in them, losses, locks, the clock."""
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
    """Edges by the camera's clock. A lock, release or expiry includes its last time."""
    for handling in camera.handled:
        yield from (handling.from_us, handling.to_us + 1)
    for segment in over:
        yield from (segment.start_us, segment.end_us)
        kept = footage.kept.get(segment.body.sha256) if footage else None
        if kept and kept.times:
            for before, after in pairwise(kept.times.pts_us):
                if after - before > HOLE_US_MAX:
                    yield from (segment.start_us + before, segment.start_us + after)
