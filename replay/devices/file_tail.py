"""A growing file of facts, read line by line, and the place in it that survives everything.

A place is kept beside the file and moved only by whoever had the lines before it taken. A file may
be renamed away or copied and cut short while it is read: what was not read yet is looked for in its
siblings (`FILE.1`, `FILE-20261120`, ...). Where that is not certain, lines are read again rather
than passed over. Nothing here looks into a line.
"""

from __future__ import annotations

import fcntl
import hashlib
import os
import time
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple, Protocol

import msgspec

from ledger.errors import Refused, Usage

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

BLOCK_OCTETS = 256 * 1024
"""How much is handed on at once, unless one line alone is longer."""

LINES_A_BLOCK_MAX = 1_000
"""Lines handed on at once."""

LINE_OCTETS_MAX = 8 * 2**20 - 1024
"""A longer line fits into no request; it is set aside unread."""

FINISHED_S = 5.0
"""How long a file that was renamed must rest until its writer is taken to have left it, seconds."""

PLACE, LOCK, ASIDE, _PARTIAL = ".place", ".place.lock", ".aside", ".place.partial"
_OURS = (PLACE, LOCK, ASIDE, _PARTIAL)
_BEFORE_OCTETS = 4_096


class TailListener(Protocol):
    """Told what befell the file, with figures."""

    def __call__(self, says: str, **figures: object) -> None:
        """For a log."""


class Finished(NamedTuple):
    """A file that was read to its end: written to again, it is another one."""

    inode: int
    octets: int
    modified_ns: int


class FileCheckpoint(msgspec.Struct, frozen=True):
    """How far everything was taken, as it is kept."""

    inode: int
    offset: int
    lines: int  # in this file before `offset`
    before: str  # SHA-256 of the last octets before `offset`, by which a copy is known
    finished: tuple[Finished, ...] = ()  # siblings read to their end


class TailLine(NamedTuple):
    """One line that is not empty. Without octets it was too long, and is at `start`."""

    number: int  # from 1 in its file, empty lines counted
    octets: bytes | None  # without its line feed
    start: int


class Block(NamedTuple):
    """Lines, and the place to keep once all of them were taken."""

    lines: Sequence[TailLine]
    after: FileCheckpoint
    waiting: int  # octets of this file after it


@contextmanager
def lock_file(path: Path) -> Iterator[None]:
    """Keep a second follower of the same file out. Raises `Refused`.

    `Usage` where nothing can be written beside the file.
    """
    try:
        lock = Path(f"{path}{LOCK}").open("a")  # noqa: SIM115 - closed below
    except OSError as error:
        raise Usage(
            f"The place cannot be kept beside the file: {error.strerror}",
            where=str(path.parent),
            hint="Let this user write to the folder.",
        ) from error
    with lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise Refused(
                "Another process follows this file", where=str(path), hint="One is enough."
            ) from None
        yield


def kept_place(path: Path) -> FileCheckpoint:
    """The place as it was kept; at first the beginning, which is kept at once.

    What was renamed away before that is not read. Raises `Usage` for a place that is none.
    """
    try:
        return msgspec.json.decode(Path(f"{path}{PLACE}").read_bytes(), type=FileCheckpoint)
    except FileNotFoundError:
        place = FileCheckpoint(0, 0, 0, _digest(b""), tuple(map(_as_it_is, _siblings(path))))
        keep_place(path, place)
        return place
    except (OSError, msgspec.DecodeError) as error:
        raise Usage(
            f"The place in the file cannot be read: {error}",
            where=f"{path}{PLACE}",
            hint="Remove it: everything is then sent again, and what was kept is a duplicate.",
        ) from error


def keep_place(path: Path, place: FileCheckpoint) -> None:
    """Replace the place kept, so that one or the other is there whatever happens."""
    partial = Path(f"{path}{_PARTIAL}")
    with partial.open("wb") as out:
        out.write(msgspec.json.encode(place))
        out.flush()
        os.fsync(out.fileno())
    partial.replace(f"{path}{PLACE}")
    _flush_folder(path.parent)


def set_aside(path: Path, parts: Iterator[bytes]) -> None:
    """Keep beside the file a line that no request can hold or the ledger refuses."""
    aside = Path(f"{path}{ASIDE}")
    with aside.open("ab") as out:
        for part in parts:
            out.write(part)
        out.write(b"\n")
        out.flush()
        os.fsync(out.fileno())
    _flush_folder(path.parent)


def _flush_folder(folder: Path) -> None:
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


class FileTail:
    """The lines of `path` from a place on, through every file it was. For one thread."""

    def __init__(self, path: Path, place: FileCheckpoint, told: TailListener) -> None:
        self._path = path
        self._told = told
        self._fd: int | None = None
        self._at = place
        self._rested: tuple[int, float] | None = None  # octets, and since when they are that many
        self._scanned = 0  # within a line that is too long, how far no line feed was found

    def close(self) -> None:
        """Close the file."""
        if self._fd is not None:
            os.close(self._fd)
            self._fd = None

    def next(self) -> Block | None:
        """The lines that come next; None where there is no whole one yet."""
        opened = self._opened()
        if opened is None:
            return None
        fd, here = opened
        size = os.fstat(fd).st_size
        if not here.offset and _inode(self._next_but(here.finished)[0]) != here.inode:
            self.close()  # rotated before anything of it was read
            return None
        if not _is_at(fd, here):
            self._told("the file was cut short", octets=size, place=here.offset)
            self.close()
            return None  # what was not read may be in a copy: `_open` looks for it
        if block := self._block(fd, here, size):
            self._rested = None
            return block
        return self._end(fd, here, size)

    def part(self, line: TailLine) -> Iterator[bytes]:
        """The octets of a line of the newest block, in parts."""
        if line.octets is not None:
            yield line.octets
            return
        at = line.start
        while self._fd is not None and (octets := os.pread(self._fd, BLOCK_OCTETS, at)):
            part, feed, _ = octets.partition(b"\n")
            yield part
            if feed:
                return
            at += len(octets)

    def _opened(self) -> tuple[int, FileCheckpoint] | None:
        if self._fd is None and not self._open():
            return None
        return None if self._fd is None else (self._fd, self._at)

    def _block(self, fd: int, here: FileCheckpoint, size: int) -> Block | None:
        """Whole lines from here on."""
        want = BLOCK_OCTETS
        while True:
            octets = os.pread(fd, want, here.offset)
            whole = octets.rfind(b"\n") + 1
            if whole or len(octets) < want or want > LINE_OCTETS_MAX:
                break
            want = min(want * 4, LINE_OCTETS_MAX + 1)
        if whole:
            return self._taken(fd, here, octets[:whole], size)
        if len(octets) > LINE_OCTETS_MAX:
            return self._too_long(fd, here, size)
        return None

    def _taken(self, fd: int, here: FileCheckpoint, octets: bytes, size: int) -> Block:
        """These octets as lines, the last one with or without a line feed."""
        lines: list[TailLine] = []
        at, number = here.offset, here.lines
        for line in octets.split(b"\n")[: octets.count(b"\n") or 1]:
            number += 1
            if line not in (b"", b"\r"):
                lines.append(TailLine(number, line, at))
            at += len(line) + 1
            if len(lines) == LINES_A_BLOCK_MAX:
                break
        return self._moved(fd, here, lines, (min(at, here.offset + len(octets)), number), size)

    def _too_long(self, fd: int, here: FileCheckpoint, size: int) -> Block | None:
        """A line that fits into no request, once its end is there."""
        at = max(self._scanned, here.offset)
        while octets := os.pread(fd, BLOCK_OCTETS, at):
            feed = octets.find(b"\n")
            if feed >= 0:
                self._scanned = 0
                number = here.lines + 1
                line = TailLine(number, None, here.offset)
                return self._moved(fd, here, [line], (at + feed + 1, number), size)
            at += len(octets)
        self._scanned = at
        return None

    def _moved(
        self, fd: int, here: FileCheckpoint, lines: list[TailLine], to: tuple[int, int], size: int
    ) -> Block:
        offset, number = to
        self._at = FileCheckpoint(here.inode, offset, number, _before(fd, offset), here.finished)
        return Block(lines, self._at, size - offset)

    def _end(self, fd: int, here: FileCheckpoint, size: int) -> Block | None:
        """Nothing whole is left: wait, or go on to the next file where this one was renamed."""
        about = os.fstat(fd)
        if _inode(self._path) == about.st_ino:
            self._rested = None
            return None  # its writer may go on
        if self._rested is None or self._rested[0] != size:
            self._rested = (size, time.monotonic())
        if time.monotonic() - self._rested[1] < FINISHED_S:
            return None
        if size - here.offset > LINE_OCTETS_MAX:
            line = TailLine(here.lines + 1, None, here.offset)
            return self._moved(fd, here, [line], (size, here.lines + 1), size)
        if here.offset < size:
            octets = os.pread(fd, size - here.offset, here.offset)
            return self._taken(fd, here, octets, size)
        done = Finished(about.st_ino, about.st_size, about.st_mtime_ns)
        self._told("the file was renamed, and is read to its end", lines=here.lines)
        self.close()
        self._rested = None
        self._go_to(*self._next_but((*here.finished, done)))
        return None

    def _open(self) -> bool:
        """Find the file that the place is in. False where there is none yet."""
        place = self._at
        for path in self._candidates(place) if place.offset else ():
            with suppress(FileNotFoundError):
                fd = os.open(path, os.O_RDONLY)
                if _is_at(fd, place):
                    self._fd = fd
                    self._at = msgspec.structs.replace(place, inode=os.fstat(fd).st_ino)
                    return True
                os.close(fd)
        if place.offset:
            self._told("the place is in no file any more; all there are are read", lost=True)
        return self._go_to(*self._next_but(place.finished))

    def _candidates(self, place: FileCheckpoint) -> list[Path]:
        """Where the place may be: the file it was in first, then whatever may be a copy of it."""
        every = [self._path, *_siblings(self._path)]
        return sorted(every, key=lambda path: _inode(path) != place.inode)

    def _next_but(self, finished: Sequence[Finished]) -> tuple[Path, tuple[Finished, ...]]:
        """The oldest sibling that was not read, or the file itself; and what was, of those left."""
        there: list[tuple[int, Path]] = []
        known = []
        for path in _siblings(self._path):
            with suppress(FileNotFoundError):
                is_ = _as_it_is(path)
                if is_ in finished:
                    known.append(is_)
                else:
                    there.append((is_.modified_ns, path))
        return (min(there)[1] if there else self._path), tuple(known)

    def _go_to(self, path: Path, finished: tuple[Finished, ...]) -> bool:
        """Begin a file at its beginning."""
        self._at = FileCheckpoint(0, 0, 0, _digest(b""), finished)
        try:
            self._fd = os.open(path, os.O_RDONLY)
        except FileNotFoundError:
            return False
        except OSError as error:
            raise Usage(
                f"The file cannot be read: {error.strerror}",
                where=str(path),
                hint="Check that this user may read it.",
            ) from error
        self._at = msgspec.structs.replace(self._at, inode=os.fstat(self._fd).st_ino)
        return True


def _siblings(path: Path) -> list[Path]:
    """Files that `path` may have been renamed or copied to."""
    return [
        each
        for each in path.parent.iterdir()
        if each.name.startswith((f"{path.name}.", f"{path.name}-"))
        and not each.name.endswith((*_OURS, ".gz", ".xz", ".zst", ".bz2"))
        and each.is_file()
    ]


def _as_it_is(path: Path) -> Finished:
    about = path.stat()
    return Finished(about.st_ino, about.st_size, about.st_mtime_ns)


def _inode(path: Path) -> int | None:
    with suppress(FileNotFoundError):
        return path.stat().st_ino
    return None


def _is_at(fd: int, place: FileCheckpoint) -> bool:
    """Whether what is before the place is what was there when it was kept."""
    return os.fstat(fd).st_size >= place.offset and _before(fd, place.offset) == place.before


def _before(fd: int, offset: int) -> str:
    begin = max(0, offset - _BEFORE_OCTETS)
    return _digest(os.pread(fd, offset - begin, begin))


def _digest(octets: bytes) -> str:
    return hashlib.sha256(octets).hexdigest()
