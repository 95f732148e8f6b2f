"""The relay publishes the record on Kafka: every tape in its order, each fact at least once.

One relay leads; others wait. It sends a window of records, awaits every acknowledgement, then moves
the topic's checkpoint. Any failure ends the process, and the next one resumes from the checkpoint.
A fact may therefore be sent twice, but none is skipped (ADR 0070). The relay changes no fact.
"""

from __future__ import annotations

import itertools
import logging
import time
from collections.abc import Callable
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Protocol

from consumers.relay import topic_end, view_topics
from consumers.relay.streams import Facts, Quarantine
from consumers.runtime import outbox
from consumers.runtime.outbox import StoppedError
from infra.kafka import topics
from infra.kafka.ports import SYSTEM
from infra.kafka.publisher import (
    ACKNOWLEDGED_S_MAX,
    Publisher,
    TopicRecreatedError,
)
from infra.kafka.reader import reader
from infra.postgres import relay_progress
from ledger.errors import Refused, Unavailable

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from contextlib import AbstractContextManager

    from consumers.runtime.source import Projection
    from infra.kafka.clients import Connection
    from infra.kafka.ports import Clock, FeedWriter, TopicReader
    from infra.kafka.publisher import SendWindow
    from infra.postgres.connection import Database
    from infra.postgres.relay_progress import RelayStore

POLL_S = 1.0
"""How long the relay waits for new records before it polls and checks `stop`, seconds."""

LOOK_S = 10.0
"""How often an idle relay checks the end of one of its topics, seconds."""

LOG = logging.getLogger("round_ledger.relay")


class Stream(topic_end.ComparedTopic, Protocol):
    """One topic and the source of its records."""

    def window(self, after: int) -> SendWindow | None:
        """The next records above `after`; None if there are none."""

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
            told = view_topics.streams(database, kafka, relay_store, spoken, stop)
            streams += told.streams
            with Publisher(kafka, deadline_s=deadline_s) as publisher:
                publish(
                    relay_store,
                    KafkaFeedWriter(kafka, publisher),
                    streams,
                    stop=_stopped_or_current(database, told.outdated, stop),
                    progress=progress,
                    follow=follow,
                    listener=listener,
                )


def _stopped_or_current(
    database: Database, outdated: Sequence[Projection], stop: Callable[[], bool]
) -> Callable[[], bool]:
    """`stop`, which raises `Unavailable` once one of the views that the relay left out is rebuilt.

    The topics of that view begin at the next start.
    """
    looked_at = time.monotonic()

    def stopped() -> bool:
        nonlocal looked_at
        if outdated and time.monotonic() - looked_at >= LOOK_S:
            looked_at = time.monotonic()
            still = outbox.outdated(database, outdated)
            if done := [each.name for each in outdated if each.name not in still]:
                raise Unavailable(
                    f"View {done[0]} was rebuilt, so its topics can begin",
                    where=database.where,
                    hint="Start the relay again: it begins them.",
                )
        return stop()

    return stopped


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
    at = {each.topic: _resumed(feed_writer, relay_store, each, stop) for each in streams}
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
                taken = feed_writer.publish(each.topic, partitions[each.topic], window.records)
            except TopicRecreatedError:
                _set_back(relay_store, each, at[each.topic], 0)
                raise
            listener.heard()
            heard_at = clock.monotonic()
            marks = topic_end.marks_of(window.records, taken)
            relay_store.move(each.topic, at[each.topic], window.end, marks)
            at[each.topic] = window.end
            moved = True
            progress(each.topic, len(window.records), window.end)
        if moved:
            continue
        if not follow:
            return
        if clock.monotonic() - heard_at > listener.look_s:
            _look(feed_writer, relay_store, next(turns), at, listener, stop)
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

    def opened(self, topic: str) -> AbstractContextManager[TopicReader]:
        """As `FeedWriter`."""
        return reader(self._kafka, topic)


def _resumed(
    feed_writer: FeedWriter, relay_store: RelayStore, stream: Stream, stop: Callable[[], bool]
) -> int:
    """The number to resume after. The checkpoint is moved back if brokers lost records."""
    tracked = relay_store.tracked(stream.topic)
    position, keep = _compared(feed_writer, relay_store, stream, tracked, stop)
    if position < tracked:
        _set_back(relay_store, stream, tracked, position)
    keep()
    return position


def _compared(
    feed_writer: FeedWriter,
    relay_store: RelayStore,
    stream: Stream,
    tracked: int,
    stop: Callable[[], bool],
) -> tuple[int, Callable[[], None]]:
    """The number to resume after, and what keeps the marks of the topic as it is now."""
    marks = relay_store.marks(stream.topic)
    try:
        with feed_writer.opened(stream.topic) as source:
            found = topic_end.look(source, stream, tracked, marks, stop)
    except Refused as error:
        relay_store.note_refusal(stream.topic, f"{error.what} ({error.where}).")
        raise

    def keep() -> None:
        """After the checkpoint: marks of what is there hide what was lost."""
        relay_store.note_in_order(stream.topic)
        if found.strays:
            relay_store.note_strays(stream.topic, found.strays)
            strays = {number: each._asdict() for number, each in found.strays.items()}
            figures = {"topic": stream.topic, "strays": strays}
            LOG.error("another program wrote to the topic", extra={"figures": figures})
        if found.marks != marks:
            relay_store.keep_marks(stream.topic, found.marks)

    return found.position, keep


def _set_back(relay_store: RelayStore, stream: Stream, tracked: int, position: int) -> None:
    """Move the checkpoint back, so that records the topic lost are sent again."""
    figures = {"topic": stream.topic, "tracked": tracked, "position": position}
    LOG.error("the topic lacks records it had acknowledged", extra={"figures": figures})
    stream.rewind(position)
    relay_store.move(stream.topic, tracked, position)


def _look(
    feed_writer: FeedWriter,
    relay_store: RelayStore,
    stream: Stream,
    at: dict[str, int],
    listener: RelayListener,
    stop: Callable[[], bool],
) -> None:
    """Check that a topic still ends at its checkpoint. Brokers that do not answer are waited for.

    Raises `Unavailable` if the topic lacks acknowledged records. The producer of this process
    cannot be trusted then; the next relay sends them again.
    """
    try:
        feed_writer.partitions(stream.topic)
        tracked = at[stream.topic]
        position, keep = _compared(feed_writer, relay_store, stream, tracked, stop)
    except Unavailable as error:
        listener.broker_silent(error)
        figures = {"why": error.what}
        LOG.warning("brokers did not show the end of a topic", extra={"figures": figures})
        return
    if position < tracked:
        raise Unavailable(
            "The topic lacks records that its brokers had acknowledged",
            where=stream.topic,
            hint="Start the relay again: it sends these records again.",
        )
    keep()
    listener.heard()
