"""The corrections that hold: of each corrected fact the latest one, in whatever order they arrive.

Views of money share it. Each keeps the corrections in a log of its own, because a correction may
arrive before its fact. Every process of a divided view notes all of them, as of its own position
(ADR 0184). As in `ledger.adjudication.corrections`, the latest counts.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from infra.postgres.view_tables import Column, ViewTable
from ledger.record.wire import fact_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from consumers.runtime.lifecycle import Batch
    from infra.postgres.view_tables import NamedRow, ViewStore
    from ledger.record.tape import TapeRow

CORRECTIONS = frozenset(("fact_corrected.v1",))


def made_table(name: str) -> ViewTable:
    """The table of a view's corrections."""
    return ViewTable(
        name,
        "The corrections on record, by the fact they correct; the latest of a fact counts.",
        3,
        (
            Column("of_source", "text", "Source of the corrected fact."),
            Column("of_id", "text", "Id of the corrected fact."),
            Column("position", "bigint", "Position of the correction on the record."),
            Column("time_us", "bigint", "Device time of the correction, microseconds."),
            Column("source", "text", "Source of the correction."),
            Column("fact_id", "text", "Id of the correction."),
            Column("tape", "text", "Tape of the correction."),
            Column("table_seq", "bigint", "Its sequence on that tape."),
            Column("early", "boolean", "Whether it was recorded before the corrected fact."),
        ),
        ("(position) WHERE early",),
        is_log=True,
    )


Key = tuple[str, str]
"""Source and id of a fact."""

_LATEST = 2**63 - 1
"""Beyond every position of the record."""


class Held(NamedTuple):
    """A corrected fact and the correction that holds, as rows of the record."""

    target: TapeRow
    correction: TapeRow


def held(
    store: ViewStore,
    batch: Batch,
    table: ViewTable,
    is_own: Callable[[TapeRow], bool] = lambda _: True,
) -> list[Held]:
    """The corrected facts that a batch changes: by a new correction, or by their arrival.

    `is_own`: whether a corrected fact is one that this process writes of.
    """
    told = [(row, fact.body.of) for row, fact in batch.facts(CORRECTIONS)]  # type: ignore[attr-defined] # a FactCorrected
    wanted = {(of.source, of.id) for _, of in told} | _awaited(store, batch, table)
    if not wanted:
        return []
    targets = _targets(store, wanted, batch.position)
    store.save(table, _made(told, targets))
    own = [key for key, row in targets.items() if is_own(row)]
    holding = _holding(store, table, own, batch.position)
    why = {(row.tape, row.table_seq): row for row in store.rows_at(map(_place, holding.values()))}
    return [Held(targets[key], why[made.tape, made.table_seq]) for key, made in holding.items()]


def facts_changed(
    store: ViewStore, batch: Batch, table: ViewTable, types: frozenset[str]
) -> dict[Key, tuple[TapeRow, TapeRow | None]]:
    """The facts of some types that a batch adds or corrects, each with its correction, if any."""
    found: dict[Key, tuple[TapeRow, TapeRow | None]] = {
        (row.source, row.id): (row, None) for row in batch.rows if row.type in types
    }
    for target, why in held(store, batch, table):
        if target.type in types:
            found[target.source, target.id] = (target, why)
    return found


class FactHistory(NamedTuple):
    """A fact, and its corrections in the order in which they count: the last one holds."""

    fact: TapeRow
    corrections: Sequence[TapeRow]


def history(store: ViewStore, table: ViewTable, key: Key) -> FactHistory | None:
    """A fact with its corrections; of a correction, the fact that it corrects. None: no fact."""
    row = _targets(store, [key], _LATEST).get(key)
    if row is not None and row.type in CORRECTIONS:
        body: Any = fact_of(row).body
        key = body.of.source, body.of.id
        row = _targets(store, [key], _LATEST).get(key)
    if row is None:
        return None
    made = sorted(store.rows(table, [key]), key=_order)
    rows = {(each.tape, each.table_seq): each for each in store.rows_at(map(_place, made))}
    return FactHistory(row, [rows[each.tape, each.table_seq] for each in made])


def _made(
    told: Iterable[tuple[TapeRow, Any]], targets: dict[Key, TapeRow]
) -> Iterator[tuple[Any, ...]]:
    """The log's rows for a batch's corrections."""
    for row, of in told:
        target = targets.get((of.source, of.id))
        early = target is None or target.position > row.position
        its = (row.time_us, row.source, row.id, row.tape, row.table_seq, early)
        yield (of.source, of.id, row.position, *its)


def _awaited(store: ViewStore, batch: Batch, table: ViewTable) -> set[Key]:
    """The facts of a batch that a correction may have named before they came."""
    waiting = store.query(
        f"SELECT 1 FROM {{schema}}.{table.name} m WHERE m.early AND m.position <= %(until)s"  # noqa: S608 - our own name
        " AND NOT EXISTS (SELECT FROM ledger.identity i WHERE i.source = m.of_source"
        " AND i.fact_id = m.of_id AND i.position < %(first)s) LIMIT 1",
        {"until": batch.position, "first": batch.rows[0].position},
    )
    return {(row.source, row.id) for row in batch.rows} if waiting else set()


def _holding(
    store: ViewStore, table: ViewTable, keys: Iterable[Key], until: int
) -> dict[Key, NamedRow]:
    """The correction that counts up to a position, by corrected fact."""
    found: dict[Key, NamedRow] = {}
    for made in store.rows(table, keys):
        if made.position <= until:
            found[made[:2]] = max(found.get(made[:2], made), made, key=_order)
    return found


def _targets(store: ViewStore, wanted: Iterable[Key], until: int) -> dict[Key, TapeRow]:
    """The corrected facts recorded up to a position, by source and id."""
    keys = sorted(wanted)
    rows = store.rows_named(
        "SELECT t.originator_id, t.originator_version, t.originator_version"
        " FROM unnest(%(sources)s::text[], %(ids)s::text[]) AS w (source, id)"
        " JOIN ledger.identity i ON i.source = w.source AND i.fact_id = w.id"
        " JOIN ledger.tape t ON t.notification_id = i.position WHERE i.position <= %(until)s",
        {
            "sources": [source for source, _ in keys],
            "ids": [id_ for _, id_ in keys],
            "until": until,
        },
    )
    return {(row.source, row.id): row for row in rows}


def _place(made: NamedRow) -> tuple[str, int, int]:
    return (made.tape, made.table_seq, made.table_seq)


def _order(made: NamedRow) -> tuple[int, str, str]:
    """The sort key of corrections: the latest counts."""
    return (made.time_us, made.source, made.fact_id)
