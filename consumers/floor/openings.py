"""The view of table openings: one row a fact that opens or closes a table, with its game.

`open_times` derives from the rows, in order of time, when a table was open.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from consumers.runtime.source import Batch, Projection
from infra.postgres.view_tables import Column, ViewStore, ViewTable
from ledger.facts import TableClosed, TableOpened, type_name

if TYPE_CHECKING:
    from ledger.record.tape import TapeRow

OPENINGS = ViewTable(
    "table_openings",
    "One row a fact that opens or closes a table.",
    5,
    (
        Column("property", "text", "Property of the table."),
        Column("table_name", "text", "The table, e.g. CC-07."),
        Column("time_us", "bigint", "When, device time, microseconds."),
        Column("tape", "text", "Tape of the fact: <property>/<place>."),
        Column("table_seq", "bigint", "Its number on that tape."),
        Column("game", "text", "Game it was opened for; null: it was closed.", null=True),
        Column("gaming_day", "text", "Gaming day it was opened for.", null=True),
    ),
    ("(property, gaming_day) WHERE gaming_day IS NOT NULL",),
)

_READS = frozenset((type_name(TableOpened), type_name(TableClosed)))


class OpenTime(NamedTuple):
    """A time span in which a table was open for one game. Device times, microseconds."""

    property: str
    table: str
    game: str
    gaming_day: str
    from_us: int
    to_us: int | None  # None: no fact closed it


def apply(store: ViewStore, batch: Batch) -> None:
    """Store the openings and closings of a batch."""
    rows = []
    for row, fact in batch.facts(_READS):
        opened = fact.body if isinstance(fact.body, TableOpened) else None
        what = (opened.game, opened.gaming_day) if opened else (None, None)
        property_ = row.tape.partition("/")[0]
        rows.append((property_, fact.table or "", row.time_us, row.tape, row.table_seq, *what))
    store.save(OPENINGS, rows)


def _part_of(row: TapeRow) -> str:
    """Each fact is its own part, since it has its own row."""
    return f"{row.tape}/{row.table_seq}"


VIEW = Projection("openings", 1, (OPENINGS,), apply, ordered=False, reads=_READS, part_of=_part_of)
"""The view `openings`."""


def open_times(
    store: ViewStore, property_: str, gaming_day: str, table: str | None = None
) -> list[OpenTime]:
    """The time spans in which tables of a property were open on a gaming day, by table and time.

    If a table is opened again for the same game and day without a closing, its span continues.
    """
    rows = store.query(
        "SELECT table_name, time_us, game, gaming_day FROM {schema}.table_openings"
        " WHERE property = %(property)s AND table_name IN ("
        "SELECT table_name FROM {schema}.table_openings WHERE property = %(property)s"
        " AND gaming_day = %(day)s AND (%(table)s::text IS NULL OR table_name = %(table)s))"
        " ORDER BY table_name, time_us, game NULLS FIRST",
        {"property": property_, "day": gaming_day, "table": table},
    )
    found: list[OpenTime] = []
    for name, time_us, game, day in rows:
        last = found[-1] if found and found[-1].table == name and found[-1].to_us is None else None
        if last and (game, day) != (last.game, last.gaming_day):
            found[-1] = last._replace(to_us=time_us)
        if game is not None and not (last and (game, day) == (last.game, last.gaming_day)):
            found.append(OpenTime(property_, name, game, day, time_us, None))
    return [each for each in found if each.gaming_day == gaming_day]
