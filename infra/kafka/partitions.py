"""The facts' topic on a real cluster, as `infra.kafka.ports.Partitions`: assigned, never grouped.

What the library leaves to chance is asked for: no jump from an offset that is gone, no topic made
by looking. A partition whose records it has given out in part is never paused: it would keep the
rest for good (ADR 0148). It decides nothing.
"""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from infra.kafka import topics
from infra.kafka.clients import translated
from infra.kafka.library import KafkaConsumer, TopicPartition
from infra.kafka.reader import FETCHED, SILENT_S_MAX, Bounds, consumed

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from infra.kafka.clients import Connection
    from infra.kafka.reader import Consumed

_POLL_RECORDS = 2_000
_ANSWER_MS = int(SILENT_S_MAX * 1000)


class KafkaPartitions:
    """All partitions of the facts' topic, by one consumer. For one thread."""

    def __init__(self, where: Connection, consumer: Any) -> None:  # noqa: ANN401 - the library is not typed
        self.where = where.bootstrap
        self._connection = where
        self._consumer = consumer
        count = topics.require(where, topics.FACTS)
        self._places = [TopicPartition(where.named(topics.FACTS), n) for n in range(count)]
        self._half_read: TopicPartition | None = None  # decoded, and given out in part

    def bounds(self) -> dict[int, Bounds]:
        """As `Partitions`."""
        with translated(self._connection):
            begins = self._consumer.beginning_offsets(self._places, timeout_ms=_ANSWER_MS)
        ends = self.ends()
        return {
            place.partition: Bounds(begins[place], ends[place.partition]) for place in self._places
        }

    def ends(self) -> dict[int, int]:
        """As `Partitions`."""
        with translated(self._connection):
            found = self._consumer.end_offsets(self._places, timeout_ms=_ANSWER_MS)
        return {place.partition: end for place, end in found.items()}

    def seek(self, starts: Mapping[int, int]) -> None:
        """As `Partitions`."""
        with translated(self._connection):
            self._consumer.assign(self._places)
            for place in self._places:
                self._consumer.seek(place, starts[place.partition])

    def poll(self, on: Sequence[int], off: Sequence[int], wait_s: float) -> list[Consumed]:
        """As `Partitions`."""
        with translated(self._connection):
            for numbers, do in ((on, self._consumer.resume), (off, self._consumer.pause)):
                if places := {self._places[number] for number in numbers} - {self._half_read}:
                    do(*places)
            found = self._consumer.poll(timeout_ms=int(wait_s * 1000), max_records=_POLL_RECORDS)
        read = [consumed(each) for records in found.values() for each in records]
        # Only a poll that was full can leave a partition half read: the one it came to last.
        self._half_read = self._places[read[-1].partition] if len(read) == _POLL_RECORDS else None
        return read

    def reached(self) -> dict[int, int]:
        """As `Partitions`."""
        with translated(self._connection):
            return {place.partition: self._consumer.position(place) for place in self._places}


@contextmanager
def facts(where: Connection) -> Iterator[KafkaPartitions]:
    """The facts' topic, to be followed. Raises `Unavailable`."""
    with translated(where):
        consumer = KafkaConsumer(
            **where.options(),
            group_id=None,
            enable_auto_commit=False,
            auto_offset_reset="none",
            allow_auto_create_topics=False,
            check_crcs=True,
            **FETCHED,
            max_poll_records=_POLL_RECORDS,
            bootstrap_timeout_ms=int(SILENT_S_MAX * 1000),
        )
        try:
            yield KafkaPartitions(where, consumer)
        finally:
            consumer.close()
