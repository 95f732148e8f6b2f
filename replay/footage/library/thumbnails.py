"""Small pictures of frames, for pages: made once in the confined decoder and kept by hash.

A picture is named by the SHA-256 of its segment and by its frame. It is shown only while the
segment's file is there, is deleted with expired footage, and is never evidence.
"""

from __future__ import annotations

from contextlib import suppress
from shutil import rmtree
from typing import TYPE_CHECKING

from infra.files import replace_file
from replay.footage.decoding.decoder import Job, decode

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from replay.footage.library.index import FootageIndex, IndexedSegment

WIDTH = 160
"""The width of a small picture, in pixels."""

FOLDER = "thumbnails"

AT_ONCE = 32
"""Pictures made by one job."""


def thumbnails(
    library: FootageIndex, entry: IndexedSegment, frames: Iterable[int]
) -> dict[int, bytes]:
    """The small pictures of frames as JPEG; those that cannot be read are left out."""
    found: dict[int, bytes] = {}
    lacking = []
    for number in sorted(set(frames)):
        try:
            found[number] = _place(library, entry, number).read_bytes()
        except OSError:
            lacking.append(number)
    for at in range(0, len(lacking), AT_ONCE):
        numbers = tuple(lacking[at : at + AT_ONCE])
        [answer] = decode([Job(str(entry.path), entry.sha256, numbers, width=WIDTH)])
        for frame in answer.frames:
            found[frame.number] = frame.png
            with suppress(OSError):  # it is made again next time
                replace_file(_place(library, entry, frame.number), frame.png)
    return found


def forget(library: FootageIndex, segments: Iterable[str]) -> None:
    """Delete the small pictures of these segments, by hash. Raises OSError if it cannot."""
    for sha256 in segments:
        with suppress(FileNotFoundError):
            rmtree(_folder(library, sha256))


def nearest_key(entry: IndexedSegment, camera_us: int) -> int:
    """The keyframe nearest to a time of the camera's clock; keyframes are quickest to decode."""
    times = entry.times
    return min(times.keys or (0,), key=lambda n: abs(entry.start_us + times.pts_us[n] - camera_us))


def _place(library: FootageIndex, entry: IndexedSegment, number: int) -> Path:
    return _folder(library, entry.sha256) / f"{number}.jpg"


def _folder(library: FootageIndex, sha256: str) -> Path:
    return library.folder / FOLDER / sha256[:2] / sha256
