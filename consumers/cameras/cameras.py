"""The view of cameras: an index of camera facts, so that a replay reads those of one table by key.

It has one row for each fact of a camera, but neither footage nor clocks.
`replay.cameras.coverage` interprets the facts.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from consumers.cameras.segments import STANDING, segments_over
from consumers.runtime.lifecycle import Batch, Projection
from infra.postgres.view_tables import Column, ViewStore, ViewTable
from ledger.facts import cameras as facts
from ledger.facts import type_name
from ledger.facts.tables import CameraMapped, CameraUnmapped
from ledger.record.wire import fact_of
from ledger.values import parse_time

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from ledger.record.tape import TapeRow

HOUR_US = 3_600_000_000

TOLD_BEFORE_US, TOLD_AFTER_US = HOUR_US, 24 * HOUR_US
"""A recorder normally reports a segment from an hour before its footage to a day after it. A
segment reported later, or by another clock, is found by the time of its footage."""

OFF_US = HOUR_US + 300_000_000
"""How far around a time its segments are searched, by the camera's clock as corrected by each
check. It is the error assumed for a clock that was never checked (`replay.cameras.custody`)."""

CAMERA_FACTS = ViewTable(
    "camera_facts",
    "One row a fact that names a camera, with its place in the record.",
    3,
    (
        Column("property", "text", "Property of the camera."),
        Column("tape", "text", "Tape of the fact: <property>/<place>."),
        Column("table_seq", "bigint", "Its number on that tape; both are the key of ledger.tape."),
        Column("camera", "text", "The camera."),
        Column("table_name", "text", "Table the camera was mapped to or unmapped from.", null=True),
        Column("segment", "boolean", "Whether the fact records a segment."),
        Column("time_us", "bigint", "Time of the fact, by its device's clock, microseconds."),
        Column("seen", "boolean", "Whether the fact records a view or copy of footage."),
        Column("from_us", "bigint", "Footage: from, by the camera's clock.", null=True),
        Column(
            "to_us",
            "bigint",
            "Footage: to, by the camera's clock; exclusive for a segment.",
            null=True,
        ),
    ),
    (
        "(property, camera, time_us)",
        "(property, table_name) WHERE table_name IS NOT NULL",
        "(property, camera, to_us) WHERE to_us IS NOT NULL AND NOT segment",
        "(property, camera, to_us) INCLUDE (from_us) WHERE segment",
        "(property, camera, (to_us - from_us)) WHERE segment",
        "(property, camera) WHERE NOT segment AND NOT seen",
    ),
)

_MAPPING = frozenset((type_name(CameraMapped), type_name(CameraUnmapped)))
_SEGMENT = type_name(facts.SegmentRecorded)
_CHECKED = type_name(facts.ClockChecked)
_SEEN = frozenset((type_name(facts.FootageViewed), type_name(facts.FootageExported)))
_READS = frozenset(
    (
        *_MAPPING,
        _SEGMENT,
        *_SEEN,
        _CHECKED,
        type_name(facts.CameraLost),
        type_name(facts.CameraRestored),
        type_name(facts.FootageLocked),
        type_name(facts.FootageReleased),
        type_name(facts.FootageExpired),
    )
)


def apply(store: ViewStore, batch: Batch) -> None:
    """Store the places of a batch's camera facts."""
    rows = []
    for row, fact in batch.facts(_READS):
        table = fact.body.table if isinstance(fact.body, CameraMapped | CameraUnmapped) else None
        camera: str = fact.body.camera  # type: ignore[attr-defined] # all of _READS have one
        property_ = row.tape.partition("/")[0]
        told = (camera, table, row.type == _SEGMENT, row.time_us, row.type in _SEEN)
        rows.append((property_, row.tape, row.table_seq, *told, *_span(fact.body)))
    store.save(CAMERA_FACTS, rows)


def _span(body: object) -> tuple[int | None, int | None]:
    """The time span of recorded or handled footage, by the camera's clock; None for other facts."""
    if isinstance(body, facts.SegmentRecorded):
        start_us = parse_time(body.start)
        return start_us, None if start_us is None else start_us + body.duration_us
    if not isinstance(body, facts.FootageHandled):
        return None, None
    return parse_time(body.from_), parse_time(body.to)


def _part_of(row: TapeRow) -> str:
    """Each fact is its own part, since cameras of many tables may share one tape."""
    return f"{row.tape}/{row.table_seq}"


CAMERAS = Projection(
    "cameras", 3, (CAMERA_FACTS,), apply, ordered=False, reads=_READS, part_of=_part_of
)
"""The view `cameras`."""


_TOLD = """
SELECT tape, table_seq, table_seq FROM {schema}.camera_facts
 WHERE property = %(property)s AND camera = ANY(%(cameras)s::text[])
   AND segment AND time_us BETWEEN %(since)s AND %(until)s
"""


def rows_about(
    store: ViewStore,
    property_: str,
    table: str,
    since_us: int,
    until_us: int,
    *,
    near_us: int | None = None,
) -> list[TapeRow]:
    """The facts of every camera ever mapped to a table, in order of position; see `rows_seeing`."""
    found = store.query(
        "SELECT DISTINCT camera FROM {schema}.camera_facts"
        " WHERE property = %(property)s AND table_name = %(table)s ORDER BY 1",
        {"property": property_, "table": table},
    )
    cameras = [str(row[0]) for row in found]
    return rows_seeing(store, property_, cameras, (since_us, until_us), near_us=near_us)


def rows_seeing(
    store: ViewStore,
    property_: str,
    cameras: Sequence[str],
    between_us: tuple[int, int],
    *,
    near_us: int | None = None,
) -> list[TapeRow]:
    """The facts of cameras, in order of position; only segments that may show a time span.

    `between_us`: from and to, by the reference clock. A segment may show the span if it was
    reported around it (`TOLD_BEFORE_US`), or if its own time lies around it by its camera's clock
    (`OFF_US`). `near_us`: only the second test, within this distance; if nothing is found, call
    again without it. Views and copies of footage are left out; see `handled`.
    """
    since_us, until_us = between_us
    rows = store.rows_named(
        STANDING if near_us is not None else f"{STANDING} UNION ALL {_TOLD}",
        {
            "property": property_,
            "cameras": list(cameras),
            "since": since_us - TOLD_BEFORE_US,
            "until": until_us + TOLD_AFTER_US,
        },
    )
    off = _offsets(rows)
    around_us = OFF_US if near_us is None else near_us
    shown = {
        (tape, seq, seq)
        for camera in cameras
        for _, _, tape, seq in segments_over(
            store,
            property_,
            camera,
            _stretches(off.get(camera, ()), since_us - around_us, until_us + around_us),
        )
    }
    known = {(row.tape, row.table_seq, row.table_seq) for row in rows}
    return sorted([*rows, *store.rows_at(shown - known)])


def _offsets(rows: Iterable[TapeRow]) -> dict[str, list[int]]:
    """The offsets of each camera's clock ahead of the reference, microseconds."""
    found: dict[str, list[int]] = {}
    for row in rows:
        body = fact_of(row).body if row.type == _CHECKED else None
        if isinstance(body, facts.ClockChecked):
            camera_us, reference_us = parse_time(body.camera_time), parse_time(body.reference_time)
            found.setdefault(body.camera, []).append((camera_us or 0) - (reference_us or 0))
    return found


def _stretches(offsets: Iterable[int], since_us: int, until_us: int) -> list[tuple[int, int]]:
    """The spans by which a camera's clock may show a time span: uncorrected, and by each check.

    Overlapping spans are joined. Distant ones stay apart, so that a clock once wrong by years does
    not cause a search over years.
    """
    found: list[tuple[int, int]] = []
    for offset in sorted({0, *offsets}):
        since, until = since_us + offset, until_us + offset
        if found and since <= found[-1][1]:
            found[-1] = found[-1][0], until
        else:
            found.append((since, until))
    return found


def handled(
    store: ViewStore, property_: str, camera: str, from_us: int, to_us: int
) -> list[TapeRow]:
    """Facts of views, copies, locks, releases and expiries of footage in a span, by position.

    `from_us`, `to_us`: by the camera's clock, both included.
    """
    found = store.query(
        "SELECT tape, table_seq FROM {schema}.camera_facts WHERE property = %(property)s"
        " AND camera = %(camera)s AND NOT segment"
        " AND to_us >= %(since)s AND from_us <= %(until)s",
        {"property": property_, "camera": camera, "since": from_us, "until": to_us},
    )
    return store.rows_at((tape, seq, seq) for tape, seq in found)
