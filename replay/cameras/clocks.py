"""Maps a camera's clock to the reference clock by its checks, with an uncertainty.

Between two checks the clock's rate is taken as steady. Outside them it continues at the measured
rate, capped. A change that drift and uncertainty cannot explain starts a new epoch
(docs/explanation/clocks.md, ADR 0010). Integers only. A clock never checked has no mapping: this
module must not guess one.
"""

from __future__ import annotations

from bisect import bisect_right
from fractions import Fraction
from math import ceil
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable

DRIFT_PPM_MAX = 500
"""The largest accepted drift of a running clock; crystals have 20 to 50, poor ones 200."""

WANDER_PPM = 20
"""The change of a rate with temperature: added to the uncertainty away from a check."""

DEVICE_PLUS_MINUS_US = 250_000
"""The default uncertainty of a table device's clock."""

_PPM = 1_000_000
_DRIFT_MAX = Fraction(DRIFT_PPM_MAX, _PPM)


class Check(NamedTuple):
    """A camera's clock and a reference clock read together, in microseconds since the epoch."""

    reference_us: int
    camera_us: int
    plus_minus_us: int


class Mapped(NamedTuple):
    """A time on the other clock: within `plus_minus_us` of `time_us`."""

    time_us: int
    plus_minus_us: int
    epoch: int  # counts from 0; a camera's clock was set between two epochs
    from_check_us: int  # distance to the nearest check, on the reference clock


class Epoch(NamedTuple):
    """A time in which the clock ran without being set: its checks, by time."""

    knots: tuple[Check, ...]


class CameraClock(NamedTuple):
    """One camera's clock; at least one epoch of at least one check."""

    epochs: tuple[Epoch, ...]


def camera_clock(checks: Iterable[Check]) -> CameraClock | None:
    """The clock that these checks describe, or None without checks."""
    epochs: list[list[Check]] = []
    for check in sorted(checks):
        if not epochs or _stepped(epochs[-1][-1], check):
            epochs.append([check])
        else:
            _extend(epochs[-1], check)
    if not epochs:
        return None
    return CameraClock(tuple(Epoch(tuple(knots)) for knots in epochs))


def to_camera(clock: CameraClock, reference_us: int) -> Mapped:
    """The camera's clock at a reference time.

    Between two epochs the time of setting is not known. The nearer epoch is used, and the
    uncertainty then includes the other epoch's time.
    """
    after = _epoch_after(clock, reference_us)
    if after == 0:
        return in_epoch(clock, 0, reference_us)
    earlier = in_epoch(clock, after - 1, reference_us)
    inside = reference_us <= clock.epochs[after - 1].knots[-1].reference_us
    if inside or after == len(clock.epochs):
        return earlier
    later = in_epoch(clock, after, reference_us)
    near, far = sorted((earlier, later), key=lambda mapped: mapped.from_check_us)
    reach = abs(near.time_us - far.time_us) + far.plus_minus_us
    return near._replace(plus_minus_us=max(near.plus_minus_us, reach))


def to_reference(clock: CameraClock, camera_us: int, epoch: int) -> int:
    """The reference time at which the camera's clock showed this time in the given epoch, in us.

    The epoch must be named: a clock set back shows the same time twice. Raises IndexError for an
    epoch that the clock does not have.
    """
    knots = clock.epochs[epoch].knots
    found = bisect_right(knots, camera_us, key=lambda knot: knot.camera_us)
    start, rate = _line(knots, found)
    return start.reference_us + round((camera_us - start.camera_us) / rate)


def in_epoch(clock: CameraClock, number: int, reference_us: int) -> Mapped:
    """The camera's clock at a reference time, by the fit of one epoch alone."""
    knots = clock.epochs[number].knots
    found = bisect_right(knots, reference_us, key=lambda knot: knot.reference_us)
    start, rate = _line(knots, found)
    time_us = start.camera_us + round((reference_us - start.reference_us) * rate)
    near = knots[max(found - 1, 0) : found + 1]
    distance = min(abs(reference_us - knot.reference_us) for knot in near)
    outside = found in (0, len(knots))
    doubt = _rate_doubt(knots) if outside else Fraction(0)
    grown = distance * (doubt + Fraction(WANDER_PPM, _PPM))
    plus_minus = max(knot.plus_minus_us for knot in near) + ceil(grown) + 1  # 1: the rounding above
    return Mapped(time_us, plus_minus, number, distance)


def unchecked_us(checked_us: Iterable[int], from_us: int, to_us: int) -> int | None:
    """The distance from a span to the nearest check of a clock, by either clock.

    0 if a check is within the span; None if there is no check.
    """
    return min((max(from_us - at, at - to_us, 0) for at in checked_us), default=None)


def rate_ppm(clock: CameraClock, epoch: int) -> Fraction | None:
    """The rate at which the clock gains (+) or loses (-) in an epoch; None after one check."""
    knots = clock.epochs[epoch].knots
    return None if len(knots) == 1 else (_slope(knots[0], knots[-1]) - 1) * _PPM


def _offset_us(check: Check) -> int:
    return check.camera_us - check.reference_us


def _stepped(before: Check, after: Check) -> bool:
    """Whether the clock was set: neither drift nor uncertainty explains the change of offset."""
    elapsed = after.reference_us - before.reference_us
    explained = before.plus_minus_us + after.plus_minus_us + elapsed * _DRIFT_MAX
    return abs(_offset_us(after) - _offset_us(before)) > explained


def _extend(knots: list[Check], check: Check) -> None:
    """Add a check to its epoch, moved by the least that keeps the rate possible.

    Two inexact readings close together may imply any rate, even time running backward. The moved
    reading's uncertainty grows by the move, so that it still includes the true time.
    """
    before = knots[-1]
    elapsed = check.reference_us - before.reference_us
    room = int(elapsed * _DRIFT_MAX)
    offset = min(max(_offset_us(check), _offset_us(before) - room), _offset_us(before) + room)
    camera_us = check.reference_us + offset
    moved = check._replace(
        camera_us=camera_us,
        plus_minus_us=check.plus_minus_us + abs(camera_us - check.camera_us),
    )
    if elapsed == 0:
        knots[-1] = min(before, moved, key=lambda knot: knot.plus_minus_us)
    else:
        knots.append(moved)


def _epoch_after(clock: CameraClock, reference_us: int) -> int:
    """The number of epochs that begin at or before a reference time."""
    starts = [epoch.knots[0].reference_us for epoch in clock.epochs]
    return bisect_right(starts, reference_us)


def _line(knots: tuple[Check, ...], found: int) -> tuple[Check, Fraction]:
    """A point and the rate of the line that holds between knots `found - 1` and `found`."""
    if 0 < found < len(knots):
        return knots[found - 1], _slope(knots[found - 1], knots[found])
    return knots[max(found - 1, 0)], _slope(knots[0], knots[-1])


def _slope(first: Check, last: Check) -> Fraction:
    if first.reference_us == last.reference_us:
        return Fraction(1)
    return Fraction(last.camera_us - first.camera_us, last.reference_us - first.reference_us)


def _rate_doubt(knots: tuple[Check, ...]) -> Fraction:
    """The uncertainty of an epoch's rate by its checks, as a fraction.

    It is at most the distance to the largest accepted drift, which also applies to a single check.
    """
    first, last = knots[0], knots[-1]
    ceiling = _DRIFT_MAX + abs(_slope(first, last) - 1)
    if first.reference_us == last.reference_us:
        return ceiling
    spread = first.plus_minus_us + last.plus_minus_us
    return min(ceiling, Fraction(spread, last.reference_us - first.reference_us))
