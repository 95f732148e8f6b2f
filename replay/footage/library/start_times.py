"""When files begin, by the camera's clock, each from whatever knows it best (ADR 0154).

A start that only a name in whole seconds or a container tells is looked up in the pictures too:
their strip has the camera's milliseconds. That a file takes long or ends its decoder then only
means that its pictures tell nothing.

Recorders name files after the moment they begin. A name with a zone or an offset is taken at its
word; one without is a time of the zone that the user names, and where that night has the hour twice
or not at all, nothing is guessed.
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
"""The start that is on record for a hash, told at about this time (microseconds); or None."""

STRIP_LIMITS = Limits(job_s=5)
"""What looking for the strip of one file may take, beside the time to read a large one."""

NEAR_US = 2_000_000
"""A name in whole seconds that is no further off is of the same clock; another is told of."""

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
    """A file that was indexed."""

    path: Path
    sha256: str
    nature: Nature
    duration_us: int


class Start(NamedTuple):
    """When a file begins, microseconds by the camera's clock, and how that is known."""

    start_us: int
    start_from: StartFrom
    timecode_us: int | None = None  # by the strip, where it was looked for and says otherwise


class _Unsure(NamedTuple):
    """A file whose start nothing tells, or a name in whole seconds only."""

    named: Start | None


def starts(
    files: Sequence[File], told_us: int | None, zone: ZoneInfo | None, recorded: Recorded
) -> Iterator[Start | str]:
    """When each file begins, in order; or why that is not known.

    told_us: what was said with the command; zone: of names without an offset, None is UTC.
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
    """What the command, the name and the record say of a file."""
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
    """The start by the pictures where they tell it, else by the name, else by the container."""
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
        "nothing says when it begins: its name has no time, its picture no timecode, its "
        "container no date; give --start"
    )


def _on_record(file: File, start: Start, recorded: Recorded) -> Start:
    """The recorder's own fact about these bytes, where there is one, goes before all else."""
    recorded_us = recorded(file.sha256, start.start_us + file.duration_us)
    return start if recorded_us is None else Start(recorded_us, "record")


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
