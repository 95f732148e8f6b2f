"""How a row is framed and chained: no two rows, and no two lists of parts, give the same bytes."""

from __future__ import annotations

import hashlib
import struct

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ledger.record.tape import (
    GENESIS,
    TapeRow,
    chain_hash,
    frame,
    frame_attributes,
    payload_hash,
    unframe,
    unframe_attributes,
)

PARTS = st.lists(st.binary(max_size=20), max_size=6)
ROW = TapeRow(
    position=7,
    tape="hollywood/CC-07",
    table_seq=3,
    type="wager_paid.v1",
    source="/hollywood/CC-07/rail",
    id="r1-9",
    time_us=1_795_000_000_000_001,
    subject="CC-07/2026-11-20/231",
    received_at_us=1_795_000_000_100_000,
    attributes=frame_attributes({"id": "r1-9", "source": "/hollywood/CC-07/rail"}),
    data=b'{"amount": 2500}',
    hash=bytes(32),
)


@given(PARTS)
def test_what_was_framed_is_unframed(parts: list[bytes]) -> None:
    assert list(unframe(frame(parts))) == parts


@given(PARTS, PARTS)
def test_two_lists_of_parts_never_frame_alike(one: list[bytes], other: list[bytes]) -> None:
    assert (frame(one) == frame(other)) == (one == other)


@given(st.dictionaries(st.text(max_size=8), st.text(max_size=8), max_size=5))
def test_attributes_are_framed_in_the_order_of_their_names(attributes: dict[str, str]) -> None:
    framed = frame_attributes(attributes)
    assert unframe_attributes(framed) == attributes
    assert framed == frame_attributes(dict(reversed(attributes.items())))


@pytest.mark.parametrize("octets", [b"\0", bytes(7), (9).to_bytes(8, "big") + b"short"])
def test_a_frame_whose_lengths_do_not_fit_is_refused(octets: bytes) -> None:
    with pytest.raises(ValueError, match="a frame ends at"):
        list(unframe(octets))


def test_the_chain_is_sha256_over_the_documented_octets() -> None:
    """Written out once more from the documentation, not from the code."""
    previous = bytes(range(32))
    payload = hashlib.sha256(
        struct.pack(">Q", len(ROW.attributes))
        + ROW.attributes
        + struct.pack(">Q", len(ROW.data))
        + ROW.data
    ).digest()
    header = struct.pack(">qqqq", 7, 3, 1_795_000_000_000_001, 1_795_000_000_100_000)
    names = struct.pack(">Q", 15) + b"hollywood/CC-07" + struct.pack(">Q", 13) + b"wager_paid.v1"
    expected = hashlib.sha256(b"\x02" + previous + header + names + payload).digest()
    assert payload_hash(ROW.attributes, ROW.data) == payload
    assert chain_hash(previous, ROW) == expected


@pytest.mark.parametrize(
    "change",
    [
        {"position": 8},
        {"table_seq": 4},
        {"tape": "hollywood/CC-08"},
        {"type": "wager_paid.v2"},
        {"time_us": 0},
        {"received_at_us": 0},
        {"data": b'{"amount":2500}'},
        {"attributes": frame_attributes({"id": "r1-9"})},
        {"tape": "hollywood/CC-07w", "type": "ager_paid.v1"},
    ],
)
def test_every_part_of_a_row_is_in_its_hash(change: dict[str, object]) -> None:
    assert chain_hash(GENESIS, ROW._replace(**change)) != chain_hash(GENESIS, ROW)  # type: ignore[arg-type] # a row's own fields


def test_the_stored_hash_takes_no_part_but_the_one_before_does() -> None:
    assert chain_hash(GENESIS, ROW._replace(hash=b"x")) == chain_hash(GENESIS, ROW)
    assert chain_hash(bytes(31) + b"\1", ROW) != chain_hash(GENESIS, ROW)
