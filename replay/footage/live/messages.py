"""The messages of the process that reads a camera: how it is confined, pictures, or a problem.

Both sides share this file. A reader trusts none of a message: its kind is known, and its length has
a limit.
"""

from __future__ import annotations

import struct
from typing import Literal, NamedTuple

OCTETS_MAX = 8 << 20
"""The most bytes of one message."""

Kind = Literal["confined", "begin", "picture", "problem"]

_KINDS: dict[int, Kind] = {1: "confined", 2: "begin", 3: "picture", 4: "problem"}
_NUMBERS = {kind: number for number, kind in _KINDS.items()}
_HEAD = struct.Struct(">B?QI")
HEAD_OCTETS = _HEAD.size


class FilmMessage(NamedTuple):
    """One message.

    `confined`: JSON of `Confined`. `begin`: the codec in `CODEC_OCTETS`, then the beginning of a
    fragmented MP4. `picture`: one fragment. `problem`: a sentence, the last message.
    """

    kind: Kind
    octets: bytes
    key: bool = False  # whether a player can begin with it
    at_us: int = 0  # its time in the stream


CODEC_OCTETS = len("avc1.64001f")
"""Bytes of a codec's name (RFC 6381)."""


class MessageError(Exception):
    """What came is no message."""


def encoded(message: FilmMessage) -> bytes:
    """A message as bytes."""
    head = _HEAD.pack(_NUMBERS[message.kind], message.key, message.at_us, len(message.octets))
    return head + message.octets


def head_of(octets: bytes) -> tuple[FilmMessage, int]:
    """A message without its content, and the length of that. Raises MessageError."""
    number, key, at_us, length = _HEAD.unpack(octets)
    if number not in _KINDS or length > OCTETS_MAX:
        raise MessageError
    return FilmMessage(_KINDS[number], b"", key, at_us), length
