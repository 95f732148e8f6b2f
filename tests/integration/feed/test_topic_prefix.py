"""Ledgers that share a Kafka: each has a prefix before all its names there, and sees no other's."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from consumers.alerts import process
from consumers.registry import VIEWS, install
from consumers.relay import check
from consumers.relay.relay import relay
from consumers.runtime import outbox
from infra.kafka import topics
from infra.kafka.clients import administrator
from infra.kafka.publisher import Publisher
from infra.kafka.reader import reader
from infra.kafka.records import ProducerRecord
from infra.postgres import relay_progress
from infra.postgres.connection import Database
from ledger.errors import Refused
from tests.fixtures.cli import Cli, environ
from tests.fixtures.kafka import forget, new_prefix, reached
from tests.fixtures.postgres import copy_database, new_name, url_of
from tests.scenes.feed_faults import everything, from_feed
from tests.scenes.view_feeds import day, of_finance, record

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from infra.kafka.clients import Connection

DECLARED = [each.name for each in topics.declared()]


@pytest.fixture
def other_kafka(kafka_server: Connection) -> Iterator[Connection]:
    """The same brokers under another prefix."""
    where = new_prefix(kafka_server)
    yield where
    forget(where)


@pytest.fixture
def other(postgres_url: str, template: str) -> Database:
    """Another casino's ledger."""
    name = new_name()
    copy_database(postgres_url, name, template=template)
    return Database(url_of(postgres_url, name), url_of(postgres_url, name))


def all_of(base: Database, kafka: Connection) -> None:
    """A relay that publishes everything, what views say too, and ends."""
    relay(base, kafka, stop=lambda: False, follow=False, deadline_s=60, spoken=VIEWS)


def held(kafka: Connection) -> dict[str, int]:
    """How many records stand on each topic."""
    counts = {}
    for name in DECLARED:
        with reader(kafka, name) as source:
            counts[name] = sum(span.end - span.begin for span in source.bounds().values())
    return counts


@pytest.mark.long
def test_relay_views_alerts_and_dead_letters_all_live_under_the_prefix(
    database: Database, bare_kafka: Connection, tmp_path: Path
) -> None:
    settings = reached(bare_kafka)
    cli = Cli(environ(tmp_path, ROUND_LEDGER_DATABASE_URL=database.url, **settings))
    made = cli("topics", "apply")
    facts = bare_kafka.named(topics.FACTS)
    assert (made.code, f"Made {facts}." in made.err + made.out) == (0, True), made.err
    install(database)
    rows = record(database, day(8))
    published = cli("relay", "--once")
    assert f"on {facts}." in published.err + published.out, published.err
    assert cli("consume", "all", "--from", "kafka").code == 0
    with Publisher(bare_kafka, deadline_s=20) as publisher:
        publisher.publish(topics.FACTS, 24, [ProducerRecord(b"k", b"{nonsense", [])])
    assert cli("consume", "alerts").code == 0
    listed = cli("dlq", "list", "--json")
    assert [each["from"].partition("/")[0] for each in listed.json] == [facts]
    assert cli("dlq", "replay", "--json").json[0]["reason"], "it is read as what it was, and fails"
    seen = cli("relay", "verify", "--json").json
    assert [each["topic"] for each in seen if "kind" in each] == [facts], "the nonsense"
    with administrator(bare_kafka) as admin:
        there = [n for n in admin.list_topics() if n.startswith(bare_kafka.topic_prefix)]
        groups = [each["group_id"] for each in admin.list_groups()]
    assert sorted(there) == sorted(bare_kafka.named(name) for name in DECLARED)
    assert bare_kafka.named(process.GROUP) in groups
    assert process.GROUP not in groups
    with database.connect("ledger_owner") as connection:
        offsets = connection.execute("SELECT DISTINCT topic FROM views.offsets").fetchall()
    assert offsets == [(facts,)], "an offset is one of the cluster's topic"
    tracked = {each.topic: each.position for each in relay_progress.tracked(database)}
    assert tracked[topics.FACTS] == len(rows), "progress is the record's, by the declared name"


@pytest.mark.long
def test_two_ledgers_on_one_kafka_see_nothing_of_each_other(
    database: Database, other: Database, kafka: Connection, other_kafka: Connection
) -> None:
    ledgers = ((database, kafka, 3), (other, other_kafka, 5))
    for base, where, minutes in ledgers:
        topics.apply(where)
        install(base)
        record(base, day(minutes, seed=minutes))
    for base, where, _ in ledgers:
        all_of(base, where)
    counts = [held(where) for _, where, _ in ledgers]
    assert counts[0][topics.FACTS] != counts[1][topics.FACTS] > 0
    for base, where, _ in ledgers:
        from_feed(base, where)
        seen = check.verify(base, where)
        assert (seen.broken, seen.not_yet) == (0, 0)
    assert everything(database) != everything(other)


@pytest.mark.long
def test_without_prefixes_the_second_ledger_would_write_into_the_firsts_feed(
    database: Database, other: Database, kafka: Connection
) -> None:
    """The control: it is the prefix that keeps them apart."""
    for base, minutes in ((database, 3), (other, 5)):
        record(base, day(minutes, seed=minutes))
    relay(database, kafka, stop=lambda: False, follow=False, deadline_s=60)
    with pytest.raises(Refused, match="differs from the record"):
        relay(other, kafka, stop=lambda: False, follow=False, deadline_s=60)
    assert check.verify(other, kafka).broken > 0


@pytest.mark.long
def test_another_prefix_is_another_feed_that_begins_with_all_there_is(
    database: Database, kafka: Connection, other_kafka: Connection
) -> None:
    install(database)
    rows = record(database, [*day(8), *of_finance()])
    for where in (kafka, other_kafka):
        topics.apply(where)
    all_of(database, kafka)
    from_feed(database, kafka)
    all_of(database, kafka)
    with database.connect("ledger_owner") as connection:  # all was acknowledged long ago
        connection.execute("DELETE FROM views.outbox")
    first = held(kafka)
    silent = {"ledger.journal-entries.v1"}  # these closed days have no money
    assert {name for name in outbox.topics_of(VIEWS) if not first[name]} == silent
    all_of(database, other_kafka)
    second = held(other_kafka)
    assert second[topics.FACTS] == len(rows) == first[topics.FACTS]
    assert second.keys() == first.keys()
    again = {name for name in outbox.topics_of(VIEWS) if not second[name]}
    assert again == silent, "views say what they hold again"
    longer = record(database, day(9, seed=8)[:40])
    all_of(database, other_kafka)
    assert check.verify(database, other_kafka).broken == 0
    lacks = check.verify(database, kafka).missing
    assert lacks >= len(longer) - len(rows) > 0, "the feed of before stays as it was"
    all_of(database, kafka)
    seen = check.verify(database, kafka)
    assert (seen.broken, seen.duplicates) == (0, len(rows)), "back again: sent once more, whole"
