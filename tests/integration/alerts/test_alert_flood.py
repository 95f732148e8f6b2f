"""A flood of records that nobody can read: each is buried, and the alerts after it are raised."""

from __future__ import annotations

import dataclasses
import time
from typing import TYPE_CHECKING

import pytest

from consumers.alerts import process
from consumers.alerts.kinds.dead_letters import LETTERS
from consumers.alerts.kinds.views import LAG_S
from consumers.alerts.process import DEAD, run
from infra.kafka import consumer_group, topics
from infra.kafka.dead_letters import dead_letters
from infra.kafka.records import ProducerRecord
from infra.settings import load
from ledger.errors import Unavailable
from tests.scenes.alert_reads import paid
from tests.scenes.feed_faults import of_rows, publish
from tests.scenes.view_feeds import record

if TYPE_CHECKING:
    from infra.kafka.clients import Connection
    from infra.kafka.consumer_group import Member, Read
    from infra.kafka.publisher import Publisher
    from infra.postgres.connection import Database

SETTINGS = dataclasses.replace(load({}), thresholds={LAG_S: 10**9, LETTERS: 10**9})


@pytest.fixture
def feed(kafka: Connection) -> Connection:
    """A Kafka with every topic that alerts read and write."""
    topics.apply(kafka, topics.declared())
    return kafka


def once(database: Database, kafka: Connection) -> process.Tally:
    return run(database, kafka, SETTINGS, stop=lambda: False, follow=False)


FLOOD = 200


def flood(database: Database, kafka: Connection) -> None:
    """Records that nobody can read, and one payment after them."""
    sent = of_rows(record(database, [paid(2_000_000)]))
    bad = ProducerRecord(sent[0].key, b"{nonsense", [("x", b"y")])
    publish(database, kafka, [*[bad] * FLOOD, *sent], 0)


@pytest.mark.long
def test_a_flood_of_bad_records_is_buried_each_once_and_the_group_goes_on(
    database: Database, feed: Connection, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(consumer_group, "POLL_MS_MAX", 20_000)
    flood(database, feed)
    asked = iter(range(FLOOD))
    stopped = run(database, feed, SETTINGS, stop=lambda: next(asked) > FLOOD // 4, follow=True)
    assert 0 < stopped.read == stopped.dead < FLOOD // 4 + 2, "it looks in between"
    rest = once(database, feed)
    assert (stopped.dead + rest.dead, rest.raised) == (FLOOD, 1)
    with dead_letters(feed, DEAD) as letters:
        buried = [each.original.record.offset for each in letters]
    assert sorted(buried) == list(range(FLOOD))
    assert once(database, feed).read == 0


@pytest.mark.long
def test_a_flood_that_is_committed_at_its_end_only_would_come_again_for_ever(
    database: Database, feed: Connection, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The control: the group gives the partitions away meanwhile, and the letters double."""
    monkeypatch.setattr(consumer_group, "POLL_MS_MAX", 1_000)
    monkeypatch.setattr(consumer_group, "SESSION_MS", 6_000)
    monkeypatch.setattr(consumer_group, "POLL_RECORDS", FLOOD)

    def at_the_end(
        service: process.AlertService,
        member: Member,
        publisher: Publisher,
        read: list[Read],
        _: object,
    ) -> None:
        for each in read:
            process._handled(service, publisher, each)
        if read:
            time.sleep(8)  # longer than a poll may take, and the library's look at that
            member.commit(read)

    monkeypatch.setattr(process, "_handle", at_the_end)
    flood(database, feed)
    for _ in range(2):
        with pytest.raises(Unavailable):
            once(database, feed)
    with dead_letters(feed, DEAD) as letters:
        buried = [each.original.record.offset for each in letters]
    assert len(buried) > len(set(buried))
