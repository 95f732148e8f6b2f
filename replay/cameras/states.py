"""What one camera has of a stretch of time, piece by piece, each in one of the seven states.

In the reference's time. Pure: it opens no file; what files say is handed over. See
`replay.cameras.statement`, which holds it against the section.
"""

from __future__ import annotations

from bisect import bisect_right
from itertools import pairwise
from typing import TYPE_CHECKING, NamedTuple

from msgspec import Struct

from replay.cameras.clock_pieces import epochs_of
from replay.cameras.clocks import to_camera, to_reference
from replay.cameras.coverage import Camera, expiry_of, held_by, is_off_line, lock_on
from replay.cameras.timeline import HOLE_US_MAX, State

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from replay.cameras.clocks import CameraClock
    from replay.cameras.coverage import Segment
    from replay.footage.library.files import FootageIndex

SEEN: frozenset[State] = frozenset(("recorded", "locked"))
"""States in which there is footage."""


class Piece(Struct, frozen=True):
    """A stretch in which one state held. Reference times, microseconds."""

    from_us: int
    to_us: int
    state: State
    says: str


class Run(NamedTuple):
    """Footage without a hole, by the reference, with its state."""

    from_us: int
    to_us: int
    state: State
    says: str
    whole: bool  # its bytes are at hand


def by_reference(clock: CameraClock | None, segment: Segment) -> tuple[int, int]:
    """From when to when a segment was recorded, by the reference clock.

    A clock that was set back shows one time twice: the likelier answer is taken, as a replay does.
    """
    if clock is None:
        return segment.start_us, segment.end_us
    epoch, *_ = epochs_of(clock, segment)
    start, end = (to_reference(clock, at, epoch) for at in segment[:2])
    return start, end


def runs_of(
    segments: Iterable[tuple[int, int, Segment]], at_hand: FootageIndex | None
) -> list[Run]:
    """Footage without a hole longer than a pause, in order of time, each run of one state."""
    runs: list[Run] = []
    for from_us, to_us, segment in sorted(segments, key=lambda each: each[:2]):
        for run in _cut(Run(from_us, to_us, *_state(segment, at_hand)), segment, at_hand):
            last = runs[-1] if runs else None
            if last and run.from_us - last.to_us <= HOLE_US_MAX and last[2:] == run[2:]:
                runs[-1] = last._replace(to_us=max(last.to_us, run.to_us))
                continue
            at = max(run.from_us, last.to_us) if last else run.from_us
            if at < run.to_us:
                runs.append(run._replace(from_us=at))
    return runs


def _state(segment: Segment, at_hand: FootageIndex | None) -> tuple[State, str, bool]:
    """Whether a recorded segment is there, by the files at hand."""
    if at_hand is None:
        return "recorded", "Recorded; no file was looked at.", False
    if segment.body.sha256 in at_hand.kept:
        return "recorded", "Recorded, its file unaltered.", True
    return "altered", "Recorded, and no file at hand has its bytes.", False


def _cut(run: Run, segment: Segment, at_hand: FootageIndex | None) -> Iterable[Run]:
    """A segment cut where its file has no frame for too long."""
    kept = at_hand.kept.get(segment.body.sha256) if at_hand else None
    pts = kept.times.pts_us if kept and kept.times else ()
    at = run.from_us
    for before, after in pairwise(pts):
        if after - before > HOLE_US_MAX:
            yield run._replace(from_us=at, to_us=run.from_us + before)
            at = run.from_us + after
    yield run._replace(from_us=at)


def pieces_of(camera: Camera, runs: Sequence[Run], from_us: int, to_us: int) -> list[Piece]:
    """The states of a camera from one time to another, without a break."""
    edges = {from_us, to_us}
    edges |= {at for run in runs for at in (run.from_us, run.to_us)}
    edges |= {at for at, _ in camera.lost}
    edges |= set(_handled(camera))
    inside = sorted(at for at in edges if from_us <= at <= to_us)
    starts = [run.from_us for run in runs]
    pieces: list[Piece] = []
    for start, end in pairwise(inside):
        found = bisect_right(starts, start) - 1
        run = runs[found] if found >= 0 and runs[found].to_us > start else None
        state, says = _at(camera, run, (start + end) // 2)
        last = pieces[-1] if pieces else None
        if last and (last.state, last.says) == (state, says):
            pieces[-1] = Piece(last.from_us, end, state, says)
        else:
            pieces.append(Piece(start, end, state, says))
    return pieces


def _handled(camera: Camera) -> Iterable[int]:
    """The edges of locked, released and expired footage, by the reference."""
    for each in camera.handled:
        for camera_us in (each.from_us, each.to_us + 1):
            if camera.clock is None:
                yield camera_us
            else:
                for epoch in range(len(camera.clock.epochs)):
                    yield to_reference(camera.clock, camera_us, epoch)


def _at(camera: Camera, run: Run | None, time_us: int) -> tuple[State, str]:
    """The state at an instant of the reference, and why."""
    camera_us = to_camera(camera.clock, time_us).time_us if camera.clock else time_us
    expiry = None if run and run.whole else expiry_of(camera, camera_us)
    if expiry:
        return "expired", f"Expired, by {expiry.by}: {expiry.because}."
    if run is not None:
        lock = lock_on(camera, camera_us) if run.state == "recorded" else None
        if lock:
            return "locked", f"{run.says} {held_by(lock)}."
        return run.state, run.says
    if is_off_line(camera, time_us):
        return "off_line", "The camera was reported lost."
    return "gap", "No segment was recorded."
