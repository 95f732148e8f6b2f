"""Reading topics as a member of an ordinary group.

For operations only: after a crash or a rebalance records come again, so whatever is done with them
must be the same done twice. Nothing that counts money is read this way.
"""

from __future__ import annotations

import time
from contextlib import closing, contextmanager
from typing import TYPE_CHECKING, Any, NamedTuple

from infra.kafka.clients import translated
from infra.kafka.library import KafkaConsumer, OffsetAndMetadata, TopicPartition
from infra.kafka.reader import ANSWER_MS, bounds_of, consumed, consumer_options

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from infra.kafka.clients import Connection
    from infra.kafka.ports import Bounds, Consumed

SESSION_MS = 10_000
"""How long a member that died holds its partitions, milliseconds; the library's is 45 s."""

POLL_MS_MAX = 300_000
"""How long may pass between polls until the group gives its partitions away, milliseconds."""

POLL_RECORDS = 50
"""Records of one poll: each may be tried several times, with pauses, before the next poll."""


class Read(NamedTuple):
    """One record and the topic it stands on."""

    topic: str
    record: Consumed


class Member:
    """A member of a group."""

    def __init__(self, kafka: Connection, consumer: Any) -> None:  # noqa: ANN401 - the library is not typed
        self._kafka = kafka
        self._consumer = consumer
        self.answered_at: float | None = None
        """When a broker last answered about what it was given, by the monotonic clock."""

    def poll(self, timeout_s: float) -> list[Read]:
        """Records that came, none where nothing did. Raises `Unavailable`."""
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
        """These records, in the order they were polled, are dealt with. Raises `Unavailable`."""
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
        """Ask the brokers whether they are there. Raises `Unavailable`."""
        with translated(self._kafka):
            held = self._consumer.assignment()
            if held:
                self._consumer.end_offsets(list(held), timeout_ms=ANSWER_MS)
                self._heard()

    def lag(self) -> int:
        """Records that are there and were not polled yet."""
        with translated(self._kafka):
            held = list(self._consumer.assignment())
            ends = self._consumer.end_offsets(held) if held else {}
            return sum(ends[place] - self._consumer.position(place) for place in held)

    def _heard(self) -> None:
        self.answered_at = time.monotonic()

    def bounds(self, topic: str) -> dict[int, Bounds]:
        """What a topic holds, be it one of the group's or not. Raises `Unavailable`."""
        name = self._kafka.named(topic)
        with translated(self._kafka):
            return bounds_of(self._consumer, name)

    def has_joined(self) -> bool:
        """Whether the group has given it something to read."""
        return bool(self._consumer.assignment())


@contextmanager
def member(kafka: Connection, group: str, topics: Sequence[str]) -> Iterator[Member]:
    """A member of a group, from its committed offsets; a new group begins at the beginning."""
    with translated(kafka):
        consumer = KafkaConsumer(
            *map(kafka.named, topics),
            **consumer_options(kafka, records=POLL_RECORDS, reset="earliest"),
            group_id=kafka.named(group),
            session_timeout_ms=SESSION_MS,
            heartbeat_interval_ms=SESSION_MS // 3,
            max_poll_interval_ms=POLL_MS_MAX,
        )
        with closing(consumer):
            yield Member(kafka, consumer)
