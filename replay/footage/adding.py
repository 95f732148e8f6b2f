"""Takes files of footage into the index: looked at, hashed, indexed, and made playable.

Whatever is wrong with a file is told of that file alone; the others are taken. It opens regular
files that it is given, none through a link, and puts nothing on record: that is the caller's.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from itertools import pairwise
from statistics import median_low
from typing import TYPE_CHECKING, Literal, NamedTuple

from replay.footage.containers import SUFFIXES, container_of
from replay.footage.decoder import Answer, FrameIndex, Job, Nature, decode, sha256_of
from replay.footage.library import (
    Entry,
    Playable,
    PlayedAs,
    StartFrom,
    rates_of,
    stamp_of,
)
from replay.footage.muxing import END_US, How, Made, Part, Writing, available, write
from replay.footage.segments import files_under
from replay.footage.starts import DoubtfulTimeError, start_in

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path
    from zoneinfo import ZoneInfo

    from replay.footage.library import Library

BYTES_MAX = 8 << 30
"""Octets of one segment; more is no segment."""

BATCH = 16
"""Files handled together: indexed by one child process, put on record in one transaction."""

_ONE_FRAME_US = 33_333  # taken for the length of a file's only frame
_PLAYED: dict[str, Made] = {"h264": "mp4", "vp8": "webm", "vp9": "webm", "av1": "webm"}

Verdict = Literal["added", "known", "refused"]


class Told(NamedTuple):
    """What is said of the files, beside what they say of themselves."""

    property: str
    camera: str
    start_us: int | None = None  # of the only file
    zone: ZoneInfo | None = None  # of times in names without an offset; None: UTC
    keep_audio: bool = False


class Added(NamedTuple):
    """What became of one file."""

    path: Path
    verdict: Verdict
    entry: Entry | None = None
    problem: str | None = None  # why it was refused


class _File(NamedTuple):
    path: Path
    sha256: str


class _Played(NamedTuple):
    """What a browser plays, or why there is nothing; and whether the original has sound."""

    playable: Playable | None
    problem: str | None
    audio: bool | None


Recorded = Callable[[str, int], int | None]
"""The start that is on record for a hash, told at about this time (microseconds); or None."""


def footage_files(folder: Path) -> list[Path]:
    """Files below a folder that are named as footage is, not through links. Raises `Usage`."""
    named = (path for path in files_under(folder) if path.suffix.lower() in SUFFIXES)
    return [path for path in named if not path.name.startswith(".")]


def add(
    library: Library,
    paths: Sequence[Path],
    told: Told,
    recorded: Recorded = lambda _, __: None,
) -> Iterator[Added]:
    """Take files into the index, one answer a file, in order.

    recorded: the start that the record has for a file with this hash, told at about this time.
    Raises OSError where the index itself cannot be written.
    """
    for at in range(0, len(paths), BATCH):
        batch = paths[at : at + BATCH]
        looked = {path: _look(path) for path in batch}
        files = [found for found in looked.values() if isinstance(found, _File)]
        anew = [file for file in files if _known(library, file, told) is None]
        answers = dict(zip(anew, decode([_job(file) for file in anew]), strict=True))
        for path, found in looked.items():
            if isinstance(found, str):
                yield Added(path, "refused", problem=found)
            elif found in answers:
                yield _take(library, found, answers[found], told, recorded)
            else:
                yield _known(library, found, told) or Added(path, "refused", problem="it vanished")


def _job(file: _File) -> Job:
    return Job(str(file.path), file.sha256)


def _look(path: Path) -> _File | str:
    """What can be said of a file without decoding: its hash, or why it is none of ours."""
    path = path.absolute()
    try:
        stamp = stamp_of(path)
        if stamp.size == 0:
            return "it is empty"
        if stamp.size > BYTES_MAX:
            return f"it has {stamp.size:,} octets, more than {BYTES_MAX:,}; cut it shorter"
        if container_of(path) is None:
            return "it is not WebM, Matroska, MP4, MPEG-TS or AVI, whatever its name says"
        digest = sha256_of(path)
        if stamp_of(path) != stamp:
            return "it is still being written to"
    except OSError as error:
        return f"it cannot be read: {error.strerror}"
    return _File(path, digest)


def _known(library: Library, file: _File, told: Told) -> Added | None:
    """The answer for bytes that are in the index already."""
    entry = library.entry(file.sha256)
    if entry is None:
        return None
    if (entry.property, entry.camera) != (told.property, told.camera):
        whose = f"{entry.camera} of {entry.property}"
        return Added(file.path, "refused", problem=f"these very bytes were added as {whose}'s")
    if told.start_us not in (None, entry.start_us):
        return Added(file.path, "refused", problem="it was added with another start")
    if not library.whole(entry) or (entry.playable is None and available()):
        return None
    return Added(file.path, "known", entry)


def _take(library: Library, file: _File, answer: Answer, told: Told, recorded: Recorded) -> Added:
    """Make the entry of a file that was read, or say why not."""
    times, nature = answer.index, answer.nature
    if times is None or nature is None:
        return Added(file.path, "refused", problem=answer.problem or "it cannot be read")
    try:
        start = _start(file, nature, told)
    except DoubtfulTimeError as error:
        return Added(file.path, "refused", problem=f"{error}; give --start or an offset")
    if start is None:
        problem = (
            "nothing says when it begins: its name has no time, its picture no timecode, its "
            "container no date; give --start"
        )
        return Added(file.path, "refused", problem=problem)
    duration_us = _duration_us(times)
    recorded_us = recorded(file.sha256, start[0] + duration_us)
    if recorded_us is not None:
        start = recorded_us, "record"
    rates = rates_of(times, duration_us)
    made = _playable(library, file, nature, keep_audio=told.keep_audio)
    entry = Entry(
        sha256=file.sha256,
        size=file.path.stat().st_size,
        path=file.path,
        stamp=stamp_of(file.path),
        property=told.property,
        camera=told.camera,
        start_us=start[0],
        start_from=start[1],
        duration_us=duration_us,
        container=nature.container,
        codec=nature.codec,
        width=nature.width,
        height=nature.height,
        times=times,
        fps_min=rates.least,
        fps_max=rates.most,
        audio=made.audio,
        playable=made.playable,
        unplayable=made.problem,
    )
    library.keep(entry)
    return Added(file.path, "added", entry)


def _duration_us(times: FrameIndex) -> int:
    """To the end of the last frame, which lasts as long as most frames do."""
    pts = times.pts_us
    steps = [after - before for before, after in pairwise(pts)]
    return pts[-1] + (median_low(steps) if steps else _ONE_FRAME_US)


def _start(file: _File, nature: Nature, told: Told) -> tuple[int, StartFrom] | None:
    """The start by the camera's clock, from whatever knows it best. Raises DoubtfulTimeError."""
    if told.start_us is not None:
        return told.start_us, "told"
    named_us = start_in(file.path.name, told.zone)
    if named_us is not None:
        return named_us, "name"
    first = decode([Job(str(file.path), file.sha256, (0,))])[0].frames
    if first and first[0].timecode:
        return first[0].timecode.clock_ms * 1000, "picture"
    return None if nature.created_us is None else (nature.created_us, "container")


def _playable(library: Library, file: _File, nature: Nature, *, keep_audio: bool) -> _Played:
    """What a browser plays: the file as it is, or a copy without sound; or why there is none."""
    codec_in = _PLAYED.get(nature.codec)
    silent = keep_audio or nature.audio is False
    if codec_in and nature.container in (codec_in, "mp4") and silent and nature.plain:
        made: Made = "mp4" if nature.container == "mp4" else "webm"
        playable = Playable(file.path, file.sha256, "original", made)
        return _Played(playable, None, nature.audio)
    if not available():
        problem = "PyAV is not installed: pip install 'round-ledger[video]', and add it again"
        return _Played(None, problem, nature.audio)
    goal: Made = "webm" if codec_in == "webm" else "mp4"
    copied = _copied(library, file, nature, goal, "copy") if codec_in else None
    if copied and copied.playable:
        return copied
    encoded = _copied(library, file, nature, "mp4", "encode")
    return encoded if encoded.playable or copied is None else copied


def _copied(library: Library, file: _File, nature: Nature, goal: Made, how: How) -> _Played:
    place = library.playable_at(file.sha256, goal)
    place.parent.mkdir(parents=True, exist_ok=True)
    new = place.with_name(f".new-{os.getpid()}-{place.name}")
    part = Part(str(file.path), file.sha256, 0, END_US, 0)
    played: PlayedAs = "remuxed" if how == "copy" else "transcoded"
    note = f"round-ledger: {played} without sound; original SHA-256 {file.sha256}"
    written = write([Writing((part,), str(new), goal, how, note=note)])[0]
    if written.problem is not None:
        new.unlink(missing_ok=True)
        problem = f"no copy that a browser plays could be made: {written.problem}"
        return _Played(None, problem, nature.audio)
    new.replace(place)
    sound = written.audio if nature.audio is None else nature.audio
    return _Played(Playable(place, sha256_of(place), played, goal), None, sound)
