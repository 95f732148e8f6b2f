"""A fact on Kafka is the fact on the tape, and a table's place is fixed for ever."""

from __future__ import annotations

import base64
import hashlib
import json

import pytest

from infra.kafka import records, topics
from infra.kafka.publisher import WINDOW_OCTETS, WINDOW_RECORDS
from infra.kafka.records import PreviousHashes, UnreadableError
from infra.postgres.outbox import QueuedMessage
from ledger.record.tape import (
    GENESIS,
    InQuarantine,
    Received,
    TapeRow,
    chain_hash,
    frame_attributes,
)
from tests.fixtures.postgres import fact

RECEIVED_US = 1_795_000_000_500_000

GOLDEN = {
    "hollywood/CC-01": 0,
    "hollywood/CC-07": 23,
    "hollywood/TDF-02": 18,
    "hollywood/cage": 4,
    "hollywood/count-room": 2,
    "hollywood/surveillance": 2,
    "hollywood/office": 15,
    "mohegan/BJ-112": 8,
}
"""Partitions of 24. Never to be changed: a table that moves is read out of order."""

JAVA = {b"": 275646681, b"21": -973932308, b"foobar": -790332482, b"abc": 479470107}
"""MurmurHash2 of Kafka's own UtilsTest (a-little-bit-long strings left out)."""


def row(received: Received, seq: int = 1, previous: bytes = GENESIS) -> TapeRow:
    bare = TapeRow(
        seq,
        received.tape,
        seq,
        *received[1:6],
        RECEIVED_US,
        received.attributes,
        received.data,
        b"",
    )
    return bare._replace(hash=chain_hash(previous, bare))


def test_a_record_reads_back_as_the_row_it_was_made_of() -> None:
    stored = row(fact(7, sequence="12", boot="b1", traceparent="00-ünïcode"), 3, b"\1" * 32)
    record = records.of_row(stored, b"\1" * 32)
    fed = records.fed(record.key, record.value, record.headers)
    assert fed.row == stored
    assert fed.previous == b"\1" * 32
    assert fed.is_whole
    assert not fed.republished


def test_the_value_is_the_octets_of_data_as_they_were_received() -> None:
    odd = b'{ "position" : 3,\t"cards":["As"],"to":"player" , "x": 1e2 }'
    record = records.of_row(row(fact(1, data=odd)), GENESIS)
    assert record.value == odd
    assert record.key == b"hollywood/CC-07"


def test_headers_are_cloudevents_binary_mode_and_name_what_the_record_added() -> None:
    stored = row(fact(1))
    told = dict(records.of_row(stored, GENESIS).headers)
    assert told["content-type"] == b"application/json"
    assert told["ce_specversion"] == b"1.0"
    assert told["ce_type"] == b"roundledger.cards_dealt.v1"
    assert told["ce_source"] == b"/hollywood/CC-07/shoe"
    assert told["ledger_position"] == told["ledger_table_seq"] == b"1"
    assert told["ledger_hash"] == stored.hash.hex().encode()
    assert told["ledger_previous_hash"] == b"0" * 64
    assert int(told["ledger_received_at_us"]) == RECEIVED_US


def test_no_attribute_of_a_device_can_pose_as_what_the_record_says() -> None:
    record = records.of_row(row(fact(1, tableseq="999", ledgerposition="999")), GENESIS)
    assert records.fed(record.key, record.value, record.headers).row.table_seq == 1


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("ledger_position", b"2"),
        ("ledger_table_seq", b"2"),
        ("ledger_received_at_us", b"1"),
        ("ledger_previous_hash", b"1" * 64),
        ("ce_id", b"other"),
        ("ce_subject", b"CC-07/2026-11-20/2"),
        ("ce_more", b"1"),
    ],
)
def test_a_changed_header_is_seen_in_the_hash(name: str, value: bytes) -> None:
    record = records.of_row(row(fact(1)), GENESIS)
    changed = [*[each for each in record.headers if each[0] != name], (name, value)]
    assert not records.fed(record.key, record.value, changed).is_whole


def test_changed_octets_and_a_changed_key_are_seen_in_the_hash() -> None:
    record = records.of_row(row(fact(1)), GENESIS)
    assert not records.fed(record.key, record.value + b" ", record.headers).is_whole
    assert not records.fed(b"hollywood/CC-08", record.value, record.headers).is_whole


@pytest.mark.parametrize("lost", ["ce_time", "ce_type", "ledger_position", "ledger_hash"])
def test_a_record_without_what_every_record_has_is_unreadable(lost: str) -> None:
    record = records.of_row(row(fact(1)), GENESIS)
    headers = [each for each in record.headers if each[0] != lost]
    with pytest.raises(UnreadableError):
        records.fed(record.key, record.value, headers)


def test_a_tombstone_and_a_number_that_is_none_are_unreadable() -> None:
    record = records.of_row(row(fact(1)), GENESIS)
    with pytest.raises(UnreadableError):
        records.fed(record.key, None, record.headers)
    with pytest.raises(UnreadableError):
        records.fed(record.key, record.value, [*record.headers, ("ledger_position", b"x")])


def test_a_quarantined_input_travels_with_its_octets_and_why() -> None:
    octets = b"\xff{not json" * 40_000
    aside = InQuarantine(
        *(4, "quarantined", "not_json", "Not JSON", "$", "send JSON", None, None, None, octets),
        *(1, RECEIVED_US, RECEIVED_US, None, None),
    )
    record = records.of_quarantined(aside)
    told = json.loads(record.value)
    assert told["reason"] == "not_json"
    assert told["octets"] == len(octets)
    assert told["sha256"] == hashlib.sha256(octets).hexdigest()
    assert octets.startswith(base64.b64decode(told["bytes"]))
    id_ = dict(record.headers)["ce_id"]
    assert id_.startswith(b"4-")
    later = records.of_quarantined(aside._replace(received_at_us=RECEIVED_US + 1))
    assert dict(later.headers)["ce_id"] != id_, "the fourth of another ledger"
    assert record.octets < int(topics.topic(topics.QUARANTINE).settings["max.message.bytes"])


def test_an_equivocation_travels_with_the_attributes_it_came_with() -> None:
    attributes = {"specversion": "1.0", "id": "7"}
    aside = InQuarantine(
        *(5, "equivocation", "equivocation", "Other octets", "$.id", "find out", "/h/p/d", "7"),
        *(frame_attributes(attributes), b"{}", 1, RECEIVED_US, RECEIVED_US, None, None),
    )
    assert json.loads(records.of_quarantined(aside).value)["attributes"] == attributes


@pytest.mark.parametrize(
    ("given", "other"),
    [
        (b"eyJ4", b"eyJ5"),
        (b'"eyJ4', b'"?'),
        (b'"quarantine_id":4', b'"quarantine_id":3'),
        (b"{", b""),
    ],
)
def test_a_quarantined_input_is_known_by_its_bytes_and_not_by_a_header(
    given: bytes, other: bytes
) -> None:
    aside = InQuarantine(
        *(4, "quarantined", "not_json", "Not JSON", "$", "send JSON", None, None, None),
        *(b'{"x":1}', 1, RECEIVED_US, RECEIVED_US, None, None),
    )
    _, value, headers = records.of_quarantined(aside)
    assert records.is_of(aside, dict(headers), value)
    assert records.is_quarantined(value, 4)
    assert given in value
    changed = value.replace(given, other, 1)
    assert not records.is_of(aside, dict(headers), changed)
    assert not records.is_quarantined(changed, 4)
    assert not records.is_of(aside, {**dict(headers), records.DIGEST: b"0"}, value)
    assert not records.is_of(aside, dict(headers), None)


@pytest.mark.parametrize(("place", "partition"), GOLDEN.items())
def test_a_place_stays_in_its_partition_for_ever(place: str, partition: int) -> None:
    assert records.partition_of(place.encode(), topics.topic(topics.FACTS).partitions) == partition


@pytest.mark.parametrize(("key", "hashed"), JAVA.items())
def test_the_partitioner_is_the_one_java_clients_have(key: bytes, hashed: int) -> None:
    assert records.partition_of(key, 2**31) == hashed & 0x7FFFFFFF


def test_the_partitioner_is_the_librarys_for_every_length_of_key() -> None:
    from kafka.partitioner import murmur2  # noqa: PLC0415 - imported with its warnings passed over

    for length in range(64):
        key = bytes((length * 37 + at * 11) % 256 for at in range(length))
        assert records.partition_of(key, 24) == (murmur2(key) & 0x7FFFFFFF) % 24


def test_the_hash_before_a_row_is_known_only_where_the_row_before_it_was_seen() -> None:
    places = PreviousHashes()
    first = row(fact(1))
    second = row(fact(2), 2, first.hash)
    assert places.before(second) is None
    assert places.before(first) == GENESIS
    places.saw(first)
    assert places.before(second) == first.hash
    assert places.before(row(fact(3), 3)) is None


def test_a_window_of_the_largest_facts_stays_within_what_may_be_under_way() -> None:
    assert WINDOW_OCTETS < 64 * 1024 * WINDOW_RECORDS
    assert topics.topic(topics.FACTS).settings["max.message.bytes"] == str(1024 * 1024)


def test_the_first_messages_of_two_ledgers_have_different_identities() -> None:
    def identity(body: str | None, key: str = "p/t") -> tuple[bytes, bytes]:
        kept = QueuedMessage(1, 1, RECEIVED_US, key, body)
        headers = dict(records.of_message("ledger.adjudications.v1", kept).headers)
        return headers["ce_source"], headers["ce_id"]

    told = [identity('{"property":"p"}'), identity('{"property":"q"}')]
    told += [identity(None), identity(None, "q/t")]
    assert len(set(told)) == 4
    assert identity('{"property":"p"}') == told[0], "sent again it is the same"
