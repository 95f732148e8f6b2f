"""Boxes of an ISO base media file: finding them without reading the film, and making them.

A size beyond the end of the file is refused. The meaning of a box is not known here.
"""

from __future__ import annotations

from typing import IO, TYPE_CHECKING, NamedTuple

from ledger.errors import Refused

if TYPE_CHECKING:
    from collections.abc import Iterator

BOXES_MAX = 100_000
_HEADER, _LONG_HEADER = 8, 16


class Box(NamedTuple):
    """One box: the byte offsets of its start, its payload and its end."""

    kind: bytes
    start: int
    payload: int
    end: int


def boxes(file: IO[bytes], start: int, end: int) -> Iterator[Box]:
    """The boxes between two offsets of a file, in order. Raises `Refused` for anything else."""
    at = start
    for _ in range(BOXES_MAX):
        if at == end:
            return
        file.seek(at)
        header = file.read(_LONG_HEADER)
        size, kind, payload = int.from_bytes(header[:4], "big"), header[4:8], at + _HEADER
        if size == 1:
            size, payload = int.from_bytes(header[8:16], "big"), at + _LONG_HEADER
        elif size == 0:
            size = end - at
        if len(header) < _HEADER or size < payload - at or at + size > end:
            raise _no_boxes(at)
        yield Box(kind, at, payload, at + size)
        at += size
    raise _no_boxes(at)


def within(file: IO[bytes], of: Box, skip: int = 0) -> list[Box]:
    """The boxes in a box, after `skip` bytes of its payload. Raises `Refused`."""
    return list(boxes(file, of.payload + skip, of.end))


def only(found: list[Box], kind: bytes) -> Box | None:
    """The box of a kind, if there is exactly one."""
    named = [box for box in found if box.kind == kind]
    return named[0] if len(named) == 1 else None


def box(kind: bytes, *parts: bytes) -> bytes:
    """A box around its parts."""
    payload = b"".join(parts)
    return (_HEADER + len(payload)).to_bytes(4, "big") + kind + payload


def full_box(kind: bytes, version: int, *parts: bytes) -> bytes:
    """A box with a version and no flags."""
    return box(kind, bytes([version, 0, 0, 0]), *parts)


def number(value: int, octets: int) -> bytes:
    """An unsigned number, big-endian."""
    return value.to_bytes(octets, "big")


def text(value: str) -> bytes:
    """A text that ends with a null byte; nulls inside it are left out."""
    return value.replace("\0", "").encode() + b"\0"


def _no_boxes(at: int) -> Refused:
    return Refused(
        "This is not a complete MP4 file",
        where=f"byte {at:,}",
        hint="Cut the clip again; only MP4 can be signed as an ONVIF export.",
    )
