"""Adds footage files to the index: checks, hashes, indexes, and makes them playable.

A bad file is reported, and the others are added. Only regular files are opened, never through a
link. It records nothing; the caller does.
"""

from __future__ import annotations

import os
from itertools import pairwise
from statistics import median_low
from typing import TYPE_CHECKING, Literal, NamedTuple

from replay.footage.decoding.containers import SUFFIXES, container_of
from replay.footage.decoding.decoder import (
    DecodedFrames,
    FrameIndex,
    Job,
    Nature,
    decode,
    sha256_of,
)
from replay.footage.library.files import files_under
from replay.footage.library.index import IndexedSegment, Playable, PlayedAs, rates_of, stamp_of
from replay.footage.library.start_times import DoubtfulTimeError, File, Start, start_in, starts
from replay.footage.muxing.muxing import (
    END_US,
    How,
    Made,
    Part,
    Writing,
    available,
    write,
)
from replay.text.extras import install

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path
    from zoneinfo import ZoneInfo

    from replay.footage.library.index import FootageIndex
    from replay.footage.library.start_times import Recorded

BYTES_MAX = 8 << 30
"""The most bytes of one segment."""

BATCH = 16
"""Files in a batch: indexed by one child process, recorded in one transaction."""

PICTURE_WIDTH = 320
"""The width of the picture by which a file is looked at, in pixels."""

_ROUNDED_US = 1_000  # for a container that counts milliseconds
_ONE_FRAME_US = 33_333  # the assumed length of a file's only frame
_PLAYED: dict[str, Made] = {"h264": "mp4", "vp8": "webm", "vp9": "webm", "av1": "webm"}

Verdict = Literal["added", "known", "refused"]


class FootageDetails(NamedTuple):
    """What the caller knows about the files."""

    property: str
    camera: str
    start_us: int | None = None  # start of the only file
    zone: ZoneInfo | None = None  # zone of times in names without an offset; None: UTC
    keep_audio: bool = False


class Added(NamedTuple):
    """The result of adding one file."""

    path: Path
    verdict: Verdict
    entry: IndexedSegment | None = None
    problem: str | None = None  # why it was refused


class _File(NamedTuple):
    path: Path
    sha256: str


class FileContents(NamedTuple):
    """What a file holds."""

    times: FrameIndex
    nature: Nature
    duration_us: int


class _Indexed(NamedTuple):
    read: FileContents
    start: Start


class _Played(NamedTuple):
    """The file that a browser plays, or why there is none; and whether the original has sound."""

    playable: Playable | None
    problem: str | None
    audio: bool | None


def footage_files(folder: Path) -> list[Path]:
    """Files under a folder with endings of footage, without links. Raises `Usage`."""
    named = (path for path in files_under(folder) if path.suffix.lower() in SUFFIXES)
    return [path for path in named if not path.name.startswith(".")]


def add(
    library: FootageIndex,
    paths: Sequence[Path],
    told: FootageDetails,
    recorded: Recorded = lambda _, __: None,
) -> Iterator[Added]:
    """Add files to the index; a result for each, in order.

    recorded: gives the recorded start of a file, by hash and approximate time. Raises OSError if
    the index cannot be written.
    """
    for at in range(0, len(paths), BATCH):
        batch = paths[at : at + BATCH]
        looked = {path: _look(path) for path in batch}
        files = [found for found in looked.values() if isinstance(found, _File)]
        firsts = {
            file.sha256: file for file in reversed(files)
        }  # two files may have the same bytes
        anew = [file for file in firsts.values() if _known(library, file, told) is None]
        indexed = _indexed(anew, told, recorded)
        for path, found in looked.items():
            if isinstance(found, str):
                yield Added(path, "refused", problem=found)
            elif found in indexed:
                yield _take(library, found, indexed[found], told)
            else:
                problem = "it vanished, or its bytes are those of a file that was refused"
                yield _known(library, found, told) or Added(path, "refused", problem=problem)


class LookedFile(NamedTuple):
    """What a file holds and when it begins, before it is added; or why it cannot be."""

    path: Path
    sha256: str | None = None  # None: its bytes were not read
    contents: FileContents | None = None
    start: Start | None = None
    problem: str | None = None  # why it would be refused
    picture: bytes | None = None  # its first picture, as a small JPEG
    picture_problem: str | None = None  # why that does not decode
    added: bool = False  # whether the same bytes are in the index, for the same camera


def look(
    library: FootageIndex, path: Path, told: FootageDetails, recorded: Recorded = lambda _, __: None
) -> LookedFile:
    """What adding a file would find; nothing is added. recorded: as in `add`."""
    file = _look(path)
    if isinstance(file, str):
        return LookedFile(path, problem=file)
    (answer,) = decode([Job(str(file.path), file.sha256, (0,), width=PICTURE_WIDTH)])
    read = _read(answer)
    if isinstance(read, str):
        return LookedFile(path, file.sha256, problem=read)
    of = File(*file, read.nature, read.duration_us)
    (start,) = starts([of], told.start_us, told.zone, recorded)
    known = _known(library, file, told)
    problem = known.problem if known else None
    return LookedFile(
        path,
        file.sha256,
        read,
        None if isinstance(start, str) else start,
        problem or (start if isinstance(start, str) else None),
        answer.frames[0].png if answer.frames else None,
        None if answer.frames else answer.problem,
        added=known is not None and known.verdict == "known",
    )


def _named_otherwise(entry: IndexedSegment, file: _File, told: FootageDetails) -> bool:
    """Whether the same bytes have another name with another time than the first file."""
    if told.start_us is not None or entry.start_from not in ("name", "picture"):
        return False
    try:
        one, other = (start_in(name, told.zone) for name in (entry.path.name, file.path.name))
    except DoubtfulTimeError:
        return False
    return None not in (one, other) and one != other


def _indexed(
    anew: Sequence[_File], told: FootageDetails, recorded: Recorded
) -> dict[_File, _Indexed | str]:
    """The content and start of each file, or why it is refused."""
    found: dict[_File, _Indexed | str] = {}
    answers = decode([Job(str(file.path), file.sha256) for file in anew])
    read = [_read(answer) for answer in answers]
    whole = [(file, of) for file, of in zip(anew, read, strict=True) if not isinstance(of, str)]
    files = [File(*file, of.nature, of.duration_us) for file, of in whole]
    begun = starts(files, told.start_us, told.zone, recorded)
    for (file, of), start in zip(whole, begun, strict=True):
        found[file] = start if isinstance(start, str) else _Indexed(of, start)
    refused = {file: of for file, of in zip(anew, read, strict=True) if isinstance(of, str)}
    return found | refused


def _read(answer: DecodedFrames) -> FileContents | str:
    if answer.index is None or answer.nature is None:
        return answer.problem or "it cannot be read"
    return FileContents(answer.index, answer.nature, _duration_us(answer.index))


def _look(path: Path) -> _File | str:
    """The checks of a file without decoding: its hash, or why it is refused."""
    path = path.absolute()
    try:
        stamp = stamp_of(path)
        if stamp.size == 0:
            return "it is empty"
        if stamp.size > BYTES_MAX:
            return f"it has {stamp.size:,} bytes, more than {BYTES_MAX:,}; cut it shorter"
        if container_of(path) is None:
            return "its content is not WebM, Matroska, MP4, MPEG-TS or AVI"
        digest = sha256_of(path)
        if stamp_of(path) != stamp:
            return "it is still being written to"
    except OSError as error:
        return f"it cannot be read: {error.strerror}"
    return _File(path, digest)


def _known(library: FootageIndex, file: _File, told: FootageDetails) -> Added | None:
    """The result for bytes that are already in the index."""
    entry = library.entry(file.sha256)
    if entry is None:
        return None
    if (entry.property, entry.camera) != (told.property, told.camera):
        whose = f"{entry.camera} of {entry.property}"
        return Added(file.path, "refused", problem=f"the same bytes were added as {whose}'s")
    if told.start_us not in (None, entry.start_us):
        return Added(file.path, "refused", problem="it was added with another start")
    if _named_otherwise(entry, file, told):
        return Added(
            file.path, "refused",
            problem=f"the same bytes were added as {entry.path.name}, with another time",
        )  # fmt: skip
    if not library.whole(entry) or (entry.playable is None and available()):
        return None
    return Added(file.path, "known", entry)


def _take(library: FootageIndex, file: _File, of: _Indexed | str, told: FootageDetails) -> Added:
    """Make the entry of a file, or the result of a refusal."""
    if isinstance(of, str):
        return Added(file.path, "refused", problem=of)
    (times, nature, duration_us), start = of
    rates = rates_of(times, duration_us)
    made = _playable(library, file, of.read, keep_audio=told.keep_audio)
    entry = IndexedSegment(
        sha256=file.sha256,
        size=file.path.stat().st_size,
        path=file.path,
        stamp=stamp_of(file.path),
        property=told.property,
        camera=told.camera,
        start_us=start.start_us,
        start_from=start.start_from,
        timecode_us=start.timecode_us,
        duration_us=duration_us,
        container=nature.container,
        codec=nature.codec,
        width=nature.width,
        height=nature.height,
        times=times,
        fps_min=rates.least,
        fps_max=rates.most,
        audio=made.audio,
        rotation=nature.rotation,
        ending=nature.ending,
        playable=made.playable,
        unplayable=made.problem,
    )
    library.keep(entry)
    return Added(file.path, "added", entry)


def _duration_us(times: FrameIndex) -> int:
    """The duration to the end of the last frame, which is taken as long as most frames."""
    pts = times.pts_us
    steps = [after - before for before, after in pairwise(pts)]
    return pts[-1] + (median_low(steps) if steps else _ONE_FRAME_US)


def _playable(library: FootageIndex, file: _File, of: FileContents, *, keep_audio: bool) -> _Played:
    """What a browser plays: the file itself or a copy without sound; or why there is none."""
    nature = of.nature
    codec_in = _PLAYED.get(nature.codec)
    silent = keep_audio or nature.audio is False
    if codec_in and nature.container in (codec_in, "mp4") and silent and nature.plain:
        made: Made = "mp4" if nature.container == "mp4" else "webm"
        playable = Playable(file.path, file.sha256, "original", made)
        return _Played(playable, None, nature.audio)
    if not available():
        problem = f"PyAV is not installed: run {install('video')}, and add it again"
        return _Played(None, problem, nature.audio)
    goal: Made = "webm" if codec_in == "webm" else "mp4"
    copied = _copied(library, file, of, goal, "copy") if codec_in else None
    if copied and copied.playable:
        return copied
    encoded = _copied(library, file, of, "mp4", "encode")
    return encoded if encoded.playable or copied is None else copied


def _copied(library: FootageIndex, file: _File, of: FileContents, goal: Made, how: How) -> _Played:
    """A copy of all frames; of a file that is cut off, of those in its index."""
    place = library.playable_at(file.sha256, goal)
    place.parent.mkdir(parents=True, exist_ok=True)
    new = place.with_name(f".new-{os.getpid()}-{place.name}")
    cut = of.nature.ending == "cut"
    ends_us = of.times.pts_us[-1] + _ROUNDED_US if cut else END_US
    part = Part(str(file.path), file.sha256, 0, ends_us, 0, cut=cut)
    played: PlayedAs = "remuxed" if how == "copy" else "transcoded"
    note = f"round-ledger: {played} without sound; original SHA-256 {file.sha256}"
    written = write([Writing((part,), str(new), goal, how, note=note)])[0]
    if written.problem is not None:
        new.unlink(missing_ok=True)
        problem = f"no copy that a browser plays could be made: {written.problem}"
        return _Played(None, problem, of.nature.audio)
    new.replace(place)
    sound = written.audio if of.nature.audio is None else of.nature.audio
    return _Played(Playable(place, sha256_of(place), played, goal), None, sound)
