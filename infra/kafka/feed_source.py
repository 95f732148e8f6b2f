"""The feed as a source of facts: partitions read in parallel, merged by position.

Positions have no gap, so the next position is always known. A fact above it waits; a fact below it
is a duplicate. A published fact that the feed lacks is read from the record and logged (ADR 0075).
Offsets only say where to start reading; they never decide which facts are counted.
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
"""How long a read waits for new records, seconds."""

KNOCK_S = 5.0
"""How long the brokers may be silent before they are pinged, seconds."""


class FeedSource:
    """The facts' topic as a source of rows (`consumers.runtime.source.Feed`), for one thread."""

    def __init__(
        self,
        partitions: Partitions,
        relay_store: RelayStore,
        starts: dict[int, int],
        figures: Figures,
        clock: Clock = SYSTEM,
        topic: str = topics.FACTS,
    ) -> None:
        """`topic`: the name of the facts' topic on the cluster, as stored with offsets."""
        self._topic = topic
        self._partitions = partitions
        self._relay_store = relay_store
        self._starts = starts
        self._figures = figures
        self._clock = clock
        self._count = 0  # of partitions
        self._proof: tuple[int, dict[int, int]] | None = None  # checkpoint, later ends
        self._moved_at = self._heard_at = clock.monotonic()
        self._merge: Merge | None = None

    def read(self, after: int, limit: int) -> Sequence[TapeRow]:
        """Rows with position > `after`, in order of position, at most `limit`; empty if none came.

        Raises `Unavailable` if no broker answers.
        """
        merge = self._merge or self._begin(after)
        if after < merge.delivered:  # a view was moved back: the feed has passed these
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
        """Return at once: `read` itself waits for new records."""

    def at_end(self, after: int) -> bool:
        """Whether every published fact is at or below `after`."""
        return self._relay_store.tracked(topics.FACTS) <= after

    def poisoned(self, first: int, last: int) -> Sequence[Parked]:
        """Facts at positions `first` to `last` for which the feed held a contradicting record."""
        return self._merge.poisoned(first, last) if self._merge else ()

    def places(self, position: int) -> Sequence[PartitionOffset]:
        """The offsets to resume from for a view that has everything up to `position`."""
        if self._merge is None:
            return ()
        return [
            PartitionOffset(self._topic, number, offset)
            for number, offset in self._merge.places(position).items()
        ]

    def _begin(self, after: int) -> Merge:
        """Start reading at the stored offsets, or at the beginning of a partition."""
        at = {}
        for number, span in self._partitions.bounds().items():
            start = self._starts.get(number, span.begin)
            if not span.begin <= start <= span.end:
                self._figures.offsets_lost += 1
                figures = {"partition": number, "offset": start}
                LOG.error("a stored offset no longer exists", extra={"figures": figures})
                start = span.begin
            at[number] = start
        self._partitions.seek(at)
        self._count = len(at)
        self._heard()
        self._moved_at = self._heard_at
        self._merge = Merge(after, at, self._figures)
        return self._merge

    def _heard(self) -> None:
        """Record that a broker has answered."""
        self._heard_at = self._figures.answered_at = self._clock.monotonic()

    def _poll(self, merge: Merge) -> None:
        read = self._partitions.poll(*merge.wanted(), 0 if merge.ready else POLL_S)
        if read:
            self._heard()
            self._moved_at = self._heard_at
            self._take(merge, read)

    def _take(self, merge: Merge, read: Sequence[Consumed]) -> None:
        """Separate facts that match the record from records that contradict it."""
        facts: list[tuple[Consumed, Fed | Poison]]
        facts = [(each, _fact(each, self._topic)) for each in read]
        claimed = [f.position if isinstance(f, Poison) else f.row.position for _, f in facts]
        hashes = self._relay_store.hashes(claimed)
        for each, fact in facts:
            if isinstance(fact, Poison):
                merge.poison(fact if fact.position in hashes else fact._replace(position=0))
            elif hashes.get(fact.row.position) != fact.row.hash:
                says = "The record holds another fact, or none, at this position"
                poison = _poison(each, self._topic, "stranger", says, fact)
                merge.poison(poison if poison.position in hashes else poison._replace(position=0))
            else:
                merge.put(each.partition, each.offset, fact.row)

    def _look_for_gap(self, merge: Merge, limit: int) -> None:
        """Fill a gap: read from the record the published facts that the feed lacks.

        A gap is certain once every partition was read to its end, as it was after the checkpoint
        had passed the gap.
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
        """Detect brokers that do not answer: the library's poll reports none of it."""
        if self._clock.monotonic() - self._heard_at > KNOCK_S:
            self._partitions.ends()
            self._heard()
        if self._clock.monotonic() - self._moved_at < SILENT_S_MAX:
            return
        if not self.at_end(merge.delivered):
            raise Unavailable(
                f"The feed has sent no facts for {SILENT_S_MAX:.0f} s, though it holds more",
                where=f"{self._topic} at {self._partitions.where}",
                hint="Check that every partition has a leader; run `round-ledger topics check`.",
            )
        self._moved_at = self._clock.monotonic()


def _fact(each: Consumed, topic: str = topics.FACTS) -> Fed | Poison:
    """The fact of a record; poison if it is unreadable or does not match its hash."""
    try:
        fact = fed(each.key, each.value, each.headers)
    except UnreadableError as error:
        return _poison(each, topic, "unreadable", f"It is not a valid fact: {error}", None)
    if not fact.is_whole:
        return _poison(each, topic, "edited", "Its bytes do not match its hash", fact)
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
    """The feed, from the stored offsets of these live views; from the beginning if one has none.

    Without views it is the whole feed. Raises `Unavailable`.
    """
    topic = kafka.named(topics.FACTS)
    starts = parking.places(database, topic, views) if views else {}
    with (
        relay_progress.relay_store(database) as relay_store,
        reader(kafka, topics.FACTS, required=True) as facts,
    ):
        yield FeedSource(facts, relay_store, starts, figures or Figures(), topic=topic)
