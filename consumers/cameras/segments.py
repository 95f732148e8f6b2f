"""Index queries of segments in the view `cameras`, for retention and expiry.

Their cost depends on the segments in the given spans, not on all segments ever recorded. Times are
by each camera's own clock, microseconds.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from infra.postgres.arrays import array_text

if TYPE_CHECKING:
    from collections.abc import Sequence

    from infra.postgres.view_tables import ViewStore
    from ledger.record.tape import TapeRow

STANDING = """
SELECT tape, table_seq, table_seq FROM {schema}.camera_facts
 WHERE property = %(property)s AND camera = ANY(%(cameras)s::text[]) AND NOT segment AND NOT seen
"""
"""The places of camera facts other than segments, views and copies of footage."""

_RECORDED = """
SELECT tape, table_seq, table_seq FROM {schema}.camera_facts
 WHERE property = %(property)s AND camera = %(camera)s AND segment
   AND time_us >= %(since)s AND time_us < %(until)s
 UNION SELECT tape, table_seq, table_seq FROM {schema}.camera_facts
 WHERE property = %(property)s AND camera = %(camera)s AND segment
   AND to_us >= %(since)s AND to_us < %(until)s
"""
_CAMERAS = """
WITH RECURSIVE each (camera) AS (
    SELECT min(camera) FROM {schema}.camera_facts WHERE property = %(property)s
    UNION ALL
    SELECT (SELECT min(f.camera) FROM {schema}.camera_facts f
             WHERE f.property = %(property)s AND f.camera > each.camera)
      FROM each WHERE each.camera IS NOT NULL)
SELECT camera FROM each WHERE camera IS NOT NULL
"""

# A segment over a span ends after the span begins, and at most the longest segment after its end.
_OVER = """
SELECT s.from_us, s.to_us, s.tape, s.table_seq
  FROM unnest(%(since)s::bigint[], %(until)s::bigint[]) AS g (since, until)
 CROSS JOIN LATERAL (
    SELECT * FROM {schema}.camera_facts f
     WHERE f.property = %(property)s AND f.camera = %(camera)s AND f.segment
       AND f.to_us > g.since AND f.to_us <= g.until + %(longest)s AND f.from_us <= g.until
    OFFSET 0) AS s
 ORDER BY s.from_us, s.to_us, s.tape, s.table_seq
"""

_LONGEST = """
SELECT to_us - from_us FROM {schema}.camera_facts
 WHERE property = %(property)s AND camera = %(camera)s AND segment
 ORDER BY to_us - from_us DESC LIMIT 1
"""


def cameras_of(store: ViewStore, property_: str) -> list[str]:
    """The cameras of a property that any fact names, by name."""
    return [str(row[0]) for row in store.query(_CAMERAS, {"property": property_})]


def standing_rows(store: ViewStore, property_: str, camera: str) -> list[TapeRow]:
    """Facts of a camera other than segments, views and copies of footage, by position."""
    return store.rows_named(STANDING, {"property": property_, "cameras": [camera]})


def segments_recorded(
    store: ViewStore, property_: str, camera: str, since_us: int, until_us: int
) -> list[TapeRow]:
    """Facts of segments that were sent, or whose footage ended, from `since_us` to `until_us`.

    The last microsecond is excluded.
    """
    return store.rows_named(
        _RECORDED,
        {"property": property_, "camera": camera, "since": since_us, "until": until_us},
    )


def segments_over(
    store: ViewStore, property_: str, camera: str, stretches: Sequence[tuple[int, int]]
) -> list[tuple[int, int, str, int]]:
    """Each segment over any of the spans: from, to (exclusive), tape and number.

    Both ends of a span are included. Segments come in order of time, each once.
    """
    of = {"property": property_, "camera": camera}
    longest = store.query(_LONGEST, of)
    if not longest or not stretches:
        return []
    rows = store.query(
        _OVER,
        {
            **of,
            "longest": longest[0][0],
            "since": array_text([since for since, _ in stretches]),
            "until": array_text([until for _, until in stretches]),
        },
    )
    return list(dict.fromkeys((int(a), int(b), str(tape), int(seq)) for a, b, tape, seq in rows))
