"""A fact of last year comes today: retention counts from today, since times are the broker's.

The control is the same records on a topic that believes their own times.
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

import pytest

from infra.kafka import topics
from infra.kafka.library import KafkaProducer
from infra.kafka.reader import reader
from infra.kafka.records import partition_of
from tests.fixtures.kafka import Cluster
from tests.fixtures.postgres import fact
from tests.scenes.feed_faults import of_rows
from tests.scenes.view_feeds import record
from tests.until import until

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from infra.kafka.clients import Connection
    from infra.kafka.ports import Bounds
    from infra.kafka.records import ProducerRecord
    from infra.postgres.connection import Database

FACTS = 30
HASTY = {"log.retention.check.interval.ms": "300", "log.initial.task.delay.ms": "100"}
HOUR_MS, YEAR_MS = 3_600_000, 366 * 86_400_000
BELIEVING, AFTER_IT = "control.believing.v1", "control.believing-after-it.v1"


def back_filled(
    kafka: Connection, topic: str, partitions: int, sent: Sequence[ProducerRecord]
) -> None:
    """Write records as a relay would that stamps them with when things happened: a year ago."""
    producer = KafkaProducer(**kafka.options(), acks="all", enable_idempotence=True)
    try:
        futures = [
            producer.send(
                topic,
                key=each.key,
                value=each.value,
                headers=each.headers,
                partition=partition_of(each.key, partitions),
                timestamp_ms=int(time.time() * 1000) - YEAR_MS,
            )
            for each in sent
        ]
        for future in futures:
            future.get(timeout=120)
    finally:
        producer.close()


def held(kafka: Connection, topic: str) -> int:
    """Records that a topic still has."""
    with reader(kafka, topic) as source:
        return sum(map(_count, source.bounds().values()))


def _count(span: Bounds) -> int:
    return span.end - span.begin


@pytest.mark.long
def test_a_back_filled_fact_is_kept_as_long_as_one_of_today(
    database: Database, tmp_path: Path
) -> None:
    facts = topics.topic(topics.FACTS)
    short = facts._replace(settings=facts.settings | {"retention.ms": str(HOUR_MS)})
    own = {"message.timestamp.type": "CreateTime"}
    controls = [
        short._replace(name=name, settings=short.settings | own) for name in (BELIEVING, AFTER_IT)
    ]
    sent = of_rows(record(database, [fact(number) for number in range(FACTS)]))
    cluster = Cluster(tmp_path / "kafka", more=lambda _: HASTY)
    try:
        topics.apply(cluster.connection, [short, controls[0]])
        for name in (topics.FACTS, BELIEVING):
            back_filled(cluster.connection, name, facts.partitions, sent)
        until(lambda: held(cluster.connection, BELIEVING) == 0)
        topics.apply(cluster.connection, controls)
        back_filled(cluster.connection, AFTER_IT, facts.partitions, sent)
        until(lambda: held(cluster.connection, AFTER_IT) == 0)  # so every topic was looked at
        assert held(cluster.connection, topics.FACTS) == FACTS
    finally:
        cluster.close()
