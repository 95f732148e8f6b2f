"""Dead letters: records that could not be handled, kept as they came beside why.

Whatever is on such a topic can be listed: what somebody else wrote there, or a letter without its
headers, is shown as well as may be. It handles nothing and removes nothing.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from infra.kafka.clients import administrator
from infra.kafka.group import Read
from infra.kafka.reading import Consumed, reader
from infra.kafka.records import Record, number
from infra.kafka.topics import topic as declared

if TYPE_CHECKING:
    from infra.kafka.clients import Connection
    from infra.kafka.publisher import Publisher

KEPT_OCTETS = 512 * 1024
"""How much of a record a letter keeps: with its headers it must fit into one record again."""

REASON_MAX = 1_000
_HEADER_OCTETS_MAX = 64 * 1024
_PREFIX = "dead_"


class Dead(NamedTuple):
    """A record that could not be handled."""

    record: Consumed  # on the dead-letter topic
    original: Read  # as it came
    reason: str
    tries: int
    octets: int  # of the original's value; more than there are where it was too large to be kept


def bury(publisher: Publisher, topic: str, read: Read, reason: str, tries: int) -> None:
    """Write a record to a dead-letter topic as it came, and why. What is too large is cut."""
    each = read.record
    key, value = (each.key or b"")[:_HEADER_OCTETS_MAX], each.value or b""
    size = sum(len(name.encode()) + len(octets) for name, octets in each.headers)
    headers = [
        *(each.headers if size <= _HEADER_OCTETS_MAX else ()),
        (f"{_PREFIX}reason", reason[:REASON_MAX].encode(errors="replace")),
        (f"{_PREFIX}topic", read.topic.encode()),
        (f"{_PREFIX}partition", b"%d" % each.partition),
        (f"{_PREFIX}offset", b"%d" % each.offset),
        (f"{_PREFIX}tries", b"%d" % tries),
        (f"{_PREFIX}null", b"1" if each.value is None else b"0"),
        (f"{_PREFIX}octets", b"%d" % len(value)),
    ]
    record = Record(key, value[:KEPT_OCTETS], headers)
    publisher.publish(topic, declared(topic).partitions, [record])


def dead_letters(where: Connection, topic: str) -> list[Dead]:
    """Everything on a dead-letter topic that retention has left. Raises `Unavailable`."""
    with reader(where, topic) as source:
        read = [each for batch in source.read(source.bounds()) for each in batch]
    return [_dead(each) for each in read]


def identity(where: Connection, topic: str) -> str:
    """A topic's name and the id it was made with: one made anew counts its offsets from 0 again."""
    with administrator(where) as admin:
        if topic not in admin.list_topics():
            return topic
        return f"{topic}#{admin.describe_topics([topic])[0]['topic_id']}"


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
        told.get(f"{_PREFIX}reason", b"It was not written by `consume alerts`.").decode(
            errors="replace"
        ),
        number(told, f"{_PREFIX}tries"),
        max(number(told, f"{_PREFIX}octets"), len(value or b"")),
    )
