"""Reading the feed by partition and offset, without a consumer group: ranges, and tails.

Everything is asked for explicitly. An offset that is not there any more is an error and never a
jump; a broker that is silent is one after a while, since the library itself says nothing of it.
"""

from __future__ import annotations

import time
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, NamedTuple

from infra.kafka.clients import translated
from infra.kafka.library import KafkaConsumer, TopicPartition
from infra.kafka.records import REPUBLISHED
from ledger.errors import Unavailable

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from infra.kafka.clients import Connection
    from infra.kafka.ports import TopicReader
    from infra.kafka.records import Header

SILENT_S_MAX = 30.0
"""How long a broker may say nothing while there is something to read, seconds."""

FETCHED = {"fetch_max_bytes": 4 * 1024 * 1024, "max_partition_fetch_bytes": 512 * 1024}
"""How much, compressed, one answer of a broker may hold; a single larger batch comes all the same.

Of the library's 50 MiB and 1 MiB much is held several times over while it is unpacked.
"""

_POLL_MS = 500
_POLL_RECORDS = 2_000
_BACK = (1, 100, 10_000, 2**62)


class Consumed(NamedTuple):
    """One record as it stands in a topic."""

    partition: int
    offset: int
    key: bytes | None
    value: bytes | None
    headers: tuple[Header, ...]


def consumed(each: Any) -> Consumed:  # noqa: ANN401 - the library is not typed
    """The library's record. A header may have no value, which nobody tells from an empty one."""
    headers = tuple((name, octets or b"") for name, octets in each.headers)
    return Consumed(each.partition, each.offset, each.key, each.value, headers)


class Bounds(NamedTuple):
    """What a partition holds: offsets from `begin` up to, not including, `end`."""

    begin: int  # above 0 where retention has removed what was before
    end: int


class Reader:
    """A consumer of one topic."""

    def __init__(self, where: Connection, consumer: Any, topic: str) -> None:  # noqa: ANN401 - the library is not typed
        self._where = where
        self._consumer = consumer
        self._topic = where.named(topic)

    def bounds(self) -> dict[int, Bounds]:
        """What every partition holds now; nothing where there is no such topic."""
        numbers = self._consumer.partitions_for_topic(self._topic) or ()
        places = [TopicPartition(self._topic, number) for number in sorted(numbers)]
        if not places:
            return {}
        begins = self._consumer.beginning_offsets(places)
        ends = self._consumer.end_offsets(places)
        return {place.partition: Bounds(begins[place], ends[place]) for place in places}

    def read(self, ranges: Mapping[int, Bounds]) -> Iterator[list[Consumed]]:
        """Every record within these bounds, in batches; in order within a partition only.

        Raises `Unavailable` where a record cannot be had any more, or no broker answers.
        """
        left = {number: span.end for number, span in ranges.items() if span.begin < span.end}
        places = {number: TopicPartition(self._topic, number) for number in left}
        self._consumer.assign(list(places.values()))
        for number, place in places.items():
            self._consumer.seek(place, ranges[number].begin)
        heard = time.monotonic()
        while left:
            found = self._consumer.poll(timeout_ms=_POLL_MS, max_records=_POLL_RECORDS)
            batch = [
                consumed(each)
                for records in found.values()
                for each in records
                if each.offset < left.get(each.partition, 0)
            ]
            if found:
                heard = time.monotonic()
            elif time.monotonic() - heard > SILENT_S_MAX:
                raise Unavailable(
                    f"No broker has sent anything for {SILENT_S_MAX:.0f} s",
                    where=f"{self._topic} at {self._where.bootstrap}",
                    hint="Check that the brokers run and that every partition has a leader.",
                )
            done = [
                number for number in left if self._consumer.position(places[number]) >= left[number]
            ]
            for number in done:
                del left[number]
            if done:  # given back, never paused: what is paused half read is stuck (ADR 0148)
                self._consumer.assign([places[number] for number in left])
            if batch:
                yield batch
                heard = time.monotonic()  # however long the caller took over it


@contextmanager
def reader(where: Connection, topic: str) -> Iterator[Reader]:
    """A reader of one topic; what the library raises becomes `Unavailable`."""
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
            yield Reader(where, consumer, topic)
        finally:
            consumer.close()


class Tail(NamedTuple):
    """The end of one partition."""

    bounds: Bounds
    last: Consumed | None  # the newest that was not published again on demand; None: there is none

    @property
    def expired(self) -> bool:
        """Whether retention has removed everything that was ever there.

        A beginning at 0 with nothing to be seen is another thing: all that is there was published
        again on demand, and what was before it is lost.
        """
        return self.last is None and self.bounds.begin > 0


def tails(where: Connection, topic: str) -> dict[int, Tail]:
    """The newest record of every partition, those published again on demand passed over.

    Looks further back, in steps, where only such are found.
    """
    with reader(where, topic) as read:
        return tails_of(read)


def tails_of(read: TopicReader) -> dict[int, Tail]:
    """As `tails`, of a topic that is open."""
    bounds = read.bounds()
    found: dict[int, Consumed] = {}
    for back in _BACK:
        spans = {
            number: Bounds(max(span.begin, span.end - back), span.end)
            for number, span in bounds.items()
            if number not in found
        }
        for batch in read.read(spans):
            for each in batch:
                if REPUBLISHED not in dict(each.headers):
                    found[each.partition] = each
    return {number: Tail(span, found.get(number)) for number, span in bounds.items()}
