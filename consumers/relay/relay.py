"""The relay: the record, published on Kafka in the order of every tape, each fact at least once.

One leads, others wait. A window of records is sent, every acknowledgement awaited, then tracking is
moved; whatever fails ends the process, and the next one begins from tracking. So a fact may be
sent twice, and none is passed over (ADR 0070). It decides nothing about facts and changes none.
"""

from __future__ import annotations

import itertools
import logging
from collections.abc import Callable
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Protocol

from consumers.relay import view_topics
from consumers.runtime.outbox import StoppedError
from infra.kafka import records, topics
from infra.kafka.ports import SYSTEM
from infra.kafka.publisher import (
    ACKNOWLEDGED_S_MAX,
    WINDOW_RECORDS,
    Publisher,
    TopicRecreatedError,
    window_of,
)
from infra.kafka.reader import end_offsets
from infra.kafka.records import HASH, POSITION, QUARANTINE_ID, PreviousHashes, partition_of
from infra.postgres import relay_progress
from ledger.errors import Refused, Unavailable

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from consumers.runtime.source import Projection
    from infra.kafka.clients import Connection
    from infra.kafka.ports import Clock, Consumed, FeedWriter, PartitionEnd
    from infra.kafka.publisher import SendWindow
    from infra.kafka.records import ProducerRecord
    from infra.postgres.connection import Database
    from infra.postgres.relay_progress import RelayStore
    from ledger.record.tape import TapeRow

POLL_S = 1.0
"""How long the relay waits for news before it looks, and looks whether to stop, seconds."""

LOOK_S = 10.0
"""How often a relay without news looks at the end of one of its topics, seconds."""

LOG = logging.getLogger("round_ledger.relay")


class Stream(Protocol):
    """One topic and where its records come from."""

    topic: str

    def window(self, after: int) -> SendWindow | None:
        """The next records above `after`; None where there are none."""

    def resume(self, tracked: int, found: dict[int, PartitionEnd]) -> int:
        """Where to go on from, given how far tracking and the topic itself are.

        Raises `Refused` where the topic holds what the record does not.
        """

    def rewind(self, to: int) -> None:
        """It is about to go on from there, below where it was: say anew what is not kept."""


Progress = Callable[[str, int, int], None]
"""Told a topic, how many records were acknowledged, and the position reached."""


class RelayListener:
    """Told how a relay does, for whoever asks it; this one does nothing of it."""

    look_s = LOOK_S  # how often it is to look at a topic's end while there is no news, seconds

    def waits(self) -> None:
        """Another relay leads."""

    def leads(self) -> None:
        """It leads from here on, and looks at the ends of its topics first."""

    def heard(self) -> None:
        """Brokers acknowledged a window, or showed ends that hold what they should."""

    def broker_silent(self, error: Unavailable) -> None:
        """They did not show an end."""


def relay(
    database: Database,
    kafka: Connection,
    *,
    stop: Callable[[], bool],
    progress: Progress = lambda *_: None,
    follow: bool = True,
    deadline_s: float = ACKNOWLEDGED_S_MAX,
    spoken: Sequence[Projection] = (),
    listener: RelayListener | None = None,
) -> None:
    """Publish until told to stop; without `follow`, until everything on record is published.

    Raises `Unavailable` where the database or Kafka fails, `Refused` where the topic contradicts
    the record or another relay took over: in each case end the process and start it again. What
    it ended with is counted (`infra.postgres.relay_progress.failures`) where PostgreSQL answers.
    spoken: views whose messages are published too, where their topics are there.
    """
    listener = listener or RelayListener()

    def waiting() -> None:
        LOG.warning("another relay leads; waiting")
        listener.waits()

    with (
        _counted(database),
        relay_progress.lead(database, stop, waiting, kafka.topic_prefix) as relay_store,
    ):
        if relay_store is None:
            return
        listener.leads()
        with suppress(StoppedError):
            streams: list[Stream] = [Facts(relay_store), Quarantine(relay_store)]
            streams += view_topics.streams(database, kafka, relay_store, spoken, stop)
            with Publisher(kafka, deadline_s=deadline_s) as publisher:
                publish(
                    relay_store,
                    KafkaFeedWriter(kafka, publisher),
                    streams,
                    stop=stop,
                    progress=progress,
                    follow=follow,
                    listener=listener,
                )


@contextmanager
def _counted(database: Database) -> Iterator[None]:
    """Count what ends the block, by the name that it has where it began."""
    try:
        yield
    except Exception as error:
        with suppress(Exception):  # what ended it is told, whatever becomes of the count
            relay_progress.failed(database, type(error.__cause__ or error).__name__)
        raise


def publish(
    relay_store: RelayStore,
    feed_writer: FeedWriter,
    streams: Sequence[Stream],
    *,
    stop: Callable[[], bool],
    progress: Progress = lambda *_: None,
    follow: bool = True,
    listener: RelayListener | None = None,
    clock: Clock = SYSTEM,
) -> None:
    """As `relay`, with the lead and the streams that the caller has."""
    listener = listener or RelayListener()
    partitions = {each.topic: feed_writer.partitions(each.topic) for each in streams}
    at = {each.topic: _resumed(feed_writer, relay_store, each) for each in streams}
    listener.heard()
    turns = itertools.cycle(streams)
    heard_at = clock.monotonic()
    while not stop():
        moved = False
        for each in streams:
            window = each.window(at[each.topic])
            if window is None:
                continue
            try:
                feed_writer.publish(each.topic, partitions[each.topic], window.records)
            except TopicRecreatedError:
                _set_back(relay_store, each, at[each.topic], 0)
                raise
            listener.heard()
            heard_at = clock.monotonic()
            relay_store.move(each.topic, at[each.topic], window.end)
            at[each.topic] = window.end
            moved = True
            progress(each.topic, len(window.records), window.end)
        if moved:
            continue
        if not follow:
            return
        if clock.monotonic() - heard_at > listener.look_s:
            _look(feed_writer, next(turns), at, listener)
            heard_at = clock.monotonic()
        relay_store.wait(POLL_S)


class KafkaFeedWriter:
    """The feed on a real cluster, as `FeedWriter`."""

    def __init__(self, kafka: Connection, publisher: Publisher) -> None:
        self._kafka = kafka
        self.publish = publisher.publish

    def partitions(self, topic: str) -> int:
        """As `FeedWriter`."""
        return topics.require(self._kafka, topic)

    def end_offsets(self, topic: str) -> dict[int, PartitionEnd]:
        """As `FeedWriter`."""
        return end_offsets(self._kafka, topic)


def _resumed(feed_writer: FeedWriter, relay_store: RelayStore, stream: Stream) -> int:
    """How far a topic really is. Tracking is set back where brokers lost what they had."""
    tracked = relay_store.tracked(stream.topic)
    position = stream.resume(tracked, feed_writer.end_offsets(stream.topic))
    if position < tracked:
        _set_back(relay_store, stream, tracked, position)
    return position


def _set_back(relay_store: RelayStore, stream: Stream, tracked: int, position: int) -> None:
    """Send again from there on what the topic no longer has."""
    figures = {"topic": stream.topic, "tracked": tracked, "position": position}
    LOG.error("the topic lacks records it had acknowledged", extra={"figures": figures})
    stream.rewind(position)
    relay_store.move(stream.topic, tracked, position)


def _look(
    feed_writer: FeedWriter, stream: Stream, at: dict[str, int], listener: RelayListener
) -> None:
    """See that a topic still ends where it should. Brokers that are away are waited for.

    Raises `Unavailable` where the topic lacks what it had acknowledged: its producer is not to be
    believed either, and the next relay sends it again.
    """
    try:
        feed_writer.partitions(stream.topic)
        found = feed_writer.end_offsets(stream.topic)
    except Unavailable as error:
        listener.broker_silent(error)
        LOG.warning("the end of a topic was not shown", extra={"figures": {"why": error.what}})
        return
    if stream.resume(at[stream.topic], found) < at[stream.topic]:
        raise Unavailable(
            "The topic lacks records it had acknowledged",
            where=stream.topic,
            hint="Start the relay again, and it sends them again.",
        )
    listener.heard()


class Facts:
    """Every fact of every tape."""

    topic = topics.FACTS

    def __init__(self, relay_store: RelayStore, *, republished: bool = False) -> None:
        self._relay_store = relay_store
        self._republished = republished
        self._places = PreviousHashes()

    def window(self, after: int, until: int | None = None) -> SendWindow | None:
        """The next facts, as many as may be under way, none above `until`."""
        rows = self._relay_store.rows(after, WINDOW_RECORDS)
        if until is not None:
            rows = [row for row in rows if row.position <= until]
        return window_of((row.position, self._record(row)) for row in rows)

    def resume(self, tracked: int, found: dict[int, PartitionEnd]) -> int:
        """Compare every partition's newest fact with the record, and with tracking."""
        reached = {}
        for number, tail in found.items():
            if tail.expired:
                continue  # what retention removed was there
            reached[number] = self._checked(tail.last) if tail.last else 0
        heads = self._relay_store.heads()
        lost = [
            position
            for number, position in reached.items()
            if position < tracked and self._lacks(number, len(found), position, tracked, heads)
        ]
        return min([tracked, *lost])

    def rewind(self, to: int) -> None:
        """Nothing: the record keeps everything."""

    def _record(self, row: TapeRow) -> ProducerRecord:
        previous = self._places.before(row) or self._relay_store.hash_before(row)
        self._places.saw(row)
        return records.of_row(row, previous, republished=self._republished)

    def _checked(self, last: Consumed) -> int:
        """The position of a partition's newest fact, which the record must hold as it is there."""
        told = dict(last.headers)
        position = records.number(told, POSITION)
        row = self._relay_store.row(position)
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
        return bool(mine) and self._relay_store.first_of(list(mine), position, tracked) is not None


class Quarantine:
    """Every input that was set aside, numbered from 1."""

    topic = topics.QUARANTINE

    def __init__(self, relay_store: RelayStore) -> None:
        self._relay_store = relay_store

    def window(self, after: int) -> SendWindow | None:
        """The next inputs, as many as may be under way."""
        rows = self._relay_store.quarantined(after, _ASIDE_ROWS)
        return window_of((row.quarantine_id, records.of_quarantined(row)) for row in rows)

    def resume(self, tracked: int, found: dict[int, PartitionEnd]) -> int:
        """Inputs are numbered without a hole: what comes after the topic's last one is missing."""
        reached = [
            self._checked(tail.last) if tail.last else 0
            for tail in found.values()
            if not tail.expired
        ]
        return min([tracked, *reached])

    def rewind(self, to: int) -> None:
        """Nothing: the record keeps everything."""

    def _checked(self, last: Consumed) -> int:
        told = dict(last.headers)
        number = records.number(told, QUARANTINE_ID)
        rows = self._relay_store.quarantined(number - 1, 1) if number else []
        if not rows or not records.is_of(rows[0], told, last.value):
            raise contradiction(self.topic, last, f"an input number {number:,}")
        return number


def contradiction(topic: str, at: Consumed, what: str) -> Refused:
    """The topic and the record are not of one history: whoever goes on would make it worse."""
    return Refused(
        f"The topic holds {what} that is not on record so",
        where=f"{topic}, partition {at.partition}, offset {at.offset}",
        hint="The record has lost its end, or this topic was written from another one. Nothing was"
        " published; see /docs/how-to/repair.html.",
    )


_ASIDE_ROWS = 20  # an input may be megabytes long
