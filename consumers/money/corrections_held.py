"""The corrections that hold: of each corrected fact the latest one, in whatever order they arrive.

Views of money share it. Each keeps the corrections of its facts in a table of its own, because a
correction may arrive before its fact. As in `ledger.adjudication.corrections`, the latest counts.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from infra.postgres.view_tables import Column, ViewTable

if TYPE_CHECKING:
    from collections.abc import Sequence

    from consumers.runtime.lifecycle import Batch
    from infra.postgres.view_tables import ViewStore
    from ledger.record.tape import TapeRow

CORRECTIONS = frozenset(("fact_corrected.v1",))


def made_table(name: str) -> ViewTable:
    """The table of a view's corrections."""
    return ViewTable(
        name,
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


class Held(NamedTuple):
    """A corrected fact and the correction that holds, as rows of the record."""

    target: TapeRow
    correction: TapeRow


def held(store: ViewStore, batch: Batch, table: ViewTable) -> list[Held]:
    """The corrected facts that a batch changes: by a new correction, or by their arrival."""
    told = _told(store, batch, table)
    waiting = (made for made in _waiting(store, batch, table) if made[:2] not in told)
    holding = [*told.values(), *waiting]
    if not holding:
        return []
    targets = _targets(store, holding, batch.position)
    found = [made._replace(found=True) for made in holding if made[:2] in targets]
    lacking = [made for made in holding if made[:2] not in targets]
    store.save(table, [*found, *lacking])
    why = {(row.tape, row.table_seq): row for row in store.rows_at(map(_place, found))}
    return [Held(targets[made[:2]], why[made.tape, made.table_seq]) for made in found]


def _told(store: ViewStore, batch: Batch, table: ViewTable) -> dict[tuple[str, str], _Made]:
    """A batch's corrections that count, by the fact they correct."""
    told: dict[tuple[str, str], _Made] = {}
    for row, fact in batch.facts(CORRECTIONS):
        body: Any = fact.body
        key = (body.of.source, body.of.id)
        made = _Made(*key, row.time_us, row.source, row.id, row.tape, row.table_seq, found=False)
        told[key] = max(told.get(key, made), made, key=_order)
    for kept in map(_Made._make, store.rows(table, told)):
        if _order(kept) > _order(told[kept[:2]]):
            del told[kept[:2]]
    return told


def _waiting(store: ViewStore, batch: Batch, table: ViewTable) -> list[_Made]:
    """Corrections received before their fact, if the fact is in this batch."""
    unfound = f"SELECT 1 FROM {{schema}}.{table.name} WHERE NOT found LIMIT 1"  # noqa: S608 - our own name
    if not store.query(unfound):
        return []
    rows = store.rows(table, {(row.source, row.id) for row in batch.rows})
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


def _place(made: _Made) -> tuple[str, int, int]:
    return (made.tape, made.table_seq, made.table_seq)


def _order(made: _Made) -> tuple[int, str, str]:
    """The sort key of corrections: the latest counts."""
    return (made.time_us, made.source, made.fact_id)
