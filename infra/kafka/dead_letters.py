"""Dead letters: records that could not be handled, kept unchanged with the reason.

Any record on a dead-letter topic can be listed, even one that another program wrote there or that
lacks its headers. This module neither handles nor deletes dead letters.
"""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING, NamedTuple

from infra.kafka.clients import administrator
from infra.kafka.consumer_group import Read
from infra.kafka.ports import Bounds, Consumed
from infra.kafka.reader import reader
from infra.kafka.records import ProducerRecord, number
from infra.kafka.topics import topic as declared

if TYPE_CHECKING:
    from collections.abc import Iterator

    from infra.kafka.clients import Connection
    from infra.kafka.publisher import Publisher
    from infra.kafka.reader import Reader

KEPT_OCTETS = 512 * 1024
"""Bytes of the value that a dead letter keeps; with its headers it must fit into one record."""

REASON_MAX = 1_000
_HEADER_OCTETS_MAX = 64 * 1024
_PREFIX = "dead_"
HEADERS = tuple(
    f"{_PREFIX}{name}"
    for name in ("reason", "topic", "partition", "offset", "tries", "null", "octets")
)
"""The headers that a dead letter adds to those of the record."""


class Dead(NamedTuple):
    """A record that could not be handled."""

    record: Consumed  # on the dead-letter topic
    original: Read  # the record as read; its topic has the name on the cluster
    reason: str
    tries: int
    octets: int  # size of the original's value; more than are kept if it was truncated


def send_to_dead_letters(
    publisher: Publisher, topic: str, read: Read, reason: str, tries: int
) -> None:
    """Write a record and the reason to a dead-letter topic; truncate a value that is too large."""
    each = read.record
    key, value = (each.key or b"")[:_HEADER_OCTETS_MAX], each.value or b""
    size = sum(len(name.encode()) + len(octets) for name, octets in each.headers)
    headers = [
        *(each.headers if size <= _HEADER_OCTETS_MAX else ()),
        (f"{_PREFIX}reason", reason[:REASON_MAX].encode(errors="replace")),
        (f"{_PREFIX}topic", publisher.kafka.named(read.topic).encode()),
        (f"{_PREFIX}partition", b"%d" % each.partition),
        (f"{_PREFIX}offset", b"%d" % each.offset),
        (f"{_PREFIX}tries", b"%d" % tries),
        (f"{_PREFIX}null", b"1" if each.value is None else b"0"),
        (f"{_PREFIX}octets", b"%d" % len(value)),
    ]
    record = ProducerRecord(key, value[:KEPT_OCTETS], headers)
    publisher.publish(topic, declared(topic).partitions, [record])


class Letters:
    """The letters of a dead-letter topic: all of them, read in batches, or one by its offset.

    Every method raises `Unavailable`.
    """

    def __init__(self, source: Reader) -> None:
        self._source = source

    def __iter__(self) -> Iterator[Dead]:
        """Every letter that retention has kept, in order within each partition."""
        for batch in self._source.read(self._source.bounds()):
            yield from map(_dead, batch)

    def at(self, partition: int, offset: int) -> Dead | None:
        """The letter at one offset; None if there is none."""
        span = self._source.bounds().get(partition, Bounds(0, 0))
        if not span.begin <= offset < span.end:
            return None
        found = self._source.read({partition: Bounds(offset, offset + 1)})
        return next((_dead(each) for batch in found for each in batch), None)


@contextmanager
def dead_letters(kafka: Connection, topic: str) -> Iterator[Letters]:
    """An open dead-letter topic; a topic that does not exist has no letters."""
    with reader(kafka, topic) as source:
        yield Letters(source)


def identity(kafka: Connection, topic: str) -> str:
    """A topic's name and id. The id changes if the topic is recreated, so that offsets restart."""
    name = kafka.named(topic)
    with administrator(kafka) as admin:
        if name not in admin.list_topics():
            return name
        return f"{name}#{admin.describe_topics([name])[0]['topic_id']}"


def _dead(each: Consumed) -> Dead:
    told = dict(each.headers)
    value = None if told.get(f"{_PREFIX}null") == b"1" else each.value
    original = Consumed(
        number(told, f"{_PREFIX}partition"),
        number(told, f"{_PREFIX}offset"),
        each.key or None,
        value,
        tuple(header for header in each.headers if not header[0].startswith(_PREFIX)),
    )
    return Dead(
        each,
        Read(told.get(f"{_PREFIX}topic", b"").decode(errors="replace"), original),
        told.get(f"{_PREFIX}reason", b"The record was not written by `consume alerts`.").decode(
            errors="replace"
        ),
        number(told, f"{_PREFIX}tries"),
        max(number(told, f"{_PREFIX}octets"), len(value or b"")),
    )
