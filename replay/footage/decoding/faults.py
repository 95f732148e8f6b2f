"""Whether a file is cut off, and why it has no readable pictures, from its bytes alone.

Nothing is decoded. A file is called cut off only if its own lengths say that more should follow.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, BinaryIO

from replay.footage.decoding.containers import (
    BOX_OCTETS,
    CLUSTER,
    HEAD_OCTETS,
    PACKET_OCTETS,
    PICTURE_TRACK,
    SEGMENT,
    SOUND_TRACK,
    moov_of,
    top_boxes,
    vint,
)
from replay.footage.decoding.files import octets_of, opened

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from replay.footage.decoding.containers import Container, Ending

SOUND_ONLY = "it has sound only, no picture"
DAMAGED = "it is damaged: its content cannot be read"
_AGAIN = "Copy it again once the recorder has closed it"
NO_INDEX = f"it is cut off: the index that a recorder writes last is missing. {_AGAIN}"
TOO_SHORT = f"it is cut off: it ends before its first picture. {_AGAIN}"

_PICTURES_OF = {
    "mp4": PICTURE_TRACK,
    "matroska": re.compile(rb"\x86[\x80-\xff]V_"),  # CodecID, its length, a codec of pictures
    "webm": re.compile(rb"\x86[\x80-\xff]V_"),
    "avi": re.compile(rb"strh.{4}vids", re.DOTALL),
}
_SOUND_OF = {
    "mp4": SOUND_TRACK,
    "matroska": re.compile(rb"\x86[\x80-\xff]A_"),
    "webm": re.compile(rb"\x86[\x80-\xff]A_"),
    "avi": re.compile(rb"strh.{4}auds", re.DOTALL),
}
_PICTURE_STREAMS = frozenset((0x01, 0x02, 0x10, 0x1B, 0x20, 0x24, 0x33, 0x42, 0xD1, 0xEA))
"""Stream types of pictures in MPEG-TS (ISO/IEC 13818-1, table 2-34)."""

_PID_MAX = 0x1FFF
_ADAPTED, _PAYLOAD = 0x20, 0x10  # what a packet has
_FIELD_OCTETS = {0x10: 6, 0x08: 6, 0x04: 1}  # of its adaptation field: two clocks, a countdown
_PRIVATE, _EXTENSION = 0x02, 0x01  # further fields of it, which tell their own length
_ELEMENT_OCTETS_MAX = 12  # bytes of a Matroska element's name and length


def fault_of(path: Path, container: Container) -> str:
    """Why the file has no readable picture: sound only, cut off, or damaged."""
    with opened(path) as file:
        if _has_sound_only(file, container):
            return SOUND_ONLY
        return _reason(file, container, octets_of(path)) or DAMAGED


def _has_sound_only(file: BinaryIO, container: Container) -> bool:
    if container == "mpegts":
        types = _stream_types(file.read(HEAD_OCTETS))
        return bool(types) and types.isdisjoint(_PICTURE_STREAMS)
    head = moov_of(file) or b"" if container == "mp4" else file.read(HEAD_OCTETS)
    sound, pictures = _SOUND_OF[container].search(head), _PICTURES_OF[container].search(head)
    return sound is not None and pictures is None


def ending_of(path: Path, container: Container) -> Ending:
    """Whether the file ends where its own lengths say, or before; or whether they say nothing.

    A recorder that streams writes neither the length of the whole nor where the last piece ends.
    """
    with opened(path) as file:
        return _ENDINGS[container](file, octets_of(path))


def _mp4_ending(file: BinaryIO, size: int) -> Ending:
    boxes = dict(top_boxes(file))
    if max(boxes.values(), default=0) != size:
        return "cut"
    return "open" if b"moof" in boxes and b"mfra" not in boxes else "whole"


def _matroska_ending(file: BinaryIO, size: int) -> Ending:
    file.seek(0)
    head = file.read(HEAD_OCTETS)
    at = head.find(SEGMENT)
    if at < 0:
        return "whole"
    length, begins = vint(head, at + len(SEGMENT))
    if length != _endless(begins - at - len(SEGMENT)):
        return "cut" if begins + length > size else "whole"
    return "cut" if _last_element_ends(file, begins) > size else "open"


def _last_element_ends(file: BinaryIO, at: int) -> int:
    """The end of the last element of a Matroska segment by its own length, if that is given."""
    while True:
        file.seek(at)
        head = file.read(_ELEMENT_OCTETS_MAX)
        named = 9 - head[0].bit_length() if head else 0
        length, begins = vint(head, named)
        if len(head) < begins or not head:
            return at + len(head) + 1 if head else at
        if length == _endless(begins - named):
            return at
        at += begins + length


def _endless(width: int) -> int:
    """The length, in so many bytes, of an element that ends where the next one begins."""
    return (1 << 7 * width) - 1


def _avi_ending(file: BinaryIO, size: int) -> Ending:
    file.seek(4)
    return "cut" if int.from_bytes(file.read(4), "little") + BOX_OCTETS > size else "whole"


def _mpegts_ending(file: BinaryIO, size: int) -> Ending:
    """A picture ends in a packet that is filled up; a full last one counts as cut off."""
    if size % PACKET_OCTETS:
        return "cut"
    file.seek(0)
    pictures = {pid for pid, kind in _streams(file.read(HEAD_OCTETS)) if kind in _PICTURE_STREAMS}
    file.seek(max(size - HEAD_OCTETS // PACKET_OCTETS * PACKET_OCTETS, 0))
    tail, full = file.read(HEAD_OCTETS), False
    for at in range(0, len(tail) - PACKET_OCTETS + 1, PACKET_OCTETS):
        packet = tail[at : at + PACKET_OCTETS]
        of_pictures = int.from_bytes(packet[1:3], "big") & _PID_MAX in pictures
        if of_pictures and packet[3] & _PAYLOAD:
            full = not _is_filled_up(packet)
    return "cut" if full else "open"


def _is_filled_up(packet: bytes) -> bool:
    """Whether a packet has stuffing: what follows its clock and other fields (2.4.3.4, 2.4.3.5)."""
    length, told = packet[4], packet[5]
    if not packet[3] & _ADAPTED:
        return False
    if not length:
        return True  # the length itself fills up one byte
    used = 1 + sum(octets for bit, octets in _FIELD_OCTETS.items() if told & bit)
    for bit in (_PRIVATE, _EXTENSION):
        if told & bit and used < min(length, PACKET_OCTETS - 5):
            used += 1 + packet[5 + used]
    return used < length


_ENDINGS = {
    "mp4": _mp4_ending,
    "matroska": _matroska_ending,
    "webm": _matroska_ending,
    "avi": _avi_ending,
    "mpegts": _mpegts_ending,
}


def _reason(file: BinaryIO, container: Container, size: int) -> str | None:
    """Why a file without pictures is called cut off, if it is."""
    boxes = dict(top_boxes(file)) if container == "mp4" else {}
    if container == "mp4" and not 0 < boxes.get(b"moov", 0) <= size:
        return NO_INDEX
    ending = _ENDINGS[container](file, size)
    return TOO_SHORT if ending == "cut" or not (ending == "whole" or _begun(file)) else None


def _begun(file: BinaryIO) -> bool:
    """Whether a file without a length got as far as its first pictures, or its map of streams."""
    file.seek(0)
    head = file.read(HEAD_OCTETS)
    return CLUSTER in head or b"moof" in head or bool(_stream_types(head))


def _stream_types(head: bytes) -> set[int]:
    """The types of a transport stream's streams."""
    return {kind for _, kind in _streams(head)}


def _streams(head: bytes) -> set[tuple[int, int]]:
    """The streams of a transport stream by its program map: packet identifier and type.

    ISO/IEC 13818-1, 2.4.4.
    """
    maps: set[int] = set()
    streams: set[tuple[int, int]] = set()
    for pid, section in _sections(head):
        if pid == 0:
            programs = range(8, len(section) - 3, 4)
            maps |= {int.from_bytes(section[at + 2 : at + 4], "big") & _PID_MAX for at in programs}
        elif pid in maps:
            at = 12 + (int.from_bytes(section[10:12], "big") & 0xFFF)
            while at + 5 <= len(section):
                pid_of = int.from_bytes(section[at + 1 : at + 3], "big") & _PID_MAX
                streams.add((pid_of, section[at]))
                at += 5 + (int.from_bytes(section[at + 3 : at + 5], "big") & 0xFFF)
    return streams


def _sections(head: bytes) -> Iterator[tuple[int, bytes]]:
    """The tables that begin in a packet, without checksum, each with its packet's identifier."""
    for at in range(0, len(head) - PACKET_OCTETS + 1, PACKET_OCTETS):
        packet = head[at : at + PACKET_OCTETS]
        begins, pid = packet[1] & 0x40, int.from_bytes(packet[1:3], "big") & _PID_MAX
        body = packet[5 + packet[4] :] if packet[3] & 0x20 else packet[4:]
        if begins and body:
            table = body[1 + body[0] :]
            yield pid, table[: 3 + (int.from_bytes(table[1:3], "big") & 0xFFF) - 4]
