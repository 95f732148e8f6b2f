"""Footage to be locked and locked footage, computed from facts, on each camera's clock.

Pure: it records nothing and opens no file. Spans include both ends, in microseconds. Only a release
ends a lock; resolving a dispute releases nothing.
"""

from __future__ import annotations

from itertools import pairwise
from statistics import median_low
from typing import TYPE_CHECKING, NamedTuple

from ledger.facts import FootageLocked, FootageReleased
from replay.cameras.clocks import DEVICE_PLUS_MINUS_US, to_camera
from replay.cameras.coverage import Camera, locks_on, mapped_cameras

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from replay.cameras.clocks import CameraClock
    from replay.cameras.coverage import Coverage

ROUND_US_MAX = 12 * 3_600_000_000
"""A fact further than this from its round's median fact has a clock wrong by days. Its time is
ignored, so that it does not lock a year of footage."""

UNCHECKED_US = 3_600_000_000 + 300_000_000
"""The margin on each side for a camera whose clock was never checked: an hour for a missed change
of summer time, and five minutes."""


_LOCKS = (FootageLocked, FootageReleased)


class CameraSpan(NamedTuple):
    """A span of a camera's footage, by the camera's clock."""

    camera: str
    from_us: int
    to_us: int


class LockedSpan(NamedTuple):
    """A span of footage with the locks that hold on all of it; at least one."""

    from_us: int
    to_us: int
    locks: Sequence[FootageLocked]


def times_of(times_us: Iterable[int]) -> tuple[int, int] | None:
    """Start and end of a round, from its facts' times; None without facts."""
    told = sorted(times_us)
    if not told:
        return None
    middle = median_low(told)
    near = [each for each in told if abs(each - middle) <= ROUND_US_MAX]
    return near[0], near[-1]


def to_keep(
    coverage: Coverage, property_: str, table: str, from_us: int, to_us: int
) -> list[CameraSpan]:
    """For each camera on a table in a span, the camera's footage of it, with a margin.

    from_us, to_us: by the reference clock. The margin is the uncertainty of the camera's and the
    devices' clocks, so that the span's events are inside; see `UNCHECKED_US`.
    """
    changes = coverage.mapped.get((property_, table), ())
    names = {camera for told, camera, on in changes if on and from_us <= told <= to_us}
    names.update(mapped_cameras(coverage, property_, table, from_us))
    return [span_on(coverage, property_, name, from_us, to_us) for name in sorted(names)]


def span_on(
    coverage: Coverage, property_: str, camera: str, from_us: int, to_us: int
) -> CameraSpan:
    """One camera's footage of a span of reference time, with a margin, by its own clock."""
    clock = coverage.cameras.get((property_, camera), Camera()).clock
    return CameraSpan(camera, *_on_its_clock(clock, from_us, to_us))


def unlocked(
    coverage: Coverage, property_: str, spans: Iterable[CameraSpan], dispute: str
) -> list[CameraSpan]:
    """The parts of spans that were never locked for this dispute.

    A person released what was locked and released since, with a reason. It is not locked again.
    """
    left = []
    for span in spans:
        camera = coverage.cameras.get((property_, span.camera), Camera())
        locked = [
            (each.from_us, each.to_us)
            for each in camera.handled
            if isinstance(each.body, FootageLocked) and each.body.dispute == dispute
        ]
        left += [
            CameraSpan(span.camera, *part) for part in without(span.from_us, span.to_us, locked)
        ]
    return left


def held(camera: Camera) -> list[LockedSpan]:
    """The locked footage of a camera, by time, each span once."""
    told = [each for each in camera.handled if isinstance(each.body, _LOCKS)]
    edges = sorted({each.from_us for each in told} | {each.to_us + 1 for each in told})
    kept = Camera(handled=told)
    found: list[LockedSpan] = []
    for start, end in pairwise(edges):
        locks = locks_on(kept, start)
        if not locks:
            continue
        if found and found[-1].to_us + 1 == start and found[-1].locks == locks:
            found[-1] = found[-1]._replace(to_us=end - 1)
        else:
            found.append(LockedSpan(start, end - 1, locks))
    return found


def locked(
    camera: Camera,
    *,
    dispute: str | None = None,
    window: str | None = None,
    within: tuple[int, int] | None = None,
) -> list[tuple[int, int]]:
    """The locked spans of a camera, joined: by any lock, or by a dispute's or a window's.

    within: a span (ends included) to search.
    """
    found: list[tuple[int, int]] = []
    for span in held(camera):
        if not any(_is_of(lock, dispute, window) for lock in span.locks):
            continue
        first, last = within or (span.from_us, span.to_us)
        from_us, to_us = max(span.from_us, first), min(span.to_us, last)
        if from_us > to_us:
            continue
        if found and found[-1][1] + 1 == from_us:
            found[-1] = (found[-1][0], to_us)
        else:
            found.append((from_us, to_us))
    return found


def _is_of(lock: FootageLocked, dispute: str | None, window: str | None) -> bool:
    return dispute in (None, lock.dispute) and window in (None, lock.window)


def without(from_us: int, to_us: int, spans: Iterable[tuple[int, int]]) -> list[tuple[int, int]]:
    """The parts of a span (ends included) that no other of these spans covers."""
    left = []
    at = from_us
    for start, end in sorted(spans):
        if start > to_us:
            break
        if start > at:
            left.append((at, start - 1))
        at = max(at, end + 1)
    if at <= to_us:
        left.append((at, to_us))
    return left


def _on_its_clock(clock: CameraClock | None, from_us: int, to_us: int) -> tuple[int, int]:
    """The camera times that surely contain a span of reference time, even if the clock was set."""
    if clock is None:
        return from_us - UNCHECKED_US, to_us + UNCHECKED_US
    start, end = to_camera(clock, from_us), to_camera(clock, to_us)
    early = start.time_us - start.plus_minus_us
    late = end.time_us + end.plus_minus_us
    for epoch in clock.epochs[min(start.epoch, end.epoch) : max(start.epoch, end.epoch) + 1]:
        for knot in epoch.knots:
            if start.epoch != end.epoch:
                offset = knot.camera_us - knot.reference_us
                early = min(early, from_us + offset - knot.plus_minus_us)
                late = max(late, to_us + offset + knot.plus_minus_us)
    return early - DEVICE_PLUS_MINUS_US, late + DEVICE_PLUS_MINUS_US
