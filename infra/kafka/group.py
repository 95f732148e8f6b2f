"""Reading topics as a member of an ordinary group, and the topic for what could not be handled.

For operations only: after a crash or a rebalance records come again, so whatever is done with them
must be the same done twice. Nothing that counts money is read this way.
"""

from __future__ import annotations

import time
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, NamedTuple

from infra.kafka.clients import translated
from infra.kafka.library import KafkaConsumer
from infra.kafka.reading import SILENT_S_MAX, Consumed, reader
from infra.kafka.records import Record
from infra.kafka.topics import topic as declared

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from infra.kafka.clients import Connection
    from infra.kafka.publisher import Publisher

SESSION_MS = 10_000
"""How long a member that died holds its partitions, milliseconds; the library's is 45 s."""

_POLL_RECORDS = 500
_PREFIX = "dead_"


class Read(NamedTuple):
    """One record and the topic it stands on."""

    topic: str
    record: Consumed


class Member:
    """A member of a group."""

    def __init__(self, where: Connection, consumer: Any) -> None:  # noqa: ANN401 - the library is not typed
        self._where = where
        self._consumer = consumer
        self.heard_at = time.time()

    def poll(self, timeout_s: float) -> list[Read]:
        """Records that came, none where nothing did. Raises `Unavailable`."""
        with translated(self._where):
            found = self._consumer.poll(timeout_ms=int(timeout_s * 1000))
        if found:
            self.heard_at = time.time()
        return [
            Read(
                place.topic,
                Consumed(each.partition, each.offset, each.key, each.value, tuple(each.headers)),
            )
            for place, records in found.items()
            for each in records
        ]

    def commit(self) -> None:
        """Everything that was polled is dealt with. Raises `Unavailable`."""
        with translated(self._where):
            self._consumer.commit()
        self.heard_at = time.time()

    def knock(self) -> None:
        """Ask the brokers whether they are there. Raises `Unavailable`."""
        with translated(self._where):
            held = self._consumer.assignment()
            if held:
                self._consumer.end_offsets(list(held), timeout_ms=int(SILENT_S_MAX * 1000))
                self.heard_at = time.time()

    def lag(self) -> int:
        """Records that are there and were not polled yet."""
        with translated(self._where):
            held = list(self._consumer.assignment())
            ends = self._consumer.end_offsets(held) if held else {}
            return sum(ends[place] - self._consumer.position(place) for place in held)

    def has_joined(self) -> bool:
        """Whether the group has given it something to read."""
        return bool(self._consumer.assignment())


@contextmanager
def member(where: Connection, group: str, topics: Sequence[str]) -> Iterator[Member]:
    """A member of a group, from its committed offsets; a new group begins at the beginning."""
    with translated(where):
        consumer = KafkaConsumer(
            *topics,
            **where.options(),
            group_id=group,
            enable_auto_commit=False,
            auto_offset_reset="earliest",
            session_timeout_ms=SESSION_MS,
            heartbeat_interval_ms=SESSION_MS // 3,
            allow_auto_create_topics=False,
            check_crcs=True,
            max_poll_records=_POLL_RECORDS,
            bootstrap_timeout_ms=int(SILENT_S_MAX * 1000),
        )
        try:
            yield Member(where, consumer)
        finally:
            consumer.close()


class Dead(NamedTuple):
    """A record that could not be handled."""

    record: Consumed  # on the dead-letter topic
    original: Read  # as it came
    reason: str
    tries: int


def bury(publisher: Publisher, topic: str, read: Read, reason: str, tries: int) -> None:
    """Write a record to a dead-letter topic as it came, and why."""
    each = read.record
    headers = [
        *each.headers,
        (f"{_PREFIX}reason", reason.encode()),
        (f"{_PREFIX}topic", read.topic.encode()),
        (f"{_PREFIX}partition", b"%d" % each.partition),
        (f"{_PREFIX}offset", b"%d" % each.offset),
        (f"{_PREFIX}tries", b"%d" % tries),
        (f"{_PREFIX}null", b"1" if each.value is None else b"0"),
    ]
    record = Record(each.key or b"", each.value or b"", headers)
    publisher.publish(topic, declared(topic).partitions, [record])


def dead_letters(where: Connection, topic: str) -> list[Dead]:
    """Everything on a dead-letter topic."""
    with reader(where, topic) as source:
        read = [each for batch in source.read(source.bounds()) for each in batch]
    return [_dead(each) for each in read]


def _dead(each: Consumed) -> Dead:
    told = dict(each.headers)
    original = Consumed(
        int(told.get(f"{_PREFIX}partition", b"0")),
        int(told.get(f"{_PREFIX}offset", b"0")),
        each.key or None,
        None if told.get(f"{_PREFIX}null") == b"1" else each.value,
        tuple(header for header in each.headers if not header[0].startswith(_PREFIX)),
    )
    return Dead(
        each,
        Read(told.get(f"{_PREFIX}topic", b"").decode(), original),
        told.get(f"{_PREFIX}reason", b"").decode(errors="replace"),
        int(told.get(f"{_PREFIX}tries", b"0")),
    )
