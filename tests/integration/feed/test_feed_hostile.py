"""Foreign records on a real broker: reported, passed over, and never in the way."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from confluent_kafka import Producer

from consumers.alerts import process
from consumers.registry import VIEWS, install
from consumers.relay import check
from consumers.runtime.lifecycle import catch_up
from infra.kafka import records, topics
from infra.kafka.dead_letters import KEPT_OCTETS, dead_letters
from infra.kafka.library import KafkaProducer
from infra.kafka.records import POSITION, TABLE_SEQ, partition_of
from infra.postgres import parking, relay_progress
from infra.postgres.view_tables import tape_source
from infra.settings import load
from ledger.errors import Refused, Unavailable
from ledger.record.tape import GENESIS, chain_hash
from tests.fixtures.cli import Cli, environ
from tests.fixtures.kafka import made_anew, reached
from tests.scenes.feed_faults import everything, from_feed, of_rows, publish
from tests.scenes.feeding import once
from tests.scenes.view_feeds import day, record

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from infra.kafka.clients import Connection
    from infra.kafka.records import ProducerRecord
    from infra.postgres.connection import Database
    from ledger.record.tape import TapeRow

Raw = tuple[bytes | None, bytes | None, list[tuple[str, bytes | None]]]
"""Key, value and headers, which may be none each."""


def with_(record_: ProducerRecord, **headers: bytes | None) -> Raw:
    kept = [(name, octets) for name, octets in record_.headers if name not in headers]
    return record_.key, record_.value, [*kept, *headers.items()]


def forged(row: TapeRow, table_seq: int) -> Raw:
    """A fact that never was, whole in itself, far beyond the end of its tape."""
    made = row._replace(table_seq=table_seq, position=2**62)
    made = made._replace(hash=chain_hash(GENESIS, made))
    return records.of_row(made, GENESIS)


FORGED = "a forged fact far ahead"
"""The one record that could be a fact that the record of PostgreSQL has lost."""

HOSTILE: dict[str, Callable[[ProducerRecord, TapeRow], Raw]] = {
    "a header without a value": lambda sent, _: with_(sent, ledger_hash=None, ce_type=None),
    "a position that has none": lambda sent, _: with_(sent, **{POSITION: None}),
    "a position beyond every record": lambda sent, _: with_(sent, **{POSITION: b"9" * 30}),
    "a position in other digits": lambda sent, _: with_(sent, **{POSITION: "٣".encode()}),
    "a position below the first": lambda sent, _: with_(sent, **{POSITION: b"-1"}),
    "a number of a tape that is none": lambda sent, _: with_(sent, **{TABLE_SEQ: b"1_0"}),
    FORGED: lambda _, row: forged(row, 10**15),
    "a key with a zero octet": lambda sent, _: (b"a\x00b", sent.value, list(sent.headers)),
    "no key": lambda sent, _: (None, sent.value, list(sent.headers)),
    "a tombstone": lambda sent, _: (sent.key, None, list(sent.headers)),
    "nothing at all": lambda *_: (None, None, []),
}


def put(kafka: Connection, raw: Sequence[Raw], topic: str = topics.FACTS) -> None:
    """Write past everything of ours, each to the partition of its key, packed."""
    count = topics.topic(topic).partitions
    writer = Producer(
        {
            "bootstrap.servers": kafka.bootstrap,
            "message.max.bytes": 8 << 20,
            "compression.type": "gzip",
        }
    )
    failed: list[object] = []
    for key, value, headers in raw:
        at = partition_of(key or b"", count)
        writer.produce(
            kafka.named(topic),
            key=key,
            value=value,
            headers=headers,
            partition=at,
            on_delivery=lambda error, _: failed.append(error) if error else None,
        )
    assert writer.flush(20) == 0
    assert failed == []


@pytest.mark.long
def test_views_and_verification_tell_of_hostile_records_and_go_on(
    database: Database, kafka: Connection
) -> None:
    rows = record(database, day(2))
    sent = of_rows(rows)
    publish(database, kafka, sent, len(rows))
    put(kafka, [make(sent[7], rows[7]) for make in HOSTILE.values()])
    install(database)
    figures = from_feed(database, kafka)
    assert figures.poisoned == len(HOSTILE)
    assert parking.shown(database) == [], "the whole copies are there"
    kept = everything(database)
    seen = check.verify(database, kafka)
    assert {each.kind for each in seen.breaks} <= {"unreadable", "edited", "stranger"}
    assert seen.broken >= len(HOSTILE)
    assert seen.facts == len(rows)
    for each in VIEWS:
        with database.connect("ledger_owner") as connection:
            for table in each.tables:
                connection.execute(f"TRUNCATE views.{table.name}".encode())
            connection.execute("UPDATE views.tracking SET position = 0")
    with tape_source(database) as source:
        catch_up(database, source, VIEWS)
    assert everything(database) == kept


@pytest.mark.long
@pytest.mark.parametrize("name", [name for name in HOSTILE if name != FORGED])
def test_a_hostile_record_at_the_end_stops_no_relay_and_is_counted(
    database: Database, kafka: Connection, name: str
) -> None:
    rows = record(database, day(1))
    sent = of_rows(rows)
    publish(database, kafka, sent, len(rows))
    put(kafka, [HOSTILE[name](sent[7], rows[7])])
    once(database, kafka)
    assert [each.times for each in relay_progress.strays(database)] == [1]
    assert check.verify(database, kafka).broken


@pytest.mark.long
def test_a_forged_fact_that_the_record_may_have_lost_is_refused(
    database: Database, kafka: Connection
) -> None:
    rows = record(database, day(1))
    publish(database, kafka, of_rows(rows), len(rows))
    put(kafka, [HOSTILE[FORGED](of_rows(rows)[7], rows[7])])
    with pytest.raises(Refused, match="differs from the record"):
        once(database, kafka)
    assert check.verify(database, kafka).broken


@pytest.mark.long
@pytest.mark.parametrize("number", [None, b"9" * 30, b"x", b"-1"])
def test_a_record_of_another_program_on_the_quarantine_topic_is_counted(
    database: Database, kafka: Connection, number: bytes | None
) -> None:
    record(database, day(1))
    once(database, kafka)
    put(kafka, [(b"quarantine", b"{}", [("ledger_quarantine_id", number)])], topics.QUARANTINE)
    assert [each.kind for each in check.verify(database, kafka).breaks] == ["unreadable"]
    once(database, kafka)
    assert [each.topic for each in relay_progress.strays(database)] == [topics.QUARANTINE]


@pytest.mark.long
def test_hostile_records_and_hostile_letters_are_dead_letters_that_can_be_looked_at(
    database: Database, bare_kafka: Connection, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    topics.apply(bare_kafka)
    monkeypatch.setattr(process, "PAUSE_S", 0.0)
    rows = record(database, day(1))
    sent = of_rows(rows)
    big = (sent[0].key, b"x" * 3_000_000, [("h", b"y" * 100_000)])
    put(bare_kafka, [*(make(sent[7], rows[7]) for make in HOSTILE.values()), big])
    tally = process.run(database, bare_kafka, load({}), stop=lambda: False, follow=False)
    assert tally.read == len(HOSTILE) + 1
    assert tally.dead >= len(HOSTILE) - 1, "a fact forged well is not seen here"
    assert tally.letters == tally.dead
    bad = [
        (None, None, []),
        (b"k", b"v", [("dead_offset", b"x"), ("dead_partition", None), ("dead_topic", b"\xff")]),
        (b"k", b"v", [("dead_reason", None), ("dead_tries", b"9" * 40), ("dead_null", b"1")]),
    ]
    put(bare_kafka, bad, process.DEAD)
    with dead_letters(bare_kafka, process.DEAD) as letters:
        (cut,) = (each for each in letters if each.octets > KEPT_OCTETS)
    assert (cut.octets, len(cut.original.record.value or b"")) == (3_000_000, KEPT_OCTETS)
    cli = Cli(
        environ(
            tmp_path,
            ROUND_LEDGER_DATABASE_URL=database.url,
            **reached(bare_kafka),
        )
    )
    listed = cli("dlq", "list", "--json")
    assert (listed.code, len(listed.json)) == (1, tally.dead + len(bad)), listed.err
    for each in listed.json[-4:]:
        assert cli("dlq", "show", str(each["place"])).code == 0
    replayed = cli("dlq", "replay", "--json")
    assert replayed.code == 1
    assert not any(each["replayed"] for each in replayed.json)


class NoText(str):
    """A header's name that is no UTF-8, as clients in other languages may write it."""

    __slots__ = ()

    def encode(self, *_: object) -> bytes:
        return b"\xff\xfe"


@pytest.mark.long
def test_a_record_that_the_library_cannot_decode_is_told_and_gone_with_its_topic(
    database: Database, kafka: Connection
) -> None:
    rows = record(database, day(1))
    once(database, kafka)
    install(database)
    at = partition_of(rows[0].tape.encode(), topics.topic(topics.FACTS).partitions)
    with KafkaProducer(**kafka.options(), acks="all") as producer:
        header = (NoText("x"), b"1")
        name = kafka.named(topics.FACTS)
        producer.send(name, value=b"v", headers=[header], partition=at).get(20)
    for reads in (from_feed, check.verify, once):
        with pytest.raises(Unavailable, match="cannot be decoded") as told:
            reads(database, kafka)
        assert "topics apply" in told.value.hint
    with tape_source(database) as source:
        catch_up(database, source, VIEWS)
    kept = everything(database)
    made_anew(kafka, [topics.FACTS])
    assert once(database, kafka) == {topics.FACTS: len(rows)}
    assert from_feed(database, kafka).poisoned == check.verify(database, kafka).broken == 0
    assert everything(database) == kept
