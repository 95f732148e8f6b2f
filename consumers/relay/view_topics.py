"""The relay's streams of what views say themselves: messages of the outbox, in order of number."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, NamedTuple

from consumers.runtime import outbox
from consumers.runtime.outbox import StoppedError
from infra.kafka import records, topics
from infra.kafka.publisher import WINDOW_OCTETS, WINDOW_RECORDS, window_of
from infra.kafka.records import OUTBOX, partition_of
from infra.postgres.relay_progress import UNSAID

if TYPE_CHECKING:
    from collections.abc import Iterator

    from consumers.runtime.source import Projection
    from infra.kafka.clients import Connection
    from infra.kafka.ports import PartitionEnd
    from infra.kafka.publisher import SendWindow
    from infra.postgres.connection import Database
    from infra.postgres.relay_progress import RelayStore

FORGET_S = 3_600.0
"""How often messages that were acknowledged long ago are removed, seconds."""

KEYS_ROWS = 5_000
"""Messages whose numbers and keys are read at once."""

LOG = logging.getLogger("round_ledger.relay")

Restate = Callable[[Sequence[str]], object]
"""Leaves messages of everything that views hold for these topics."""


class _Seen(NamedTuple):
    """What a look found that was acknowledged."""

    until: int  # the number that it read up to
    newest: dict[int, int]  # of every partition: the highest number there or kept; 0: none


class Outbox:
    """One topic that a view speaks on."""

    def __init__(
        self,
        relay_store: RelayStore,
        topic: str,
        restate: Restate,
        stop: Callable[[], bool] = lambda: False,
    ) -> None:
        self.topic = topic
        self._relay_store = relay_store
        self._restate = restate
        self._stop = stop
        self._forgot_at = float("-inf")
        self._seen: _Seen | None = None

    def window(self, after: int) -> SendWindow | None:
        """The next messages, as many as may be under way, and the last one's number."""
        kept = self._relay_store.outbox(self.topic, after, WINDOW_RECORDS, WINDOW_OCTETS)
        if kept:
            return window_of((each.number, records.of_message(self.topic, each)) for each in kept)
        if time.monotonic() - self._forgot_at > FORGET_S:
            self._relay_store.prune(self.topic, after)
            self._forgot_at = time.monotonic()
        return None

    def resume(self, tracked: int, found: dict[int, PartitionEnd]) -> int:
        """Before the first that a partition lacks; 0 where not all that it lacks is kept still.

        A week of messages may be kept: they are read once, and then those that came since. `stop`
        is asked before every page, which is a sign of life. Raises `StoppedError`.
        """
        if not any(tail.bounds.end for tail in found.values()):
            return 0  # made anew, and what it held need not be kept
        reached = {
            number: records.number(dict(tail.last.headers), OUTBOX) if tail.last else 0
            for number, tail in found.items()
            if not tail.expired
        }
        self._seen = seen = self._looked(tracked, reached, len(found))
        lacking = {n: at for n, at in reached.items() if at < min(seen.newest.get(n, 0), tracked)}
        lost: dict[int, int] = {}
        for message, number in self._kept(min(lacking.values(), default=tracked), tracked, seen):
            if message > lacking.get(number, tracked):
                lost.setdefault(number, message)
        oldest = [number for number, _ in self._relay_store.outbox_keys(self.topic, 0, 1)]
        if any(reached[number] < each for number in lost for each in oldest):
            return 0
        return min([tracked, *(message - 1 for message in lost.values())])

    def rewind(self, to: int) -> None:
        """Say everything anew that its views hold, where it begins anew."""
        if to == 0:
            says = (
                "the topic lacks messages that are not all kept: everything that its views hold is"
                " said again, and nothing need be done"
            )
            LOG.error(says, extra={"figures": {"topic": self.topic}})
            self._restate([self.topic])

    def _looked(self, tracked: int, reached: dict[int, int], partitions: int) -> _Seen:
        """The newest of every partition, as far as its end or the messages kept show one."""
        seen = self._seen
        if seen is None or len(seen.newest) != partitions or seen.until > tracked:
            seen = _Seen(min([tracked, *reached.values()]), dict.fromkeys(range(partitions), 0))
        newest = {number: max(at, reached.get(number, 0)) for number, at in seen.newest.items()}
        for message, number in self._kept(seen.until, tracked, seen):
            newest[number] = max(newest[number], message)
        return _Seen(tracked, newest)

    def _kept(self, after: int, until: int, seen: _Seen) -> Iterator[tuple[int, int]]:
        """Messages above `after` and up to `until`, by number, each with its partition."""
        while after < until:
            if self._stop():
                raise StoppedError(self.topic)
            page = self._relay_store.outbox_keys(self.topic, after, KEYS_ROWS)
            for message, key in page:
                if message <= until:
                    yield message, partition_of(key.encode(), len(seen.newest))
            after = page[-1][0] if page else until


def streams(
    database: Database,
    kafka: Connection,
    relay_store: RelayStore,
    projections: Sequence[Projection],
    stop: Callable[[], bool],
) -> list[Outbox]:
    """A stream for each topic that views speak on, where it is there; told where one is not.

    A topic published for the first time is asked for, and begins with all that its views hold.
    Where views are told to say everything, here or later, `stop` is asked meanwhile: raises
    `StoppedError`, and the next relay has them say it.
    """
    wanted = outbox.topics_of(projections)
    if not wanted:
        return []
    differences = topics.differences(kafka, [topics.topic(name) for name in wanted])
    lacking = {each.topic for each in differences if each.what == "topic"}
    for name in sorted(lacking):
        says = "a topic of the views is not there; see `round-ledger topics apply`"
        LOG.warning(says, extra={"figures": {"topic": name}})
    there = [name for name in wanted if name not in lacking]
    return begun(
        relay_store, there, lambda new: outbox.restate(database, new, projections, stop), stop
    )


def begun(
    relay_store: RelayStore,
    there: Sequence[str],
    restate: Restate,
    stop: Callable[[], bool] = lambda: False,
) -> list[Outbox]:
    """A stream for each of these topics; what stands is restated for those published first now."""
    new = [name for name in there if not relay_store.is_known(name)]
    for name in new:
        if relay_store.tracked(name) != UNSAID:
            relay_store.move(name, 0, UNSAID)  # from here on views speak
    if new:
        restate(new)
    for name in new:
        relay_store.move(name, UNSAID, 0)
    return [Outbox(relay_store, name, restate, stop) for name in there]
