"""Corrections of money facts: the recorded and the corrected amounts, beside the drop's sums.

The sums always use the recorded amounts. These tables hold each amount that a correction changes.
Part of the view `drop`. The latest correction of a fact counts, as in
`ledger.adjudication.corrections`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from msgspec import Struct

from consumers.money.amounts import OPENS_DAY, READS, amounts
from infra.postgres.view_tables import Column, ViewTable
from ledger.adjudication.corrections import corrected
from ledger.facts import FactCorrected
from ledger.record.wire import fact_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from consumers.runtime.lifecycle import Batch
    from infra.postgres.view_tables import ViewStore
    from ledger.record.tape import TapeRow
    from ledger.record.wire import Fact

CORRECTIONS = frozenset(("fact_corrected.v1",))
_MONEY = READS - OPENS_DAY
CENTS_MAX = 10**15
"""A correction to a larger amount is ignored; no floor has such a sum."""

MADE = ViewTable(
    "drop_corrections_made",
    "The correction that counts for each corrected fact, and whether that fact is recorded.",
    2,
    (
        Column("of_source", "text", "Source of the corrected fact."),
        Column("of_id", "text", "Id of the corrected fact."),
        Column("time_us", "bigint", "Device time of the correction, microseconds."),
        Column("source", "text", "Source of the correction."),
        Column("fact_id", "text", "Id of the correction."),
        Column("tape", "text", "Tape of the correction."),
        Column("table_seq", "bigint", "Its sequence on that tape."),
        Column("found", "boolean", "Whether the corrected fact is recorded."),
    ),
    ("(of_source) WHERE NOT found",),
)

DAY_STARTS = ViewTable(
    "drop_day_starts",
    "The positions from which a table was in a gaming day.",
    3,
    (
        Column("property", "text", "Property of the table."),
        Column("table_name", "text", "Table, e.g. CC-07."),
        Column("position", "bigint", "Position of the fact that set it."),
        Column("gaming_day", "text", "Label of the gaming day."),
    ),
)

CORRECTED = ViewTable(
    "drop_corrections",
    "One row an amount that a correction changes: as recorded, and as corrected.",
    4,
    (
        Column("of_source", "text", "Source of the corrected fact."),
        Column("of_id", "text", "Id of the corrected fact."),
        Column("amount", "text", "Name of the amount in the drop."),
        Column("wager", "text", "Wager id; empty: no wager."),
        Column("told", "bigint", "As recorded, cents or pieces; null: no amount.", null=True),
        Column("meant", "bigint", "As corrected; null: no amount.", null=True),
        Column("time_us", "bigint", "Device time of the corrected fact, microseconds."),
        Column("because", "text", "The reason given."),
        Column("source", "text", "Source of the correction."),
        Column("fact_id", "text", "Id of the correction."),
        Column("property", "text", "Property of the table."),
        Column("table_name", "text", "Table, e.g. CC-07."),
        Column("gaming_day", "text", "Gaming day the corrected fact is counted in."),
    ),
    ("(property, table_name, gaming_day)", "(gaming_day)"),
)

UNKNOWN_DAY = ""
"""The gaming day of facts recorded before any fact sets one for their table."""


class Correction(Struct):
    """One amount that a correction changes. Cents (coupons: pieces); null: no amount."""

    of_source: str
    of_id: str
    amount: str
    wager: str
    told: int | None
    meant: int | None
    time_us: int
    because: str
    source: str
    fact_id: str


class _Made(NamedTuple):
    """A row of `MADE`."""

    of_source: str
    of_id: str
    time_us: int
    source: str
    fact_id: str
    tape: str
    table_seq: int
    found: bool


def note(store: ViewStore, batch: Batch, starts: Iterable[tuple[Any, ...]]) -> None:
    """Apply a batch's corrections, earlier corrections of its facts, and its gaming days."""
    store.save(DAY_STARTS, starts)
    told = _told(store, batch)
    holding = [*told.values(), *(made for made in _waiting(store, batch) if made[:2] not in told)]
    if not holding:
        return
    targets = _targets(store, holding, batch.position)
    found = [made._replace(found=True) for made in holding if made[:2] in targets]
    lacking = [made for made in holding if made[:2] not in targets]
    store.save(MADE, [*found, *lacking])
    store.delete(CORRECTED, [made[:2] for made in found])
    why = {(row.tape, row.table_seq): row for row in store.rows_at(map(_place, found))}
    lines = [
        line
        for made in found
        for line in _lines(store, targets[made[:2]], fact_of(why[made.tape, made.table_seq]))
    ]
    store.save(CORRECTED, lines)


def read(rows: Iterable[tuple[Any, ...]]) -> list[Correction]:
    """Rows of `CORRECTED`, in order of the time of the corrected fact."""
    found = [Correction(*row[:10]) for row in rows]
    return sorted(found, key=lambda each: (each.time_us, each.of_source, each.of_id, each.amount))


def _told(store: ViewStore, batch: Batch) -> dict[tuple[str, str], _Made]:
    """A batch's corrections that count, by the fact they correct."""
    told: dict[tuple[str, str], _Made] = {}
    for row, fact in batch.facts(CORRECTIONS):
        body: Any = fact.body
        key = (body.of.source, body.of.id)
        made = _Made(*key, row.time_us, row.source, row.id, row.tape, row.table_seq, found=False)
        told[key] = max(told.get(key, made), made, key=_order)
    for kept in map(_Made._make, store.rows(MADE, told)):
        if _order(kept) > _order(told[kept[:2]]):
            del told[kept[:2]]
    return told


def _waiting(store: ViewStore, batch: Batch) -> list[_Made]:
    """Corrections received before their fact, if the fact is in this batch."""
    if not store.query("SELECT 1 FROM {schema}.drop_corrections_made WHERE NOT found LIMIT 1"):
        return []
    rows = store.rows(MADE, {(row.source, row.id) for row in batch.rows})
    return [made for made in map(_Made._make, rows) if not made.found]


def _targets(
    store: ViewStore, holding: Sequence[_Made], until: int
) -> dict[tuple[str, str], TapeRow]:
    """The corrected facts recorded up to a position, by source and id."""
    rows = store.rows_named(
        "SELECT t.originator_id, t.originator_version, t.originator_version"
        " FROM unnest(%(sources)s::text[], %(ids)s::text[]) AS w (source, id)"
        " JOIN ledger.identity i ON i.source = w.source AND i.fact_id = w.id"
        " JOIN ledger.tape t ON t.notification_id = i.position WHERE i.position <= %(until)s",
        {
            "sources": [made.of_source for made in holding],
            "ids": [made.of_id for made in holding],
            "until": until,
        },
    )
    return {(row.source, row.id): row for row in rows}


def _lines(store: ViewStore, row: TapeRow, correction: Fact) -> Iterator[tuple[Any, ...]]:
    """The rows of `CORRECTED` for one corrected fact; none if it is not about money."""
    fact, body = fact_of(row), correction.body
    if row.type not in _MONEY or not isinstance(body, FactCorrected):
        return
    told = amounts(row.type, fact.body)
    after = corrected([fact], {(row.source, row.id): body})
    meant = amounts(row.type, after[0].body) if after else {}
    if any(abs(amount) > CENTS_MAX for amount in meant.values()):
        return
    day = _day(store, row, fact)
    for key in sorted(told.keys() | meant.keys()):
        before, now = told.get(key), meant.get(key)
        if before != now:
            yield (row.source, row.id, *key, before, now, row.time_us, body.because,
                   correction.source, correction.id, *day)  # fmt: skip


def _day(store: ViewStore, row: TapeRow, fact: Fact) -> tuple[str, str, str]:
    """The property, table and gaming day of a fact, as `consumers.money.drop` counts it."""
    if fact.round:
        return fact.round[:3]
    property_, table = row.tape.partition("/")[0], fact.table or ""
    day = getattr(fact.body, "gaming_day", None)
    if day is None:
        found = store.query(
            "SELECT gaming_day FROM {schema}.drop_day_starts WHERE property = %(property)s"
            " AND table_name = %(table)s AND position < %(position)s"
            " ORDER BY position DESC LIMIT 1",
            {"property": property_, "table": table, "position": row.position},
        )
        day = found[0][0] if found else UNKNOWN_DAY
    return (property_, table, day)


def _place(made: _Made) -> tuple[str, int, int]:
    return (made.tape, made.table_seq, made.table_seq)


def _order(made: _Made) -> tuple[int, str, str]:
    """The sort key of corrections: the latest counts."""
    return (made.time_us, made.source, made.fact_id)
