"""Where the facts of cameras stand, so that a replay reads those of one table without a search.

One row a fact of a camera. It holds no footage and no clock; what the facts mean together is for
`replay.coverage` to say.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from consumers.projection import Batch, Projection
from infra.views import Column, Store, Table
from ledger.facts import cameras as facts
from ledger.facts import type_name
from ledger.facts.tables import CameraMapped, CameraUnmapped

if TYPE_CHECKING:
    from ledger.tape import TapeRow

HOUR_US = 3_600_000_000

TOLD_BEFORE_US, TOLD_AFTER_US = HOUR_US, 24 * HOUR_US
"""A recorder tells of a segment from an hour before what it shows to a day after: clocks are off by
less than the one, and a recorder that was cut off catches up within the other."""

CAMERA_FACTS = Table(
    "camera_facts",
    "One row a fact that speaks of a camera, with where it stands on the record.",
    3,
    (
        Column("property", "text", "Property of the camera."),
        Column("tape", "text", "Tape the fact stands on: <property>/<place>."),
        Column("table_seq", "bigint", "Its number on that tape: with it the key of ledger.tape."),
        Column("camera", "text", "The camera."),
        Column("table_name", "text", "Table it was mapped to or taken from.", null=True),
        Column("segment", "boolean", "Whether it tells of a recorded segment."),
        Column("time_us", "bigint", "When it was told, by its device's clock, microseconds."),
    ),
    (
        "(property, camera, time_us)",
        "(property, table_name) WHERE table_name IS NOT NULL",
    ),
)

_MAPPING = frozenset((type_name(CameraMapped), type_name(CameraUnmapped)))
_SEGMENT = type_name(facts.SegmentRecorded)
_READS = frozenset(
    (
        *_MAPPING,
        _SEGMENT,
        type_name(facts.ClockChecked),
        type_name(facts.CameraLost),
        type_name(facts.CameraRestored),
        type_name(facts.FootageLocked),
        type_name(facts.FootageReleased),
        type_name(facts.FootageExpired),
    )
)


def apply(store: Store, batch: Batch) -> None:
    """Note where a batch's facts of cameras stand."""
    rows = []
    for row, fact in batch.facts(_READS):
        table = fact.body.table if isinstance(fact.body, CameraMapped | CameraUnmapped) else None
        camera: str = fact.body.camera  # type: ignore[attr-defined] # all of _READS have one
        property_ = row.tape.partition("/")[0]
        told = (camera, table, row.type == _SEGMENT, row.time_us)
        rows.append((property_, row.tape, row.table_seq, *told))
    store.save(CAMERA_FACTS, rows)


CAMERAS = Projection("cameras", 1, (CAMERA_FACTS,), apply, ordered=False)
"""The view."""


def rows_about(
    store: Store, property_: str, table: str, since_us: int, until_us: int
) -> list[TapeRow]:
    """The facts of every camera ever mapped to a table, in order of position.

    Of segments only those told around the time asked for; see `TOLD_BEFORE_US`.
    """
    found = store.query(
        "SELECT tape, table_seq FROM {schema}.camera_facts"
        " WHERE property = %(property)s AND camera IN (SELECT camera FROM {schema}.camera_facts"
        " WHERE property = %(property)s AND table_name = %(table)s)"
        " AND (NOT segment OR time_us BETWEEN %(since)s AND %(until)s)",
        {
            "property": property_,
            "table": table,
            "since": since_us - TOLD_BEFORE_US,
            "until": until_us + TOLD_AFTER_US,
        },
    )
    return store.rows_at((tape, seq, seq) for tape, seq in found)
