"""Whatever bytes a file holds, what it says of itself is read without a fault, or not at all."""

from __future__ import annotations

from typing import TYPE_CHECKING, get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st

from replay.footage.decoding.containers import (
    Container,
    begins_plainly,
    container_of,
    created_us,
    has_sound,
)
from replay.footage.library.start_times import DoubtfulTimeError, start_in

if TYPE_CHECKING:
    from pathlib import Path

HEADS = (
    b"\x00\x00\x00\x18ftypisom",
    b"\x00\x00\x00\x01moov\xff\xff\xff\xff\xff\xff\xff\xff",
    b"\x00\x00\x00\x00moov",
    b"\x1a\x45\xdf\xa3\x93\x42\x82\x84webm\x18\x53\x80\x67",
    b"\x1a\x45\xdf\xa3\x1f\x43\xb6\x75\x00\xe7",
    b"RIFF\x00\x00\x00\x00AVI LIST",
    (b"\x47" + bytes(187)) * 3,
    b"",
)


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("octets") / "file"


WORDS = (b"mvhd", b"hdlr", b"soun", b"\x44\x61\x88", b"\x1f\x43\xb6\x75", b"\xe7", b"moov")


@given(
    head=st.sampled_from(HEADS),
    rest=st.binary(max_size=400),
    words=st.lists(st.sampled_from(WORDS), max_size=4),
)
def test_no_octets_are_a_fault(place: Path, head: bytes, rest: bytes, words: list[bytes]) -> None:
    place.write_bytes(head + b"".join(words) + rest)
    assert container_of(place) in (None, *get_args(Container))
    for container in get_args(Container):
        made, sound = created_us(place, container), has_sound(place, container)
        assert made is None or isinstance(made, int)
        assert sound in (True, False, None)
        assert begins_plainly(place, container) in (True, False)


@given(name=st.text(max_size=60) | st.from_regex(r"20\d{12}[._]?\d{0,7}[Z+-]?\d{0,4}"))
def test_no_name_is_a_fault(name: str) -> None:
    try:
        start = start_in(name)
    except DoubtfulTimeError:
        return
    assert start is None or start > 0


@given(seconds=st.integers(946_684_800, 4_102_444_799), part=st.integers(0, 999_999))
def test_a_time_in_a_name_is_that_time(seconds: int, part: int) -> None:
    from datetime import UTC, datetime  # noqa: PLC0415 - the judge, not what is judged

    at = datetime.fromtimestamp(seconds, UTC)
    for form in ("%Y%m%dT%H%M%S", "%Y-%m-%d_%H-%M-%S", "%Y-%m-%d %H.%M.%S", "%Y%m%d%H%M%S"):
        assert start_in(f"CC-07 {at:{form}}.mkv") == seconds * 1_000_000
    assert start_in(f"{at:%Y%m%dT%H%M%S}.{part:06d}Z.mkv") == seconds * 1_000_000 + part
