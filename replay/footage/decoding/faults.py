"""Why a file of a known container has no readable pictures, from its bytes alone.

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

    from replay.footage.decoding.containers import Container

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


def fault_of(path: Path, container: Container) -> str:
    """Why the file has no readable picture: sound only, cut off, or damaged."""
    with opened(path) as file:
        if _has_sound_only(file, container):
            return SOUND_ONLY
        return _CUTS[container](file, octets_of(path)) or DAMAGED


def _has_sound_only(file: BinaryIO, container: Container) -> bool:
    if container == "mpegts":
        types = _stream_types(file.read(HEAD_OCTETS))
        return bool(types) and types.isdisjoint(_PICTURE_STREAMS)
    head = moov_of(file) or b"" if container == "mp4" else file.read(HEAD_OCTETS)
    sound, pictures = _SOUND_OF[container].search(head), _PICTURES_OF[container].search(head)
    return sound is not None and pictures is None


def _mp4_cut(file: BinaryIO, size: int) -> str | None:
    boxes = dict(top_boxes(file))
    if b"moov" not in boxes or boxes[b"moov"] > size:
        return NO_INDEX
    return TOO_SHORT if max(boxes.values()) > size else None


def _matroska_cut(file: BinaryIO, size: int) -> str | None:
    file.seek(0)
    head = file.read(HEAD_OCTETS)
    at = head.find(SEGMENT)
    if at < 0:
        return None
    length, begins = vint(head, at + len(SEGMENT))
    endless = length == (1 << 7 * (begins - at - len(SEGMENT))) - 1  # written as it is recorded
    if endless:
        return None if CLUSTER in head else TOO_SHORT
    return TOO_SHORT if begins + length > size else None


def _avi_cut(file: BinaryIO, size: int) -> str | None:
    file.seek(4)
    return TOO_SHORT if int.from_bytes(file.read(4), "little") + BOX_OCTETS > size else None


def _mpegts_cut(file: BinaryIO, size: int) -> str | None:
    file.seek(0)
    known = _stream_types(file.read(HEAD_OCTETS))
    return TOO_SHORT if size % PACKET_OCTETS or not known else None


_CUTS = {
    "mp4": _mp4_cut,
    "matroska": _matroska_cut,
    "webm": _matroska_cut,
    "avi": _avi_cut,
    "mpegts": _mpegts_cut,
}


def _stream_types(head: bytes) -> set[int]:
    """The types of a transport stream's streams, by its program map (ISO/IEC 13818-1, 2.4.4)."""
    maps: set[int] = set()
    types: set[int] = set()
    for pid, section in _sections(head):
        if pid == 0:
            programs = range(8, len(section) - 3, 4)
            maps |= {int.from_bytes(section[at + 2 : at + 4], "big") & _PID_MAX for at in programs}
        elif pid in maps:
            at = 12 + (int.from_bytes(section[10:12], "big") & 0xFFF)
            while at + 5 <= len(section):
                types.add(section[at])
                at += 5 + (int.from_bytes(section[at + 3 : at + 5], "big") & 0xFFF)
    return types


def _sections(head: bytes) -> Iterator[tuple[int, bytes]]:
    """The tables that begin in a packet, without checksum, each with its packet's identifier."""
    for at in range(0, len(head) - PACKET_OCTETS + 1, PACKET_OCTETS):
        packet = head[at : at + PACKET_OCTETS]
        begins, pid = packet[1] & 0x40, int.from_bytes(packet[1:3], "big") & _PID_MAX
        body = packet[5 + packet[4] :] if packet[3] & 0x20 else packet[4:]
        if begins and body:
            table = body[1 + body[0] :]
            yield pid, table[: 3 + (int.from_bytes(table[1:3], "big") & 0xFFF) - 4]
