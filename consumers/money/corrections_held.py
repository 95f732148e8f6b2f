"""The corrections that hold: of each corrected fact the latest one, in whatever order they arrive.

Views of money share it. Each keeps the corrections in a log of its own, because a correction may
arrive before its fact. Every process of a divided view notes all of them, as of its own position
(ADR 0184). As in `ledger.adjudication.corrections`, the latest counts, unless a later correction
took it back.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from infra.postgres.view_tables import Column, ViewTable
from ledger.adjudication.corrections import (
    corrected,
    correction_of,
    held_corrections,
    is_of_another_property,
)
from ledger.facts import FactCorrected
from ledger.record.wire import fact_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from consumers.runtime.lifecycle import Batch
    from infra.postgres.view_tables import NamedRow, ViewStore
    from ledger.record.tape import TapeRow
    from ledger.record.wire import Fact

CORRECTION_TYPES = frozenset(("fact_corrected.v1",))
"""The types of facts that correct others."""


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


def elsewhere_table(name: str) -> ViewTable:
    """The table of corrections that name a fact of another property: they change nothing."""
    return ViewTable(
        name,
        "The corrections of other properties' facts. They change nothing, and people see them.",
        2,
        (
            Column("tape", "text", "Tape of the correction."),
            Column("table_seq", "bigint", "Its sequence on that tape."),
            Column("of_property", "text", "Property of the fact that it names."),
        ),
        ("(of_property)",),
        is_log=True,
    )


def note_elsewhere(store: ViewStore, batch: Batch, table: ViewTable) -> None:
    """Save a batch's corrections of other properties' facts."""
    told = [(row, of) for row, of in _named(batch) if is_of_another_property(row.source, of.source)]
    store.save(
        table,
        [
            (row.tape, row.table_seq, of.source.partition("/")[2].partition("/")[0])
            for row, of in told
        ],
    )


def _named(batch: Batch) -> list[tuple[TapeRow, Any]]:
    """A batch's corrections, each with the fact that it names."""
    return [(row, fact.body.of) for row, fact in batch.facts(CORRECTION_TYPES)]  # type: ignore[attr-defined] # a FactCorrected


Key = tuple[str, str]
"""Source and id of a fact."""

_LATEST = 2**63 - 1
"""Beyond every position of the record."""


class Held(NamedTuple):
    """A corrected fact and the correction that holds of it, as rows of the record."""

    target: TapeRow
    correction: TapeRow | None  # None: it was taken back


def held(
    store: ViewStore,
    batch: Batch,
    table: ViewTable,
    is_own: Callable[[TapeRow], bool] = lambda _: True,
) -> list[Held]:
    """The corrected facts that a batch changes: by a new correction, or by their arrival.

    `is_own`: whether a corrected fact is one that this process writes of.
    """
    told = [
        (row, of) for row, of in _named(batch) if not is_of_another_property(row.source, of.source)
    ]
    wanted = {(of.source, of.id) for _, of in told} | _awaited(store, batch, table)
    if not wanted:
        return []
    targets = _targets(store, wanted, batch.position)
    store.save(table, _made(told, targets))
    own = [row for row in _ends(store, targets, batch.position).values() if is_own(row)]
    why = holding(store, table, [(row.source, row.id) for row in own], batch.position)
    return [Held(row, why.get((row.source, row.id))) for row in own]


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
    """A fact with its corrections; of a correction, the fact that it corrects. None: no fact.

    A correction of a fact that is not on record stands for itself.
    """
    told = _targets(store, [key], _LATEST)
    ends = _ends(store, told, _LATEST) or told
    if not ends:
        return None
    [(key, row)] = ends.items()
    return FactHistory(row, made_of(store, table, [key]).get(key, ()))


def made_of(
    store: ViewStore, table: ViewTable, keys: Iterable[Key], until: int = _LATEST
) -> dict[Key, list[TapeRow]]:
    """The corrections of facts, and corrections of these, in the order in which they count.

    until: the last position of the record that is read.
    """
    ends: dict[Key, Key] = {key: key for key in keys}  # the fact that each is of in the end
    found: dict[Key, list[NamedRow]] = {}
    asked = list(ends)
    while asked:
        rows = [made for made in store.rows(table, asked) if made.position <= until]
        asked = []
        for made in rows:
            found.setdefault(ends[made[:2]], []).append(made)
            if (made.source, made.fact_id) not in ends:
                ends[made.source, made.fact_id] = ends[made[:2]]
                asked.append((made.source, made.fact_id))
    places = [_place(made) for its in found.values() for made in its]
    kept = {(row.tape, row.table_seq): row for row in store.rows_at(places)}
    return {
        key: [kept[made.tape, made.table_seq] for made in sorted(its, key=_order)]
        for key, its in found.items()
    }


def holding(
    store: ViewStore, table: ViewTable, keys: Iterable[Key], until: int = _LATEST
) -> dict[Key, TapeRow]:
    """The correction that holds of each fact up to a position; no entry for a fact without."""
    found = {}
    for key, rows in made_of(store, table, keys, until).items():
        by_fact = {(row.source, row.id): row for row in rows}
        if held := held_corrections(map(fact_of, rows)).get(key):
            found[key] = by_fact[held.fact.source, held.fact.id]
    return found


def holding_of(
    store: ViewStore, table: ViewTable, keys: Sequence[Key], until: int
) -> dict[Key, tuple[TapeRow, TapeRow | None]]:
    """Some facts, each with the correction that holds up to a position."""
    why = holding(store, table, keys, until)
    return {key: (row, why.get(key)) for key, row in rows_of(store, keys).items()}


def as_corrected(fact: Fact, why: TapeRow) -> list[Fact]:
    """A fact with its correction; nothing if it should not have been recorded."""
    body = fact_of(why).body
    meant = correction_of(fact, body) if isinstance(body, FactCorrected) else None
    return corrected([fact], {(fact.source, fact.id): meant} if meant else {})


def rows_of(store: ViewStore, keys: Iterable[Key]) -> dict[Key, TapeRow]:
    """The rows of the record about facts, by source and id."""
    return _targets(store, keys, _LATEST)


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


def _ends(store: ViewStore, targets: dict[Key, TapeRow], until: int) -> dict[Key, TapeRow]:
    """The facts that some are in the end: of a correction, the fact that it corrects."""
    seen, found = set(targets), dict(targets)
    while corrections := [key for key, row in found.items() if row.type in CORRECTION_TYPES]:
        bodies: list[Any] = [fact_of(found.pop(key)).body for key in corrections]
        wanted = {(body.of.source, body.of.id) for body in bodies} - seen
        seen |= wanted
        found |= _targets(store, wanted, until)
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
