"""The view `meters`: what each progressive meter showed, and when.

`meters` works out its lines from it, and from what the rulings say that wins took (ADR 0194).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import msgspec

from consumers.finance import money_facts
from consumers.money.corrections_held import (
    CORRECTION_TYPES,
    as_corrected,
    facts_changed,
    made_table,
)
from consumers.money.day_at import day_at
from consumers.rulings import rulings
from consumers.rulings.tables import MONEY
from consumers.runtime.source import Batch, Projection
from infra.postgres.view_tables import Column, ViewTable, reading
from ledger.facts import type_name
from ledger.finance.meters.lines import (
    METER_FACTS,
    MeterName,
    MeterStep,
    lines,
    step_of,
    steps_paid,
)
from ledger.record.wire import fact_of
from ledger.rules.wagers.meter_payments import MeterPayment

if TYPE_CHECKING:
    from collections.abc import Iterator

    from infra.postgres.connection import Database
    from infra.postgres.view_tables import ViewStore
    from ledger.finance.meters.lines import MeterLine
    from ledger.record.tape import TapeRow

_READS = frozenset(map(type_name, METER_FACTS))

SHOWN = ViewTable(
    "meter_facts",
    "What progressive meters showed, as corrected: one row a fact.",
    2,
    (
        Column("source", "text", "Source of the fact."),
        Column("fact_id", "text", "Id of the fact."),
        Column("property", "text", "Property of the meter."),
        Column("meter", "text", "Name of the meter: its wager's, or its link's."),
        Column("table_name", "text", "Table of the meter; empty: a link of tables."),
        Column("time_us", "bigint", "Device time, microseconds."),
        Column("gaming_day", "text", "Gaming day of its round.", null=True),
        Column("kind", "text", "shown or reset."),
        Column("amount", "bigint", "What it shows afterwards, cents."),
    ),
    ("(property, meter, table_name, time_us)",),
)

MADE = made_table("meter_corrections_made")


def apply(store: ViewStore, batch: Batch) -> None:
    """Add a batch's facts of meters, and correct those that corrections name."""
    found = facts_changed(store, batch, MADE, _READS)
    store.delete(SHOWN, found)
    store.save(SHOWN, (cells for row, why in found.values() for cells in _cells(row, why)))


def _cells(row: TapeRow, why: TapeRow | None) -> Iterator[tuple[Any, ...]]:
    """The row of a fact; none if a correction says that it should not have been recorded."""
    for fact in as_corrected(fact_of(row), why) if why else [fact_of(row)]:
        told = step_of(fact)
        if told:
            name, step = told
            yield (row.source, row.id, *name, step.time_us, step.day, step.kind, step.amount)


VIEW = Projection("meters", 2, (SHOWN, MADE), apply, reads=_READS | CORRECTION_TYPES)
"""The view `meters`."""

VIEWS = (VIEW, money_facts.VIEW, rulings.VIEW)
"""The views to catch up before `read`."""


def read(database: Database, property_: str | None = None) -> dict[MeterName, MeterLine]:
    """A line for each meter at one moment, in order of property, meter and table."""
    with reading(database, [each.name for view in VIEWS for each in view.tables]) as store:
        return lines(steps(store, property_))


def steps(store: ViewStore, property_: str | None) -> list[tuple[MeterName, MeterStep]]:
    """What meters showed and what wins took of them, in no order."""
    return [*_shown(store, property_), *_paid(store, property_)]


_OF_METER = "s.variant <> 1 AND s.property = m.property AND m.table_name IN ('', s.table_name)"


def _shown(store: ViewStore, property_: str | None) -> Iterator[tuple[MeterName, MeterStep]]:
    for *name, time_us, kind, amount, day, source, id_ in store.query(
        "SELECT m.property, m.meter, m.table_name, m.time_us, m.kind, m.amount,"  # noqa: S608 - put together from constants
        f" coalesce(m.gaming_day, ({day_at('{schema}.finance_facts', _OF_METER, 'm.time_us')})),"
        " m.source, m.fact_id FROM {schema}.meter_facts m"
        " WHERE %(property)s::text IS NULL OR m.property = %(property)s",
        {"property": property_},
    ):
        yield MeterName(*name), MeterStep(time_us, kind, amount, day, source, id_)


def _paid(store: ViewStore, property_: str | None) -> Iterator[tuple[MeterName, MeterStep]]:
    for name, table, day, told in store.query(
        "SELECT property, table_name, gaming_day, (details->'meters')::text"  # noqa: S608 - our own name
        f" FROM {{schema}}.{MONEY.name} WHERE details IS NOT NULL"
        " AND json_array_length(details->'meters') > 0"
        " AND (%(property)s::text IS NULL OR property = %(property)s)",
        {"property": property_},
    ):
        yield from steps_paid(name, table, day, msgspec.json.decode(told, type=list[MeterPayment]))
