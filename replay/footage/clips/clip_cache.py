"""Which clips are kept: the ones used last, and none of footage that was deleted.

A clip is made again from its segments, so what lies here is a copy and no evidence. Each is a file
beside a record that names the segments; a file without a record was never finished.
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
"""Where clips are kept, in the ledger's home; all of it may be removed at any time."""

BYTES_MAX = 8 << 30
"""Octets of clips that are kept; of more, those used last."""

SPARED_S = 3_600.0
"""What was used so lately may be on its way to somebody, seconds: it stays, whatever is kept."""


class _Source(msgspec.Struct):
    sha256: str


class _Record(msgspec.Struct):
    """As much of a clip's record as says what it was made from."""

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
    """Note that a clip was used now."""
    with suppress(OSError):
        os.utime(clip)


def trim(home: Path, bytes_max: int = BYTES_MAX) -> None:
    """Remove what was used longest ago of more than so many octets; what cannot be, stays."""
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
    """Remove every clip that holds anything of these segments. Raises OSError for one that stays.

    What has no record may hold anything, and goes too, unless somebody may still be making it.
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
    """The segments that a clip was made from; None where nothing says so."""
    try:
        told = msgspec.json.decode(record.read_bytes(), type=_Record)
    except (FileNotFoundError, msgspec.DecodeError):
        return None
    return {each.sha256 for each in told.sources}


def _remove(clip: _Lying) -> None:
    """The file first: a record without one is as if nothing were there."""
    clip.path.unlink(missing_ok=True)
    clip.record.unlink(missing_ok=True)
