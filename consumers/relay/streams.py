"""What the relay publishes of the record itself: every fact, and every quarantined input."""

from __future__ import annotations

from typing import TYPE_CHECKING

from consumers.relay.topic_end import Judged
from infra.kafka import records, topics
from infra.kafka.publisher import WINDOW_RECORDS, window_of
from infra.kafka.records import QUARANTINE_ID, Fed, PreviousHashes, UnreadableError, partition_of

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence

    from infra.kafka.ports import Consumed
    from infra.kafka.publisher import SendWindow
    from infra.kafka.records import ProducerRecord
    from infra.postgres.relay_progress import RelayStore
    from ledger.record.tape import TapeRow

_SAYS_MAX = 500
ASIDE_ROWS = 20
"""Inputs read at once: each may be megabytes long."""


class Facts:
    """The facts of all tapes, in order of position."""

    topic = topics.FACTS
    is_compacted = False

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

    def judge(self, batch: Sequence[Consumed]) -> list[Judged]:
        """As `ComparedTopic`."""
        facts = [_fact(each) for each in batch]
        hashes = self._relay_store.hashes([f.row.position for f in facts if isinstance(f, Fed)])
        return [f if isinstance(f, Judged) else _judged(f, hashes) for f in facts]

    def follows(self, each: Consumed) -> bool:
        """As `ComparedTopic`. The first fact of a tape follows any record."""
        fact = records.fed(each.key, each.value, each.headers)
        if fact.row.table_seq == 1:
            return True
        before = self._relay_store.at(fact.row.tape, [fact.row.table_seq - 1])
        return bool(before) and before[0].hash == fact.previous

    def resume(
        self, tracked: int, reached: Mapping[int, int], lost: Collection[int], partitions: int
    ) -> int:
        """As `ComparedTopic`. The record shows which partitions lack facts."""
        del lost
        heads = self._relay_store.heads()
        lacking = [
            position
            for number, position in reached.items()
            if position < tracked and self._lacks(number, partitions, position, tracked, heads)
        ]
        return min([tracked, *lacking])

    def rewind(self, to: int) -> None:
        """Nothing to prepare: the record keeps all its rows."""

    def _record(self, row: TapeRow) -> ProducerRecord:
        previous = self._places.before(row) or self._relay_store.hash_before(row)
        self._places.saw(row)
        return records.of_row(row, previous, republished=self._republished)

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
    is_compacted = False

    def __init__(self, relay_store: RelayStore) -> None:
        self._relay_store = relay_store

    def window(self, after: int) -> SendWindow | None:
        """The next inputs above `after`, at most one window."""
        rows = self._relay_store.quarantined(after, ASIDE_ROWS)
        return window_of((row.quarantine_id, records.of_quarantined(row)) for row in rows)

    def judge(self, batch: Sequence[Consumed]) -> list[Judged]:
        """As `ComparedTopic`."""
        return [self._judged(each) for each in batch]

    def follows(self, each: Consumed) -> bool:
        """As `ComparedTopic`. Inputs form no chain: each may be one that the record lost."""
        del each
        return True

    def resume(
        self, tracked: int, reached: Mapping[int, int], lost: Collection[int], partitions: int
    ) -> int:
        """Inputs are numbered without a gap: all after the topic's last one are missing."""
        del lost, partitions
        return min([tracked, *reached.values()])

    def rewind(self, to: int) -> None:
        """Nothing to prepare: the record keeps all its rows."""

    def _judged(self, each: Consumed) -> Judged:
        told = dict(each.headers)
        number = records.number(told, QUARANTINE_ID)
        rows = self._relay_store.quarantined(number - 1, 1) if number else []
        if rows and records.is_of(rows[0], told, each.value):
            return Judged("own", number)
        if number and records.is_quarantined(each.value, number):
            return Judged("foreign", number, "It is an input that is not on record.")
        return Judged("stray", 0, "It is no quarantined input, or is damaged.")


def _fact(each: Consumed) -> Fed | Judged:
    """The fact of a record, if it is one and matches its hash."""
    try:
        fact = records.fed(each.key, each.value, each.headers)
    except UnreadableError as error:
        return Judged("stray", 0, f"It is no fact: {error}."[:_SAYS_MAX])
    if fact.is_whole:
        return fact
    return Judged("stray", fact.row.position, "Its bytes do not match its hash.")


def _judged(fact: Fed, hashes: Mapping[int, bytes]) -> Judged:
    if hashes.get(fact.row.position) != fact.row.hash:
        return Judged("foreign", fact.row.position, "It is a fact that is not on record.")
    return Judged("copy" if fact.republished else "own", fact.row.position)
