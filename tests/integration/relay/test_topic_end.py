"""Records of other programs at the end of a topic, and topics that are not what they were."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from consumers.relay import check
from consumers.relay.refill import refill
from infra.kafka import records, topics
from infra.kafka.clients import administrator
from infra.kafka.records import ProducerRecord
from infra.postgres import relay_progress
from infra.postgres.connection import Database
from infra.postgres.tape import PostgresTape
from ledger.errors import Refused
from ledger.record.tape import GENESIS, chain_hash
from tests.fixtures.kafka import made_anew
from tests.fixtures.postgres import copy_database, new_name, url_of
from tests.integration.relay.test_relay import kinds, put, record_of
from tests.scenes.feeding import fill, once

if TYPE_CHECKING:
    from infra.kafka.clients import Connection
    from infra.postgres.relay_progress import Mark

GARBAGE = ProducerRecord(b"hollywood/CC-07", b"{nonsense", [])


def of_another_ledger(tape: PostgresTape, position: int) -> ProducerRecord:
    """A whole fact that nothing on this record comes before."""
    row = tape.read(position - 1, 1)[0]
    row = row._replace(position=900_000, table_seq=7_000)
    row = row._replace(hash=chain_hash(b"\1" * 32, row))
    return records.of_row(row, b"\1" * 32)


def strays(database: Database) -> list[tuple[int, int]]:
    return [(each.partition, each.times) for each in relay_progress.strays(database)]


def refused(database: Database) -> list[tuple[str, int]]:
    return [(each.topic, each.times) for each in relay_progress.refusals(database)]


def marks(database: Database) -> dict[int, Mark]:
    with relay_progress.relay_store(database) as store:
        return store.marks(topics.FACTS)


@pytest.mark.long
def test_strays_at_the_end_of_a_partition_stop_no_relay_and_are_counted_once(
    database: Database, tape: PostgresTape, kafka: Connection
) -> None:
    fill(tape, 20)
    once(database, kafka)
    put(kafka, GARBAGE, GARBAGE, of_another_ledger(tape, 20))
    fill(tape, 10, first=20)
    assert once(database, kafka) == {topics.FACTS: 10}
    assert sum(times for _, times in strays(database)) == 3
    before = strays(database)
    fill(tape, 5, first=30)
    assert once(database, kafka) == {topics.FACTS: 5}
    assert strays(database) == before
    seen = check.verify(database, kafka)
    assert (seen.facts, {each.kind for each in seen.breaks}) == (35, {"unreadable", "stranger"})


@pytest.mark.long
def test_a_lost_end_is_found_behind_copies_and_strays_and_sent_again(
    database: Database, tape: PostgresTape, kafka: Connection
) -> None:
    fill(tape, 40)
    once(database, kafka)
    made_anew(kafka, [topics.FACTS])
    put(kafka, *[record_of(tape, n) for n in range(1, 31)])
    put(kafka, GARBAGE)
    assert check.republish(database, kafka, 1, 12) == 12
    once(database, kafka)
    assert set(kinds(database, kafka)) == {"unreadable"}, "no fact is missing"


@pytest.mark.long
def test_republished_facts_are_known_and_not_read_again(
    database: Database, tape: PostgresTape, kafka: Connection
) -> None:
    fill(tape, 40)
    once(database, kafka)
    before = marks(database)
    assert check.republish(database, kafka, 1, 40) == 40
    after = marks(database)
    assert sum(m.known for m in after.values()) == sum(m.known for m in before.values()) + 40
    assert {n: m._replace(known=0) for n, m in after.items()} == {
        n: m._replace(known=0) for n, m in before.items()
    }
    assert once(database, kafka) == {}


@pytest.mark.long
def test_the_topic_of_another_ledger_is_named(
    database: Database,
    tape: PostgresTape,
    kafka: Connection,
    postgres_url: str,
    template: str,
) -> None:
    fill(tape, 20)
    once(database, kafka)
    made_anew(kafka, [topics.FACTS])
    name = new_name()
    copy_database(postgres_url, name, template=template)
    other = Database(url_of(postgres_url, name), url_of(postgres_url, name))
    with PostgresTape(other) as apart:
        fill(apart, 60, first=100)
        once(other, kafka)
    with pytest.raises(Refused, match="The topic is another one") as told:
        once(database, kafka)
    assert "ROUND_LEDGER_TOPIC_PREFIX" in told.value.hint
    assert refused(database) == [(topics.FACTS, 1)]
    with pytest.raises(Refused):
        once(database, kafka)
    assert refused(database) == [(topics.FACTS, 2)]
    made_anew(kafka, [topics.FACTS])
    once(database, kafka)
    assert refused(database) == []


@pytest.mark.long
def test_a_topic_that_another_program_filled_is_named(
    database: Database, tape: PostgresTape, kafka: Connection
) -> None:
    fill(tape, 20)
    once(database, kafka)
    made_anew(kafka, [topics.FACTS])
    for key in {record_of(tape, n).key for n in range(1, 21)}:
        put(kafka, *[ProducerRecord(key, b"?", [])] * 10)
    with pytest.raises(Refused, match="Another program wrote"):
        once(database, kafka)
    assert refused(database) == [(topics.FACTS, 1)]


@pytest.mark.long
def test_a_ledger_without_marks_searches_once_and_keeps_them(
    database: Database, tape: PostgresTape, kafka: Connection
) -> None:
    """As after an upgrade, and after a relay of the earlier version."""
    fill(tape, 20)
    once(database, kafka)
    with database.connect("ledger_owner") as connection:
        connection.execute("UPDATE views.relayed SET marked = NULL")
        connection.execute("DELETE FROM views.relayed_ends")
    put(kafka, GARBAGE)
    fill(tape, 3, first=20)
    assert once(database, kafka) == {topics.FACTS: 3}
    assert len(marks(database)) == topics.topic(topics.FACTS).partitions
    with database.connect("ledger_owner") as connection:
        connection.execute(
            "UPDATE views.relayed SET position = 15 WHERE topic = %s", (topics.FACTS,)
        )
    assert marks(database) == {}, "they are of another position"
    assert once(database, kafka) == {topics.FACTS: 8}
    assert len(marks(database)) == topics.topic(topics.FACTS).partitions


@pytest.mark.long
def test_refill_passes_over_strays(
    database: Database, tape: PostgresTape, kafka: Connection, postgres_url: str
) -> None:
    fill(tape, 30)
    once(database, kafka)
    tape.close()
    name = new_name()
    copy_database(postgres_url, name, template=database.url.rsplit("dbname=", 1)[1].split()[0])
    older = Database(url_of(postgres_url, name), url_of(postgres_url, name))
    with PostgresTape(database) as again:
        put(kafka, GARBAGE)
        fill(again, 30, first=30)
        once(database, kafka)
        row = again.read(34, 1)[0]  # a fact that the older one lacks, forged
        forged = row._replace(data=b'{"forged":1}')
        forged = forged._replace(hash=chain_hash(GENESIS, forged))
        put(kafka, records.of_row(forged, GENESIS), GARBAGE)
        with pytest.raises(Refused, match="differs from the record"):
            once(older, kafka)
        done = refill(older, kafka)
        assert (done.first, done.last, done.facts, done.strays) == (31, 60, 30, 3)
        with PostgresTape(older) as filled:
            assert filled.read(0, 100) == again.read(0, 100)
    assert once(older, kafka) == {topics.FACTS: 30}, "they come twice"
    assert set(kinds(older, kafka)) == {"unreadable", "stranger"}


def test_a_mark_is_deleted_with_the_progress_of_its_topic(
    database: Database, tape: PostgresTape, kafka: Connection
) -> None:
    fill(tape, 5)
    once(database, kafka)
    assert marks(database)
    with database.connect("ledger_owner") as connection:
        connection.execute("DELETE FROM views.relayed")
        row = connection.execute("SELECT count(*) FROM views.relayed_ends").fetchone()
    assert row == (0,)
    with administrator(kafka) as admin:
        assert kafka.named(topics.FACTS) in admin.list_topics()
