"""The view `seals`: where the facts are that close gaming days and open them again."""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING, Any

from consumers.runtime.source import Batch, Projection
from infra.postgres.view_tables import Column, ViewTable
from ledger.facts import type_name
from ledger.finance.day_versions import DAY_FACTS, DaySeals
from ledger.record.wire import fact_of

if TYPE_CHECKING:
    from infra.postgres.view_tables import ViewStore
    from ledger.record.tape import TapeRow

SEAL_FACTS = ViewTable(
    "seal_facts",
    "Positions of the facts that close a gaming day or open it again: one row a fact.",
    4,
    (
        Column("property", "text", "Property of the gaming day."),
        Column("gaming_day", "text", "Gaming day, YYYY-MM-DD."),
        Column("tape", "text", "Tape of the fact: <property>/<place>."),
        Column("table_seq", "bigint", "Its number on that tape."),
    ),
)

_READS = frozenset(map(type_name, DAY_FACTS))


def apply(store: ViewStore, batch: Batch) -> None:
    """Keep the positions of a batch's facts of gaming days."""
    told = ((row, _day(row, fact.body)) for row, fact in batch.facts(_READS))
    store.save(SEAL_FACTS, ((*day, row.tape, row.table_seq) for row, day in told))


def _day(row: TapeRow, body: Any) -> tuple[str, str]:  # noqa: ANN401 - one of DAY_FACTS
    return row.tape.partition("/")[0], body.gaming_day


def _part_of(row: TapeRow) -> str | None:
    """The gaming day of a fact, whatever tape it is on."""
    return "/".join(_day(row, fact_of(row).body)) if row.type in _READS else None


VIEW = Projection("seals", 1, (SEAL_FACTS,), apply, reads=_READS, part_of=_part_of)
"""The view `seals`."""


def rows_about(store: ViewStore, property_: str, gaming_day: str) -> list[TapeRow]:
    """The rows of the record that close a gaming day or open it again, in order of position."""
    return _rows(store, property_, gaming_day)


def read(
    store: ViewStore, property_: str | None = None, gaming_day: str | None = None
) -> dict[tuple[str, str], DaySeals]:
    """The versions of gaming days, by property and day; None: of all."""
    found: dict[tuple[str, str], DaySeals] = defaultdict(DaySeals)
    for row in _rows(store, property_, gaming_day):
        body = fact_of(row).body
        day = _day(row, body)
        found[day] = found[day].after(body)
    return found


def _rows(store: ViewStore, property_: str | None, gaming_day: str | None) -> list[TapeRow]:
    return store.rows_named(
        "SELECT tape, table_seq, table_seq FROM {schema}.seal_facts"
        " WHERE (%(property)s::text IS NULL OR property = %(property)s)"
        " AND (%(day)s::text IS NULL OR gaming_day = %(day)s)",
        {"property": property_, "day": gaming_day},
    )
