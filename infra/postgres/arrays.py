"""Lists as PostgreSQL arrays: packed in binary, or as text that a statement casts to its type.

The driver dumps a list item by item, each through an adapter. Packing whole columns takes a
fraction of that time on the hot path of an append (ADR 0004).
"""

from __future__ import annotations

import re
import struct
from typing import TYPE_CHECKING, Any, cast

from psycopg.adapt import Dumper
from psycopg.pq import Format

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from psycopg import Connection
    from psycopg.abc import Buffer

_RANGE = re.compile(r"\[(\d+),(\d+)\)")
_LENGTH = struct.Struct("!i").pack
_HEADER = struct.Struct("!iiIii").pack
_NULL = _LENGTH(-1)
_INT8, _BYTEA, _TEXT = 20, 17, 25


class Array:
    """A packed one-dimensional array; the subclass gives the element type."""

    __slots__ = ("octets",)

    def __init__(self, octets: bytes) -> None:
        self.octets = octets


class TextArray(Array):
    """Packed text[]."""


class ByteaArray(Array):
    """Packed bytea[]."""


class BigintArray(Array):
    """Packed bigint[]."""


def texts(items: Sequence[str | None]) -> TextArray:
    """Packed text[]. Raises UnicodeEncodeError for text that UTF-8 cannot encode."""
    if None in items:
        return TextArray(_pack(_TEXT, [None if item is None else item.encode() for item in items]))
    return TextArray(_pack(_TEXT, list(map(str.encode, cast("Sequence[str]", items)))))


def byteas(items: Sequence[bytes | None]) -> ByteaArray:
    """Packed bytea[]."""
    return ByteaArray(_pack(_BYTEA, items))


def bigints(items: Sequence[int]) -> BigintArray:
    """Packed bigint[] without nulls. Raises struct.error beyond 64 bits."""
    pairs = [8] * (2 * len(items))
    pairs[1::2] = items
    octets = struct.pack("!" + "iq" * len(items), *pairs)
    return BigintArray(_header(_INT8, len(items), nulls=False) + octets)


def register(connection: Connection[Any]) -> None:
    """Register the dumpers of these arrays with a connection."""
    for kind, dumper in ((TextArray, _Texts), (ByteaArray, _Byteas), (BigintArray, _Bigints)):
        connection.adapters.register_dumper(kind, dumper)


def array_text(items: Iterable[str | int]) -> str:
    """A list as PostgreSQL's text of an array."""
    quoted = (str(item).replace("\\", "\\\\").replace('"', '\\"') for item in items)
    return "{" + ",".join(f'"{item}"' for item in quoted) + "}"


def ranges_text(numbers: Iterable[int]) -> str:
    """Numbers as PostgreSQL's text of a multirange; adjacent numbers share a range."""
    ranges: list[list[int]] = []
    for number in sorted(numbers):
        if ranges and ranges[-1][1] >= number:
            ranges[-1][1] = number + 1
        else:
            ranges.append([number, number + 1])
    return "{" + ",".join(f"[{low},{high})" for low, high in ranges) + "}"


def ranges_of(text: str) -> list[tuple[int, int]]:
    """The closed ranges of a multirange's text."""
    return [(int(low), int(high) - 1) for low, high in _RANGE.findall(text)]


def _header(oid: int, size: int, *, nulls: bool) -> bytes:
    if size == 0:
        return struct.pack("!iiI", 0, 0, oid)
    return _HEADER(1, nulls, oid, size, 1)


def _pack(oid: int, items: Sequence[bytes | None]) -> bytes:
    if None in items:
        parts = [_NULL if item is None else _LENGTH(len(item)) + item for item in items]
        return _header(oid, len(items), nulls=True) + b"".join(parts)
    octets = cast("Sequence[bytes]", items)
    parts = [b""] * (2 * len(items))
    parts[::2] = map(_LENGTH, map(len, octets))
    parts[1::2] = octets
    return _header(oid, len(items), nulls=False) + b"".join(parts)


class _ArrayDumper(Dumper):
    format = Format.BINARY

    def dump(self, obj: Array) -> Buffer:
        return obj.octets


class _Texts(_ArrayDumper):
    oid = 1009


class _Byteas(_ArrayDumper):
    oid = 1001


class _Bigints(_ArrayDumper):
    oid = 1016
