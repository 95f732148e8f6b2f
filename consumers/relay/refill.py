"""Restoring the lost end of a record from the feed.

The feed carries each fact's bytes, position, times and hash. Facts that continue the record's hash
chain without a gap are written back unchanged. If the feed has a gap, or the record has appended
other facts since, nothing is written and the error says why.
"""

from __future__ import annotations

import base64
import hashlib
from typing import TYPE_CHECKING, NamedTuple

import msgspec

from infra.kafka import records, topics
from infra.kafka.ports import Bounds, Consumed
from infra.kafka.reader import reader
from infra.kafka.records import POSITION, QUARANTINE_ID, REPUBLISHED, UnreadableError
from infra.postgres import relay_progress
from infra.postgres.refill import Refilling, refilling
from infra.postgres.tape import PostgresTape
from ledger.errors import Refused
from ledger.record.tape import InQuarantine, Received, TapeRow, frame_attributes
from ledger.values import parse_time

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from infra.kafka.clients import Connection
    from infra.kafka.reader import Reader
    from infra.postgres.connection import Database
    from infra.postgres.relay_progress import RelayStore
    from ledger.record.tape import Verdict

AT_ONCE = 2_000
"""Rows written in one statement."""

WAITING_MAX = 2_000_000
"""Facts held in memory until the facts before them are read."""

_BACK = (100, 10_000, 1_000_000, 2**62)


class Refilled(NamedTuple):
    """What a refill wrote to the record."""

    first: int  # position; 0 if the record lacked nothing
    last: int
    facts: int
    quarantined: int
    anew: int  # facts above a gap, appended at new positions on request
    cut: int  # quarantined inputs restored truncated: the feed holds only their beginning


def refill(
    database: Database,
    kafka: Connection,
    *,
    anew: bool = False,
    progress: Callable[[int], None] = lambda _: None,
) -> Refilled:
    """Write back every fact and quarantined input that the feed holds after the record's end.

    Appending and publishing are locked out meanwhile. `anew`: facts above a gap are appended as
    if they were received now; the topic must then be recreated. Raises `Refused`, with nothing
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
            above = _Above(relay_store, filling)
            with reader(kafka, topics.FACTS) as source:
                spans = _from_tip(source, filling.tip)
            with reader(kafka, topics.FACTS) as source:  # anew: a seek drops what was fetched
                for batch in source.read(spans) if spans else ():
                    progress(above.take(batch))
            stranded = above.rest(anew=anew)
            quarantined, cut = _aside(kafka, filling)
            last = filling.tip
        for at in range(0, len(stranded), AT_ONCE):
            with PostgresTape(database) as tape:
                tape.append([_received(row) for row in stranded[at : at + AT_ONCE]])
    facts = last - first + 1
    span = (first, last) if facts else (0, 0)
    return Refilled(*span, facts, quarantined, len(stranded), cut)


class _Above:
    """Facts of the feed above the record's end, written back once they continue it."""

    def __init__(self, relay_store: RelayStore, filling: Refilling) -> None:
        self._relay_store = relay_store
        self._filling = filling
        self._end = filling.tip  # of the record before the refill
        self._waiting: dict[int, TapeRow] = {}

    def take(self, batch: list[Consumed]) -> int:
        """Write back the facts that now continue the record; returns how many."""
        facts = [(each, _fact(each)) for each in batch]
        below = [row.position for _, row in facts if row.position <= self._end]
        hashes = self._relay_store.hashes(below)
        for each, row in facts:
            if row.position <= self._end:
                if hashes.get(row.position) != row.hash:
                    raise _forked(each, row)
            elif row.position > self._filling.tip:
                before = self._waiting.setdefault(row.position, row)
                if before.hash != row.hash:
                    raise _forked(each, row)
        if len(self._waiting) > WAITING_MAX:
            raise Refused(
                f"Over {WAITING_MAX:,} facts wait for position {self._filling.tip + 1:,}",
                where=topics.FACTS,
                hint="Restore a newer backup first, then run this command again.",
            )
        return self._put_back()

    def _put_back(self) -> int:
        began = self._filling.tip
        while rows := list(self._next_rows()):
            self._filling.append(rows)
        return self._filling.tip - began

    def _next_rows(self) -> Iterator[TapeRow]:
        for position in range(self._filling.tip + 1, self._filling.tip + 1 + AT_ONCE):
            row = self._waiting.pop(position, None)
            if row is None:
                return
            yield row

    def rest(self, *, anew: bool) -> list[TapeRow]:
        """The facts that wait behind a gap, in order. Raises `Refused` if any, unless `anew`."""
        if self._waiting and not anew:
            first, last = self._filling.tip + 1, min(self._waiting) - 1
            raise Refused(
                f"The feed lacks the facts at positions {first:,} to {last:,}, and holds"
                f" {len(self._waiting):,} above them",
                where=topics.FACTS,
                hint="Nothing was written. Restore the record from a server that has them; or"
                " give --rest-anew, recreate the topic, and let devices send again.",
            )
        return [self._waiting[position] for position in sorted(self._waiting)]


def _from_tip(source: Reader, tip: int) -> dict[int, Bounds]:
    """By partition, the offsets from a fact at or below the record's end to the topic's end."""
    bounds = source.bounds()
    spans: dict[int, Bounds] = {}
    for back in _BACK:
        starts = {
            number: max(span.begin, span.end - back)
            for number, span in bounds.items()
            if number not in spans and span.begin < span.end
        }
        if not starts:
            break
        ones = {number: Bounds(start, start + 1) for number, start in starts.items()}
        for batch in source.read(ones):
            for each in batch:
                told = dict(each.headers)
                is_low = records.number(told, POSITION) <= tip and REPUBLISHED not in told
                if is_low or ones[each.partition].begin == bounds[each.partition].begin:
                    span = Bounds(each.offset, bounds[each.partition].end)
                    spans[each.partition] = span
    return spans


def _fact(each: Consumed) -> TapeRow:
    """The fact of a record. Raises `Refused` unless it is readable and matches its hash."""
    try:
        fact = records.fed(each.key, each.value, each.headers)
        if fact.is_whole:
            return fact.row
        says = "its bytes do not match its hash"
    except UnreadableError as error:
        says = str(error)
    raise Refused(
        f"The feed holds a record that is not a valid fact: {says}",
        where=f"{topics.FACTS}, partition {each.partition}, offset {each.offset}",
        hint="Nothing was written to the record. Check which users may write to the topic.",
    )


def _forked(each: Consumed, row: TapeRow) -> Refused:
    return Refused(
        f"The feed and the record hold different facts at position {row.position:,}:"
        " the record continued after its end was lost",
        where=f"{topics.FACTS}, partition {each.partition}, offset {each.offset}",
        hint="Nothing was written; see /docs/runbook/failover.html.",
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
                    hint="Delete that topic and run `topics apply`: the relay fills it from the"
                    " record. Devices send again what both have lost.",
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
        hint="Delete that topic and run `topics apply`; the device sends the input again.",
    )
