"""Corrections of money facts: the recorded and the corrected amounts, beside the drop's sums.

The sums always use the recorded amounts. These tables hold each amount that a correction changes.
Part of the view `drop`. The latest correction of a fact counts, as in
`ledger.adjudication.corrections`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from msgspec import Struct

from consumers.money.amounts import OPENS_DAY, READS, amounts, part_of
from consumers.money.corrections_held import held, made_table
from infra.postgres.view_tables import Column, ViewTable
from ledger.adjudication.corrections import corrected
from ledger.facts import FactCorrected
from ledger.record.wire import fact_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from consumers.runtime.lifecycle import Batch
    from infra.postgres.view_tables import ViewStore
    from ledger.record.tape import TapeRow
    from ledger.record.wire import Fact

_MONEY = READS - OPENS_DAY
CENTS_MAX = 10**15
"""A correction to a larger amount is ignored; no floor has such a sum."""

MADE = made_table("drop_corrections_made")

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


def note(store: ViewStore, batch: Batch, starts: Iterable[tuple[Any, ...]]) -> None:
    """Apply a batch's corrections, earlier corrections of its facts, and its gaming days.

    Every process that has a share of the view notes every correction, as of its own position. The
    amounts are written by the process that has the corrected fact's table.
    """
    store.save(DAY_STARTS, starts)

    def is_own(row: TapeRow) -> bool:
        return row.type in _MONEY and batch.share.owns(part_of(row, batch))

    changed = held(store, batch, MADE, is_own)
    store.delete(CORRECTED, [(each.target.source, each.target.id) for each in changed])
    lines = [line for target, why in changed for line in _lines(store, target, fact_of(why))]
    store.save(CORRECTED, lines)


def read(rows: Iterable[tuple[Any, ...]]) -> list[Correction]:
    """Rows of `CORRECTED`, in order of the time of the corrected fact."""
    found = [Correction(*row[:10]) for row in rows]
    return sorted(found, key=lambda each: (each.time_us, each.of_source, each.of_id, each.amount))


def _lines(store: ViewStore, row: TapeRow, correction: Fact) -> Iterator[tuple[Any, ...]]:
    """The rows of `CORRECTED` for one corrected fact; none if it is not about money."""
    fact, body = fact_of(row), correction.body
    if not isinstance(body, FactCorrected):
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
