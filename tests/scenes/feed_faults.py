"""A feed written by hand beside the relay: duplicated, dropped, reordered, corrupted as asked."""

from __future__ import annotations

import random
from typing import TYPE_CHECKING

from consumers.registry import VIEWS
from consumers.runtime.lifecycle import Batch, catch_up
from infra.kafka import records, topics
from infra.kafka.feed_source import feed_source
from infra.kafka.merging import Figures
from infra.kafka.publisher import WINDOW_RECORDS, Publisher, window_of
from infra.kafka.reader import reader
from infra.kafka.records import PreviousHashes
from infra.postgres import relay_progress
from infra.postgres.view_tables import LIVE, ViewStore, writing
from tests.scenes.view_feeds import dumped

if TYPE_CHECKING:
    from collections.abc import Sequence

    from consumers.runtime.lifecycle import Projection, RunnerOptions
    from infra.kafka.clients import Connection
    from infra.kafka.records import ProducerRecord
    from infra.postgres.connection import Database
    from ledger.record.tape import TapeRow


def of_rows(rows: Sequence[TapeRow]) -> list[ProducerRecord]:
    """The record of every row, as the relay would write it."""
    places = PreviousHashes()
    made = []
    for row in rows:
        previous = places.before(row)
        assert previous is not None
        made.append(records.of_row(row, previous))
        places.saw(row)
    return made


def publish(
    database: Database, kafka: Connection, sent: Sequence[ProducerRecord], acknowledged: int
) -> None:
    """Write records in this order, and track as if the relay had published up to a position."""
    with Publisher(kafka, deadline_s=30) as publisher:
        partitions = topics.topic(topics.FACTS).partitions
        numbered = list(enumerate(sent, 1))
        at = 0
        while window := window_of(numbered[at : at + WINDOW_RECORDS]):
            publisher.publish(topics.FACTS, partitions, window.records)
            at = window.end
    with relay_progress.lead(database, lambda: False, prefix=kafka.topic_prefix) as relay_store:
        assert relay_store
        relay_store.move(topics.FACTS, relay_store.tracked(topics.FACTS), acknowledged)


def from_feed(
    database: Database,
    kafka: Connection,
    projections: Sequence[Projection] = VIEWS,
    options: RunnerOptions | None = None,
) -> Figures:
    """Bring views to the end of what was published; what was seen of the feed."""
    figures = Figures()
    with feed_source(database, kafka, [each.name for each in projections], figures) as source:
        catch_up(database, source, projections, options=options)
    return figures


def everything(database: Database, projections: Sequence[Projection] = VIEWS) -> dict[str, bytes]:
    return {each.name: dumped(database, each) for each in projections}


def shuffled_tapes(rows: Sequence[TapeRow], seed: int) -> list[TapeRow]:
    """Rows in another order that keeps each tape's own."""
    chance = random.Random(seed)  # noqa: S311 - repeatable, guards nothing
    tapes: dict[str, list[TapeRow]] = {}
    for row in rows:
        tapes.setdefault(row.tape, []).append(row)
    turns = [tape for tape, own in tapes.items() for _ in own]
    chance.shuffle(turns)
    left = {tape: iter(own) for tape, own in tapes.items()}
    return [next(left[tape]) for tape in turns]


def naive(database: Database, kafka: Connection, projections: Sequence[Projection] = VIEWS) -> None:
    """The control: a consumer that takes what comes, as it comes, each partition for itself."""
    with reader(kafka, topics.FACTS) as source:
        read = [each for batch in source.read(source.bounds()) for each in batch]
    rows = [records.fed(each.key, each.value, each.headers).row for each in read]
    with writing(database, LIVE) as connection:
        store = ViewStore(connection, LIVE)
        for projection in projections:
            for at in range(0, len(rows), 100):
                with connection.transaction():
                    projection.apply(store, Batch(rows[at : at + 100]))
