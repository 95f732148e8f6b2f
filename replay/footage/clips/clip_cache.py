"""The cache of clips: it keeps the last used ones, and none of deleted footage.

A clip can be made again from its segments, so a cached clip is a copy and not evidence. Beside each
file is a record that names its segments. A file without a record was never finished.
"""

from __future__ import annotations

import os
import time
from contextlib import suppress
from typing import TYPE_CHECKING, NamedTuple

import msgspec

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator
    from pathlib import Path

FOLDER = "clips"
"""The folder of the cache, in the ledger's home; it may be removed at any time."""

BYTES_MAX = 8 << 30
"""The size of the cache in bytes; above it the least recently used clips are removed."""

SPARED_S = 3_600.0
"""A clip used within this many seconds is never removed: it may be being sent."""


class _Source(msgspec.Struct):
    sha256: str


class _Record(msgspec.Struct):
    """The part of a clip's record that names its sources."""

    sources: tuple[_Source, ...]


class _Lying(NamedTuple):
    """A file of the cache, finished or not."""

    used_s: float
    size: int
    path: Path

    @property
    def record(self) -> Path:
        return self.path.with_suffix(".json")


def used(clip: Path) -> None:
    """Mark a clip as used now."""
    with suppress(OSError):
        os.utime(clip)


def trim(home: Path, bytes_max: int = BYTES_MAX) -> None:
    """Remove the least recently used clips above a size; undeletable ones stay."""
    before_s = time.time() - SPARED_S
    lying = sorted(_lying(home))
    kept = sum(each.size for each in lying)
    for each in lying:
        if kept <= bytes_max or each.used_s > before_s:
            return
        with suppress(OSError):
            _remove(each)
            kept -= each.size


def forget(home: Path, hashes: Collection[str]) -> None:
    """Remove every clip made from these segments. Raises OSError if one cannot be removed.

    A file without a record may contain them, so it is removed too unless it is still being made.
    """
    before_s = time.time() - SPARED_S
    for each in _lying(home):
        of = _sources(each.record)
        gone = each.used_s <= before_s if of is None else not of.isdisjoint(hashes)
        if gone:
            _remove(each)


def _lying(home: Path) -> Iterator[_Lying]:
    for path in (home / FOLDER).glob("*/*"):
        if path.suffix != ".json":
            with suppress(FileNotFoundError):  # another process removed it
                stat = path.stat()
                yield _Lying(stat.st_mtime, stat.st_size, path)


def _sources(record: Path) -> set[str] | None:
    """The segments that a clip was made from; None if that is unknown."""
    try:
        told = msgspec.json.decode(record.read_bytes(), type=_Record)
    except (FileNotFoundError, msgspec.DecodeError):
        return None
    return {each.sha256 for each in told.sources}


def _remove(clip: _Lying) -> None:
    """Remove a clip, the file first: a record without a file is ignored."""
    clip.path.unlink(missing_ok=True)
    clip.record.unlink(missing_ok=True)
