"""The available footage: files of one folder with exactly the bytes that facts record.

A path in a fact is a label and is never opened. Only files under the folder, without links, whose
SHA-256 is in a `segment_recorded` fact are ever decoded (ADR 0013).
"""

from __future__ import annotations

import os
from itertools import groupby
from operator import itemgetter
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, NamedTuple

from ledger.errors import Usage
from ledger.facts import SegmentRecorded
from replay.footage.decoding.decoder import (
    Frame,
    FrameIndex,
    Job,
    decode,
    decoded,
    sha256_of,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping
    from collections.abc import Set as AbstractSet

    from ledger.record.wire import Fact

FILES_MAX = 100_000
"""The most files under a footage folder; a folder with more is probably the wrong one."""

_FRAMES_A_JOB = 4  # frames in memory at once: one of 3840x2160 has some 12 MB
_ABSENT = "the segment is not in the footage folder"


class VerifiedFile(NamedTuple):
    """A file with the bytes that a fact recorded."""

    path: Path
    times: FrameIndex | None  # None: it is unaltered but cannot be read
    problem: str | None  # why it cannot be read


class FrameFile(NamedTuple):
    """A decoded frame in a PNG file."""

    number: int
    pts_us: int
    sha256: str  # of the file
    path: Path


class FootageFiles(NamedTuple):
    """The available recorded segments, by SHA-256, and the folder's other files."""

    kept: Mapping[str, VerifiedFile]
    strangers: AbstractSet[str]  # names of files whose bytes no fact recorded


def open_footage(folder: Path, facts: Iterable[Fact]) -> FootageFiles:
    """Find the segments of these facts under a folder, and index their frames.

    Raises Usage if the folder cannot be read or has more than `FILES_MAX` files.
    """
    recorded = {fact.body.sha256 for fact in facts if isinstance(fact.body, SegmentRecorded)}
    paths: dict[str, Path] = {}
    strangers = set()
    for path in files_under(folder.absolute()):
        digest = sha256_of(path)
        if digest in recorded:
            paths.setdefault(digest, path)
        else:
            strangers.add(path.name)
    answers = decode([Job(str(path), digest) for digest, path in paths.items()])
    kept = {
        digest: VerifiedFile(path, answer.index, answer.problem)
        for (digest, path), answer in zip(paths.items(), answers, strict=True)
    }
    return FootageFiles(kept, frozenset(strangers))


def frames(
    footage: FootageFiles, wanted: Iterable[tuple[str, int]]
) -> dict[tuple[str, int], Frame | str]:
    """Frames by (SHA-256 of the segment, frame number); a string is the reason for none."""
    found = dict(_each_frame(footage, wanted))
    return {key: found[key] for key in sorted(found)}


def spilled(
    footage: FootageFiles, wanted: Iterable[tuple[str, int]], folder: Path
) -> dict[tuple[str, int], FrameFile | str]:
    """The same as files in a folder, with a few frames in memory. Raises OSError."""
    found: dict[tuple[str, int], FrameFile | str] = {}
    for (digest, number), frame in _each_frame(footage, wanted):
        if isinstance(frame, Frame):
            path = folder / f"{digest}-{number}.png"
            path.write_bytes(frame.png)
            found[digest, number] = FrameFile(number, frame.pts_us, frame.sha256, path)
        else:
            found[digest, number] = frame
    return found


def _each_frame(
    footage: FootageFiles, wanted: Iterable[tuple[str, int]]
) -> Iterator[tuple[tuple[str, int], Frame | str]]:
    """Each frame as it is decoded, then the reasons for missing ones.

    Every requested segment is hashed again first, so that a file altered meanwhile is not shown.
    """
    lacking = dict.fromkeys(sorted(set(wanted)), _ABSENT)
    jobs = []
    for digest, group in groupby(lacking, key=itemgetter(0)):
        numbers = tuple(number for _, number in group)
        if digest in footage.kept:
            path = str(footage.kept[digest].path)
            parts = range(0, len(numbers), _FRAMES_A_JOB)
            jobs += [Job(path, digest, numbers[at : at + _FRAMES_A_JOB]) for at in parts]
    for job, answer in zip(jobs, decoded(jobs), strict=True):
        for frame in answer.frames:
            if lacking.pop((job.sha256, frame.number), None):  # else it was not requested
                yield (job.sha256, frame.number), frame
        left = {(job.sha256, number) for number in job.frames} & lacking.keys()
        lacking |= dict.fromkeys(left, answer.problem or "not decoded")
    yield from lacking.items()


def label_name(label: str) -> str:
    """The last part of a segment's label, to compare with file names; never opened."""
    return PurePosixPath(label).name


def files_under(folder: Path) -> Iterator[Path]:
    """Regular files under a folder, by name; links are not followed.

    Raises Usage if the folder cannot be read or has more than `FILES_MAX` files.
    """
    seen = 0
    for root, folders, names in os.walk(folder, onerror=_refuse):
        folders.sort()
        for path in sorted(Path(root, name) for name in names):
            seen += 1
            if seen > FILES_MAX:
                raise Usage(
                    f"The folder has more than {FILES_MAX:,} files",
                    where=str(folder),
                    hint="Name the footage folder itself.",
                )
            if path.is_file() and not path.is_symlink():
                yield path


def _refuse(error: OSError) -> None:
    """A folder that cannot be listed is an error, not an empty folder."""
    raise Usage(
        f"The footage folder cannot be read: {error.strerror}",
        where=str(error.filename),
        hint="Name an existing folder that you may read.",
    ) from error
