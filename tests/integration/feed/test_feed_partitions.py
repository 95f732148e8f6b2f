"""Partitions of a real Kafka that are left alone for a while, and read on: nothing gets stuck.

The client library keeps the decoded records of a paused partition, and may never give them out
again (ADR 0148).
"""

from __future__ import annotations

from itertools import count
from typing import TYPE_CHECKING

import pytest

from infra.kafka import topics
from infra.kafka.library import KafkaConsumer, TopicPartition
from infra.kafka.ports import Bounds
from infra.kafka.publisher import Publisher
from infra.kafka.reader import reader
from infra.kafka.records import ProducerRecord, partition_of
from tests.until import until

if TYPE_CHECKING:
    from infra.kafka.clients import Connection
    from infra.kafka.ports import Consumed

LONG, SHORT = 0, 1
"""A partition that one poll cannot empty, and one with a few records."""

RECORDS = {LONG: 5_000, SHORT: 10}


def filled(kafka: Connection) -> None:
    """Both partitions with their records."""
    total = topics.topic(topics.FACTS).partitions
    with Publisher(kafka, deadline_s=30) as publisher:
        for number, many in RECORDS.items():
            key = next(k for n in count() if partition_of(k := b"%d" % n, total) == number)
            record = ProducerRecord(key, b"{}" * 50, [])
            for _ in range(0, many, 500):
                publisher.publish(topics.FACTS, total, [record] * min(many, 500))


def of(read: list[Consumed], number: int) -> list[int]:
    return [each.offset for each in read if each.partition == number]


def test_a_partition_that_was_left_half_read_is_read_on(kafka: Connection) -> None:
    filled(kafka)
    everyone = list(range(topics.topic(topics.FACTS).partitions))
    others = [number for number in everyone if number != LONG]
    read: list[Consumed] = []
    with reader(kafka, topics.FACTS, required=True) as facts:

        def has(number: int, many: int, on: list[int], off: list[int]) -> bool:
            read.extend(facts.poll(on, off, 0.25))
            return len(of(read, number)) >= many

        facts.seek(dict.fromkeys(everyone, 0))
        until(lambda: has(LONG, 1, [], []))
        until(lambda: has(SHORT, RECORDS[SHORT], others, [LONG]))
        until(lambda: has(LONG, RECORDS[LONG], everyone, []), 20)
    for number, many in RECORDS.items():
        assert of(read, number) == list(range(many))


@pytest.mark.long
def test_a_range_that_ends_within_a_batch_is_read_again_from_the_same_reader(
    kafka: Connection,
) -> None:
    filled(kafka)
    with reader(kafka, topics.FACTS) as read:
        for _ in range(3):
            spans = {LONG: Bounds(0, 100), SHORT: Bounds(0, RECORDS[SHORT])}
            batches = [each for batch in read.read(spans) for each in batch]
            assert of(batches, LONG) == list(range(100))
            assert of(batches, SHORT) == list(range(RECORDS[SHORT]))
            spans = {LONG: Bounds(0, RECORDS[LONG])}
            whole = [each for batch in read.read(spans) for each in batch]
            assert of(whole, LONG) == list(range(RECORDS[LONG]))


@pytest.mark.long
def test_the_library_alone_would_never_give_the_rest(kafka: Connection) -> None:
    """The control. If this fails, the library was fixed, and ADR 0148 is no longer needed."""
    filled(kafka)
    long, short = (TopicPartition(kafka.named(topics.FACTS), n) for n in (LONG, SHORT))
    consumer = KafkaConsumer(
        **kafka.options(), group_id=None, enable_auto_commit=False, auto_offset_reset="earliest"
    )
    try:
        consumer.assign([long])
        until(lambda: consumer.poll(timeout_ms=250, max_records=100), 30)
        consumer.assign([long, short])
        consumer.pause(long)
        until(lambda: short in consumer.poll(timeout_ms=250), 30)
        consumer.resume(long)
        assert not any(consumer.poll(timeout_ms=250) for _ in range(20))
        assert consumer.position(long) == 100
    finally:
        consumer.close()
