"""Feeds: files of one fact a line, or `-` for standard input, read as they come.

Lines are handed on in blocks, so that many facts share one transaction, and a live pipe never waits
for a block to fill. Nothing here looks into a line.
"""

import os
import select
import stat
import sys
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from typing import Annotated, NamedTuple

import typer

from ledger.errors import Usage
from ledger.values import quantity

BLOCK_OCTETS = 256 * 1024
"""How much is read at once: 500 to 1,000 facts of usual length."""

LINES_A_BLOCK_MAX = 2_000
"""Lines in one block: short ones, as of a file that is no feed, are not all put into one commit."""

LINE_OCTETS_MAX = 8 * 2**20
"""A longer line is not ingested; over 64 KiB it can only go to quarantine anyway."""

Feeds = Annotated[
    list[str],
    typer.Argument(metavar="FEED", help="Files with one fact per line; `-` is standard input."),
]
"""The argument of every command that reads feeds."""


class FeedLine(NamedTuple):
    """One line that is not empty."""

    feed: str
    number: int  # from 1, empty lines counted
    octets: bytes  # without its line feed


class Opened(NamedTuple):
    """A feed ready to be read."""

    name: str
    fd: int
    octets: int | None  # how many there are; None where that is not known


@contextmanager
def opened(feeds: Sequence[str]) -> Iterator[list[Opened]]:
    """Every feed, open, before the first line of any is read. Raises `Usage`."""
    with ExitStack() as stack:
        yield [_open(name, stack) for name in feeds]


def size(feeds: Sequence[Opened]) -> int | None:
    """Bytes in all of them, None where that is not known."""
    sizes = [feed.octets for feed in feeds]
    return None if None in sizes else sum(filter(None, sizes))


def blocks(feeds: Sequence[Opened]) -> Iterator[list[FeedLine]]:
    """The lines of all feeds in blocks; an empty block where nothing more has arrived yet."""
    for feed in feeds:
        yield from _blocks(feed)


def _open(name: str, stack: ExitStack) -> Opened:
    try:
        if name == "-":
            fd = sys.stdin.fileno()
        else:
            fd = os.open(name, os.O_RDONLY)
            stack.callback(os.close, fd)
        about = os.fstat(fd)
    except OSError as error:
        raise _unreadable(name, error) from error
    if stat.S_ISDIR(about.st_mode):
        raise Usage(
            "A folder is not a feed", where=name, hint=f"Name its files: {name.rstrip('/')}/*.jsonl"
        )
    return Opened(name, fd, about.st_size if stat.S_ISREG(about.st_mode) else None)


def _unreadable(name: str, error: OSError) -> Usage:
    return Usage(
        f"The feed cannot be read: {error.strerror}",
        where=name,
        hint="Check its name and that you may read it.",
    )


def _blocks(feed: Opened) -> Iterator[list[FeedLine]]:
    number, begun = 0, b""
    while octets := _read(feed):
        *whole, begun = (begun + octets).split(b"\n")
        yield from _lines(feed.name, number, whole)
        number += len(whole)
        if len(begun) > LINE_OCTETS_MAX:
            raise _too_long(feed.name, number + 1)
        if not select.select([feed.fd], [], [], 0)[0]:
            yield []
    yield from _lines(feed.name, number, [begun])


def _read(feed: Opened) -> bytes:
    try:
        return os.read(feed.fd, BLOCK_OCTETS)
    except OSError as error:
        raise _unreadable(feed.name, error) from error


def _lines(feed: str, before: int, lines: Sequence[bytes]) -> Iterator[list[FeedLine]]:
    """The lines in blocks; only those before a line that is too long, which then raises."""
    numbered = list(enumerate(lines, before + 1))
    long = next((number for number, octets in numbered if len(octets) > LINE_OCTETS_MAX), None)
    taken = [
        FeedLine(feed, number, octets)
        for number, octets in numbered
        if octets not in (b"", b"\r") and (long is None or number < long)
    ]
    for start in range(0, len(taken), LINES_A_BLOCK_MAX):
        yield taken[start : start + LINES_A_BLOCK_MAX]
    if long is not None:
        raise _too_long(feed, long)


def _too_long(feed: str, number: int) -> Usage:
    return Usage(
        f"A line is longer than {quantity(LINE_OCTETS_MAX, 'byte')}; it was not ingested",
        where=f"{feed}, line {number}",
        hint="Send one fact a line, at most 65,536 bytes; the lines before it were ingested.",
    )
