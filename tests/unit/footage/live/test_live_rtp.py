"""Packets put together to pictures, as RFC 6184 has them, and what happens to all others."""

from __future__ import annotations

import random
import struct
from itertools import pairwise

from replay.footage.live import rtp
from replay.footage.live.rtp import Picture, Pictures

SPS, PPS, KEY, NEXT = b"\x67sps", b"\x68pps", b"\x65key", b"\x41next"


def packet(
    number: int, stamp: int, content: bytes, *, last: bool = False, first: int = 0x80
) -> bytes:
    head = (first, 96 | (0x80 if last else 0), number % 65_536, stamp % 2**32, 7)
    return struct.pack(">BBHII", *head) + content


def aggregate(*units: bytes) -> bytes:
    return b"\x78" + b"".join(struct.pack(">H", len(each)) + each for each in units)


def pieces(unit: bytes, size: int) -> list[bytes]:
    parts = [unit[at : at + size] for at in range(1, len(unit), size)]
    head = unit[0] & 0xE0 | 28
    return [
        bytes([
            head,
            unit[0] & 31 | (0x80 if nth == 0 else 0) | (0x40 if nth == len(parts) - 1 else 0),
        ]) + part
        for nth, part in enumerate(parts)
    ]  # fmt: skip


def pictures(*packets: bytes) -> list[Picture]:
    made = Pictures(96)
    return [found for each in packets for found in made.take(each)]


def test_units_come_alone_together_and_in_pieces() -> None:
    large = b"\x65" + bytes(range(256)) * 4
    parts = pieces(large, 300)
    found = pictures(
        packet(1, 9_000, aggregate(SPS, PPS)),
        *(packet(2 + n, 9_000, each, last=n == 3) for n, each in enumerate(parts)),
        packet(6, 12_000, NEXT, last=True),
    )
    assert found == [Picture(0, [SPS, PPS, large]), Picture(3_000, [NEXT])]
    assert [each.key for each in found] == [True, False]


def test_a_picture_without_a_mark_ends_with_the_next_time() -> None:
    found = pictures(packet(1, 0, KEY), packet(2, 3_000, NEXT), packet(3, 6_000, NEXT))
    assert [each.ticks for each in found] == [0, 3_000]


def test_numbers_and_times_go_on_over_their_wrap_and_times_may_go_back() -> None:
    stamps = (2**32 - 3_000, 0, 9_000, 3_000, 6_000)
    found = pictures(*(packet(65_534 + n, at, KEY, last=True) for n, at in enumerate(stamps)))
    assert [each.ticks for each in found] == [0, 3_000, 12_000, 6_000, 9_000]


def test_after_a_lost_packet_pictures_are_left_out_up_to_the_next_keyframe() -> None:
    told = [(0, KEY), (1, NEXT), (2, NEXT), (3, NEXT), (4, KEY), (5, NEXT)]
    packets = [packet(n, n * 3_000, unit, last=True) for n, unit in told]
    assert [each.ticks // 3_000 for each in pictures(*packets)] == [0, 1, 2, 3, 4, 5]
    lost = pictures(*packets[:2], *packets[3:])
    assert [each.ticks // 3_000 for each in lost] == [0, 1, 4, 5]


def test_a_keyframe_that_lacks_a_part_does_not_count() -> None:
    parts = pieces(b"\x65" + bytes(900), 300)
    packets = [packet(n, 0, each, last=n == 2) for n, each in enumerate(parts)]
    after = packet(3, 3_000, NEXT, last=True)
    assert len(pictures(*packets, after)) == 2
    for gone in range(3):
        assert pictures(*packets[:gone], *packets[gone + 1 :], after) == []


def test_a_stream_begins_with_a_keyframe() -> None:
    assert pictures(packet(1, 0, NEXT, last=True), packet(2, 3_000, NEXT, last=True)) == []


def test_heads_with_more_in_them_are_read() -> None:
    sources = struct.pack(">II", 1, 2)
    extension = struct.pack(">HHI", 0xBEDE, 1, 0)
    padding = b"\0\0\3"
    found = pictures(
        packet(1, 0, sources + KEY, last=True, first=0x82),
        packet(2, 3_000, extension + NEXT, last=True, first=0x90),
        packet(3, 6_000, NEXT + padding, last=True, first=0xA0),
    )
    assert [list(each.units) for each in found] == [[KEY], [NEXT], [NEXT]]


def test_what_is_no_packet_of_the_stream_is_left_out() -> None:
    made = Pictures(96)
    other = struct.pack(">BBHII", 0x80, 97 | 0x80, 1, 0, 7) + KEY
    for each in (b"", b"\x80\x60", packet(1, 0, KEY, first=0x40), other, packet(1, 0, b"")):
        assert list(made.take(each)) == []


def test_a_picture_has_a_limit() -> None:
    part = b"\x7c\x05" + bytes(60_000)
    made = Pictures(96)
    found = list(made.take(packet(0, 0, b"\x7c\x85" + bytes(60_000))))
    for number in range(1, 200):
        found += made.take(packet(number, 0, part))
        assert len(made._piece) <= rtp.PICTURE_OCTETS_MAX + len(part)
    for number in range(200, 2_000):
        found += made.take(packet(number, 0, KEY))
    assert len(made._units) <= rtp.UNITS_MAX
    assert found == []


def test_rubbish_breaks_nothing() -> None:
    chance = random.Random(5)  # noqa: S311 - repeatable, guards nothing
    made, found = Pictures(96), []
    for number in range(5_000):
        content = chance.randbytes(chance.randrange(40))
        packed = packet(number, number // 3 * 3_000, content, last=chance.random() < 0.3)
        found += made.take(packed[: chance.randrange(len(packed) + 1)])
        found += made.take(chance.randbytes(chance.randrange(60)))
    assert all(before.ticks <= after.ticks + 2**32 for before, after in pairwise(found))
