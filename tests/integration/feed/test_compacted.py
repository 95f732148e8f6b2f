"""A real broker that cleans eagerly: what readers of the compacted topics have to put up with.

They see old values after new ones, the same twice, and keys that were deleted. Who keeps the record
with the highest `ledger_position` of each key is right all the while.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, NamedTuple

import pytest

from consumers.floor import table_board
from consumers.registry import VIEWS, install
from consumers.relay import view_topics
from consumers.relay.relay import relay
from infra.kafka import topics
from infra.kafka.publisher import Publisher
from infra.kafka.reader import reader
from infra.kafka.records import OUTBOX, POSITION, ProducerRecord, partition_of
from infra.postgres import relay_progress
from tests.fixtures.kafka import FEED, Cluster
from tests.scenes.feed_faults import from_feed
from tests.scenes.view_feeds import day, record
from tests.until import until

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from infra.kafka.clients import Connection
    from infra.postgres.connection import Database

STATE = "ledger.table-state.v1"
EAGER = {
    "segment.ms": "1",
    "min.cleanable.dirty.ratio": "0",
    "max.compaction.lag.ms": "1",
    "delete.retention.ms": "0",
}
HASTY = {"log.cleaner.backoff.ms": "200", "log.retention.check.interval.ms": "300"}


@pytest.fixture
def cleaning(tmp_path: Path) -> Iterator[Connection]:
    """A broker that compacts, and removes what is too old, as soon as it may."""
    cluster = Cluster(tmp_path / "kafka", more=lambda _: HASTY)
    try:
        yield cluster.connection
    finally:
        cluster.close()


class Word(NamedTuple):
    """What a record says of its key: the greater of two is the newer."""

    position: int
    number: int
    says: Any  # None: a tombstone


def words(kafka: Connection) -> list[tuple[str, Word]]:
    """Every record that a reader finds who comes now, in order."""
    with reader(kafka, STATE) as source:
        return [
            (
                (each.key or b"").decode(),
                Word(
                    int(dict(each.headers)[POSITION]),
                    int(dict(each.headers)[OUTBOX]),
                    json.loads(each.value) if each.value is not None else None,
                ),
            )
            for batch in source.read(source.bounds())
            for each in batch
        ]


def newest(of: list[tuple[str, Word]]) -> dict[str, Word]:
    """As docs/feed.md asks of readers."""
    held: dict[str, Word] = {}
    for key, word in of:
        if key not in held or word[:2] > held[key][:2]:
            held[key] = word
    return held


def stages(held: dict[str, Word]) -> dict[str, str]:
    return {key: word.says["stage"] for key, word in held.items() if word.says is not None}


def boards(database: Database) -> dict[str, str]:
    return {f"{each.property}/{each.table}": each.stage for each in table_board.read(database)}


def publish_all(database: Database, kafka: Connection) -> None:
    relay(database, kafka, stop=lambda: False, follow=False, deadline_s=60, spoken=VIEWS)


def publish_again(database: Database, kafka: Connection, count: int) -> None:
    """A relay that had not tracked what it sent begins again, one by one, and is ended after some.

    A broker never cleans the segment that it writes to, so a single window would not do.
    """
    ended: list[str] = []

    def passed(topic: str, _count: int, _position: int) -> None:
        if topic == STATE:
            ended.append(topic)

    with relay_progress.lead(database, lambda: False) as relay_store:
        assert relay_store
        relay_store.move(STATE, relay_store.tracked(STATE), 0)
    relay(
        database,
        kafka,
        stop=lambda: len(ended) == count,
        progress=passed,
        deadline_s=60,
        spoken=VIEWS,
    )


@pytest.mark.long
def test_who_keeps_the_newest_by_position_is_right_whatever_compaction_leaves(
    database: Database,
    cleaning: Connection,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    declared = topics.topic(STATE)
    topics.apply(cleaning, [*FEED, declared._replace(settings=declared.settings | EAGER)])
    install(database)
    publish_all(database, cleaning)  # which asks the views to tell
    facts = day(8)
    third = len(facts) // 3
    said: set[int] = set()  # numbers of messages
    for at in range(0, len(facts), third):
        record(database, facts[at : at + third])
        publish_all(database, cleaning)
        from_feed(database, cleaning)
        publish_all(database, cleaning)
        said |= {word.number for _, word in words(cleaning)}
    first = words(cleaning)
    assert stages(newest(first)) == boards(database)

    monkeypatch.setattr(view_topics, "WINDOW_RECORDS", 1)
    publish_again(database, cleaning, len(said) * 2 // 3)
    until(lambda: newest(words(cleaning)) != newest(first))
    later = words(cleaning)
    assert newest(first + later) == newest(first)
    assert dict(first + later) != newest(first), "the control: who believes the last that came"

    monkeypatch.undo()
    publish_all(database, cleaning)
    assert newest(words(cleaning)) == newest(first)

    retired = no_more(cleaning, newest(first))
    assert retired not in stages(newest(words(cleaning)))
    sent = len(words(cleaning))
    caplog.clear()
    publish_all(database, cleaning)
    assert stages(newest(words(cleaning))) == boards(database)
    assert len(words(cleaning)) <= sent, "nothing is taken for lost that was compacted away"
    ours = [each for each in caplog.records if each.name.startswith("round_ledger")]
    assert not [each for each in ours if each.levelname == "ERROR"]


def no_more(kafka: Connection, held: dict[str, Word]) -> str:
    """A table is published, and then deleted; returns when no record of it is left."""
    partitions = topics.topic(STATE).partitions
    living = max(held, key=lambda key: held[key][:2])  # it may stand last: the relay looks there
    last = held[living]
    names = (f"hollywood/OLD-{number}" for number in range(1_000))
    retired = next(
        name
        for name in names
        if partition_of(name.encode(), partitions) == partition_of(living.encode(), partitions)
    )
    with Publisher(kafka, deadline_s=60) as publisher:

        def say(key: str, word: Word) -> None:
            value = json.dumps(word.says).encode() if word.says is not None else None
            headers = [(OUTBOX, b"%d" % word.number), (POSITION, b"%d" % word.position)]
            publisher.publish(STATE, partitions, [ProducerRecord(key.encode(), value, headers)])

        say(retired, last._replace(position=last.position - 1, says={"stage": "closed"}))
        say(retired, last._replace(says=None))
        assert retired not in stages(newest(words(kafka)))

        def gone() -> bool:
            say(living, last)  # what is written to is never cleaned
            return retired not in dict(words(kafka))

        until(gone)
    return retired
