"""Queries of surveillance's log: entries with the later ones that correct them."""

from __future__ import annotations

import builtins
from typing import TYPE_CHECKING, NamedTuple

import msgspec

from consumers.review.desk import LOG
from infra.postgres.view_tables import reading
from ledger.facts import Attached

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from infra.postgres.connection import Database
    from infra.postgres.view_tables import ViewStore

ENTRIES_MAX = 500
"""The most entries that one list has."""


class WrittenEntry(NamedTuple):
    """One entry as it was written. Times in microseconds."""

    property: str
    entry: str
    from_us: int
    to_us: int | None
    place: str
    what: str
    who: Sequence[str]
    recorded_where: str
    disposition: str
    moments: Sequence[Attached]
    corrects: str | None  # name of the entry that it corrects
    because: str | None
    written_by: str
    written_us: int

    @builtins.property  # `property` is a field here
    def until_us(self) -> int:
        """When it ended; an entry without an end is of one moment."""
        return self.from_us if self.to_us is None else self.to_us


class LoggedEntry(NamedTuple):
    """An entry, and those that correct it, in the order in which they were written."""

    first: WrittenEntry
    corrections: Sequence[WrittenEntry]

    @builtins.property  # as above
    def now(self) -> WrittenEntry:
        """What holds: the last correction, if there is one."""
        return self.corrections[-1] if self.corrections else self.first


def entries(
    database: Database,
    *,
    property: str | None = None,  # noqa: A002 - what it is called on the floor
    since_us: int | None = None,
    until_us: int | None = None,
    entry: str | None = None,
) -> list[LoggedEntry]:
    """Entries that are no corrections, the newest first, each with its corrections."""
    given = {"property": property, "since": since_us, "until": until_us, "entry": entry}
    with reading(database, [LOG.name]) as store:
        rows = store.query(_ENTRIES, given | {"limit": ENTRIES_MAX})
        return _with_corrections(store, [_written(row) for row in rows])


def written_in(
    database: Database, property_: str, since_us: int, until_us: int
) -> list[LoggedEntry]:
    """Entries of a property that were written in a span of time, the oldest first."""
    given = {"property": property_, "since": since_us, "until": until_us, "limit": ENTRIES_MAX}
    with reading(database, [LOG.name]) as store:
        return _with_corrections(store, [_written(row) for row in store.query(_WRITTEN, given)])


def names_like(database: Database, property_: str, prefix: str) -> Sequence[str]:
    """The names of entries that start with a prefix, corrections among them."""
    with reading(database, [LOG.name]) as store:
        rows = store.query(
            f"SELECT entry FROM {{schema}}.{LOG.name} WHERE property = %(property)s"  # noqa: S608 - our own names
            " AND starts_with(entry, %(prefix)s)",
            {"property": property_, "prefix": prefix},
        )
    return [row[0] for row in rows]


def _with_corrections(store: ViewStore, found: Sequence[WrittenEntry]) -> list[LoggedEntry]:
    names = {
        "properties": [each.property for each in found],
        "entries": [each.entry for each in found],
    }
    made = [_written(row) for row in store.query(_CORRECTIONS, names)]
    return [LoggedEntry(each, list(_of(each, made))) for each in found]


def _of(entry: WrittenEntry, made: Sequence[WrittenEntry]) -> Iterable[WrittenEntry]:
    key = (entry.property, entry.entry)
    return (each for each in made if (each.property, each.corrects) == key)


def _written(row: Sequence[object]) -> WrittenEntry:
    entry = WrittenEntry(*row)  # type: ignore[arg-type] # as the query says
    moments = msgspec.json.decode(str(entry.moments), type=list[Attached])
    return entry._replace(moments=moments)


_CELLS = ", ".join(column.read for column in LOG.columns[:-2])
_ENTRIES = f"""
SELECT {_CELLS} FROM {{schema}}.{LOG.name}
 WHERE corrects IS NULL AND (%(property)s::text IS NULL OR property = %(property)s)
   AND (%(since)s::bigint IS NULL OR coalesce(to_us, from_us) >= %(since)s)
   AND (%(until)s::bigint IS NULL OR from_us < %(until)s)
   AND (%(entry)s::text IS NULL OR entry = %(entry)s)
 ORDER BY from_us DESC, property, entry LIMIT %(limit)s
"""  # noqa: S608 - our own names
_WRITTEN = f"""
SELECT {_CELLS} FROM {{schema}}.{LOG.name}
 WHERE corrects IS NULL AND property = %(property)s
   AND written_us >= %(since)s AND written_us < %(until)s
 ORDER BY written_us, entry LIMIT %(limit)s
"""  # noqa: S608 - our own names
_CORRECTIONS = f"""
SELECT {_CELLS} FROM {{schema}}.{LOG.name} WHERE (property, corrects) IN (
       SELECT * FROM unnest(%(properties)s::text[], %(entries)s::text[]))
 ORDER BY written_us, source, fact_id
"""  # noqa: S608 - our own names
