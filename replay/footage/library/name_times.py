"""When a file of footage begins, by the camera's clock: from its name, if it tells the time.

Recorders name files after the moment they begin. A name with a zone or an offset is taken at its
word; one without is a time of the zone that the user names, and where that night has the hour twice
or not at all, nothing is guessed.
"""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta, timezone
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from zoneinfo import ZoneInfo

_NAME = re.compile(
    r"(?<!\d)(?P<year>20\d{2})[-_.]?(?P<month>\d{2})[-_.]?(?P<day>\d{2})"
    r"[T_ @-]{0,2}"
    r"(?P<hour>\d{2})[-_.:h]?(?P<minute>\d{2})[-_.:m]?(?P<second>\d{2})"
    r"(?:[.,_](?P<part>\d{1,6})(?!\d))?"
    r"(?P<offset>Z|[+-]\d{2}:?\d{2}(?!\d))?",
    re.ASCII,
)
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


class DoubtfulTimeError(ValueError):
    """A local time that happened twice, or never."""


def start_in(name: str, zone: ZoneInfo | None = None) -> int | None:
    """The time in a file's name, microseconds since the epoch; None where there is none.

    zone: of a name without an offset; None is UTC. Raises DoubtfulTimeError.
    """
    found = _NAME.search(name)
    if found is None:
        return None
    parts = ("year", "month", "day", "hour", "minute", "second")
    part_us = int((found["part"] or "0").ljust(6, "0"))
    try:
        year, month, day, hour, minute, second = (int(found[part]) for part in parts)
        told = datetime(year, month, day, hour, minute, second, part_us)  # noqa: DTZ001 - the zone follows
    except ValueError:
        return None
    if found["offset"]:
        return _us(told.replace(tzinfo=_offset(found["offset"])))
    return _us(told.replace(tzinfo=UTC)) if zone is None else local_us(told, zone)


def local_us(told: datetime, zone: ZoneInfo) -> int:
    """A time without an offset as one of a zone. Raises DoubtfulTimeError."""
    first, second = (_us(told.replace(tzinfo=zone, fold=fold)) for fold in (0, 1))
    if first != second:
        how = "happened twice" if first < second else "never was"
        raise DoubtfulTimeError(
            f"{told:%Y-%m-%d %H:%M:%S} {how} in {zone.key}, where clocks were changed"
        )
    return first


def _offset(text: str) -> timezone:
    if text == "Z":
        return UTC
    hours, minutes = int(text[1:3]), int(text[-2:])
    offset = timedelta(hours=hours, minutes=minutes)
    return timezone(-offset if text[0] == "-" else offset)


def _us(moment: datetime) -> int:
    return (moment - _EPOCH) // timedelta(microseconds=1)
