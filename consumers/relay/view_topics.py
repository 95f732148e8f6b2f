"""The relay's streams of view messages: outbox rows, in order of number."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING, NamedTuple

from consumers.relay.topic_end import Judged
from consumers.runtime import outbox
from consumers.runtime.outbox import StoppedError
from infra.kafka import records, topics
from infra.kafka.publisher import WINDOW_OCTETS, WINDOW_RECORDS, window_of
from infra.kafka.records import OUTBOX, partition_of
from infra.postgres.relay_progress import UNSAID

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping

    from consumers.runtime.source import Projection
    from infra.kafka.clients import Connection
    from infra.kafka.ports import Consumed
    from infra.kafka.publisher import SendWindow
    from infra.postgres.connection import Database
    from infra.postgres.relay_progress import RelayStore

FORGET_S = 3_600.0
"""How often old acknowledged messages are deleted from the outbox, seconds."""

KEYS_ROWS = 5_000
"""How many outbox messages one query reads the numbers and keys of."""

LOG = logging.getLogger("round_ledger.relay")

Restate = Callable[[Sequence[str]], object]
"""Enqueues messages of all rows that views hold for these topics."""


_COMPACTED = frozenset(each.name for each in topics.declared() if each.is_compacted)
_NO_MESSAGE = Judged("stray", 0, "It is no message of a view.")


class Outbox:
    """The stream of one view topic, read from the outbox."""

    def __init__(
        self,
        relay_store: RelayStore,
        topic: str,
        restate: Restate,
        stop: Callable[[], bool] = lambda: False,
        *,
        is_compacted: bool = False,
    ) -> None:
        self.topic = topic
        self.is_compacted = is_compacted
        self._relay_store = relay_store
        self._restate = restate
        self._stop = stop
        self._forgot_at = float("-inf")

    def window(self, after: int) -> SendWindow | None:
        """The next messages above `after`, at most one window, with the last one's number."""
        kept = self._relay_store.outbox(self.topic, after, WINDOW_RECORDS, WINDOW_OCTETS)
        if kept:
            return window_of((each.number, records.of_message(self.topic, each)) for each in kept)
        if time.monotonic() - self._forgot_at > FORGET_S:
            self._relay_store.prune(self.topic, after)
            self._forgot_at = time.monotonic()
        return None

    def judge(self, batch: Sequence[Consumed]) -> list[Judged]:
        """As `ComparedTopic`."""
        numbers = [records.number(dict(each.headers), OUTBOX) for each in batch]
        return [Judged("own", number) if number else _NO_MESSAGE for number in numbers]

    def follows(self, each: Consumed) -> bool:
        """As `ComparedTopic`. No message is foreign."""
        del each
        return False

    def resume(
        self, tracked: int, reached: Mapping[int, int], lost: Collection[int], partitions: int
    ) -> int:
        """Before the first message that a partition lacks.

        0 if not every message that it may lack is still kept. `stop` is asked before every page.
        Raises `StoppedError`.
        """
        lacking: dict[int, int] = {}
        low = min(reached.values())
        for message, number in self._kept(low, tracked, partitions):
            if message > reached.get(number, tracked):
                lacking.setdefault(number, message)
        oldest = [number for number, _ in self._relay_store.outbox_keys(self.topic, 0, 1)]
        first = oldest[0] if oldest else tracked + 1
        if any(reached[number] < min(first, tracked) for number in {*lacking, *lost}):
            return 0
        return min([tracked, *(message - 1 for message in lacking.values())])

    def rewind(self, to: int) -> None:
        """Enqueue all that its views hold if publishing starts again from 0."""
        if to == 0:
            says = "the topic lacks old messages: everything that its views hold is published again"
            LOG.error(says, extra={"figures": {"topic": self.topic}})
            self._restate([self.topic])

    def _kept(self, after: int, until: int, partitions: int) -> Iterator[tuple[int, int]]:
        """Outbox messages above `after` up to `until`, in order of number, with their partition."""
        while after < until:
            if self._stop():
                raise StoppedError(self.topic)
            page = self._relay_store.outbox_keys(self.topic, after, KEYS_ROWS)
            for message, key in page:
                if message <= until:
                    yield message, partition_of(key.encode(), partitions)
            after = page[-1][0] if page else until


class ViewTopics(NamedTuple):
    """The streams of view topics, and the views that must be rebuilt before theirs begin."""

    streams: list[Outbox]
    outdated: list[Projection]


def streams(
    database: Database,
    kafka: Connection,
    relay_store: RelayStore,
    projections: Sequence[Projection],
    stop: Callable[[], bool],
) -> ViewTopics:
    """A stream for each existing view topic; a missing topic is logged.

    So is a topic that never began, of a view that another version of its code wrote. A topic
    published for the first time starts with all that its views hold. `stop` is called while views
    enqueue that, here or later. Raises `StoppedError` if it returns true; the next relay starts the
    restatement again.
    """
    wanted = outbox.topics_of(projections)
    if not wanted:
        return ViewTopics([], [])
    differences = topics.differences(kafka, [topics.topic(name) for name in wanted])
    lacking = {each.topic for each in differences if each.what == "topic"}
    for name in sorted(lacking):
        says = "a view topic does not exist; run `round-ledger topics apply`"
        LOG.warning(says, extra={"figures": {"topic": name}})
    old = set(outbox.outdated(database, projections))
    waiting = []
    for view in projections:
        unsaid = {each.topic for each in view.tells if not relay_store.is_known(each.topic)}
        if view.name in old and (unsaid := unsaid - lacking):
            waits = "a view is of another version; its topic begins once it is rebuilt"
            LOG.warning(waits, extra={"figures": {"view": view.name, "topics": sorted(unsaid)}})
            lacking |= unsaid
            waiting.append(view)
    there = [name for name in wanted if name not in lacking]
    restate = partial(outbox.restate, database, projections=projections, stop=stop)
    return ViewTopics(begun(relay_store, there, restate, stop), waiting)


def begun(
    relay_store: RelayStore,
    there: Sequence[str],
    restate: Restate,
    stop: Callable[[], bool] = lambda: False,
) -> list[Outbox]:
    """A stream for each topic. Topics published for the first time get all their views hold."""
    new = [name for name in there if not relay_store.is_known(name)]
    for name in new:
        if relay_store.tracked(name) != UNSAID:
            relay_store.move(name, 0, UNSAID)  # from here on views enqueue messages
    if new:
        restate(new)
    for name in new:
        relay_store.move(name, UNSAID, 0)
    return [
        Outbox(relay_store, name, restate, stop, is_compacted=name in _COMPACTED) for name in there
    ]
