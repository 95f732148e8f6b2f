"""The view `seals`: where the facts are that close gaming days, and what they say of each day."""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING, Any

import msgspec
from msgspec import Struct

from consumers.finance.sealed import sealed_journal
from consumers.runtime.source import Batch, OutboxMapping, Projection
from infra.postgres.view_tables import Column, ViewTable
from ledger.facts import type_name
from ledger.finance.day_versions import DAY_FACTS, DaySeals
from ledger.record.wire import fact_of

if TYPE_CHECKING:
    from collections.abc import Iterable

    from infra.postgres.view_tables import NamedRow, ViewStore
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

_DAY_STATES = ViewTable(
    "sealed_days",
    "Each gaming day that was ever closed: its last version, and whether it is open again.",
    2,
    (
        Column("property", "text", "Property of the gaming day."),
        Column("gaming_day", "text", "Gaming day, YYYY-MM-DD."),
        Column("version", "int", "Its last version, from 1."),
        Column("sealed", "boolean", "Whether that version holds; false: the day is open again."),
        Column("digest", "text", "SHA-256 of its wins as that version prints them."),
        Column("rules", "text", "Version of the program that worked it out."),
        Column("report", "int", "Version of the report."),
        Column("by_employee", "text", "Credential of the person who closed it."),
        Column("second_employee", "text", "Credential of the second person."),
        Column("because", "text", "Reason for closing it.", null=True),
        Column("despite", "text", "Why it is closed though something is missing.", null=True),
        Column("reopened_by", "text", "Credential of who opened it again.", null=True),
        Column("reopened_second", "text", "Credential of the second one.", null=True),
        Column("reopened_because", "text", "Reason for opening it again.", null=True),
    ),
)

SEALED_DAYS = "ledger.day-sealed.v1"
"""The topic of sealed gaming days."""


class SealedDayState(Struct, frozen=True):
    """A gaming day that two people closed: its last version, and whether it is open again."""

    property: str
    gaming_day: str
    version: int
    sealed: bool  # false: the day is open again, so a next version may come
    digest: str  # SHA-256 of its wins as `win --version` prints them
    rules: str
    report: int
    by: str
    second: str
    because: str | None
    despite: str | None
    reopened_by: str | None
    reopened_second: str | None
    reopened_because: str | None


_READS = frozenset(map(type_name, DAY_FACTS))


def apply(store: ViewStore, batch: Batch) -> None:
    """Keep the positions of a batch's facts of gaming days, and what its days are now."""
    told = [(row, _day(row, fact.body)) for row, fact in batch.facts(_READS)]
    store.save(SEAL_FACTS, ((*day, row.tape, row.table_seq) for row, day in told))
    days = {day: read(store, *day).get(day) for day in sorted({day for _, day in told})}
    store.save(_DAY_STATES, (_state(day, its) for day, its in days.items() if its and its.seals))


def _state(day: tuple[str, str], its: DaySeals) -> tuple[str | int | None, ...]:
    """A day's row."""
    last, again = its.seals[-1], its.reopened
    return (
        *day,
        last.version,
        its.sealed is not None,
        last.digest,
        last.rules,
        last.report,
        last.by,
        last.second,
        last.because,
        last.despite,
        *((again.by, again.second, again.because) if again else (None, None, None)),
    )


def _message(row: NamedRow) -> str:
    return msgspec.json.encode(SealedDayState(*row)).decode()


def _entries(store: ViewStore, row: NamedRow) -> Iterable[tuple[str, str]]:
    """The messages of a day's entries; none if this program works out other wins."""
    return sealed_journal.messages(entries_of(store, row.property, row.gaming_day) or ())


def _day(row: TapeRow, body: Any) -> tuple[str, str]:  # noqa: ANN401 - one of DAY_FACTS
    return row.tape.partition("/")[0], body.gaming_day


def _part_of(row: TapeRow) -> str | None:
    """The gaming day of a fact, whatever tape it is on."""
    return "/".join(_day(row, fact_of(row).body)) if row.type in _READS else None


VIEW = Projection(
    "seals",
    2,
    (SEAL_FACTS, _DAY_STATES),
    apply,
    reads=_READS,
    tells=(
        OutboxMapping(SEALED_DAYS, _DAY_STATES, 2, _message, compacted=True),
        OutboxMapping(sealed_journal.ENTRIES, _DAY_STATES, 4, several=_entries),
    ),
    part_of=_part_of,
)
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


def entries_of(
    store: ViewStore, property_: str, gaming_day: str
) -> list[sealed_journal.SealedEntry] | None:
    """The double entries of a day's last version, also while the day is open again.

    None if this program works out other wins than were signed.
    """
    its = read(store, property_, gaming_day).get((property_, gaming_day), DaySeals())
    return sealed_journal.entries_of(store, property_, its.seals)


def _rows(store: ViewStore, property_: str | None, gaming_day: str | None) -> list[TapeRow]:
    return store.rows_named(
        "SELECT tape, table_seq, table_seq FROM {schema}.seal_facts"
        " WHERE (%(property)s::text IS NULL OR property = %(property)s)"
        " AND (%(day)s::text IS NULL OR gaming_day = %(day)s)",
        {"property": property_, "day": gaming_day},
    )
