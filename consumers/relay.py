"""The relay: the record, published on Kafka in the order of every tape, each fact at least once.

One leads, others wait. A window of records is sent, every acknowledgement awaited, then tracking is
moved; whatever fails ends the process, and the next one begins from tracking. So a fact may be
sent twice, and none is passed over (ADR 0070). It decides nothing about facts and changes none.
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from typing import TYPE_CHECKING, Protocol

from consumers import relay_derived
from infra import relaying
from infra.kafka import records, topics
from infra.kafka.publisher import (
    ACKNOWLEDGED_S_MAX,
    WINDOW_OCTETS,
    WINDOW_RECORDS,
    Publisher,
    Window,
)
from infra.kafka.reading import tails
from infra.kafka.records import DIGEST, HASH, POSITION, QUARANTINE_ID, Places, Record, partition_of
from ledger.errors import Refused

if TYPE_CHECKING:
    from collections.abc import Sequence

    from consumers.batches import Projection
    from infra.kafka.clients import Connection
    from infra.kafka.reading import Consumed, Tail
    from infra.postgres import Database
    from infra.relaying import Desk

POLL_S = 1.0
"""How long the relay waits for news before it looks, and looks whether to stop, seconds."""

LOG = logging.getLogger("round_ledger.relay")


class Stream(Protocol):
    """One topic and where its records come from."""

    topic: str

    def window(self, after: int) -> Window | None:
        """The next records above `after`; None where there are none."""

    def resume(self, tracked: int, found: dict[int, Tail]) -> int:
        """Where to go on from, given how far tracking and the topic itself are.

        Raises `Refused` where the topic holds what the record does not.
        """


Progress = Callable[[str, int, int], None]
"""Told a topic, how many records were acknowledged, and the position reached."""


def relay(
    base: Database,
    where: Connection,
    *,
    stop: Callable[[], bool],
    progress: Progress = lambda *_: None,
    follow: bool = True,
    deadline_s: float = ACKNOWLEDGED_S_MAX,
    spoken: Sequence[Projection] = (),
) -> None:
    """Publish until told to stop; without `follow`, until everything on record is published.

    Raises `Unavailable` where the database or Kafka fails, `Refused` where the topic contradicts
    the record or another relay took over: in each case end the process and start it again.
    spoken: views whose messages are published too, where their topics are there.
    """
    with relaying.lead(base, stop, _waiting) as desk:
        if desk is None:
            return
        streams: list[Stream] = [Facts(desk), Quarantine(desk)]
        streams += relay_derived.streams(base, where, desk, spoken)
        partitions = {each.topic: topics.require(where, each.topic) for each in streams}
        at = {each.topic: _resumed(where, desk, each) for each in streams}
        with Publisher(where, deadline_s=deadline_s) as publisher:
            while not stop():
                moved = False
                for each in streams:
                    window = each.window(at[each.topic])
                    if window is None:
                        continue
                    publisher.publish(each.topic, partitions[each.topic], window.records)
                    desk.move(each.topic, at[each.topic], window.end)
                    at[each.topic] = window.end
                    moved = True
                    progress(each.topic, len(window.records), window.end)
                if moved:
                    continue
                if not follow:
                    return
                desk.wait(POLL_S)


def _waiting() -> None:
    LOG.warning("another relay leads; waiting")


def _resumed(where: Connection, desk: Desk, stream: Stream) -> int:
    """How far a topic really is. Tracking is set back where brokers lost what they had."""
    tracked = desk.tracked(stream.topic)
    position = stream.resume(tracked, tails(where, stream.topic))
    if position < tracked:
        figures = {"topic": stream.topic, "tracked": tracked, "position": position}
        LOG.error("the topic lacks records it had acknowledged", extra={"figures": figures})
        desk.move(stream.topic, tracked, position)
    return position


class Facts:
    """Every fact of every tape."""

    topic = topics.FACTS

    def __init__(self, desk: Desk, *, republished: bool = False) -> None:
        self._desk = desk
        self._republished = republished
        self._places = Places()

    def window(self, after: int, until: int | None = None) -> Window | None:
        """The next facts, as many as may be under way, none above `until`."""
        rows = self._desk.rows(after, WINDOW_RECORDS)
        if until is not None:
            rows = [row for row in rows if row.position <= until]
        sent: list[Record] = []
        octets = 0
        end = after
        for row in rows:
            previous = self._places.before(row) or self._desk.hash_before(row)
            record = records.of_row(row, previous, republished=self._republished)
            octets += record.octets
            if sent and octets > WINDOW_OCTETS:
                break
            self._places.saw(row)
            sent.append(record)
            end = row.position
        return Window(sent, end) if sent else None

    def resume(self, tracked: int, found: dict[int, Tail]) -> int:
        """Compare every partition's newest fact with the record, and with tracking."""
        reached = {}
        for number, tail in found.items():
            if tail.expired:
                continue  # what retention removed was there
            reached[number] = self._checked(tail.last) if tail.last else 0
        heads = self._desk.heads()
        lost = [
            position
            for number, position in reached.items()
            if position < tracked and self._lacks(number, len(found), position, tracked, heads)
        ]
        return min([tracked, *lost])

    def _checked(self, last: Consumed) -> int:
        """The position of a partition's newest fact, which the record must hold as it is there."""
        told = dict(last.headers)
        position = int(told.get(POSITION, b"0"))
        row = self._desk.row(position)
        if row is None or row.hash.hex().encode() != told.get(HASH):
            raise contradiction(self.topic, last, f"a fact at position {position:,}")
        return position

    def _lacks(
        self, number: int, count: int, position: int, tracked: int, heads: dict[str, int]
    ) -> bool:
        """Whether the record has facts for this partition above `position`, up to tracking."""
        mine = {
            tape: head
            for tape, head in heads.items()
            if partition_of(tape.encode(), count) == number and head > position
        }
        if any(head <= tracked for head in mine.values()):
            return True
        return bool(mine) and self._desk.first_of(list(mine), position, tracked) is not None


class Quarantine:
    """Every input that was set aside, numbered from 1."""

    topic = topics.QUARANTINE

    def __init__(self, desk: Desk) -> None:
        self._desk = desk

    def window(self, after: int) -> Window | None:
        """The next inputs, as many as may be under way."""
        sent: list[Record] = []
        octets = 0
        end = after
        for row in self._desk.quarantined(after, _ASIDE_ROWS):
            record = records.of_quarantined(row)
            octets += record.octets
            if sent and octets > WINDOW_OCTETS:
                break
            sent.append(record)
            end = row.quarantine_id
        return Window(sent, end) if sent else None

    def resume(self, tracked: int, found: dict[int, Tail]) -> int:
        """Inputs are numbered without a hole: what comes after the topic's last one is missing."""
        reached = [
            self._checked(tail.last) if tail.last else 0
            for tail in found.values()
            if not tail.expired
        ]
        return min([tracked, *reached])

    def _checked(self, last: Consumed) -> int:
        told = dict(last.headers)
        number = int(told.get(QUARANTINE_ID, b"0"))
        rows = self._desk.quarantined(number - 1, 1)
        if not rows or dict(records.of_quarantined(rows[0]).headers)[DIGEST] != told.get(DIGEST):
            raise contradiction(self.topic, last, f"an input number {number:,}")
        return number


def contradiction(topic: str, at: Consumed, what: str) -> Refused:
    """The topic and the record are not of one history: whoever goes on would make it worse."""
    return Refused(
        f"The topic holds {what} that is not on record so",
        where=f"{topic}, partition {at.partition}, offset {at.offset}",
        hint="The record has lost its end, or this topic was written from another one. Nothing was"
        " published; see `docs/operations.md`, the feed.",
    )


_ASIDE_ROWS = 20  # an input may be megabytes long
