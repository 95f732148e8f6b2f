"""The start times of files by the camera's clock, each from its best source (ADR 0154).

If the start is only known from a name in whole seconds or from the container, the pictures are read
too: their strip has the camera's milliseconds. If that fails or takes too long, the pictures are
ignored.

Recorders name files after their start. A name with a zone or an offset is used as it is. One
without is in the user's zone. A local time that occurred twice or never is not guessed.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import UTC, datetime, timedelta, timezone
from typing import TYPE_CHECKING, NamedTuple

from replay.footage.decoding.decoder import Job, decode
from replay.footage.decoding.limits import Limits

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path
    from zoneinfo import ZoneInfo

    from replay.footage.decoding.decoder import Nature
    from replay.footage.library.index import StartFrom

Recorded = Callable[[str, int], int | None]
"""Gives the recorded start of a hash, reported at about this time (microseconds); or None."""

STRIP_LIMITS = Limits(job_s=5)
"""The time to search one file for the strip, besides the time to read a large one."""

NEAR_US = 2_000_000
"""A name in whole seconds agrees with the strip within this distance; else both are reported."""

_S = 1_000_000
_NAME = re.compile(
    r"(?<!\d)(?P<year>20\d{2})[-_.]?(?P<month>\d{2})[-_.]?(?P<day>\d{2})"
    r"[T_ @-]{0,2}"
    r"(?P<hour>\d{2})[-_.:h]?(?P<minute>\d{2})[-_.:m]?(?P<second>\d{2})"
    r"(?:[.,_](?P<part>\d{1,6})(?!\d))?"
    r"(?P<offset>Z|[+-]\d{2}:?\d{2}(?!\d))?",
    re.ASCII,
)
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


class File(NamedTuple):
    """An indexed file."""

    path: Path
    sha256: str
    nature: Nature
    duration_us: int


class Start(NamedTuple):
    """The start of a file in microseconds by the camera's clock, and how it is known."""

    start_us: int
    start_from: StartFrom
    timecode_us: int | None = None  # by the strip, if it was searched and differs


class _Unsure(NamedTuple):
    """A file whose start is unknown, or only known from a name in whole seconds."""

    named: Start | None


def starts(
    files: Sequence[File], told_us: int | None, zone: ZoneInfo | None, recorded: Recorded
) -> Iterator[Start | str]:
    """The start of each file, in order; or why it is not known.

    told_us: the start given with the command. zone: of names without an offset; None is UTC.
    """
    named = [_named(file, told_us, zone, recorded) for file in files]
    unsure = [file for file, name in zip(files, named, strict=True) if isinstance(name, _Unsure)]
    jobs = [Job(str(file.path), file.sha256, timecode=True) for file in unsure]
    looked = iter(decode(jobs, STRIP_LIMITS) if jobs else ())
    for file, name in zip(files, named, strict=True):
        if isinstance(name, _Unsure):
            yield _seen(file, name.named, next(looked).timecode_us, recorded)
        else:
            yield name


def _named(
    file: File, told_us: int | None, zone: ZoneInfo | None, recorded: Recorded
) -> Start | str | _Unsure:
    """The start of a file by the command, its name or the record."""
    try:
        named_us = start_in(file.path.name, zone) if told_us is None else told_us
    except DoubtfulTimeError as error:
        return f"{error}; give --start or an offset"
    if named_us is None:
        return _Unsure(None)
    start = _on_record(file, Start(named_us, "name" if told_us is None else "told"), recorded)
    return _Unsure(start) if start.start_from == "name" and named_us % _S == 0 else start


def _seen(
    file: File, named: Start | None, timecode_us: int | None, recorded: Recorded
) -> Start | str:
    """The start by the pictures, else by the name, else by the container."""
    if named is not None:
        if timecode_us is None:
            return named
        near = abs(timecode_us - named.start_us) <= NEAR_US
        return Start(timecode_us, "picture") if near else named._replace(timecode_us=timecode_us)
    if timecode_us is not None:
        return _on_record(file, Start(timecode_us, "picture"), recorded)
    if file.nature.created_us is not None:
        return _on_record(file, Start(file.nature.created_us, "container"), recorded)
    return (
        "its start is unknown: its name has no time, its pictures no timecode, its container no "
        "date; give --start"
    )


def _on_record(file: File, start: Start, recorded: Recorded) -> Start:
    """The start by the recorder's own fact, if there is one: it has priority."""
    recorded_us = recorded(file.sha256, start.start_us + file.duration_us)
    return start if recorded_us is None else Start(recorded_us, "record")


class DoubtfulTimeError(ValueError):
    """A local time that occurred twice or never."""


def start_in(name: str, zone: ZoneInfo | None = None) -> int | None:
    """The time in a file's name, in microseconds since the epoch; None without one.

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


def names_no_zone(name: str) -> bool:
    """Whether a file's name has a time without an offset."""
    found = _NAME.search(name)
    return found is not None and not found["offset"] and start_in(name) is not None


def time_in(name: str) -> str | None:
    """The text of the time in a file's name, in which no character leads out of a folder."""
    found = _NAME.search(name)
    return None if found is None or start_in(name) is None else found[0]


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
