"""Puts the packets of an H.264 stream together to pictures (RTP, RFC 3550; RFC 6184).

It runs in the confined process. A packet is hostile input: what is no packet of the stream is left
out, and a picture has a limit. After a lost packet pictures are left out up to the next keyframe,
as they refer to what was lost.
"""

from __future__ import annotations

import struct
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

PICTURE_OCTETS_MAX = 4 << 20
UNITS_MAX = 1_000
"""The most bytes, and the most parts (NAL units), of one picture."""

TICKS = 90_000
"""Ticks of a picture's time in a second."""

IDR, SPS, PPS = 5, 7, 8
"""Types of units: a keyframe's slice, and the two sets of parameters."""

_TYPE, _SINGLE_MAX, _STAP_A, _FU_A = 0x1F, 23, 24, 28
_FIXED = struct.Struct(">BBHII")  # the fixed head of a packet
_VERSION, _PADDED, _EXTENDED, _SOURCES = 2, 0x20, 0x10, 0x0F
_MARKER, _PAYLOAD = 0x80, 0x7F
_START, _END = 0x80, 0x40  # of a unit in pieces
_WRAPS = 1 << 32


class Picture(NamedTuple):
    """A coded picture: its time in ticks from the first, and its units in order."""

    ticks: int
    units: Sequence[bytes]

    @property
    def key(self) -> bool:
        """Whether it can be decoded alone."""
        return any(kind_of(unit) == IDR for unit in self.units)


def kind_of(unit: bytes) -> int:
    """The type of a unit."""
    return unit[0] & _TYPE


class Pictures:
    """Takes packets in the order in which they came, and gives pictures."""

    def __init__(self, payload_type: int) -> None:
        self._payload_type = payload_type
        self._next: int | None = None  # number of the next packet
        self._stamp: int | None = None  # time of the picture under way
        self._ticks = 0
        self._units: list[bytes] = []
        self._piece = bytearray()  # of a unit in pieces
        self._octets = 0
        self._broken = True  # until the first keyframe
        self._spoilt = False  # whether the picture under way lacks a part
        self.lost = 0  # times that packets were lost

    def take(self, packet: bytes) -> Iterator[Picture]:
        """The pictures that a packet completes."""
        if len(packet) < _FIXED.size:
            return
        first, second, number, stamp, _ = _FIXED.unpack_from(packet)
        if first >> 6 != _VERSION or second & _PAYLOAD != self._payload_type:
            return
        payload = _payload(packet, first)
        lost = self._next not in (None, number)
        self._next = (number + 1) % (1 << 16)
        if lost:
            self._lose()
        if self._stamp is not None and stamp != self._stamp:
            yield from self._finished()
            self._spoilt = lost  # what was lost may be of this picture, too
        self._ticks += _since(self._stamp, stamp)
        self._stamp = stamp
        if payload and not self._spoilt:
            self._add(payload)
        if second & _MARKER:
            yield from self._finished()

    def _add(self, payload: bytes) -> None:
        kind = kind_of(payload)
        if 1 <= kind <= _SINGLE_MAX:
            self._keep(payload)
        elif kind == _STAP_A:
            at = 1
            while at + 2 < len(payload):
                length = int.from_bytes(payload[at : at + 2], "big")
                self._keep(payload[at + 2 : at + 2 + length])
                at += 2 + length
        elif kind == _FU_A and len(payload) > 2:  # noqa: PLR2004 - two octets are its heads
            self._continue(payload)

    def _continue(self, payload: bytes) -> None:
        """A piece of a unit."""
        if payload[1] & _START:
            self._piece = bytearray([payload[0] & ~_TYPE | payload[1] & _TYPE])
        elif not self._piece:
            return
        self._piece += payload[2:]
        if len(self._piece) > PICTURE_OCTETS_MAX:
            self._lose()
        elif payload[1] & _END:
            self._keep(bytes(self._piece))
            self._piece.clear()

    def _keep(self, unit: bytes) -> None:
        self._octets += len(unit)
        if self._octets > PICTURE_OCTETS_MAX or len(self._units) >= UNITS_MAX:
            self._lose()
        elif unit:
            self._units.append(unit)

    def _lose(self) -> None:
        """Leave out what is under way, and all up to the next keyframe."""
        self._broken = self._spoilt = True
        self.lost += 1
        self._clear()

    def _clear(self) -> None:
        self._units, self._octets = [], 0
        self._piece.clear()

    def _finished(self) -> Iterator[Picture]:
        """The picture under way, if it can be decoded."""
        made = Picture(self._ticks, self._units)
        self._clear()
        self._spoilt = False
        self._broken = self._broken and not made.key
        if made.units and not self._broken:
            yield made


def _payload(packet: bytes, first: int) -> bytes:
    """What a packet carries; empty if its head contradicts its length."""
    begins = _FIXED.size + 4 * (first & _SOURCES)
    if first & _EXTENDED:
        begins += 4 + 4 * int.from_bytes(packet[begins + 2 : begins + 4], "big")
    ends = len(packet) - (packet[-1] if first & _PADDED else 0)
    return packet[begins:ends] if begins < ends else b""


def _since(before: int | None, stamp: int) -> int:
    """Ticks from one time to another, forward or back, over the wrap of 32 bits."""
    if before is None:
        return 0
    return (stamp - before + _WRAPS // 2) % _WRAPS - _WRAPS // 2
