"""Reads a growing file of facts line by line, with a checkpoint that survives crashes.

The checkpoint is saved beside the file, after the lines before it were accepted. While the file is
read it may be renamed, or copied and truncated. Unread lines are then searched in its siblings
(`FILE.1`, `FILE-20261120`, ...). In doubt, lines are read again, never skipped. The content of
lines is not read here.
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

from infra.files import flush_folder, replace_file
from ledger.errors import Refused, Usage

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

BLOCK_OCTETS = 256 * 1024
"""The most bytes of a block, unless one line alone is longer."""

LINES_A_BLOCK_MAX = 1_000
"""The most lines of a block."""

LINE_OCTETS_MAX = 8 * 2**20 - 1024
"""The longest line that fits into a request; longer ones are set aside unread."""

FINISHED_S = 5.0
"""Seconds without change after which the writer of a renamed file is taken to have left it."""

PLACE, LOCK, ASIDE = ".place", ".place.lock", ".aside"
_OURS = (PLACE, LOCK, ASIDE, ".place.partial")  # the last may be left by an older version
_BEFORE_OCTETS = 4_096


class TailListener(Protocol):
    """A listener for events of the file, with figures."""

    def __call__(self, says: str, **figures: object) -> None:
        """For a log."""


class Finished(NamedTuple):
    """A file that was read to its end; if it is written to again, it counts as another file."""

    inode: int
    octets: int
    modified_ns: int


class FileCheckpoint(msgspec.Struct, frozen=True):
    """The checkpoint: how far lines were accepted."""

    inode: int
    offset: int
    lines: int  # in this file before `offset`
    before: str  # SHA-256 of the last bytes before `offset`, which identifies a copy
    finished: tuple[Finished, ...] = ()  # siblings read to their end


class TailLine(NamedTuple):
    """One line that is not empty. Without bytes it is too long, and begins at `start`."""

    number: int  # from 1 in its file, empty lines counted
    octets: bytes | None  # without its line feed
    start: int


class Block(NamedTuple):
    """Lines, and the checkpoint to save once all of them were accepted."""

    lines: Sequence[TailLine]
    after: FileCheckpoint
    waiting: int  # bytes of this file after it


@contextmanager
def lock_file(path: Path) -> Iterator[None]:
    """Refuse a second follower of the same file. Raises `Refused`.

    Raises `Usage` if nothing can be written beside the file.
    """
    try:
        lock = Path(f"{path}{LOCK}").open("a")  # noqa: SIM115 - closed below
    except OSError as error:
        raise Usage(
            f"The checkpoint cannot be saved beside the file: {error.strerror}",
            where=str(path.parent),
            hint="Give this user write permission for the folder.",
        ) from error
    with lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise Refused(
                "Another process follows this file", where=str(path), hint="Stop one of the two."
            ) from None
        yield


def kept_place(path: Path) -> FileCheckpoint:
    """The saved checkpoint; at first the beginning, which is saved at once.

    Files renamed before that are not read. Raises `Usage` for an unreadable checkpoint.
    """
    try:
        return msgspec.json.decode(Path(f"{path}{PLACE}").read_bytes(), type=FileCheckpoint)
    except FileNotFoundError:
        place = FileCheckpoint(0, 0, 0, _digest(b""), tuple(map(_as_it_is, _siblings(path))))
        keep_place(path, place)
        return place
    except (OSError, msgspec.DecodeError) as error:
        raise Usage(
            f"The saved checkpoint cannot be read: {error}",
            where=f"{path}{PLACE}",
            hint="Remove it. Everything is then sent again; kept facts are answered `duplicate`.",
        ) from error


def keep_place(path: Path, place: FileCheckpoint) -> None:
    """Replace the saved checkpoint atomically: a crash leaves the old or the new one."""
    replace_file(Path(f"{path}{PLACE}"), msgspec.json.encode(place))


def set_aside(path: Path, parts: Iterator[bytes]) -> None:
    """Save beside the file a line that is too long for a request or refused by the ledger."""
    aside = Path(f"{path}{ASIDE}")
    with aside.open("ab") as out:
        for part in parts:
            out.write(part)
        out.write(b"\n")
        out.flush()
        os.fsync(out.fileno())
    flush_folder(path.parent)


class FileTail:
    """The lines of `path` from a checkpoint on, through all rotated files. For one thread."""

    def __init__(self, path: Path, place: FileCheckpoint, told: TailListener) -> None:
        self._path = path
        self._told = told
        self._fd: int | None = None
        self._at = place
        self._rested: tuple[int, float] | None = (
            None  # size in bytes, and since when it is unchanged
        )
        self._scanned = 0  # in a too long line, how far no line feed was found

    def close(self) -> None:
        """Close the file."""
        if self._fd is not None:
            os.close(self._fd)
            self._fd = None

    def next(self) -> Block | None:
        """The next lines; None if there is no complete line yet."""
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
            return None  # unread lines may be in a copy: `_open` searches for it
        if block := self._block(fd, here, size):
            self._rested = None
            return block
        return self._end(fd, here, size)

    def part(self, line: TailLine) -> Iterator[bytes]:
        """The bytes of a line of the newest block, in parts."""
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
        """Complete lines from here on."""
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
        """These bytes as lines, the last one with or without a line feed."""
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
        """A line too long for a request, once its end is written."""
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
        """No complete line is left: wait, or go on to the next file if this one was renamed."""
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
        """Find the file of the checkpoint. False if there is none yet."""
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
            self._told("the checkpoint is in no file: every file is sent whole", lost=True)
        return self._go_to(*self._next_but(place.finished))

    def _candidates(self, place: FileCheckpoint) -> list[Path]:
        """Files that may have the checkpoint: its own file first, then possible copies."""
        every = [self._path, *_siblings(self._path)]
        return sorted(every, key=lambda path: _inode(path) != place.inode)

    def _next_but(self, finished: Sequence[Finished]) -> tuple[Path, tuple[Finished, ...]]:
        """The oldest unread sibling, or the file itself; and the finished siblings that remain."""
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
        """Continue at the beginning of a file."""
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
    """Whether the bytes before the checkpoint are those of when it was saved."""
    return os.fstat(fd).st_size >= place.offset and _before(fd, place.offset) == place.before


def _before(fd: int, offset: int) -> str:
    begin = max(0, offset - _BEFORE_OCTETS)
    return _digest(os.pread(fd, offset - begin, begin))


def _digest(octets: bytes) -> str:
    return hashlib.sha256(octets).hexdigest()
