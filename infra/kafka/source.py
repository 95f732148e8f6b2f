"""The feed as a source of the record: partitions read side by side, put together by position.

Positions have no hole, so nothing needs to be believed: what is above the next one waits, what is
below it was sent twice, and what the whole feed lacks although it was published is read from the
record, and told (ADR 0075). Offsets only say where to begin; they never decide what is counted.
"""

from __future__ import annotations

import logging
import time
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from infra import parking, relaying
from infra.kafka import topics
from infra.kafka.clients import translated
from infra.kafka.library import KafkaConsumer, TopicPartition
from infra.kafka.merging import Figures, Merge, Poison
from infra.kafka.reading import SILENT_S_MAX, Consumed
from infra.kafka.records import UnreadableError, fed
from infra.parking import Parked, Place
from ledger.errors import Unavailable

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from infra.kafka.clients import Connection
    from infra.kafka.records import Fed
    from infra.postgres import Database
    from infra.relaying import Desk
    from ledger.tape import TapeRow

LOG = logging.getLogger("round_ledger.feed")

POLL_S = 0.25
"""How long a read waits for news, seconds."""

KNOCK_S = 5.0
"""How long the brokers may be silent until they are asked whether they are there, seconds."""

_POLL_RECORDS = 2_000
_ANSWER_MS = int(SILENT_S_MAX * 1000)


class FeedSource:
    """The facts' topic as a source of rows (`consumers.batches.Feed`). For one thread."""

    def __init__(
        self,
        where: Connection,
        consumer: Any,  # noqa: ANN401 - the library is not typed
        desk: Desk,
        starts: dict[int, int],
        figures: Figures,
    ) -> None:
        self._where = where
        self._consumer = consumer
        self._desk = desk
        self._starts = starts
        self._figures = figures
        self._places = [
            TopicPartition(topics.FACTS, number)
            for number in range(topics.require(where, topics.FACTS))
        ]
        self._proof: tuple[int, dict[int, int]] | None = None  # acknowledged, then the ends
        self._moved_at = time.monotonic()
        self._merge: Merge | None = None

    def read(self, after: int, limit: int) -> Sequence[TapeRow]:
        """Rows with position > `after`, in order of position, at most `limit`; none for now.

        Raises `Unavailable` where no broker answers.
        """
        merge = self._merge or self._begin(after)
        if after < merge.delivered:  # a view was set back: these were on the feed already
            return self._desk.rows(after, min(limit, merge.delivered - after))
        merge.skip_to(after)
        with translated(self._where):
            if merge.ready < limit:
                self._poll(merge)
            rows = merge.take(limit)
            if not rows:
                self._look_for_gap(merge, limit)
                rows = merge.take(limit)
            if rows:
                self._proof = None
                self._moved_at = time.monotonic()
            self._knock(merge)
        return rows

    def wait(self, after: int, timeout_s: float) -> None:
        """Return at once: `read` itself waits for news."""

    def at_end(self, after: int) -> bool:
        """Whether everything that was ever published is at or below `after`."""
        return self._desk.tracked(topics.FACTS) <= after

    def poisoned(self, first: int, last: int) -> Sequence[Parked]:
        """Facts at positions `first` to `last` that the feed held otherwise than the record."""
        return self._merge.poisoned(first, last) if self._merge else ()

    def places(self, position: int) -> Sequence[Place]:
        """Where to read on, for whoever has everything up to `position`."""
        if self._merge is None:
            return ()
        return [
            Place(topics.FACTS, number, offset)
            for number, offset in self._merge.places(position).items()
        ]

    def _begin(self, after: int) -> Merge:
        """Read from the offsets known, or from the beginning."""
        with translated(self._where):
            self._consumer.assign(self._places)
            begins = self._consumer.beginning_offsets(self._places, timeout_ms=_ANSWER_MS)
            ends = self._consumer.end_offsets(self._places, timeout_ms=_ANSWER_MS)
            at = {}
            for place in self._places:
                start = self._starts.get(place.partition, begins[place])
                if not begins[place] <= start <= ends[place]:
                    self._figures.offsets_lost += 1
                    figures = {"partition": place.partition, "offset": start}
                    LOG.error("an offset is not there any more", extra={"figures": figures})
                    start = begins[place]
                at[place.partition] = start
                self._consumer.seek(place, start)
        self._figures.heard_at = time.time()
        self._moved_at = time.monotonic()
        self._merge = Merge(after, at, self._figures)
        return self._merge

    def _poll(self, merge: Merge) -> None:
        on, off = merge.wanted()
        for numbers, do in ((on, self._consumer.resume), (off, self._consumer.pause)):
            if numbers:
                do(*(self._places[number] for number in numbers))
        wait_ms = 0 if merge.ready else int(POLL_S * 1000)
        found = self._consumer.poll(timeout_ms=wait_ms, max_records=_POLL_RECORDS)
        if not found:
            return
        self._figures.heard_at = time.time()
        self._moved_at = time.monotonic()
        read = [
            Consumed(each.partition, each.offset, each.key, each.value, tuple(each.headers))
            for records in found.values()
            for each in records
        ]
        self._take(merge, read)

    def _take(self, merge: Merge, read: Sequence[Consumed]) -> None:
        """Sort out what the record holds so from what it does not."""
        facts: list[tuple[Consumed, Fed | Poison]] = [(each, _fact(each)) for each in read]
        positions = [fact.row.position for _, fact in facts if not isinstance(fact, Poison)]
        hashes = self._desk.hashes(positions)
        for each, fact in facts:
            if isinstance(fact, Poison):
                merge.poison(fact)
            elif hashes.get(fact.row.position) != fact.row.hash:
                merge.poison(_poison(each, "stranger", "The record holds no such fact there", fact))
            else:
                merge.put(each.partition, each.offset, fact.row)

    def _look_for_gap(self, merge: Merge, limit: int) -> None:
        """Read from the record what was published, but is nowhere on the feed.

        Certain once every partition was read to an end asked for after the acknowledgement.
        """
        tracked = self._desk.tracked(topics.FACTS)
        if tracked <= merge.delivered:
            merge.settle()
            return
        if self._proof is None:
            found = self._consumer.end_offsets(self._places, timeout_ms=_ANSWER_MS)
            self._proof = tracked, {place.partition: end for place, end in found.items()}
            self._figures.heard_at = time.time()
        tracked, ends = self._proof
        if merge.has_passed(ends):
            upto = min(tracked, merge.lowest - 1 if merge.lowest else tracked)
            rows = self._desk.rows(merge.delivered, min(limit, upto - merge.delivered))
            merge.heal(rows, len(self._places))

    def _knock(self, merge: Merge) -> None:
        """Notice that the brokers are gone: the library's poll would say nothing of it."""
        if time.time() - self._figures.heard_at > KNOCK_S:
            self._consumer.end_offsets(self._places, timeout_ms=_ANSWER_MS)
            self._figures.heard_at = time.time()
        if time.monotonic() - self._moved_at < SILENT_S_MAX:
            return
        if not self.at_end(merge.delivered):
            raise Unavailable(
                f"The feed gives nothing for {SILENT_S_MAX:.0f} s, though it holds more",
                where=f"{topics.FACTS} at {self._where.bootstrap}",
                hint="Check that every partition has a leader; `round-ledger topics check`.",
            )
        self._moved_at = time.monotonic()


def _fact(each: Consumed) -> Fed | Poison:
    """What a record says, if it is one of the feed and whole."""
    try:
        fact = fed(each.key, each.value, each.headers)
    except UnreadableError as error:
        return _poison(each, "unreadable", f"It is no fact: {error}", None)
    if not fact.is_whole:
        return _poison(each, "edited", "Its octets are not what its hash says", fact)
    return fact


def _poison(each: Consumed, reason: str, says: str, fact: Fed | None) -> Poison:
    place = f"{topics.FACTS}/{each.partition}@{each.offset}"
    key = (each.key or b"").decode(errors="replace")
    position = fact.row.position if fact else 0
    return Poison(each.partition, each.offset, key, position, reason, f"{says}.", place)


@contextmanager
def feed_source(
    base: Database, where: Connection, views: Sequence[str], figures: Figures | None = None
) -> Iterator[FeedSource]:
    """The feed, from where these live views left it; from the beginning where one has no offsets.

    Without views: the whole feed. Raises `Unavailable`.
    """
    starts = parking.places(base, topics.FACTS, views) if views else {}
    with relaying.desk(base) as desk, translated(where):
        consumer = KafkaConsumer(
            **where.options(),
            group_id=None,
            enable_auto_commit=False,
            auto_offset_reset="none",
            allow_auto_create_topics=False,
            check_crcs=True,
            max_poll_records=_POLL_RECORDS,
            bootstrap_timeout_ms=int(SILENT_S_MAX * 1000),
        )
        try:
            yield FeedSource(where, consumer, desk, starts, figures or Figures())
        finally:
            consumer.close()
