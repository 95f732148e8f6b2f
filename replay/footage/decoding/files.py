"""Files that this process was given open, since it may open none itself.

The process that asks opens them and passes their descriptors on. A path is only a name here. In a
process without given files, as in tests, a path is opened as usual.
"""

from __future__ import annotations

import io
import os
from contextlib import suppress
from stat import S_ISREG
from typing import TYPE_CHECKING, BinaryIO, cast

from msgspec import Struct

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from pathlib import Path

    from typing_extensions import Buffer


class GivenFile(Struct, frozen=True, omit_defaults=True):
    """A file by its descriptor; or the problem of opening it."""

    descriptor: int = -1
    octets: int = 0
    problem: str | None = None


_GIVEN: dict[str, GivenFile] = {}


def take(files: Mapping[str, GivenFile]) -> None:
    """Use these files, by path, instead of opening them."""
    _GIVEN.update(files)


def opened(path: Path) -> io.BufferedReader:
    """The file, to be read from its start. Raises OSError."""
    given = _GIVEN.get(str(path))
    return io.BufferedReader(io.FileIO(path) if given is None else _OpenFile(given))


def created(path: Path) -> BinaryIO:
    """The new, empty file, to be written. Raises OSError."""
    given = _GIVEN.get(str(path))
    raw = io.FileIO(path, "w+b") if given is None else _OpenFile(given)
    return cast("BinaryIO", raw)


def octets_of(path: Path) -> int:
    """The size of the file. Raises OSError."""
    given = _GIVEN.get(str(path))
    return path.stat().st_size if given is None else given.octets


class _OpenFile(io.RawIOBase):
    """A given file, read and written at a place of its own, so that two may be open at once."""

    def __init__(self, given: GivenFile) -> None:
        if given.problem is not None:
            raise OSError(given.problem)
        self._descriptor, self._at = given.descriptor, 0

    def readable(self) -> bool:
        return True

    def writable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def readinto(self, into: Buffer, /) -> int:
        octets = os.pread(self._descriptor, memoryview(into).nbytes, self._at)
        memoryview(into).cast("B")[: len(octets)] = octets
        self._at += len(octets)
        return len(octets)

    def write(self, octets: Buffer, /) -> int:
        rest = memoryview(octets).cast("B")
        whole = len(rest)
        while rest:
            done = os.pwrite(self._descriptor, rest, self._at)
            self._at += done
            rest = rest[done:]
        return whole

    def seek(self, to: int, whence: int = os.SEEK_SET, /) -> int:
        if whence == os.SEEK_CUR:
            to += self._at
        elif whence == os.SEEK_END:
            to += os.fstat(self._descriptor).st_size
        if to < 0:
            raise ValueError(f"a file has no place {to}")
        self._at = to
        return to


def give(read: Iterable[str], written: Iterable[str]) -> dict[str, GivenFile]:
    """Open files to be read and new files to be written, for a process that may open none."""
    given = {path: _given(path, os.O_RDONLY | os.O_NONBLOCK) for path in {*read}}
    return given | {path: _given(path, os.O_RDWR | os.O_CREAT | os.O_TRUNC) for path in {*written}}


def close(given: Mapping[str, GivenFile]) -> None:
    """Close what `give` opened."""
    for each in given.values():
        if each.problem is None:
            os.close(each.descriptor)


def _given(path: str, how: int) -> GivenFile:
    """An open regular file; a pipe or a device is a problem, and is not waited for."""
    try:
        descriptor = os.open(path, how, 0o600)
    except OSError as error:
        return GivenFile(problem=str(error))
    found = os.fstat(descriptor)
    if S_ISREG(found.st_mode):
        return GivenFile(descriptor, found.st_size)
    with suppress(OSError):
        os.close(descriptor)
    return GivenFile(problem="it is not a file")
