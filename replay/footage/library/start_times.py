"""When files begin, by the camera's clock, each from whatever knows it best (ADR 0154).

A start that only a name in whole seconds or a container tells is looked up in the pictures too:
their strip has the camera's milliseconds. That a file takes long or ends its decoder then only
means that its pictures tell nothing.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, NamedTuple

from replay.footage.decoding.decoder import Job, decode
from replay.footage.decoding.limits import Limits
from replay.footage.library.name_times import DoubtfulTimeError, start_in

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
