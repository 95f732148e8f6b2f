"""Comparing the topics with the record, and publishing a part of the record again.

The check recomputes every hash from the bytes that Kafka returns, and follows each tape's hash
chain from its first fact to its last. It names the place of each missing, changed, misplaced or
foreign record.
"""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING, Literal, NamedTuple

from consumers.relay.number_set import Numbers
from consumers.relay.streams import Facts
from consumers.relay.topic_end import copies_of
from infra.kafka import records, topics
from infra.kafka.ports import Bounds, Consumed
from infra.kafka.publisher import Publisher
from infra.kafka.reader import reader
from infra.kafka.records import QUARANTINE_ID, UnreadableError, partition_of
from infra.postgres import relay_progress
from ledger.errors import Usage
from ledger.record.tape import GENESIS

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from contextlib import AbstractContextManager

    from infra.kafka.clients import Connection
    from infra.kafka.ports import Acknowledged, TopicReader
    from infra.kafka.publisher import SendWindow
    from infra.postgres.connection import Database
    from infra.postgres.relay_progress import RelayStore
    from ledger.record.tape import TapeRow

BREAKS_MAX = 100
"""Breaks listed in a result; any further ones are only counted."""

Kind = Literal["unreadable", "misplaced", "edited", "stranger", "unchained", "missing"]


class Break(NamedTuple):
    """One difference between a topic and the record."""

    kind: Kind
    topic: str
    where: str  # partition and offset, or the tape
    says: str


class TapeSeen(NamedTuple):
    """One tape: what the record holds up to the checkpoint, and what the topic holds."""

    tape: str
    on_record: int
    on_topic: int  # duplicates not counted
    expired: int
    last: int  # sequence of the last fact on the topic; 0 if it holds none
    head: str | None  # hash of that fact, hexadecimal
    broken: int  # breaks of this tape


class FeedCheck(NamedTuple):
    """The result of comparing the topics with the record."""

    records: int
    facts: int  # duplicates not counted
    duplicates: int
    expired: int  # facts that retention has removed
    quarantined: int
    not_yet: int  # facts of the record above the checkpoint
    missing: int  # missing facts and quarantined inputs; a range of them is one break
    broken: int
    breaks: Sequence[Break]  # the first BREAKS_MAX
    tapes: Sequence[TapeSeen]  # by name


def verify(
    database: Database, kafka: Connection, progress: Callable[[int, int], None] = lambda *_: None
) -> FeedCheck:
    """Compare the whole feed with the record, up to the current checkpoints. Changes nothing.

    `progress` is called with the records read and their total. Raises `Unavailable`.
    """
    with relay_progress.relay_store(database) as relay_store:
        seen = compared(relay_store, lambda topic: reader(kafka, topic), progress)
    return seen._replace(breaks=[b._replace(topic=kafka.named(b.topic)) for b in seen.breaks])


def compared(
    relay_store: RelayStore,
    opened: Callable[[str], AbstractContextManager[TopicReader]],
    progress: Callable[[int, int], None] = lambda *_: None,
) -> FeedCheck:
    """As `verify`, with a function that opens a topic."""
    check = _Check(relay_store)
    read = 0
    for topic, take in ((topics.FACTS, check.fact), (topics.QUARANTINE, check.quarantined)):
        tracked = relay_store.tracked(topic)  # read before the ends: later records are above it
        with opened(topic) as source:
            bounds = source.bounds()
            check.partitions = len(bounds)
            total = sum(span.end - span.begin for span in bounds.values())
            for batch in source.read(bounds):
                for each in batch:
                    take(each, bounds[each.partition])
                read += len(batch)
                progress(read, total)
                check.settle()
        check.finish(topic, tracked, bounds)
    return check.result(read)


def republish(
    database: Database,
    kafka: Connection,
    first: int,
    last: int,
    *,
    progress: Callable[[int], None] = lambda _: None,
) -> int:
    """Publish the facts at positions `first` to `last` again; returns how many.

    The records carry the header `ledger_republished`. A relay may run meanwhile, since consumers
    skip facts that they have. Facts that no relay has published yet are left to the relay: sent
    now, they would come before earlier ones. Raises `Usage` for an empty range.
    """
    if not 1 <= first <= last:
        raise Usage(
            f"Positions {first:,} to {last:,} are not a range",
            where="--from, --to",
            hint="Positions start at 1; give the smaller one first.",
        )
    partitions = topics.require(kafka, topics.FACTS)
    with (
        relay_progress.relay_store(database, "ledger_projector") as relay_store,
        Publisher(kafka) as publisher,
    ):

        def publish(window: SendWindow) -> Sequence[Acknowledged]:
            taken = publisher.publish(topics.FACTS, partitions, window.records)
            progress(len(window.records))
            return taken

        published = relay_store.tracked(topics.FACTS)
        return republish_in(relay_store, publish, first, min(last, published))


def republish_in(
    relay_store: RelayStore,
    publish: Callable[[SendWindow], Sequence[Acknowledged]],
    first: int,
    last: int,
) -> int:
    """As `republish`, with the caller's relay store and publisher."""
    facts = Facts(relay_store, republished=True)
    sent, at = 0, first - 1
    while window := facts.window(at, last):
        taken = publish(window)
        relay_store.note_copies(topics.FACTS, copies_of(taken))
        sent += len(window.records)
        at = window.end
    return sent


class _Place(NamedTuple):
    """The last fact of a tape that the check has followed."""

    seq: int = 0
    hash: bytes = GENESIS


class _Counts:
    """The counts of one tape."""

    def __init__(self) -> None:
        self.facts = self.expired = self.broken = 0


class _Check:
    """One pass over the topics."""

    def __init__(self, relay_store: RelayStore) -> None:
        self._relay_store = relay_store
        self.partitions = 0  # of the topic being read
        self._places: dict[str, _Place] = {}
        self._lowest: dict[int, int] = {}  # by partition: facts below may have expired
        self._missing: defaultdict[str, Numbers] = defaultdict(Numbers)
        self._again: list[tuple[TapeRow, str]] = []  # duplicates, compared with the record
        self._aside = Numbers()
        self._breaks: list[Break] = []
        self._of: defaultdict[str, _Counts] = defaultdict(_Counts)  # by tape
        self._tapes: list[TapeSeen] = []
        self._broken = self._duplicates = self._not_yet = self._lacking = 0

    def fact(self, each: Consumed, span: Bounds) -> None:
        """Check one record of the facts' topic against its tape."""
        where = f"partition {each.partition}, offset {each.offset}"
        try:
            fed = records.fed(each.key, each.value, each.headers)
        except UnreadableError as error:
            self._tell("unreadable", topics.FACTS, where, f"It is not a valid fact: {error}.")
            return
        row = fed.row
        name = f"Fact {row.table_seq:,} of {row.tape}"
        if not fed.is_whole:
            says = f"{name} has bytes that do not match its hash."
            self._tell("edited", topics.FACTS, where, says, row.tape)
        elif (home := partition_of(row.tape.encode(), self.partitions)) != each.partition:
            says = f"{name} belongs in partition {home}; its order is not guaranteed here."
            self._tell("misplaced", topics.FACTS, where, says, row.tape)
        elif not fed.republished:
            lowest = self._lowest.get(each.partition, row.position)
            self._lowest[each.partition] = min(lowest, row.position)
        place = self._places.get(row.tape)
        if place is None and span.begin > 0 and 1 < row.table_seq <= self._newest(row.tape):
            gone = min(row.table_seq - 1, self._gone(row.tape, each.partition, row.position))
            self._of[row.tape].expired += gone
            self._missing[row.tape].add(gone + 1, row.table_seq - 1)
            place = _Place(row.table_seq - 1, fed.previous)
        place = place or _Place()
        if row.table_seq <= place.seq:
            came_late = row.table_seq in self._missing[row.tape]
            self._missing[row.tape].remove(row.table_seq, row.table_seq)
            self._of[row.tape].facts += came_late
            self._duplicates += not came_late
            self._again.append((row, where))
            return
        if row.table_seq == place.seq + 1:
            if fed.previous != place.hash:
                says = f"{name} does not continue the hash chain of the fact before it."
                self._tell("unchained", topics.FACTS, where, says, row.tape)
        else:
            if row.table_seq > self._newest(row.tape):
                says = f"{name} is not in the record."
                self._tell("stranger", topics.FACTS, where, says, row.tape)
                return  # so no facts are missing before it
            self._missing[row.tape].add(place.seq + 1, row.table_seq - 1)
            self._again.append((row, where))  # nothing before it proves its hash: ask the record
        self._of[row.tape].facts += 1
        self._places[row.tape] = _Place(row.table_seq, row.hash)

    def quarantined(self, each: Consumed, span: Bounds) -> None:
        """Check one quarantined input against the record."""
        where = f"partition {each.partition}, offset {each.offset}"
        told = dict(each.headers)
        number = records.number(told, QUARANTINE_ID)
        rows = self._relay_store.quarantined(number - 1, 1) if number else []
        if not records.is_quarantined(each.value, number):
            says = "It is no quarantined input, or is damaged."
            self._tell("unreadable", topics.QUARANTINE, where, says)
            return
        if not rows or not records.is_of(rows[0], told, each.value):
            says = f"Input {number:,} differs from the record."
            self._tell("stranger", topics.QUARANTINE, where, says)
            return
        if not self._aside and span.begin > 0:
            self._aside.add(1, number - 1)
        self._aside.add(number, number)

    def settle(self) -> None:
        """Compare with the record the facts whose hash no earlier fact in the topic proves."""
        by_tape: defaultdict[str, list[tuple[TapeRow, str]]] = defaultdict(list)
        for row, where in self._again:
            by_tape[row.tape].append((row, where))
        self._again.clear()
        for tape, rows in by_tape.items():
            known = {
                row.table_seq: row
                for row in self._relay_store.at(tape, [r.table_seq for r, _ in rows])
            }
            for row, where in rows:
                if row != known.get(row.table_seq):
                    says = f"Fact {row.table_seq:,} of {tape} differs from the record."
                    self._tell("stranger", topics.FACTS, where, says, tape)

    def finish(self, topic: str, tracked: int, bounds: dict[int, Bounds]) -> None:
        """Compare the end of the topic with the checkpoint."""
        if topic == topics.QUARANTINE:
            if not self._aside and any(span.begin > 0 for span in bounds.values()):
                return  # all inputs have expired
            lacking = Numbers()
            lacking.add(1, tracked)
            for low, high in self._aside.ranges():
                lacking.remove(low, high)
            self._lacks(topic, "its only partition", "Input", lacking)
            return
        heads = self._relay_store.heads()
        for tape in sorted({*heads, *self._of}):
            number = partition_of(tape.encode(), len(bounds) or 1)
            expired = bounds.get(number, Bounds(0, 0)).begin > 0
            self._end_of(tape, tracked, self._gone(tape, number, tracked) if expired else 0)
        self._not_yet = max(0, max(heads.values(), default=0) - tracked)

    def result(self, read: int) -> FeedCheck:
        """The result of the whole check."""
        return FeedCheck(
            read,
            sum(each.facts for each in self._of.values()),
            self._duplicates,
            sum(each.expired for each in self._of.values()),
            len(self._aside),
            self._not_yet,
            self._lacking,
            self._broken,
            self._breaks,
            self._tapes,
        )

    def _gone(self, tape: str, partition: int, until: int) -> int:
        """How many facts of a tape, up to a position, retention may have removed.

        Retention removes the oldest records: none at or above the lowest position still there.
        """
        lowest = self._lowest.get(partition, records.NUMBER_MAX)
        return self._newest(tape, min(until, lowest - 1))

    def _newest(self, tape: str, until: int = records.NUMBER_MAX) -> int:
        """The highest sequence of a tape in the record, up to a position; 0 if it has none."""
        newest = self._relay_store.newest(tape, until)
        return newest.table_seq if newest else 0

    def _end_of(self, tape: str, tracked: int, gone: int) -> None:
        place = self._places.get(tape, _Place())
        should = self._newest(tape, tracked)
        missing = self._missing[tape]
        of = self._of[tape]
        if place.seq == 0:
            of.expired += gone
        missing.add(max(place.seq, gone) + 1, should)
        self._lacks(topics.FACTS, tape, "Fact", missing)
        on_record = self._relay_store.at(tape, [place.seq]) if place.seq else []
        if place.seq and (not on_record or on_record[0].hash != place.hash):
            says = f"Fact {place.seq:,}, the last in the topic, differs from the record."
            self._tell("stranger", topics.FACTS, tape, says, tape)
        held = max(should, place.seq if on_record else 0)  # a relay may publish meanwhile
        head = place.hash.hex() if place.seq else None
        self._tapes.append(TapeSeen(tape, held, of.facts, of.expired, place.seq, head, of.broken))

    def _lacks(self, topic: str, where: str, what: str, missing: Numbers) -> None:
        """Report a break for each missing range, and count what is missing."""
        self._lacking += len(missing)
        for low, high in missing.ranges():
            many = f"{what}s {low:,} to {high:,} are missing."
            says = many if high > low else f"{what} {low:,} is missing."
            self._tell("missing", topic, where, says, where if topic == topics.FACTS else None)

    def _tell(self, kind: Kind, topic: str, where: str, says: str, tape: str | None = None) -> None:
        self._broken += 1
        if tape is not None:
            self._of[tape].broken += 1
        if len(self._breaks) < BREAKS_MAX:
            self._breaks.append(Break(kind, topic, where, says))
