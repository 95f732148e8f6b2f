"""Reading topics as a member of a consumer group.

For alerts only, never for amounts of money. After a crash or a rebalance records are delivered
again, so their handling must be idempotent.
"""

from __future__ import annotations

import time
from contextlib import contextmanager
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

from infra.kafka.clients import client, translated
from infra.kafka.library import KafkaConsumer, OffsetAndMetadata, TopicPartition
from infra.kafka.reader import ANSWER_MS, bounds_of, consumed, consumer_options

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from infra.kafka.clients import Connection
    from infra.kafka.ports import Bounds, Consumed

SESSION_MS = 10_000
"""How long a dead member keeps its partitions, milliseconds; the library's default is 45 s."""

POLL_MS_MAX = 300_000
"""How long a member may go without a poll before it loses its partitions, milliseconds."""

CLOSE_MS = 1_000
"""Longest wait for the group as a member leaves, milliseconds; the library's is 30 s."""

POLL_RECORDS = 50
"""Records of one poll. Each may be retried several times, with pauses, before the next poll."""


class Read(NamedTuple):
    """One record and its topic."""

    topic: str
    record: Consumed


class Member:
    """A member of a consumer group."""

    def __init__(self, kafka: Connection, consumer: Any) -> None:  # noqa: ANN401 - the library is not typed
        self._kafka = kafka
        self._consumer = consumer
        self.answered_at: float | None = None
        """When a broker last answered this member, by the monotonic clock; None: not yet."""

    def poll(self, timeout_s: float) -> list[Read]:
        """New records; an empty list if none came in time. Raises `Unavailable`."""
        with translated(self._kafka):
            found = self._consumer.poll(timeout_ms=int(timeout_s * 1000))
        if found:
            self._heard()
        return [
            Read(self._kafka.declared(place.topic), consumed(each))
            for place, records in found.items()
            for each in records
        ]

    def commit(self, read: Sequence[Read]) -> None:
        """Commit the offsets after these records, given in poll order. Raises `Unavailable`."""
        ends = {
            TopicPartition(self._kafka.named(each.topic), each.record.partition): OffsetAndMetadata(
                each.record.offset + 1, "", -1
            )
            for each in read
        }
        with translated(self._kafka):
            self._consumer.commit(ends)
        self._heard()

    def ping_brokers(self) -> None:
        """Check that the brokers answer. Raises `Unavailable`."""
        with translated(self._kafka):
            held = self._consumer.assignment()
            if held:
                self._consumer.end_offsets(list(held), timeout_ms=ANSWER_MS)
                self._heard()

    def lag(self) -> int:
        """The number of records that exist and were not polled yet."""
        with translated(self._kafka):
            held = list(self._consumer.assignment())
            ends = self._consumer.end_offsets(held, timeout_ms=ANSWER_MS) if held else {}
            return sum(ends[place] - self._consumer.position(place) for place in held)

    def _heard(self) -> None:
        self.answered_at = time.monotonic()

    def bounds(self, topic: str) -> dict[int, Bounds]:
        """The offsets that any topic holds now, by partition. Raises `Unavailable`."""
        name = self._kafka.named(topic)
        with translated(self._kafka):
            return bounds_of(self._consumer, name)

    def has_joined(self) -> bool:
        """Whether the group has assigned partitions to this member."""
        return bool(self._consumer.assignment())


@contextmanager
def member(kafka: Connection, group: str, topics: Sequence[str]) -> Iterator[Member]:
    """A member that reads from the group's committed offsets; a new group from the beginning."""
    with translated(kafka):
        consumer = client(
            partial(KafkaConsumer, *map(kafka.named, topics)),
            kafka,
            **consumer_options(records=POLL_RECORDS, reset="earliest"),
            group_id=kafka.named(group),
            session_timeout_ms=SESSION_MS,
            heartbeat_interval_ms=SESSION_MS // 3,
            max_poll_interval_ms=POLL_MS_MAX,
        )
        try:
            yield Member(kafka, consumer)
        finally:
            consumer.close(timeout_ms=CLOSE_MS)
