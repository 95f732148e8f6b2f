"""The feed as a source of the record: partitions read side by side, put together by position.

Positions have no hole, so nothing needs to be believed: what is above the next one waits, what is
below it was sent twice, and what the whole feed lacks although it was published is read from the
record, and told (ADR 0075). Offsets only say where to begin; they never decide what is counted.
"""

from __future__ import annotations

import logging
from contextlib import contextmanager
from typing import TYPE_CHECKING

from infra.kafka import topics
from infra.kafka.merging import Figures, Merge, Poison
from infra.kafka.ports import SYSTEM, Consumed
from infra.kafka.reader import SILENT_S_MAX, reader
from infra.kafka.records import UnreadableError, fed
from infra.postgres import parking, relay_progress
from infra.postgres.parking import Parked, PartitionOffset
from ledger.errors import Unavailable

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from infra.kafka.clients import Connection
    from infra.kafka.ports import Clock, Partitions
    from infra.kafka.records import Fed
    from infra.postgres.connection import Database
    from infra.postgres.relay_progress import RelayStore
    from ledger.record.tape import TapeRow

LOG = logging.getLogger("round_ledger.feed")

POLL_S = 0.25
"""How long a read waits for news, seconds."""

KNOCK_S = 5.0
"""How long the brokers may be silent until they are asked whether they are there, seconds."""


class FeedSource:
    """The facts' topic as a source of rows (`consumers.runtime.source.Feed`). For one thread."""

    def __init__(
        self,
        partitions: Partitions,
        relay_store: RelayStore,
        starts: dict[int, int],
        figures: Figures,
        clock: Clock = SYSTEM,
        topic: str = topics.FACTS,
    ) -> None:
        """`topic`: what the facts' topic is called on the cluster, as offsets there are."""
        self._topic = topic
        self._partitions = partitions
        self._relay_store = relay_store
        self._starts = starts
        self._figures = figures
        self._clock = clock
        self._count = 0  # of partitions
        self._proof: tuple[int, dict[int, int]] | None = None  # acknowledged, then the ends
        self._moved_at = self._heard_at = clock.monotonic()
        self._merge: Merge | None = None

    def read(self, after: int, limit: int) -> Sequence[TapeRow]:
        """Rows with position > `after`, in order of position, at most `limit`; none for now.

        Raises `Unavailable` where no broker answers.
        """
        merge = self._merge or self._begin(after)
        if after < merge.delivered:  # a view was set back: these were on the feed already
            return self._relay_store.rows(after, min(limit, merge.delivered - after))
        merge.skip_to(after)
        if merge.ready < limit:
            self._poll(merge)
        rows = merge.take(limit)
        if not rows:
            self._look_for_gap(merge, limit)
            rows = merge.take(limit)
        if rows:
            self._proof = None
            self._moved_at = self._clock.monotonic()
        self._ping_brokers(merge)
        return rows

    def wait(self, after: int, timeout_s: float) -> None:
        """Return at once: `read` itself waits for news."""

    def at_end(self, after: int) -> bool:
        """Whether everything that was ever published is at or below `after`."""
        return self._relay_store.tracked(topics.FACTS) <= after

    def poisoned(self, first: int, last: int) -> Sequence[Parked]:
        """Facts at positions `first` to `last` that the feed held otherwise than the record."""
        return self._merge.poisoned(first, last) if self._merge else ()

    def places(self, position: int) -> Sequence[PartitionOffset]:
        """Where to read on, for whoever has everything up to `position`."""
        if self._merge is None:
            return ()
        return [
            PartitionOffset(self._topic, number, offset)
            for number, offset in self._merge.places(position).items()
        ]

    def _begin(self, after: int) -> Merge:
        """Read from the offsets known, or from the beginning."""
        at = {}
        for number, span in self._partitions.bounds().items():
            start = self._starts.get(number, span.begin)
            if not span.begin <= start <= span.end:
                self._figures.offsets_lost += 1
                figures = {"partition": number, "offset": start}
                LOG.error("an offset is not there any more", extra={"figures": figures})
                start = span.begin
            at[number] = start
        self._partitions.seek(at)
        self._count = len(at)
        self._heard()
        self._moved_at = self._heard_at
        self._merge = Merge(after, at, self._figures)
        return self._merge

    def _heard(self) -> None:
        """Note that a broker has answered."""
        self._heard_at = self._figures.answered_at = self._clock.monotonic()

    def _poll(self, merge: Merge) -> None:
        read = self._partitions.poll(*merge.wanted(), 0 if merge.ready else POLL_S)
        if read:
            self._heard()
            self._moved_at = self._heard_at
            self._take(merge, read)

    def _take(self, merge: Merge, read: Sequence[Consumed]) -> None:
        """Sort out what the record holds so from what it does not."""
        facts: list[tuple[Consumed, Fed | Poison]]
        facts = [(each, _fact(each, self._topic)) for each in read]
        claimed = [f.position if isinstance(f, Poison) else f.row.position for _, f in facts]
        hashes = self._relay_store.hashes(claimed)
        for each, fact in facts:
            if isinstance(fact, Poison):
                merge.poison(fact if fact.position in hashes else fact._replace(position=0))
            elif hashes.get(fact.row.position) != fact.row.hash:
                says = "The record holds no such fact there"
                poison = _poison(each, self._topic, "stranger", says, fact)
                merge.poison(poison if poison.position in hashes else poison._replace(position=0))
            else:
                merge.put(each.partition, each.offset, fact.row)

    def _look_for_gap(self, merge: Merge, limit: int) -> None:
        """Read from the record what was published, but is nowhere on the feed.

        Certain once every partition was read to an end asked for after the acknowledgement.
        """
        tracked = self._relay_store.tracked(topics.FACTS)
        if tracked <= merge.delivered:
            merge.settle(tracked)
            return
        if self._proof is None or self._proof[0] <= merge.delivered:
            self._proof = tracked, self._partitions.ends()
            self._heard()
        tracked, ends = self._proof
        merge.reach(self._partitions.reached())
        if merge.has_passed(ends):
            upto = min(tracked, merge.lowest - 1 if merge.lowest else tracked)
            rows = self._relay_store.rows(merge.delivered, min(limit, upto - merge.delivered))
            merge.fill_gap(rows, self._count)

    def _ping_brokers(self, merge: Merge) -> None:
        """Notice that the brokers are gone: the library's poll would say nothing of it."""
        if self._clock.monotonic() - self._heard_at > KNOCK_S:
            self._partitions.ends()
            self._heard()
        if self._clock.monotonic() - self._moved_at < SILENT_S_MAX:
            return
        if not self.at_end(merge.delivered):
            raise Unavailable(
                f"The feed gives nothing for {SILENT_S_MAX:.0f} s, though it holds more",
                where=f"{self._topic} at {self._partitions.where}",
                hint="Check that every partition has a leader; `round-ledger topics check`.",
            )
        self._moved_at = self._clock.monotonic()


def _fact(each: Consumed, topic: str = topics.FACTS) -> Fed | Poison:
    """What a record says, if it is one of the feed and whole."""
    try:
        fact = fed(each.key, each.value, each.headers)
    except UnreadableError as error:
        return _poison(each, topic, "unreadable", f"It is no fact: {error}", None)
    if not fact.is_whole:
        return _poison(each, topic, "edited", "Its octets are not what its hash says", fact)
    return fact


def _poison(each: Consumed, topic: str, reason: str, says: str, fact: Fed | None) -> Poison:
    place = f"{topic}/{each.partition}@{each.offset}"
    key = (each.key or b"").decode(errors="replace")
    position = fact.row.position if fact else 0
    return Poison(each.partition, each.offset, key, position, reason, f"{says}.", place)


@contextmanager
def feed_source(
    database: Database, kafka: Connection, views: Sequence[str], figures: Figures | None = None
) -> Iterator[FeedSource]:
    """The feed, from where these live views left it; from the beginning where one has no offsets.

    Without views: the whole feed. Raises `Unavailable`.
    """
    topic = kafka.named(topics.FACTS)
    starts = parking.places(database, topic, views) if views else {}
    with (
        relay_progress.relay_store(database) as relay_store,
        reader(kafka, topics.FACTS, required=True) as facts,
    ):
        yield FeedSource(facts, relay_store, starts, figures or Figures(), topic=topic)
