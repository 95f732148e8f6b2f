"""The WebM writer: what it refuses, and the times it keeps."""

from __future__ import annotations

from itertools import pairwise

import pytest

from replay.footage.muxing.webm import Packet, read_ivf, write_webm

KEY, DELTA = b"\x10key", b"\x11delta"


def test_a_frame_tag_with_its_lowest_bit_clear_is_a_key_frame() -> None:
    assert Packet(0, KEY).is_key
    assert not Packet(0, DELTA).is_key


@pytest.mark.parametrize(
    "packets",
    [
        [],
        [Packet(0, DELTA)],
        [Packet(0, KEY), Packet(0, DELTA)],
        [Packet(5, KEY), Packet(4, DELTA)],
    ],
)
def test_frames_out_of_order_or_without_a_key_frame_first_are_refused(
    packets: list[Packet],
) -> None:
    with pytest.raises(ValueError, match="must begin with a keyframe"):
        write_webm(packets, 480, 270, 1000)


def test_the_same_frames_give_the_same_bytes_and_another_time_gives_others() -> None:
    packets = [Packet(0, KEY), Packet(97, DELTA)]
    assert write_webm(packets, 480, 270, 200) == write_webm(packets, 480, 270, 200)
    assert write_webm(packets, 480, 270, 200) != write_webm(
        [packets[0], Packet(98, DELTA)], 480, 270, 200
    )


def test_each_cue_points_at_its_cluster_and_a_long_pause_starts_a_cluster_without_a_cue() -> None:
    packets = [Packet(0, KEY), Packet(90, DELTA), Packet(60_000, DELTA), Packet(60_100, KEY)]
    octets = write_webm(packets, 480, 270, 60_200)
    segment = octets.index(bytes.fromhex("18538067")) + 4 + 8
    clusters = [
        n - segment for n in range(len(octets)) if octets[n:].startswith(b"\x1f\x43\xb6\x75")
    ]
    cued = [
        int.from_bytes(octets[n + 9 : n + 17], "big")
        for n in range(len(octets))
        if octets[n:].startswith(b"\xf1\x01\x00\x00\x00\x00\x00\x00\x08")
    ]
    assert len(clusters) == 3
    assert cued == [clusters[0], clusters[2]]
    assert all(one < two for one, two in pairwise(clusters))


def test_an_ivf_file_cut_short_is_refused() -> None:
    header = b"DKIF\x00\x00\x20\x00VP80" + bytes(20)
    whole = header + (3).to_bytes(4, "little") + bytes(8) + b"abc"
    assert read_ivf(whole) == [b"abc"]
    with pytest.raises(ValueError, match="claims to end"):
        read_ivf(whole[:-1])
    with pytest.raises(ValueError, match="DKIF"):
        read_ivf(b"RIFF" + whole[4:])
