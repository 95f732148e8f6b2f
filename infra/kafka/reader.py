"""Reading one topic by partition and offset, without a consumer group: ranges, ends, new records.

An offset that no longer exists is an error; the reader never jumps to another one. Reading never
creates a topic. A silent broker is an error after `SILENT_S_MAX`, since the library reports none.
A partition with records that were fetched but not yet returned is never paused: the library would
never return them (ADR 0148).
"""

from __future__ import annotations

import time
from contextlib import closing, contextmanager
from typing import TYPE_CHECKING, Any

from infra.kafka import topics
from infra.kafka.clients import answered, client, translated
from infra.kafka.library import KafkaConsumer, TopicPartition
from infra.kafka.ports import Bounds, Consumed
from ledger.errors import Unavailable

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from infra.kafka.clients import Connection

SILENT_S_MAX = 30.0
"""How long a broker may send no record while there are records to read, seconds."""

FETCHED = {"fetch_max_bytes": 4 * 1024 * 1024, "max_partition_fetch_bytes": 512 * 1024}
"""Bytes, compressed, that one answer of a broker may hold; a single larger batch still arrives.

The library's defaults are 50 MiB and 1 MiB. It holds parts of them several times while unpacking.
"""

ANSWER_MS = int(SILENT_S_MAX * 1000)

_POLL_MS = 500
_POLL_RECORDS = 2_000


def consumed(each: Any) -> Consumed:  # noqa: ANN401 - the library is not typed
    """A record of the library as `Consumed`. A header without a value becomes an empty one."""
    headers = tuple((name, octets or b"") for name, octets in each.headers)
    return Consumed(each.partition, each.offset, each.key, each.value, headers)


def bounds_of(consumer: Any, topic: str, numbers: Sequence[int] = ()) -> dict[int, Bounds]:  # noqa: ANN401 - as above
    """The offsets that these partitions of a topic hold now; without numbers, all of them."""
    until = time.monotonic() + SILENT_S_MAX
    if not numbers:
        found = answered(lambda: consumer.partitions_for_topic(topic), until)
        numbers = sorted(found or ())
    places = [TopicPartition(topic, number) for number in numbers]
    if not places:
        return {}
    begins = consumer.beginning_offsets(places, timeout_ms=ANSWER_MS)
    ends = consumer.end_offsets(places, timeout_ms=ANSWER_MS)
    return {place.partition: Bounds(begins[place], ends[place]) for place in places}


def consumer_options(*, records: int, reset: str = "none") -> dict[str, Any]:
    """Options of every consumer: no automatic commits, no automatic creation of topics."""
    return {
        **FETCHED,
        "enable_auto_commit": False,
        "auto_offset_reset": reset,
        "allow_auto_create_topics": False,
        "check_crcs": True,
        "max_poll_records": records,
        "bootstrap_timeout_ms": ANSWER_MS,
    }


class Reader:
    """A consumer of one topic, for one thread: a `TopicReader`, or with numbers `Partitions`."""

    def __init__(
        self,
        kafka: Connection,
        consumer: Any,  # noqa: ANN401 - the library is not typed
        topic: str,
        numbers: Sequence[int] = (),
    ) -> None:
        self.where = kafka.bootstrap
        self._connection = kafka
        self._consumer = consumer
        self._topic = kafka.named(topic)
        self._numbers = numbers
        self._half_read: TopicPartition | None = None  # some fetched records not returned yet

    def bounds(self) -> dict[int, Bounds]:
        """As `TopicReader`."""
        with translated(self._connection):
            return bounds_of(self._consumer, self._topic, self._numbers)

    def ends(self) -> dict[int, int]:
        """As `Partitions`."""
        with translated(self._connection):
            found = self._consumer.end_offsets(self._places(self._numbers), timeout_ms=ANSWER_MS)
        return {place.partition: end for place, end in found.items()}

    def seek(self, starts: Mapping[int, int]) -> None:
        """As `Partitions`."""
        with translated(self._connection):
            self._consumer.assign(self._places(starts))
            for place in self._places(starts):
                self._consumer.seek(place, starts[place.partition])

    def poll(self, on: Sequence[int], off: Sequence[int], wait_s: float) -> list[Consumed]:
        """As `Partitions`."""
        with translated(self._connection):
            for numbers, do in ((on, self._consumer.resume), (off, self._consumer.pause)):
                if places := set(self._places(numbers)) - {self._half_read}:
                    do(*places)
        read = self._polled(int(wait_s * 1000))
        # Only a full poll can leave a partition half read: the one of its last record.
        full = len(read) == _POLL_RECORDS
        self._half_read = TopicPartition(self._topic, read[-1].partition) if full else None
        return read

    def reached(self) -> dict[int, int]:
        """As `Partitions`."""
        return self._positions(self._numbers)

    def read(self, ranges: Mapping[int, Bounds]) -> Iterator[list[Consumed]]:
        """As `TopicReader`. Raises `Unavailable` if a record is gone or no broker answers."""
        left = {number: span.end for number, span in ranges.items() if span.begin < span.end}
        self.seek({number: ranges[number].begin for number in left})
        heard = time.monotonic()
        while left:
            found = self._polled(_POLL_MS)
            batch = [each for each in found if each.offset < left.get(each.partition, 0)]
            if found:
                heard = time.monotonic()
            elif time.monotonic() - heard > SILENT_S_MAX:
                raise Unavailable(
                    f"No broker has sent a record for {SILENT_S_MAX:.0f} s",
                    where=f"{self._topic} at {self.where}",
                    hint="Check that the brokers run and that every partition has a leader.",
                )
            reached = self._positions(left)
            if done := [number for number in left if reached[number] >= left[number]]:
                for number in done:
                    del left[number]
                # Unassigned, never paused: the unread rest of a paused partition is stuck.
                self._consumer.assign(self._places(left))
            yield batch
            if batch:
                heard = time.monotonic()  # the caller's own time does not count

    def _places(self, numbers: Iterable[int]) -> list[TopicPartition]:
        return [TopicPartition(self._topic, number) for number in numbers]

    def _polled(self, wait_ms: int) -> list[Consumed]:
        with translated(self._connection):
            found = self._consumer.poll(timeout_ms=wait_ms, max_records=_POLL_RECORDS)
        return [consumed(each) for records in found.values() for each in records]

    def _positions(self, numbers: Iterable[int]) -> dict[int, int]:
        with translated(self._connection):
            return {
                place.partition: self._consumer.position(place) for place in self._places(numbers)
            }


@contextmanager
def reader(kafka: Connection, topic: str, *, required: bool = False) -> Iterator[Reader]:
    """A reader of one topic. The library's errors are raised as `Unavailable`.

    required: the topic must exist; the reader can then follow its partitions.
    """
    with translated(kafka):
        options = consumer_options(records=_POLL_RECORDS)
        consumer = client(KafkaConsumer, kafka, group_id=None, **options)
        with closing(consumer):
            numbers = range(topics.require(kafka, topic)) if required else ()
            yield Reader(kafka, consumer, topic, numbers)
