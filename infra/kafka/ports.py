"""Ports to Kafka: a producer, a writer of the feed, a topic reader, the partitions to follow.

All logic (windows, acknowledgements, end offsets, gaps, comparison) is written against these ports.
It runs the same on the client library and in the fault simulation.
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, NamedTuple, Protocol

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence
    from contextlib import AbstractContextManager

    from infra.kafka.records import Header, ProducerRecord


class Consumed(NamedTuple):
    """One record of a topic, as read."""

    partition: int
    offset: int
    key: bytes | None
    value: bytes | None
    headers: tuple[Header, ...]


class Bounds(NamedTuple):
    """The offsets that a partition holds: from `begin` up to, but not including, `end`."""

    begin: int  # above 0 if retention has removed earlier records
    end: int


class Clock(NamedTuple):
    """A monotonic clock; the wall clock is not used, since it may be set back."""

    monotonic: Callable[[], float] = time.monotonic


SYSTEM = Clock()
"""The monotonic clock of this machine."""


class Acknowledged(Protocol):
    """The partition and offset that an acknowledged record got."""

    @property
    def partition(self) -> int:
        """The partition of the record."""

    @property
    def offset(self) -> int:
        """The offset of the record; negative if the broker does not report it."""


class Sent(Protocol):
    """A record that is being sent."""

    def get(self, timeout: float) -> Acknowledged:
        """Wait for the acknowledgement, at most `timeout` seconds. Raises the library's errors."""


class Producer(Protocol):
    """The part of the library's producer that is used here."""

    def send(
        self, topic: str, *, key: bytes, value: bytes | None, headers: list[Header], partition: int
    ) -> Sent:
        """Start sending a record."""

    def flush(self, timeout: float) -> None:
        """Wait until every record is acknowledged or has failed. Failures raise no error here."""

    def close(self, timeout: float) -> None:
        """Close the producer. May raise the library's errors if records are still being sent."""


class FeedWriter(Protocol):
    """The feed, as the relay uses it."""

    def partitions(self, topic: str) -> int:
        """The number of partitions of a topic that must exist. Raises `Unavailable`."""

    def opened(self, topic: str) -> AbstractContextManager[TopicReader]:
        """A topic, to be read. Raises `Unavailable`."""

    def publish(
        self, topic: str, partitions: int, records: Sequence[ProducerRecord]
    ) -> Sequence[Acknowledged]:
        """The places of the records, once every one is acknowledged.

        After `Unavailable` start a new process.
        """


class TopicReader(Protocol):
    """One topic, read by partition and offset."""

    def bounds(self) -> dict[int, Bounds]:
        """The offsets that every partition holds now; empty if the topic does not exist."""

    def read(self, ranges: Mapping[int, Bounds]) -> Iterator[list[Consumed]]:
        """Yield every record within these bounds, in batches, in order within each partition.

        A batch is empty if nothing came for a while, so that the caller can stop.
        """


class Partitions(Protocol):
    """The partitions of the facts' topic, read from given offsets on. Raises `Unavailable`."""

    where: str

    def bounds(self) -> dict[int, Bounds]:
        """The offsets that every partition holds now."""

    def ends(self) -> dict[int, int]:
        """The end offset of every partition now. An answer shows that a broker is alive."""

    def seek(self, starts: Mapping[int, int]) -> None:
        """Read each partition from this offset on."""

    def poll(self, on: Sequence[int], off: Sequence[int], wait_s: float) -> list[Consumed]:
        """New records of the partitions `on`, none of `off`; waits up to `wait_s` seconds."""

    def reached(self) -> dict[int, int]:
        """The next offset to read of each partition; it passes offsets that hold no record."""
