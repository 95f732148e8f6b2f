"""Queries of the view `cameras` for one camera, or for all cameras of a property."""

from __future__ import annotations

from typing import TYPE_CHECKING

from consumers.cameras.cameras import rows_seeing
from ledger.errors import NotFound, Usage

if TYPE_CHECKING:
    from collections.abc import Sequence

    from infra.postgres.view_tables import ViewStore
    from ledger.record.tape import TapeRow


# One index lookup for each property, however many facts it has.
_PROPERTIES = """
WITH RECURSIVE each (property) AS (
    SELECT min(property) FROM {schema}.camera_facts
    UNION ALL
    SELECT (SELECT min(f.property) FROM {schema}.camera_facts f WHERE f.property > each.property)
      FROM each WHERE each.property IS NOT NULL)
SELECT property FROM each
 WHERE property IS NOT NULL
   AND (%(table)s::text IS NULL OR EXISTS (
        SELECT 1 FROM {schema}.camera_facts f
         WHERE f.property = each.property AND f.table_name = %(table)s
           AND (%(camera)s::text IS NULL OR f.camera = %(camera)s)))
   AND (%(camera)s::text IS NULL OR EXISTS (
        SELECT 1 FROM {schema}.camera_facts f
         WHERE f.property = each.property AND f.camera = %(camera)s))
 ORDER BY 1
"""


def rows_of_cameras(
    store: ViewStore, property_: str, since_us: int, until_us: int, camera: str
) -> list[TapeRow]:
    """The facts of one camera, in order of position; see `rows_seeing`."""
    return rows_seeing(store, property_, [camera], (since_us, until_us))


# Facts that end in or after each span, by the index; views and copies of footage are left out.
_HANDLED = """
SELECT f.tape, f.table_seq, f.table_seq
  FROM unnest(%(cameras)s::text[], %(since)s::bigint[], %(until)s::bigint[]) AS g (camera, a, b)
 CROSS JOIN LATERAL (
    SELECT * FROM {schema}.camera_facts c
     WHERE c.property = %(property)s AND c.camera = g.camera AND NOT c.segment
       AND c.to_us >= g.a AND c.from_us <= g.b AND NOT c.seen
    OFFSET 0) AS f
"""


def handled_rows(
    store: ViewStore, property_: str, stretches: Sequence[tuple[str, int, int]]
) -> list[TapeRow]:
    """Facts of locks, releases and expiries over spans of cameras, by position, each once.

    A span is a camera, and from and to by its own clock, both included.
    """
    cameras, since, until = zip(*stretches, strict=True) if stretches else ((), (), ())
    return store.rows_named(
        _HANDLED,
        {
            "property": property_,
            "cameras": list(cameras),
            "since": list(since),
            "until": list(until),
        },
    )


def tables_of(store: ViewStore, property_: str, cameras: Sequence[str]) -> dict[str, list[str]]:
    """The tables that each of these cameras was ever mapped to, by name."""
    found = store.query(
        "SELECT DISTINCT camera, table_name FROM {schema}.camera_facts"
        " WHERE property = %(property)s AND table_name IS NOT NULL"
        " AND camera = ANY(%(cameras)s::text[]) ORDER BY 1, 2",
        {"property": property_, "cameras": list(cameras)},
    )
    tables: dict[str, list[str]] = {}
    for camera, table in found:
        tables.setdefault(str(camera), []).append(str(table))
    return tables


def mapping_rows(store: ViewStore) -> list[TapeRow]:
    """Every fact that mapped a camera to a table or from it, in order of position."""
    return store.rows_named(
        "SELECT tape, table_seq, table_seq FROM {schema}.camera_facts WHERE table_name IS NOT NULL",
        {},
    )


def properties_with_cameras(
    store: ViewStore, table: str | None = None, camera: str | None = None
) -> list[str]:
    """The properties that have cameras; on this table, or with this name, if given."""
    found = store.query(_PROPERTIES, {"table": table, "camera": camera})
    return [str(row[0]) for row in found]


def the_property(
    store: ViewStore, named: str | None, table: str | None = None, camera: str | None = None
) -> str:
    """The named property, else the only one with such cameras. Raises `NotFound`, `Usage`."""
    found = properties_with_cameras(store, table, camera)
    what = f"camera {camera}" if camera else f"a camera on {table}" if table else "any camera"
    if not found or (named is not None and named not in found):
        raise NotFound(
            f"The record has no fact about {what}",
            where=named or "view cameras",
            hint="Check the name; `camera_mapped` facts assign cameras to tables.",
        )
    if named is None and len(found) > 1:
        names = ", ".join(found)
        raise Usage(
            f"Several properties have {what}", where=names, hint="Name one with --property."
        )
    return named or found[0]
