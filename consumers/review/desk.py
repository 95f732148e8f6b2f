"""The view of the review desk: rounds drawn by chance for review, surveillance's log, and shifts.

It accepts facts in any order. The latest of those that draw a round in one sample decides, and the
first of those that give an entry of the log one name.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import msgspec

from consumers.rounds.index import ROUND_KEY
from consumers.runtime.source import Batch, Projection
from infra.postgres.arrays import array_text
from infra.postgres.view_tables import Column, ViewStore, ViewTable
from ledger.facts import (
    Body,
    LogEntryAdded,
    LogEntryCorrected,
    SampleDrawn,
    ShiftBegun,
    ShiftCountersigned,
    ShiftHandedOver,
    type_name,
)
from ledger.record.wire import fact_of
from ledger.values import parse_round, parse_time

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ledger.record.tape import TapeRow
    from ledger.record.wire import Fact

SAMPLES = ViewTable(
    "review_samples",
    "Rounds drawn by chance for review: one row a sample and round.",
    6,
    (
        Column("held_at", "text", "Property whose surveillance drew the sample."),
        Column("sample", "text", "Name of the sample."),
        *ROUND_KEY,
        Column("control", "boolean", "False: it has a finding, and is reviewed beside the others."),
        Column("shift", "text", "Name of the shift."),
        Column("seed", "text", "What the chance was seeded with."),
        Column("drawn_by", "text", "Who drew it."),
        Column("drawn_us", "bigint", "Device time of the fact, microseconds."),
        Column("source", "text", "Source of the fact."),
        Column("fact_id", "text", "Id of the fact."),
    ),
)

LOG = ViewTable(
    "review_log",
    "Entries of surveillance's log, corrections among them; one row each.",
    2,
    (
        Column("property", "text", "Property whose surveillance keeps the log."),
        Column("entry", "text", "Name of the entry, e.g. L-2026-11-20-1."),
        Column("from_us", "bigint", "When it began, microseconds."),
        Column("to_us", "bigint", "When it ended; null: not said.", null=True),
        Column("place", "text", "Place it happened at."),
        Column("what", "text", "What happened."),
        Column("who", "text[]", "The people concerned."),
        Column("recorded_where", "text", "Recordings of it."),
        Column("disposition", "text", "What was done about it."),
        Column("moments", "json", "Facts and instants attached to it."),
        Column("corrects", "text", "Name of the entry it corrects; null: none.", null=True),
        Column("because", "text", "Why it corrects it.", null=True),
        Column("written_by", "text", "Who wrote it."),
        Column("written_us", "bigint", "Device time of the fact, microseconds."),
        Column("source", "text", "Source of the fact."),
        Column("fact_id", "text", "Id of the fact."),
    ),
    ("(from_us)", "(property, corrects) WHERE corrects IS NOT NULL"),
)

SHIFTS = ViewTable(
    "review_shift_facts",
    "What people did with a shift of surveillance: one row a fact.",
    4,
    (
        Column("property", "text", "Property whose surveillance the shift is of."),
        Column("shift", "text", "Name of the shift, e.g. SH-2026-11-20-1."),
        Column("source", "text", "Source of the fact."),
        Column("fact_id", "text", "Id of the fact."),
        Column("step", "text", "begun, handed_over or countersigned."),
        Column("told_by", "text", "Who did it."),
        Column("told_us", "bigint", "Device time of the fact, microseconds."),
        Column("to_whom", "text", "Who it is handed over to.", null=True),
        Column("report", "text", "SHA-256 of the report.", null=True),
        Column("report_text", "text", "The report; null: only its hash is known.", null=True),
        Column("left_out", "text[]", "Withheld rounds that the report says nothing of."),
    ),
)

_ENTRIES = frozenset((type_name(LogEntryAdded), type_name(LogEntryCorrected)))
_STEPS: dict[type[Body], str] = {
    ShiftBegun: "begun",
    ShiftHandedOver: "handed_over",
    ShiftCountersigned: "countersigned",
}
_SHIFTS = frozenset(map(type_name, _STEPS))
_READS = _ENTRIES | _SHIFTS | {type_name(SampleDrawn)}


def apply(store: ViewStore, batch: Batch) -> None:
    """Keep the samples, the entries of the log and the steps of shifts that a batch has."""
    steps = []
    drawn: dict[tuple[Any, ...], tuple[Any, ...]] = {}
    written: dict[tuple[Any, ...], tuple[Any, ...]] = {}
    for row, fact in batch.facts(_READS):
        property_ = row.tape.partition("/")[0]
        if row.type in _ENTRIES:
            entry = _entry(property_, fact)
            written[entry[:2]] = min(written.get(entry[:2], entry), entry, key=_told)
        elif row.type in _SHIFTS:
            steps.append(_step(property_, fact))
        else:
            _draw(drawn, property_, fact)
    store.save(SHIFTS, steps)
    known = store.load(SAMPLES, drawn)
    store.save(SAMPLES, (r for k, r in drawn.items() if _told(r) > _told(known.get(k, ()))))
    first = store.load(LOG, written)
    store.save(LOG, (r for k, r in written.items() if k not in first or _told(r) < _told(first[k])))


def _told(row: Sequence[Any]) -> Any:  # noqa: ANN401 - compared alone
    """Time, source and id of the fact that a row is from: its last cells."""
    return row[-3:]


def _entry(property_: str, fact: Fact) -> tuple[Any, ...]:
    body: Any = fact.body
    return (
        *(property_, body.entry, parse_time(body.from_), parse_time(body.to) if body.to else None),
        *(body.place, body.what, array_text(body.who), body.recorded_where, body.disposition),
        msgspec.json.encode(body.moments).decode(),
        *(getattr(body, "of", None), getattr(body, "because", None)),
        *(body.by, fact.time_us, fact.source, fact.id),
    )


def _step(property_: str, fact: Fact) -> tuple[Any, ...]:
    body: Any = fact.body
    return (
        *(property_, body.shift, fact.source, fact.id, _STEPS[type(body)], body.by, fact.time_us),
        *(getattr(body, name, None) for name in ("to", "report", "text")),
        array_text(getattr(body, "left_out", ())),
    )


def _draw(drawn: dict[tuple[Any, ...], tuple[Any, ...]], property_: str, fact: Fact) -> None:
    body: Any = fact.body
    told = (body.shift, body.seed, body.by, fact.time_us, fact.source, fact.id)
    for control, names in ((False, body.among), (True, body.rounds)):
        for name in names:
            round_ = parse_round(name, property_)
            if round_:
                key = (property_, body.sample, *round_)
                row = (*key, control, *told)
                drawn[key] = max(drawn.get(key, row), row, key=_told)


def _part_of(row: TapeRow) -> str | None:
    """The sample, entry or shift of a fact, whatever tape it is on."""
    if row.type not in _READS:
        return None
    body: Any = fact_of(row).body
    field = "entry" if row.type in _ENTRIES else "shift" if row.type in _SHIFTS else "sample"
    name = getattr(body, field)
    return f"{row.tape.partition('/')[0]}/{name}"


VIEW = Projection(
    "review", 4, (SAMPLES, LOG, SHIFTS), apply, ordered=False, reads=_READS, part_of=_part_of
)
"""The view `review`."""
