"""A minimal WebM writer: VP8 frames with their exact presentation times.

OpenCV's writer can only space frames evenly, and puts a random id into every file. This one keeps
each frame's millisecond and writes the same bytes for the same frames (ADR 0012). It does not
encode: it gets finished packets.
"""

from __future__ import annotations

import struct
from itertools import accumulate, pairwise
from typing import NamedTuple

_IVF_HEADER = 32  # bytes
_CLUSTER_MS_MAX = 5_000  # a block counts from its cluster in 16 signed bits of milliseconds


class Packet(NamedTuple):
    """One encoded VP8 frame, and its time in milliseconds from the start."""

    pts_ms: int
    octets: bytes

    @property
    def is_key(self) -> bool:
        """Whether it is a keyframe: the lowest bit of its frame tag is 0 (RFC 6386, 9.1)."""
        return not self.octets[0] & 1


def read_ivf(octets: bytes) -> list[bytes]:
    """The packets of an IVF file, in order. Raises ValueError if it is truncated."""
    if octets[:4] != b"DKIF" or len(octets) < _IVF_HEADER:
        raise ValueError("not an IVF file: it does not begin with DKIF and a complete header")
    packets, at = [], int.from_bytes(octets[6:8], "little")
    while at < len(octets):
        size = int.from_bytes(octets[at : at + 4], "little")
        start, at = at + 12, at + 12 + size
        if at > len(octets):
            raise ValueError(f"an IVF packet claims to end at {at}, the file at {len(octets)}")
        packets.append(octets[start:at])
    return packets


def write_webm(packets: list[Packet], width: int, height: int, duration_ms: int) -> bytes:
    """A WebM file of one VP8 track, with an index of its keyframes.

    Raises ValueError unless the first packet is a keyframe and the times rise.
    """
    rising = all(one.pts_ms < two.pts_ms for one, two in pairwise(packets))
    if not packets or not packets[0].is_key or not rising:
        raise ValueError("a WebM must begin with a keyframe, and its times must rise")
    head = _info(duration_ms) + _tracks(width, height)
    groups = _clusters(packets)
    clusters = [_cluster(group) for group in groups]
    ends = list(accumulate((len(cluster) for cluster in clusters), initial=0))
    first = len(head) + len(
        _cues(groups, 0, ends)
    )  # the size of the cues does not depend on positions
    segment = head + _cues(groups, first, ends) + b"".join(clusters)
    return _ebml_header() + _element(0x18538067, segment)


def _number(value: int) -> bytes:
    return value.to_bytes(max(1, (value.bit_length() + 7) // 8), "big")


def _element(identifier: int, content: bytes | int) -> bytes:
    """An EBML element: its id, its length in the eight-byte form, its content."""
    octets = _number(content) if isinstance(content, int) else content
    return _number(identifier) + ((1 << 56) | len(octets)).to_bytes(8, "big") + octets


def _ebml_header() -> bytes:
    fields = ((0x4286, 1), (0x42F7, 1), (0x42F2, 4), (0x42F3, 8), (0x4282, b"webm"))
    body = b"".join(_element(identifier, value) for identifier, value in fields)
    return _element(0x1A45DFA3, body + _element(0x4287, 4) + _element(0x4285, 2))


def _info(duration_ms: int) -> bytes:
    """The time scale in milliseconds, and the duration, which the format has as a 64-bit float."""
    name = b"round-ledger"
    body = _element(0x2AD7B1, 1_000_000) + _element(0x4489, struct.pack(">d", duration_ms))
    return _element(0x1549A966, body + _element(0x4D80, name) + _element(0x5741, name))


def _tracks(width: int, height: int) -> bytes:
    picture = _element(0xE0, _element(0xB0, width) + _element(0xBA, height))
    fields = ((0xD7, 1), (0x73C5, 1), (0x9C, 0), (0x83, 1), (0x86, b"V_VP8"))
    entry = b"".join(_element(identifier, value) for identifier, value in fields)
    return _element(0x1654AE6B, _element(0xAE, entry + picture))


def _clusters(packets: list[Packet]) -> list[list[Packet]]:
    """Packets by cluster: each begins at a keyframe, so that players can seek to every cue."""
    groups: list[list[Packet]] = []
    for packet in packets:
        too_long = groups and packet.pts_ms - groups[-1][0].pts_ms > _CLUSTER_MS_MAX
        if packet.is_key or too_long:
            groups.append([])
        groups[-1].append(packet)
    return groups


def _cluster(packets: list[Packet]) -> bytes:
    start = packets[0].pts_ms
    blocks = b"".join(_simple_block(packet, packet.pts_ms - start) for packet in packets)
    return _element(0x1F43B675, _element(0xE7, start) + blocks)


def _simple_block(packet: Packet, after_ms: int) -> bytes:
    flags = b"\x80" if packet.is_key else b"\x00"
    return _element(0xA3, b"\x81" + after_ms.to_bytes(2, "big") + flags + packet.octets)


def _cues(groups: list[list[Packet]], first: int, ends: list[int]) -> bytes:
    """The index, before the clusters: the offset of each keyframe's cluster in the segment."""
    points = b""
    for group, end in zip(groups, ends, strict=False):  # the last end begins no cluster
        if group[0].is_key:
            where = _element(0xF7, 1) + _element(0xF1, (first + end).to_bytes(8, "big"))
            points += _element(0xBB, _element(0xB3, group[0].pts_ms) + _element(0xB7, where))
    return _element(0x1C53BB6B, points)
