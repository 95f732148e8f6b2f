"""The MP4 writer for VP8: what it refuses, and what it writes where."""

from __future__ import annotations

from fractions import Fraction
from io import BytesIO

import pytest

from replay.footage.muxing.vp8_mp4 import Sample, Track, write_vp8

TRACK = Track(480, 272, Fraction(1), "a note")
PACKETS = [b"key", b"next", b"last!"]


def samples(*at: int, key: bool = True) -> list[Sample]:
    return [
        Sample(each, key and n == 0, len(packet))
        for n, (each, packet) in enumerate(zip(at, PACKETS, strict=False))
    ]


def written(of: list[Sample], packets: list[bytes]) -> bytes:
    out = BytesIO()
    write_vp8(out, TRACK, of, 3000, packets)
    return out.getvalue()


@pytest.mark.parametrize(
    ("of", "packets"),
    [
        ([], []),
        (samples(0, 3000, 6000, key=False), PACKETS),
        (samples(0, 6000, 3000), PACKETS),
        (samples(0, 3000), PACKETS),
        (samples(0, 3000, 6000), PACKETS[:2]),
        (samples(0, 3000, 6000), [b"other", *PACKETS[1:]]),
    ],
)
def test_what_is_no_film_is_refused(of: list[Sample], packets: list[bytes]) -> None:
    with pytest.raises(ValueError, match=r"film|packets|argument"):
        written(of, packets)


def test_the_index_says_where_the_film_begins() -> None:
    octets = written(samples(0, 3000, 6000), PACKETS)
    assert octets == written(samples(0, 3000, 6000), PACKETS)
    place = octets.index(b"co64") + 12
    assert octets[int.from_bytes(octets[place : place + 8], "big") :] == b"".join(PACKETS)
    assert int.from_bytes(octets[octets.index(b"mdat") + 4 :][:8], "big") == 16 + 12
    assert b"a note" in octets
