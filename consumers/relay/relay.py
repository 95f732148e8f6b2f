"""The relay publishes the record on Kafka: every tape in its order, each fact at least once.

One relay leads; others wait. It sends a window of records, awaits every acknowledgement, then moves
the topic's checkpoint. Any failure ends the process, and the next one resumes from the checkpoint.
A fact may therefore be sent twice, but none is skipped (ADR 0070). The relay changes no fact.
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
"""How long the relay waits for new records before it polls and checks `stop`, seconds."""

LOOK_S = 10.0
"""How often an idle relay checks the end of one of its topics, seconds."""

LOG = logging.getLogger("round_ledger.relay")


class Stream(Protocol):
    """One topic and the source of its records."""

    topic: str

    def window(self, after: int) -> SendWindow | None:
        """The next records above `after`; None if there are none."""

    def resume(self, tracked: int, found: dict[int, PartitionEnd]) -> int:
        """The number to resume after, given the checkpoint and the end of every partition.

        Raises `Refused` if the topic's newest record differs from the record in PostgreSQL.
        """

    def rewind(self, to: int) -> None:
        """Prepare to publish again from `to`: enqueue again what the outbox no longer keeps."""


Progress = Callable[[str, int, int], None]
"""Called with a topic, the number of records acknowledged, and the position reached."""


class RelayListener:
    """Receives the state changes of a relay. This base class ignores them."""

    look_s = LOOK_S  # how often an idle relay checks a topic's end, seconds

    def waits(self) -> None:
        """Another relay leads; this one waits."""

    def leads(self) -> None:
        """This relay leads from now on, and first reads the ends of its topics."""

    def heard(self) -> None:
        """Brokers acknowledged a window, or returned end offsets that match the checkpoint."""

    def broker_silent(self, error: Unavailable) -> None:
        """Brokers did not return the end of a topic."""


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
    """Publish until `stop` returns true; without `follow`, until the whole record is published.

    Raises `Unavailable` if the database or Kafka fails. Raises `Refused` if the topic contradicts
    the record, or another relay took over. In both cases end the process and start it again. The
    error is counted (`infra.postgres.relay_progress.failures`) if PostgreSQL answers.
    spoken: views whose messages are published too, if their topics exist.
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
    """Count the error that ends the block, by the class name of its first cause."""
    try:
        yield
    except Exception as error:
        with suppress(Exception):  # the error itself is raised even if it cannot be counted
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
    """As `relay`, with a lead and streams that the caller holds."""
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
    """A `FeedWriter` for a Kafka cluster."""

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
    """The number to resume after. The checkpoint is moved back if brokers lost records."""
    tracked = relay_store.tracked(stream.topic)
    position = stream.resume(tracked, feed_writer.end_offsets(stream.topic))
    if position < tracked:
        _set_back(relay_store, stream, tracked, position)
    return position


def _set_back(relay_store: RelayStore, stream: Stream, tracked: int, position: int) -> None:
    """Move the checkpoint back, so that records the topic lost are sent again."""
    figures = {"topic": stream.topic, "tracked": tracked, "position": position}
    LOG.error("the topic lacks records it had acknowledged", extra={"figures": figures})
    stream.rewind(position)
    relay_store.move(stream.topic, tracked, position)


def _look(
    feed_writer: FeedWriter, stream: Stream, at: dict[str, int], listener: RelayListener
) -> None:
    """Check that a topic still ends at its checkpoint. Brokers that do not answer are waited for.

    Raises `Unavailable` if the topic lacks acknowledged records. The producer of this process
    cannot be trusted then; the next relay sends them again.
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
            "The topic lacks records that its brokers had acknowledged",
            where=stream.topic,
            hint="Start the relay again: it sends these records again.",
        )
    listener.heard()


class Facts:
    """The facts of all tapes, in order of position."""

    topic = topics.FACTS

    def __init__(self, relay_store: RelayStore, *, republished: bool = False) -> None:
        self._relay_store = relay_store
        self._republished = republished
        self._places = PreviousHashes()

    def window(self, after: int, until: int | None = None) -> SendWindow | None:
        """The next facts above `after`, at most one window, none above `until`."""
        rows = self._relay_store.rows(after, WINDOW_RECORDS)
        if until is not None:
            rows = [row for row in rows if row.position <= until]
        return window_of((row.position, self._record(row)) for row in rows)

    def resume(self, tracked: int, found: dict[int, PartitionEnd]) -> int:
        """Compare every partition's newest fact with the record and with the checkpoint."""
        reached = {}
        for number, tail in found.items():
            if tail.expired:
                continue  # retention removed the records; they were published
            reached[number] = self._checked(tail.last) if tail.last else 0
        heads = self._relay_store.heads()
        lost = [
            position
            for number, position in reached.items()
            if position < tracked and self._lacks(number, len(found), position, tracked, heads)
        ]
        return min([tracked, *lost])

    def rewind(self, to: int) -> None:
        """Nothing to prepare: the record keeps all its rows."""

    def _record(self, row: TapeRow) -> ProducerRecord:
        previous = self._places.before(row) or self._relay_store.hash_before(row)
        self._places.saw(row)
        return records.of_row(row, previous, republished=self._republished)

    def _checked(self, last: Consumed) -> int:
        """The position of a partition's newest fact, which must equal the record's."""
        told = dict(last.headers)
        position = records.number(told, POSITION)
        row = self._relay_store.row(position)
        if row is None or row.hash.hex().encode() != told.get(HASH):
            raise contradiction(self.topic, last, f"a fact at position {position:,}")
        return position

    def _lacks(
        self, number: int, count: int, position: int, tracked: int, heads: dict[str, int]
    ) -> bool:
        """Whether the record has facts of this partition above `position`, up to the checkpoint."""
        mine = {
            tape: head
            for tape, head in heads.items()
            if partition_of(tape.encode(), count) == number and head > position
        }
        if any(head <= tracked for head in mine.values()):
            return True
        return bool(mine) and self._relay_store.first_of(list(mine), position, tracked) is not None


class Quarantine:
    """All quarantined inputs, numbered from 1."""

    topic = topics.QUARANTINE

    def __init__(self, relay_store: RelayStore) -> None:
        self._relay_store = relay_store

    def window(self, after: int) -> SendWindow | None:
        """The next inputs above `after`, at most one window."""
        rows = self._relay_store.quarantined(after, _ASIDE_ROWS)
        return window_of((row.quarantine_id, records.of_quarantined(row)) for row in rows)

    def resume(self, tracked: int, found: dict[int, PartitionEnd]) -> int:
        """Inputs are numbered without a gap: all after the topic's last one are missing."""
        reached = [
            self._checked(tail.last) if tail.last else 0
            for tail in found.values()
            if not tail.expired
        ]
        return min([tracked, *reached])

    def rewind(self, to: int) -> None:
        """Nothing to prepare: the record keeps all its rows."""

    def _checked(self, last: Consumed) -> int:
        told = dict(last.headers)
        number = records.number(told, QUARANTINE_ID)
        rows = self._relay_store.quarantined(number - 1, 1) if number else []
        if not rows or not records.is_of(rows[0], told, last.value):
            raise contradiction(self.topic, last, f"an input number {number:,}")
        return number


def contradiction(topic: str, at: Consumed, what: str) -> Refused:
    """The error for a topic and a record that contradict each other. The relay must not go on."""
    return Refused(
        f"The topic holds {what} that differs from the record",
        where=f"{topic}, partition {at.partition}, offset {at.offset}",
        hint="Nothing was published. Either the record has lost its end, or the topic belongs to"
        " another record; see /docs/how-to/repair.html.",
    )


_ASIDE_ROWS = 20  # an input may be megabytes long
