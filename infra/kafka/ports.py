"""What our own programs ask of Kafka, as ports: a producer, one topic to read, the facts to follow.

Everything that decides (windows, acknowledgements, end offsets, gaps, comparing) is written against
these, and runs the same on the client library and in the simulation of faults.
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, NamedTuple, Protocol

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from infra.kafka.records import Header, ProducerRecord


class Consumed(NamedTuple):
    """One record as it stands in a topic."""

    partition: int
    offset: int
    key: bytes | None
    value: bytes | None
    headers: tuple[Header, ...]


class Bounds(NamedTuple):
    """What a partition holds: offsets from `begin` up to, not including, `end`."""

    begin: int  # above 0 where retention has removed what was before
    end: int


class PartitionEnd(NamedTuple):
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


class Clock(NamedTuple):
    """Time as a program sees it: never the clock on the wall, which may be set back."""

    monotonic: Callable[[], float] = time.monotonic


SYSTEM = Clock()
"""The machine's own."""


class Acknowledged(Protocol):
    """Where a record came to stand."""

    @property
    def partition(self) -> int:
        """Its partition."""

    @property
    def offset(self) -> int:
        """Its offset; below zero where the brokers do not tell."""


class Sent(Protocol):
    """A record under way."""

    def get(self, timeout: float) -> Acknowledged:
        """Wait until it is acknowledged. Raises the library's errors."""


class Producer(Protocol):
    """The library's producer, as far as it is used."""

    def send(
        self, topic: str, *, key: bytes, value: bytes | None, headers: list[Header], partition: int
    ) -> Sent:
        """Begin to send a record."""

    def flush(self, timeout: float) -> None:
        """Wait until everything is acknowledged or failed; says nothing of what failed."""

    def close(self, timeout: float) -> None:
        """End it. May raise the library's errors where something is under way."""


class FeedWriter(Protocol):
    """The feed as the relay writes it."""

    def partitions(self, topic: str) -> int:
        """How many a topic has, which must be there. Raises `Unavailable`."""

    def end_offsets(self, topic: str) -> dict[int, PartitionEnd]:
        """Where every partition really ends. Raises `Unavailable`."""

    def publish(self, topic: str, partitions: int, records: Sequence[ProducerRecord]) -> None:
        """Return when every record is acknowledged. Raises `Unavailable`: then begin anew."""


class TopicReader(Protocol):
    """One topic, read by partition and offset."""

    def bounds(self) -> dict[int, Bounds]:
        """What every partition holds now; nothing where there is no such topic."""

    def read(self, ranges: Mapping[int, Bounds]) -> Iterator[list[Consumed]]:
        """Every record within these bounds, in batches; in order within a partition only."""


class Partitions(Protocol):
    """The partitions of the facts' topic, followed from offsets on. Raises `Unavailable`."""

    where: str

    def bounds(self) -> dict[int, Bounds]:
        """What every partition holds now."""

    def ends(self) -> dict[int, int]:
        """Where every partition ends now: a broker has answered."""

    def seek(self, starts: Mapping[int, int]) -> None:
        """Read each from here on."""

    def poll(self, on: Sequence[int], off: Sequence[int], wait_s: float) -> list[Consumed]:
        """What has come, of the partitions `on` and none of `off`; waits so long for news."""

    def reached(self) -> dict[int, int]:
        """Where each is read on. Further than the last record where offsets hold none."""
