"""Facts of many partitions in the one order of the record, held in memory while they wait.

Pure: it is given facts that are the record's own, and records that are not; it says which rows come
next, which partitions to read on, and what to make of a hole. No broker, no database, no clock.
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
"""What may wait for facts before it; beyond, only partitions that lag behind are read."""


@dataclass
class Figures:
    """What a follower of the feed has seen since it started."""

    records: int = 0
    duplicates: int = 0  # facts sent again, passed over
    reordered: int = 0  # facts that came after a later one of their tape
    gaps: int = 0  # holes in what was published
    healed: int = 0  # facts read from the record because the feed lacked them
    poisoned: int = 0  # records that are not what the record holds
    offsets_lost: int = 0  # offsets that the topic does not have any more
    answered_at: float | None = None
    """When a broker last answered, by the monotonic clock: the other may be set. None: not yet."""


class Poison(NamedTuple):
    """A record of the feed that the record does not hold so."""

    partition: int
    offset: int
    tape: str  # what its key says
    position: int  # what it claims; 0: nothing readable, or none that is on record
    reason: str
    says: str
    place: str


class _Waiting(NamedTuple):
    row: TapeRow
    partition: int
    offset: int


class Merge:
    """What has come and was not taken yet."""

    def __init__(self, delivered: int, starts: Mapping[int, int], figures: Figures) -> None:
        self.delivered = delivered
        self._next = dict(starts)  # by partition, the offset to be read next
        self._frontier = dict.fromkeys(starts, 0)  # the highest position read
        self._waiting: dict[int, _Waiting] = {}
        self._given: dict[int, _Waiting] = {}  # taken from here last; its views may not have it yet
        self._octets = 0
        self._ready = delivered  # everything up to here is waiting or was taken
        self._seqs: dict[str, int] = {}  # the highest number seen of each tape
        self._poison: dict[Poison, int] = {}  # not known yet what it stands for; see `settle`
        self._parked: dict[int, Parked] = {}  # by position, of what was not taken yet
        self._figures = figures

    @property
    def ready(self) -> int:
        """How many rows can be taken."""
        return self._ready - self.delivered

    @property
    def lowest(self) -> int:
        """The lowest position that waits behind a hole; 0: none does."""
        return min(self._waiting, default=0)

    def put(self, partition: int, offset: int, row: TapeRow) -> None:
        """One fact as it is on record."""
        self._passed(partition, offset)
        self._frontier[partition] = max(self._frontier[partition], row.position)
        if row.position <= self.delivered or row.position in self._waiting:
            self._figures.duplicates += 1
            return
        highest = self._seqs.get(row.tape, 0)
        if row.table_seq < highest:
            self._figures.reordered += 1
            figures = {"tape": row.tape, "table_seq": row.table_seq, "after": highest}
            LOG.warning("a fact came late on the feed", extra={"figures": figures})
        self._seqs[row.tape] = max(highest, row.table_seq)
        self._waiting[row.position] = _Waiting(row, partition, offset)
        self._octets += len(row.data) + len(row.attributes)
        while self._ready + 1 in self._waiting:
            self._ready += 1

    def poison(self, poison: Poison) -> None:
        """One record that is not on record so."""
        self._passed(poison.partition, poison.offset)
        self._figures.poisoned += 1
        figures = {"place": poison.place, "tape": poison.tape, "reason": poison.reason}
        LOG.error("a record of the feed is not on record so", extra={"figures": figures})
        self._poison[poison] = -1

    def take(self, limit: int) -> Sequence[TapeRow]:
        """The next rows without a hole, at most `limit`."""
        last = min(self._ready, self.delivered + limit)
        taken = range(self.delivered + 1, last + 1)
        self._given = {position: self._waiting.pop(position) for position in taken}
        rows = [each.row for each in self._given.values()]
        self._octets -= sum(len(row.data) + len(row.attributes) for row in rows)
        self.delivered = last
        return rows

    def skip_to(self, position: int) -> None:
        """Whoever takes has everything up to here already."""
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
        """Partitions to read on, and those that have run ahead too far."""
        if not self._is_full:
            return list(self._frontier), []
        ahead = {number for number, reached in self._frontier.items() if reached > self._ready}
        return [number for number in self._frontier if number not in ahead], list(ahead)

    def has_passed(self, ends: Mapping[int, int]) -> bool:
        """Whether the next position would have been seen if the feed held it.

        `ends`: where partitions ended after it was published.
        """
        return all(
            self._next[number] >= end or (self._is_full and self._frontier[number] > self._ready)
            for number, end in ends.items()
        )

    def reach(self, offsets: Mapping[int, int]) -> None:
        """Partitions were read up to here, whatever the last offsets held."""
        for number, offset in offsets.items():
            self._next[number] = max(self._next[number], offset)

    def fill_gap(self, rows: Sequence[TapeRow], partitions: int) -> None:
        """Take rows that the feed lacks from the record; withhold those it held otherwise."""
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
        """All facts up to `tracked` have come: poison from before was beside whole copies.

        A record is there to be read before tracking tells of it. So poison is kept until tracking
        has moved on from where it stood at the first look after it was read, and past the fact
        that it claims to be.
        """
        kept = {each: tracked if at < 0 else at for each, at in self._poison.items()}
        self._poison = {
            each: at for each, at in kept.items() if at >= tracked or each.position > tracked
        }

    def poisoned(self, first: int, last: int) -> list[Parked]:
        """What is to be withheld from positions `first` to `last` on."""
        return [each for at, each in self._parked.items() if first <= at <= last]

    def places(self, position: int) -> dict[int, int]:
        """By partition, the lowest offset that one who has all up to `position` may need."""
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
        """The poison in a fact's place: it claims the position, or names the tape, or names none.

        One record stands for one fact, so it is not looked at again.
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
