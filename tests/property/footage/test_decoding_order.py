"""Packets written in any order a codec may have: each is decoded in time, and as late as can be."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from replay.footage.muxing.decoding_order import decoded_late

if TYPE_CHECKING:
    from collections.abc import Iterator

FRAME = 3000
"""Ticks between two frames, on the average."""


@dataclass
class Packet:
    pts: int | None
    dts: int | None = None
    duration: int | None = 0
    is_keyframe: bool = False


@st.composite
def packets(draw: st.DrawFn) -> list[Packet]:
    """Closed groups: a key frame, then runs in which the last shown is decoded first."""
    made, at = [], 0
    for _ in range(draw(st.integers(1, 4))):
        made.append(Packet(at, is_keyframe=True))
        for held_back in draw(st.lists(st.integers(0, 4), max_size=12)):
            times = []
            for _ in range(held_back + 1):
                at += draw(st.integers(500, 90_000))
                times.append(at)
            made += [Packet(each) for each in (times[-1], *times[:-1])]
        at += FRAME
    return made


@given(given_packets=packets())
def test_every_packet_is_decoded_before_it_is_shown_and_a_key_frame_just_then(
    given_packets: list[Packet],
) -> None:
    shown = [packet.pts for packet in given_packets]
    done = list(decoded_late(iter(given_packets)))
    assert [packet.pts for packet in done] == shown
    decoded = [packet.dts or 0 for packet in done]
    assert all(before < after for before, after in pairwise(decoded))
    assert all(dts <= (packet.pts or 0) for dts, packet in zip(decoded, done, strict=True))
    for packet in done:
        if packet.is_keyframe:
            before = [each.pts or 0 for each in done if (each.pts or 0) < (packet.pts or 0)]
            assert all(each < (packet.dts or 0) for each in before)


@given(given_packets=packets(), lasts=st.integers(1, 9000))
def test_the_file_ends_where_its_last_picture_ends(given_packets: list[Packet], lasts: int) -> None:
    for packet in given_packets:
        packet.duration = lasts
    done = list(decoded_late(iter(given_packets)))
    ends = max(packet.pts or 0 for packet in done) + lasts
    assert (done[-1].dts or 0) + (done[-1].duration or 0) == max(ends, (done[-1].dts or 0) + 1)


def test_a_picture_that_jumps_a_key_frame_is_refused() -> None:
    def open_group() -> Iterator[Packet]:
        yield Packet(0, is_keyframe=True)
        yield Packet(FRAME * 3, is_keyframe=True)
        yield Packet(FRAME)

    with pytest.raises(ValueError, match="across keyframes"):
        list(decoded_late(open_group()))
    with pytest.raises(ValueError, match="no presentation time"):
        list(decoded_late(iter([Packet(None)])))
