"""Merging the facts of many partitions into the record's order, in memory.

The merge gets facts that match the record, and records that do not (poison). It decides which rows
come next, which partitions to read, and how to fill a gap. It uses no broker, database or clock.
"""

from __future__ import annotations

import logging
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from infra.kafka.records import partition_of
from infra.postgres.parking import Parked

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from ledger.record.tape import TapeRow

LOG = logging.getLogger("round_ledger.feed")

ROWS_MAX = 20_000
OCTETS_MAX = 32 * 1024 * 1024
"""Rows, or bytes, that may wait for earlier facts. Beyond, only lagging partitions are read."""


@dataclass
class Figures:
    """Counts of a process that follows the feed, since it started."""

    records: int = 0
    duplicates: int = 0  # facts received again and skipped
    reordered: int = 0  # facts received after a later one of their tape
    gaps: int = 0  # gaps in the published positions
    healed: int = 0  # facts read from the record since the feed lacked them
    poisoned: int = 0  # feed records that contradict the record
    offsets_lost: int = 0  # stored offsets that the topic no longer has
    answered_at: float | None = None
    """When a broker last answered, by the monotonic clock; None: not yet."""


class Poison(NamedTuple):
    """A record of the feed that contradicts the record."""

    partition: int
    offset: int
    tape: str  # from its key
    position: int  # as claimed; 0 if unreadable or not in the record
    reason: str
    says: str
    place: str


class _Waiting(NamedTuple):
    row: TapeRow
    partition: int
    offset: int


class Merge:
    """Facts that were received and not taken yet."""

    def __init__(self, delivered: int, starts: Mapping[int, int], figures: Figures) -> None:
        self.delivered = delivered
        self._next = dict(starts)  # by partition, the offset to be read next
        self._frontier = dict.fromkeys(starts, 0)  # the highest position read
        self._waiting: dict[int, _Waiting] = {}
        self._given: dict[int, _Waiting] = {}  # taken last; views may not have committed them yet
        self._octets = 0
        self._ready = delivered  # all up to this position is waiting or was taken
        self._seqs: dict[str, int] = {}  # the highest sequence number seen of each tape
        self._poison: dict[Poison, int] = {}  # fact it replaces is unknown yet; see `settle`
        self._parked: dict[int, Parked] = {}  # by position: facts to withhold
        self._figures = figures

    @property
    def ready(self) -> int:
        """How many rows can be taken."""
        return self._ready - self.delivered

    @property
    def lowest(self) -> int:
        """The lowest position that waits behind a gap; 0 if none does."""
        return min(self._waiting, default=0)

    def put(self, partition: int, offset: int, row: TapeRow) -> None:
        """Add one fact that matches the record."""
        self._passed(partition, offset)
        self._frontier[partition] = max(self._frontier[partition], row.position)
        if row.position <= self.delivered or row.position in self._waiting:
            self._figures.duplicates += 1
            return
        highest = self._seqs.get(row.tape, 0)
        if row.table_seq < highest:
            self._figures.reordered += 1
            figures = {"tape": row.tape, "table_seq": row.table_seq, "after": highest}
            LOG.warning("the feed is out of order", extra={"figures": figures})
        self._seqs[row.tape] = max(highest, row.table_seq)
        self._waiting[row.position] = _Waiting(row, partition, offset)
        self._octets += len(row.data) + len(row.attributes)
        while self._ready + 1 in self._waiting:
            self._ready += 1

    def poison(self, poison: Poison) -> None:
        """Add one record that contradicts the record."""
        self._passed(poison.partition, poison.offset)
        self._figures.poisoned += 1
        figures = {"place": poison.place, "tape": poison.tape, "reason": poison.reason}
        LOG.error("the feed contradicts the record", extra={"figures": figures})
        self._poison[poison] = -1

    def take(self, limit: int) -> Sequence[TapeRow]:
        """The next rows without a gap, at most `limit`."""
        last = min(self._ready, self.delivered + limit)
        taken = range(self.delivered + 1, last + 1)
        self._given = {position: self._waiting.pop(position) for position in taken}
        rows = [each.row for each in self._given.values()]
        self._octets -= sum(len(row.data) + len(row.attributes) for row in rows)
        self.delivered = last
        return rows

    def skip_to(self, position: int) -> None:
        """The caller already has everything up to `position`."""
        if position <= self.delivered:
            return
        for each in [each for each in self._waiting if each <= position]:
            row = self._waiting.pop(each).row
            self._octets -= len(row.data) + len(row.attributes)
        self.delivered = position
        self._ready = max(self._ready, position)
        while self._ready + 1 in self._waiting:
            self._ready += 1

    def wanted(self) -> tuple[list[int], list[int]]:
        """The partitions to read, and those to pause because they are too far ahead."""
        if not self._is_full:
            return list(self._frontier), []
        ahead = {number for number, reached in self._frontier.items() if reached > self._ready}
        return [number for number in self._frontier if number not in ahead], list(ahead)

    def has_passed(self, ends: Mapping[int, int]) -> bool:
        """Whether the next position would have been read if the feed held it.

        `ends`: the end offsets of the partitions after that position was published.
        """
        return all(
            self._next[number] >= end or (self._is_full and self._frontier[number] > self._ready)
            for number, end in ends.items()
        )

    def reach(self, offsets: Mapping[int, int]) -> None:
        """Partitions were read up to these offsets; the last ones may hold no record."""
        for number, offset in offsets.items():
            self._next[number] = max(self._next[number], offset)

    def fill_gap(self, rows: Sequence[TapeRow], partitions: int) -> None:
        """Add the record's rows for a gap of the feed. Park the rows that poison replaced."""
        self._figures.gaps += 1
        self._figures.healed += len(rows)
        if rows:
            figures = {"first": rows[0].position, "last": rows[-1].position, "tape": rows[0].tape}
            LOG.error("the feed lacks facts; read from the record", extra={"figures": figures})
        for row in rows:
            number = partition_of(row.tape.encode(), partitions)
            poison = self._stood_for(row, number)
            if poison:
                self._parked[row.position] = Parked(
                    row.tape, row.position, row.table_seq, poison.reason, poison.says, poison.place
                )
            offset = poison.offset if poison else self._next[number]
            self._waiting[row.position] = _Waiting(row, number, offset)
            self._octets += len(row.data) + len(row.attributes)
            self._seqs[row.tape] = max(self._seqs.get(row.tape, 0), row.table_seq)
        while self._ready + 1 in self._waiting:
            self._ready += 1

    def settle(self, tracked: int) -> None:
        """All facts up to `tracked` were received: drop poison that replaced none of them.

        A record can be read before the checkpoint covers it. Poison is therefore kept until the
        checkpoint has passed both its value at the first `settle` after the poison was read, and
        the position that the poison claims.
        """
        kept = {each: tracked if at < 0 else at for each, at in self._poison.items()}
        self._poison = {
            each: at for each, at in kept.items() if at >= tracked or each.position > tracked
        }

    def poisoned(self, first: int, last: int) -> list[Parked]:
        """The facts to park at positions `first` to `last`."""
        return [each for at, each in self._parked.items() if first <= at <= last]

    def places(self, position: int) -> dict[int, int]:
        """By partition, the lowest offset that a view at `position` may still need."""
        places = dict(self._next)
        for waiting in (self._waiting, self._given):
            for at, each in waiting.items():
                if at > position:
                    places[each.partition] = min(places[each.partition], each.offset)
        for poison in self._poison:
            places[poison.partition] = min(places[poison.partition], poison.offset)
        return places

    @property
    def _is_full(self) -> bool:
        return len(self._waiting) >= ROWS_MAX or self._octets >= OCTETS_MAX

    def _passed(self, partition: int, offset: int) -> None:
        self._figures.records += 1
        self._next[partition] = max(self._next[partition], offset + 1)

    def _stood_for(self, row: TapeRow, partition: int) -> Poison | None:
        """The poison that replaced a fact: with its position, else its tape, else without a tape.

        One poison replaces one fact, so it is removed here.
        """
        here = [each for each in self._poison if each.partition == partition]
        likely = (
            *(each for each in self._poison if each.position == row.position),
            *(each for each in here if each.tape == row.tape),
            *(each for each in here if not each.tape),
        )
        if not likely:
            return None
        del self._poison[likely[0]]
        return likely[0]
