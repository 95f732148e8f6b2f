"""Reads metadata from a video file's bytes: container, creation time, sound.

OpenCV does not give these. It reads only the given file and decodes nothing. What it cannot read is
None, never a guess.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, BinaryIO, Literal

from replay.footage.decoding.files import opened

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

Container = Literal["mp4", "matroska", "webm", "mpegts", "avi"]
"""The accepted containers of footage."""

Ending = Literal["whole", "cut", "open"]
"""Whether a file ends where its own lengths say; `open`: it does not say where."""

SUFFIXES = (".mp4", ".m4v", ".mov", ".mkv", ".webm", ".ts", ".mts", ".avi")
"""File name endings that are read; the content decides the container."""

HEAD_OCTETS = 1 << 16  # bytes in which Matroska and AVI list their tracks
_MOOV_MAX = 64 << 20  # most bytes of an MP4's index that are read
BOX_OCTETS = 8  # bytes of an MP4 box's size and name
_EBML, SEGMENT = b"\x1a\x45\xdf\xa3", b"\x18\x53\x80\x67"  # Matroska: its head, its body
CLUSTER, _CLUSTER_TIME = b"\x1f\x43\xb6\x75", b"\xe7"
PACKET_OCTETS = 188  # bytes, of MPEG-TS
_SYNC = 0x47
_MP4_FIRST = frozenset((b"ftyp", b"styp", b"moov"))
SOUND_TRACK = re.compile(rb"hdlr.{8}soun", re.DOTALL)  # ISO/IEC 14496-12, 8.4.3
PICTURE_TRACK = re.compile(rb"hdlr.{8}vide", re.DOTALL)
_ONE_EDIT = b"\0\0\0\1"
_SINCE_1904 = 2_082_844_800  # seconds from 1904, where MP4 begins to count, to 1970
_SINCE_2001 = 978_307_200  # seconds from 1970 to 2001, where Matroska begins to count
_S = 1_000_000


def container_of(path: Path) -> Container | None:
    """The container of a file, by its first bytes; None for anything else.

    Raises OSError if it cannot be read.
    """
    with opened(path) as file:
        head = file.read(3 * PACKET_OCTETS)
    if head[4:8] in _MP4_FIRST:
        return "mp4"
    if head[:4] == _EBML:
        return "webm" if b"webm" in head.partition(SEGMENT)[0] else "matroska"
    if head[:4] == b"RIFF" and head[8:12] == b"AVI ":
        return "avi"
    whole = len(head) == 3 * PACKET_OCTETS
    if whole and all(head[at] == _SYNC for at in range(0, len(head), PACKET_OCTETS)):
        return "mpegts"
    return None


def created_us(path: Path, container: Container) -> int | None:
    """The creation time in the file, in microseconds since 1970 UTC; None if it has none.

    Some recorders set it when they begin the file, others when they close it.
    """
    with opened(path) as file:
        if container == "mp4":
            return _mvhd_time(moov_of(file) or b"")
        if container in ("matroska", "webm"):
            return _date_utc(file.read(HEAD_OCTETS))
    return None


def has_sound(path: Path, container: Container) -> bool | None:
    """Whether the file has a sound track; None if that cannot be read (MPEG-TS)."""
    with opened(path) as file:
        if container == "mp4":
            moov = moov_of(file)
            return None if moov is None else SOUND_TRACK.search(moov) is not None
        head = file.read(HEAD_OCTETS)
    if container in ("matroska", "webm"):
        return b"\x86\x85A_" in head or any(b"A_" + name in head for name in _SOUNDS)
    return b"auds" in head if container == "avi" else None


_SOUNDS = (b"OPUS", b"VORBIS", b"AAC", b"MPEG", b"PCM", b"FLAC", b"AC3", b"EAC3", b"DTS", b"MS/")
"""Names of sound codecs in Matroska, after `A_`."""


def begins_plainly(path: Path, container: Container) -> bool:
    """Whether a browser shows its first frame at time 0 and finds every frame by its time.

    A fragmented MP4 cannot correct the delay of its first frame. With frames out of order a player
    may seek past the wanted frame. An edit list may hide or move frames. A WebM may begin at any
    time.
    """
    with opened(path) as file:
        if container == "mp4":
            return _plain_pictures(moov_of(file) or b"")
        if container != "webm":
            return False
        body = file.read(HEAD_OCTETS).partition(CLUSTER)[2]
    _, at = vint(body, 0)
    if body[at : at + 1] != _CLUSTER_TIME:
        return False
    size, at = vint(body, at + 1)
    return size > 0 and not any(body[at : at + size])


def _plain_pictures(moov: bytes) -> bool:
    """Whether an MP4's video track is complete, in order and begins at 0."""
    tracks = [track for track in _tracks(moov) if PICTURE_TRACK.search(track)]
    return b"mvex" not in moov and len(tracks) == 1 and _in_order_from_0(tracks[0])


def _in_order_from_0(track: bytes) -> bool:
    """Whether frames are shown in decoding order, and nothing is cut off or added at the start."""
    at = track.find(b"elst")
    if at < 0 or b"ctts" in track:
        return b"ctts" not in track
    edits = track[at + 4 :]
    wide = edits[:1] == b"\1"  # ISO/IEC 14496-12, 8.6.6: 64 bits for a length and a time
    begins = edits[16:24] if wide else edits[12:16]
    return edits[4:8] == _ONE_EDIT and not any(begins)


def hidden_us(path: Path, container: Container) -> int:
    """The duration in an MP4 before its first shown frame, by its edit list; else 0.

    A file cut without re-encoding contains the hidden frames that its first shown frame needs.
    """
    if container != "mp4":
        return 0
    with opened(path) as file:
        moov = moov_of(file) or b""
    for track in _tracks(moov):
        at = track.find(b"elst")
        if PICTURE_TRACK.search(track) and at >= 0 and track[at + 8 : at + 12] == _ONE_EDIT:
            begins = _number(track, b"elst", 16, 24)
            delay = _number(track, b"ctts", 16, 16)  # of the frame that is decoded first
            a_second = _number(track, b"mdhd", 16, 24)
            return max(begins - delay, 0) * _S // a_second if a_second and not begins >> 31 else 0
    return 0


def _number(track: bytes, box: bytes, place: int, place_wide: int) -> int:
    """A number in a box, by its offset in version 0 and in version 1 (with 64-bit times)."""
    at = track.find(box)
    if at < 0:
        return 0
    at += place_wide if track[at + 4 : at + 5] == b"\1" else place
    return int.from_bytes(track[at : at + 4], "big")


def _tracks(moov: bytes) -> Iterator[bytes]:
    at = 0
    while at + BOX_OCTETS <= len(moov):
        size = max(int.from_bytes(moov[at : at + 4], "big"), BOX_OCTETS)
        if moov[at + 4 : at + BOX_OCTETS] == b"trak":
            yield moov[at + BOX_OCTETS : at + size]
        at += size


def vint(octets: bytes, at: int) -> tuple[int, int]:
    """An EBML length and where it ends; its first set bit gives its number of bytes."""
    first = octets[at] if at < len(octets) else 0
    width = 9 - first.bit_length()
    value = int.from_bytes(octets[at : at + width], "big")
    return value & ~(1 << 7 * width), at + width


def moov_of(file: BinaryIO) -> bytes | None:
    """The index of an MP4, which may be at its end; None if it is missing or too large."""
    begins = 0
    for kind, ends in top_boxes(file):
        if kind == b"moov":
            body = begins + _head_octets(file, begins)
            file.seek(body)
            return file.read(min(ends - body, _MOOV_MAX)) if ends > body else None
        begins = ends
    return None


def top_boxes(file: BinaryIO) -> Iterator[tuple[bytes, int]]:
    """The boxes of an MP4's outermost level: name, and where it ends by its own length."""
    at = 0
    for _ in range(10_000):  # a fragmented file has two for each fragment
        file.seek(at)
        head = file.read(16)
        if len(head) < BOX_OCTETS:
            return
        size, body = int.from_bytes(head[:4], "big"), BOX_OCTETS
        if size == 1:
            size, body = int.from_bytes(head[8:16], "big"), 2 * BOX_OCTETS
        yield head[4:8], at + size
        if size < body:
            return
        at += size


def _head_octets(file: BinaryIO, at: int) -> int:
    """The bytes of a box before its content; its length may have 64 bits."""
    file.seek(at)
    return 2 * BOX_OCTETS if file.read(4) == b"\0\0\0\1" else BOX_OCTETS


def _mvhd_time(moov: bytes) -> int | None:
    at = moov.find(b"mvhd")
    if at < 0 or at + 16 > len(moov):
        return None
    width = 8 if moov[at + 4] == 1 else 4
    seconds = int.from_bytes(moov[at + 8 : at + 8 + width], "big")
    return (seconds - _SINCE_1904) * _S if seconds > _SINCE_1904 else None


def _date_utc(head: bytes) -> int | None:
    """Matroska's DateUTC: nanoseconds since 2001, in eight bytes."""
    at = head.find(b"\x44\x61\x88")
    if at < 0 or at + 11 > len(head):
        return None
    nanoseconds = int.from_bytes(head[at + 3 : at + 11], "big", signed=True)
    return _SINCE_2001 * _S + nanoseconds // 1000
