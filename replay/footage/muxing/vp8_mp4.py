"""A minimal MP4 writer for VP8, which FFmpeg cannot write: packets and times are unchanged.

Format: the VP Codec ISO Media File Format Binding 1.0 (sample entry `vp08`). Chromium plays it,
FFmpeg and OpenCV read it (ADR 0153). The index is first, followed by the film as one chunk.
"""

from __future__ import annotations

import struct
from itertools import groupby, pairwise
from typing import IO, TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from fractions import Fraction

TICKS = 90_000
"""The file's ticks in a second."""

_UNITY = struct.pack(">9I", 0x10000, 0, 0, 0, 0x10000, 0, 0, 0, 0x40000000)  # no rotation
_SELF_CONTAINED, _SHOWN = 1, 3  # flags: the film is in this file; the track is enabled and in use
_DPI_72 = 72 << 16
_UNDETERMINED = 0x55C4  # the language `und`
_UNSPECIFIED = 2  # of colours
_EIGHT_BITS_420 = 8 << 4 | 1 << 1  # depth; chroma sampling; not the full range


class Sample(NamedTuple):
    """One packet: its time in ticks from the first, whether it is a keyframe, its size in bytes."""

    at: int
    is_key: bool
    size: int


class Track(NamedTuple):
    """The format of the frames. aspect: of one pixel, width by height."""

    width: int
    height: int
    aspect: Fraction
    note: str


def write_vp8(
    out: IO[bytes], track: Track, samples: Sequence[Sample], last: int, packets: Iterable[bytes]
) -> None:
    """Write a complete file. last: duration of the last frame, in ticks.

    Raises ValueError unless the first sample is a keyframe, the times rise, and the packets are
    those of the samples.
    """
    lasting = [after.at - before.at for before, after in pairwise(samples)] + [last]
    if not samples or not samples[0].is_key or min(lasting) < 0:
        raise ValueError("a film must begin with a keyframe, and its times must rise")
    film = sum(sample.size for sample in samples)
    kind = _box(b"ftyp", b"isom", bytes(4), b"isomiso6mp41")
    behind = len(kind) + len(_moov(track, samples, lasting, 0)) + _HEADER
    out.write(kind + _moov(track, samples, lasting, behind))
    out.write(struct.pack(">I4sQ", 1, b"mdat", _HEADER + film))
    for sample, packet in zip(samples, packets, strict=True):
        if len(packet) != sample.size:
            raise ValueError("the packets are not those of the index")
        out.write(packet)


_HEADER = 16  # bytes of a box with a long size


def _moov(track: Track, samples: Sequence[Sample], lasting: Sequence[int], film_at: int) -> bytes:
    """The index. Its size does not depend on the film's offset."""
    whole = sum(lasting)
    shown_width = round(track.width * track.aspect)
    heading = _full(
        b"mvhd", 1, 0, struct.pack(">QQIQ", 0, 0, TICKS, whole), struct.pack(">IH", 0x10000, 0x100),
        bytes(10), _UNITY, bytes(24), struct.pack(">I", 2),
    )  # fmt: skip
    shown = _full(
        b"tkhd", 1, _SHOWN, struct.pack(">QQIIQ", 0, 0, 1, 0, whole), bytes(16), _UNITY,
        struct.pack(">II", shown_width << 16, track.height << 16),
    )  # fmt: skip
    place = _full(b"dref", 0, 0, struct.pack(">I", 1), _full(b"url ", 0, _SELF_CONTAINED))
    film = _box(
        b"minf", _full(b"vmhd", 0, 1, bytes(8)), _box(b"dinf", place),
        _table(track, samples, lasting, film_at),
    )  # fmt: skip
    media = _box(
        b"mdia",
        _full(b"mdhd", 1, 0, struct.pack(">QQIQHH", 0, 0, TICKS, whole, _UNDETERMINED, 0)),
        _full(b"hdlr", 0, 0, bytes(4), b"vide", bytes(13)),
        film,
    )
    return _box(b"moov", heading, _box(b"trak", shown, media), _comment(track.note))


def _table(track: Track, samples: Sequence[Sample], lasting: Sequence[int], film_at: int) -> bytes:
    """The sample table: times, keyframes, sizes, and the one chunk with all samples."""
    runs = [(len(list(run)), ticks) for ticks, run in groupby(lasting)]
    keys = [number for number, sample in enumerate(samples, 1) if sample.is_key]
    return _box(
        b"stbl",
        _full(b"stsd", 0, 0, struct.pack(">I", 1), _entry(track)),
        _full(b"stts", 0, 0, _words(len(runs)), *(_words(*run) for run in runs)),
        _full(b"stss", 0, 0, _words(len(keys), *keys)),
        _full(b"stsc", 0, 0, _words(1, 1, len(samples), 1)),
        _full(b"stsz", 0, 0, _words(0, len(samples), *(sample.size for sample in samples))),
        _full(b"co64", 0, 0, struct.pack(">IQ", 1, film_at)),
    )


def _entry(track: Track) -> bytes:
    colours = bytes([0, 0, _EIGHT_BITS_420, _UNSPECIFIED, _UNSPECIFIED, _UNSPECIFIED])
    return _box(
        b"vp08", bytes(6), struct.pack(">H", 1), bytes(16),
        struct.pack(">HHIIIH", track.width, track.height, _DPI_72, _DPI_72, 0, 1), bytes(32),
        struct.pack(">Hh", 24, -1), _full(b"vpcC", 1, 0, colours, bytes(2)),
        _box(b"pasp", _words(*track.aspect.as_integer_ratio())),
    )  # fmt: skip


def _comment(note: str) -> bytes:
    """The note, where FFmpeg's MP4 has its comment."""
    value = _box(b"data", _words(1, 0), note.encode())
    handler = _full(b"hdlr", 0, 0, bytes(4), b"mdirappl", bytes(9))
    return _box(
        b"udta", _full(b"meta", 0, 0, handler, _box(b"ilst", _box(b"\xa9cmt", value)))
    ) if note else b""  # fmt: skip


def _words(*values: int) -> bytes:
    return struct.pack(f">{len(values)}I", *values)


def _full(kind: bytes, version: int, flags: int, *parts: bytes) -> bytes:
    return _box(kind, _words(version << 24 | flags), *parts)


def _box(kind: bytes, *parts: bytes) -> bytes:
    payload = b"".join(parts)
    return struct.pack(">I4s", 8 + len(payload), kind) + payload
