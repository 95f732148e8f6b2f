"""Calibration: clock checks of a camera from time codes in its pictures.

A code shows the reference clock's time when the code was drawn. The picture was taken up to one
refresh later. A check is therefore a bound, not a guess (docs/explanation/clocks.md). Integers
only.
"""

from __future__ import annotations

import re
from datetime import UTC, datetime
from typing import TYPE_CHECKING, NamedTuple

from ledger.values import parse_time
from replay.cameras.clocks import DRIFT_PPM_MAX, Check

if TYPE_CHECKING:
    from collections.abc import Iterable

    from replay.footage.decoding.sampling import Code

GROUP_US = 600_000_000
"""The longest time whose readings make one check: 20 ppm of drift are 12 ms in it."""

MARKER_RESOLUTION_US = 100_000
"""Two ArUco markers show tenths of a second since midnight UTC: 864,000 of them, in base 1,000."""

RUN_US_MIN = 1_000_000
"""A code must be seen for at least this many microseconds to count as a clock."""

_PPM = 1_000_000
_DAY_US = 86_400_000_000
_MS = 1000
_RFC3339 = re.compile(r"\d{4}-\d{2}-\d{2}T[\d:.]+(?:Z|[+-]\d{2}:\d{2})", re.ASCII)
_DIGITS = re.compile(r"(?<!\d)(?:(?P<stamp>20\d{15})|(?P<unix>1\d{12}))(?!\d)", re.ASCII)


class ClockReading(NamedTuple):
    """Both clocks at one picture, in microseconds; the reference is within `plus_minus_us`."""

    camera_us: int
    reference_us: int
    plus_minus_us: int


class ClockCheck(NamedTuple):
    """One check to record, and the number of its readings."""

    camera_us: int
    reference_us: int
    uncertainty_ms: int
    readings: int


def shown_us(code: Code, camera_us: int) -> tuple[int, int] | None:
    """The time that a code shows and its resolution, in microseconds; None if it shows none.

    The text of a QR code has an RFC 3339 time, 13 digits (milliseconds since 1970) or 17 digits
    (date, time and milliseconds, UTC). Two ArUco markers show a time of day. Its day is the one
    that brings it nearest to the camera's clock.
    """
    if code.kind == "strip":
        return int(code.text) * _MS, _MS
    if code.kind == "aruco":
        left, right = map(int, code.text.split(","))
        since_us = (left * 1000 + right) * MARKER_RESOLUTION_US
        days = (camera_us - since_us + _DAY_US // 2) // _DAY_US
        return (days * _DAY_US + since_us, MARKER_RESOLUTION_US) if since_us < _DAY_US else None
    told = _RFC3339.search(code.text)
    if told:
        time_us = parse_time(told[0])
        return None if time_us is None else (time_us, _resolution_us(told[0]))
    digits = _DIGITS.search(code.text)
    if digits is None:
        return None
    time_us = int(digits["unix"]) * _MS if digits["unix"] else _stamp_us(digits["stamp"])
    return None if time_us is None else (time_us, _MS)


def reading(
    camera_us: int, shown: tuple[int, int], *, frame_us: int, refresh_us: int, start_us: int = 0
) -> ClockReading:
    """The reading of both clocks in a picture.

    frame_us: the longest time between two frames around it, in which the shutter opened.
    refresh_us: the time until the code is redrawn. start_us: the uncertainty of the file's start,
    for example if its name has whole seconds.
    """
    time_us, resolution_us = shown
    stands_us = max(resolution_us, refresh_us)
    return ClockReading(
        camera_us, time_us + stands_us // 2, -(-stands_us // 2) + frame_us + start_us
    )


def checks(readings: Iterable[ClockReading]) -> list[ClockCheck]:
    """Checks to record: one for each time in which the clock ran without being set.

    The check is the reading with the median offset; the spread of the others is added to its
    uncertainty.
    """
    return [_check(group) for group in _groups(readings)]


def running_checks(readings: Iterable[ClockReading]) -> list[ClockCheck]:
    """The checks whose code advanced like a clock, for use without a person watching.

    A printed code may contain a time, too, but it never advances.
    """
    return [_check(group) for group in _groups(readings) if _runs(group)]


def news(found: Iterable[ClockCheck], known: Iterable[Check]) -> list[ClockCheck]:
    """The checks to record: those that no known check of about that time covers.

    A known check covers one if both are of the same ten minutes, the known one is nearly as exact,
    and their offsets agree within their uncertainties. A clock that was set is therefore recorded.
    """
    said = list(known)
    new = []
    for each in found:
        check = Check(each.reference_us, each.camera_us, each.uncertainty_ms * _MS)
        if not any(_says(one, check) for one in said):
            said.append(check)
            new.append(each)
    return new


def _says(one: Check, other: Check) -> bool:
    apart_us = abs(one.reference_us - other.reference_us)
    differ_us = abs((one.camera_us - one.reference_us) - (other.camera_us - other.reference_us))
    doubt_us = one.plus_minus_us + other.plus_minus_us + apart_us * DRIFT_PPM_MAX // _PPM
    sure = one.plus_minus_us <= 2 * other.plus_minus_us
    return sure and apart_us <= GROUP_US and differ_us <= doubt_us


def _groups(readings: Iterable[ClockReading]) -> list[list[ClockReading]]:
    groups: list[list[ClockReading]] = []
    for each in sorted(readings):
        if not groups or _apart(groups[-1], each):
            groups.append([each])
        else:
            groups[-1].append(each)
    return groups


def _runs(group: list[ClockReading]) -> bool:
    """Whether the code advanced with the camera's clock for at least a second."""
    took_us = group[-1].camera_us - group[0].camera_us
    return took_us >= RUN_US_MIN and 2 * (group[-1].reference_us - group[0].reference_us) >= took_us


def _check(group: list[ClockReading]) -> ClockCheck:
    offsets = sorted((each.camera_us - each.reference_us, each) for each in group)
    offset, middle = offsets[len(offsets) // 2]
    differ_us = max(abs(other - offset) for other, _ in offsets)
    doubt_ms = -(-(middle.plus_minus_us + differ_us) // _MS)
    return ClockCheck(middle.camera_us, middle.reference_us, doubt_ms, len(group))


def _apart(group: list[ClockReading], each: ClockReading) -> bool:
    """Whether a reading belongs to another check: it is too late, or the clock was set."""
    first, last = group[0], group[-1]
    elapsed = abs(each.reference_us - last.reference_us)
    changed = abs((each.camera_us - each.reference_us) - (last.camera_us - last.reference_us))
    explained = each.plus_minus_us + last.plus_minus_us + elapsed * DRIFT_PPM_MAX // _PPM
    return changed > explained or abs(each.camera_us - first.camera_us) > GROUP_US


def _resolution_us(text: str) -> int:
    """The resolution of a time's text: a second, or its last decimal."""
    decimals = re.search(r"\.(\d+)", text)
    return 10 ** max(6 - len(decimals[1]), 0) if decimals else 1_000_000


def _stamp_us(text: str) -> int | None:
    try:
        moment = datetime.strptime(text[:14], "%Y%m%d%H%M%S").replace(tzinfo=UTC)
    except ValueError:
        return None
    return int(moment.timestamp()) * 1_000_000 + int(text[14:]) * _MS
