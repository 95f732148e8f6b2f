"""Restoring the lost end of a record from the feed.

The feed carries each fact's bytes, position, times and hash. Facts that continue the record's hash
chain without a gap are written back unchanged. If the feed has a gap, or the record has appended
other facts since, nothing is written and the error says why.
"""

from __future__ import annotations

import base64
import hashlib
from collections import defaultdict
from typing import TYPE_CHECKING, NamedTuple

import msgspec

from consumers.relay.streams import Facts
from consumers.relay.topic_end import fitting
from infra.kafka import records, topics
from infra.kafka.ports import Bounds, Consumed
from infra.kafka.reader import reader
from infra.kafka.records import QUARANTINE_ID
from infra.postgres import relay_progress
from infra.postgres.refill import Refilling, refilling
from ledger.errors import Refused
from ledger.record.tape import InQuarantine, Received, TapeRow, frame_attributes
from ledger.values import parse_time

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping

    from consumers.relay.topic_end import Judged
    from infra.kafka.clients import Connection
    from infra.kafka.reader import Reader
    from infra.postgres.connection import Database
    from infra.postgres.relay_progress import Mark
    from ledger.record.tape import Verdict

AT_ONCE = 2_000
"""Rows written in one statement."""

WAITING_MAX = 2_000_000
"""Facts held in memory until the facts before them are read."""

_ANEW = (
    "run `round-ledger relay refill --rest-anew`, delete the topic, run"
    " `round-ledger topics apply`, start the relay. Devices send again what was not answered."
)
_ASIDE_ANEW = (
    "Nothing was written. Keep a copy of that topic: devices send again only what was not"
    " answered. Then delete it, run `round-ledger topics apply`, then this command again."
)
_BACK = (100, 10_000, 1_000_000, 2**62)


class Refilled(NamedTuple):
    """What a refill wrote to the record."""

    first: int  # position; 0 if the record lacked nothing
    last: int
    facts: int
    quarantined: int
    anew: int  # facts above a gap that stand at new positions, by request, now or from before
    cut: int  # quarantined inputs restored truncated: the feed holds only their beginning
    strays: int  # records of other programs on the facts' topic, passed over


def refill(
    database: Database,
    kafka: Connection,
    *,
    anew: bool = False,
    progress: Callable[[int], None] = lambda _: None,
) -> Refilled:
    """Write back every fact and quarantined input that the feed holds after the record's end.

    Appending and publishing are locked out meanwhile, and all is written in one transaction: a run
    that was killed can be repeated. `anew`: facts above a gap are appended as if they were received
    now; the topic must then be recreated. Raises `Refused`, with nothing
    written, if a relay runs, the feed has a gap (without `anew`), or the record holds other facts
    at the feed's positions.
    """
    with relay_progress.lead(database, lambda: True) as relay_store:
        if relay_store is None:
            raise Refused(
                "A relay is running, so the record cannot be refilled",
                where=database.where,
                hint="Stop every relay, then run this command again.",
            )
        with refilling(database) as filling:
            first = filling.tip + 1
            facts = Facts(relay_store)
            above = _Above(facts, filling, anew=anew)
            with reader(kafka, topics.FACTS) as source:
                spans = _from_tip(source, facts, relay_store.marks(topics.FACTS))
            with reader(kafka, topics.FACTS) as source:  # again: a seek drops what was fetched
                for batch in source.read(spans) if spans else ():
                    progress(above.take(batch))
            stranded = above.rest()
            quarantined, cut = _aside(kafka, filling)
            for at in range(0, len(stranded), AT_ONCE):
                filling.append_anew([_received(row) for row in stranded[at : at + AT_ONCE]])
    count = filling.tip - first + 1
    span = (first, filling.tip) if count else (0, 0)
    at_new = len(stranded) + above.at_new
    return Refilled(*span, count, quarantined, at_new, cut, above.strays)


class _Above:
    """Facts of the feed above the record's end, written back once they continue it."""

    def __init__(self, facts: Facts, filling: Refilling, *, anew: bool) -> None:
        self.strays = 0  # records of other programs
        self.at_new = 0  # facts above a gap that an earlier run already appended
        self._anew = anew
        self._facts = facts
        self._filling = filling
        self._end = filling.tip  # of the record before the refill
        self._damaged: dict[int, Consumed] = {}  # by the position that they claim
        self._waiting: defaultdict[int, dict[bytes, TapeRow]] = defaultdict(dict)  # by hash

    def take(self, batch: list[Consumed]) -> int:
        """Write back the facts that now continue the record; returns how many."""
        for each, judged in self._new(zip(batch, self._facts.judge(batch), strict=True)):
            if judged.kind == "stray":
                self.strays += 1
                self._damaged[judged.number] = each
            elif judged.kind == "foreign" and judged.number > self._end:
                row = records.fed(each.key, each.value, each.headers).row
                if row.position > self._filling.tip:
                    self._waiting[row.position][row.hash] = row
            elif judged.kind == "foreign":
                if self._facts.follows(each):
                    raise _forked(each, judged.number)
                self.strays += 1
        if len(self._waiting) > WAITING_MAX:
            raise Refused(
                f"Over {WAITING_MAX:,} facts wait for position {self._filling.tip + 1:,}",
                where=topics.FACTS,
                hint="Restore a newer backup first, then run this command again.",
            )
        return self._put_back()

    def _new(self, judged: Iterable[tuple[Consumed, Judged]]) -> list[tuple[Consumed, Judged]]:
        """These records; with `anew` without those of facts that are on record at new positions."""
        every = list(judged)
        rows = [
            records.fed(each.key, each.value, each.headers).row
            for each, told in every
            if self._anew and told.kind == "foreign"
        ]
        held = iter(self._filling.holds(rows) if rows else ())
        new = [each for each in every if each[1].kind != "foreign" or not next(held, False)]
        self.at_new += len(every) - len(new)
        return new

    def _put_back(self) -> int:
        began = self._filling.tip
        while rows := list(self._next_rows()):
            self._filling.append(rows)
        return self._filling.tip - began

    def _next_rows(self) -> Iterator[TapeRow]:
        first = self._filling.tip + 1
        for position in range(first, first + AT_ONCE):
            rows = [*self._waiting.get(position, {}).values()]
            if not rows or (len(rows) > 1 and position > first):
                return  # which of several continues the record, its new end will show
            yield rows[0] if len(rows) == 1 else self._following(rows)
            del self._waiting[position]

    def _following(self, rows: list[TapeRow]) -> TapeRow:
        """The only one of several facts at the next position that continues the record."""
        found = [row for row in rows if self._filling.follows(row)]
        if len(found) != 1:
            raise _forked(None, rows[0].position)
        self.strays += len(rows) - 1
        return found[0]

    def rest(self) -> list[TapeRow]:
        """The facts that wait behind a gap, in order. Raises `Refused` if any, unless `anew`.

        So it does if the only record of a further position does not match its hash.
        """
        if (claimed := max(self._damaged, default=0)) > self._filling.tip and not self._anew:
            each = self._damaged[claimed]
            raise Refused(
                f"The only record of position {claimed:,} does not match its hash",
                where=f"{topics.FACTS}, partition {each.partition}, offset {each.offset}",
                hint="Nothing was written. Check which users may write to the topic. Restore the"
                f" record from a server that has that fact; or {_ANEW}",
            )
        if self._waiting and not self._anew:
            first, last = self._filling.tip + 1, min(self._waiting) - 1
            raise Refused(
                f"The feed lacks the facts at positions {first:,} to {last:,}, and holds"
                f" {len(self._waiting):,} above them",
                where=topics.FACTS,
                hint="Nothing was written. Restore the record from a server that has them; or"
                f" {_ANEW}",
            )
        rows = [[*self._waiting[position].values()] for position in sorted(self._waiting)]
        if several := [each[0].position for each in rows if len(each) > 1]:
            raise _forked(None, several[0])
        return [each[0] for each in rows]


def _from_tip(source: Reader, facts: Facts, marks: Mapping[int, Mark]) -> dict[int, Bounds]:
    """By partition, the offsets that may hold facts above the record's end, up to its own end.

    They begin after the last record that brokers acknowledged to this record, if it is there. Else
    they begin at a record that PostgreSQL holds, found in steps from the end back.
    """
    bounds = source.bounds()
    spans = {
        number: Bounds(marks[number].offset + 1, bounds[number].end)
        for number in fitting(source, bounds, marks)
    }
    for back in _BACK:
        starts = {
            number: max(span.begin, span.end - back)
            for number, span in bounds.items()
            if number not in spans and span.begin < span.end
        }
        ones = {number: Bounds(start, start + 1) for number, start in starts.items()}
        for batch in source.read(ones):
            for each, judged in zip(batch, facts.judge(batch), strict=True):
                if judged.kind == "own" or each.offset == bounds[each.partition].begin:
                    spans[each.partition] = Bounds(each.offset, bounds[each.partition].end)
    return spans


def _forked(each: Consumed | None, position: int) -> Refused:
    where = f", partition {each.partition}, offset {each.offset}" if each else ""
    return Refused(
        f"The feed and the record hold different facts at position {position:,}:"
        " the record continued after its end was lost, or the feed is another ledger's",
        where=f"{topics.FACTS}{where}",
        hint="Nothing was written. If the record continued: see /docs/runbook/failover.html. If the"
        " topic is another ledger's: correct ROUND_LEDGER_KAFKA_BOOTSTRAP or"
        " ROUND_LEDGER_TOPIC_PREFIX. If only this record is, or after `--rest-anew`: delete the"
        " topic, run `round-ledger topics apply`, start the relay.",
    )


def _received(row: TapeRow) -> Received:
    about = (row.tape, row.type, row.source, row.id, row.time_us, row.subject)
    return Received(*about, row.attributes, row.data)


def _aside(kafka: Connection, filling: Refilling) -> tuple[int, int]:
    """Write back quarantined inputs; returns how many, and how many of them truncated."""
    began = reached = filling.last_aside
    cut = 0
    with reader(kafka, topics.QUARANTINE) as source:
        for batch in source.read(source.bounds()):
            above = {
                number: each
                for each in batch
                if each.value is not None
                and (number := records.number(dict(each.headers), QUARANTINE_ID)) > reached
            }
            if sorted(above) != list(range(reached + 1, reached + 1 + len(above))):
                raise Refused(
                    f"The feed lacks inputs after number {reached:,}",
                    where=topics.QUARANTINE,
                    hint=_ASIDE_ANEW,
                )
            rows = [_input(number, above[number]) for number in sorted(above)]
            filling.set_aside([row for row, _ in rows])
            reached += len(above)
            cut += sum(is_cut for _, is_cut in rows)
    return reached - began, cut


def _input(number: int, each: Consumed) -> tuple[InQuarantine, bool]:
    """A quarantined input as first received, and whether the feed holds only its beginning."""
    try:
        told = msgspec.json.decode(each.value or b"", type=records.Envelope)
        octets = base64.b64decode(told.bytes)
        at_us = parse_time(told.received_at)
    except (msgspec.MsgspecError, ValueError):
        raise _not_whole(number, each) from None
    is_cut = len(octets) == records.OCTETS_MAX < told.octets
    whole = is_cut or hashlib.sha256(octets).hexdigest() == told.sha256
    if not whole or at_us is None or told.quarantine_id != number:
        raise _not_whole(number, each)
    cut = f" (the first {len(octets):,} of {told.octets:,} bytes)" if is_cut else ""
    attributes = None if told.attributes is None else frame_attributes(told.attributes)
    verdict: Verdict = "equivocation" if told.verdict == "equivocation" else "quarantined"
    about = (told.reason, told.what + cut, told.where, told.hint, told.source, told.id)
    told_of = (number, verdict, *about, attributes, octets)
    return InQuarantine(*told_of, 1, at_us, at_us, None, None), is_cut


def _not_whole(number: int, each: Consumed) -> Refused:
    return Refused(
        f"The feed holds input {number:,} incomplete or damaged",
        where=f"{topics.QUARANTINE}, offset {each.offset}",
        hint=_ASIDE_ANEW,
    )
