"""The view of camera clock marks, one a fact: clock offsets, recordings and losses of a camera.

The marks have their own topic, so that a consumer that aligns footage with facts reads one camera
in order, not every tape. A mark is the content of one fact, in microseconds. Consumers derive rate,
epochs and uncertainty between checks from several marks (docs/explanation/clocks.md).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, cast

import msgspec
from msgspec import Struct

from consumers.runtime.source import Batch, OutboxMapping, Projection
from infra.postgres.view_tables import Column, ViewStore, ViewTable
from ledger.facts import cameras as facts
from ledger.facts import type_name
from ledger.facts.tables import CameraMapped, CameraUnmapped
from ledger.values import parse_time

if TYPE_CHECKING:
    from collections.abc import Callable

    from infra.postgres.view_tables import NamedRow
    from ledger.record.tape import TapeRow

TOPIC = "ledger.camera-sync.v1"

Kind = Literal["checked", "recorded", "lost", "restored", "mapped", "unmapped"]


class CameraMark(Struct, omit_defaults=True):
    """One mark. Times are microseconds since 1970 (UTC), each by the clock in its name."""

    property: str
    camera: str
    kind: Kind
    position: int  # of the fact
    source: str
    id: str
    told_us: int  # time of the fact, by the clock of its source
    camera_us: int | None = None  # checked: what the camera showed; recorded: its first frame
    camera_until_us: int | None = None  # recorded: its end
    reference_us: int | None = None  # checked: what the reference showed at that moment
    offset_us: int | None = None  # checked: camera minus reference
    plus_minus_us: int | None = None  # checked: uncertainty of the reading
    reference: str | None = None  # checked: the reference clock
    frames: int | None = None  # recorded
    sha256: str | None = None  # recorded: of the segment's bytes
    table: str | None = None  # mapped, unmapped
    reason: str | None = None  # lost, restored


MARKS = ViewTable(
    "camera_marks",
    "One row a fact that marks a camera's clock, its footage or a gap in it.",
    3,
    (
        Column("property", "text", "Property of the camera."),
        Column("camera", "text", "The camera."),
        Column("position", "bigint", "Position of the fact on the record."),
        Column("body", "text", "The mark as JSON, as it is published."),
    ),
)


def _checked(mark: CameraMark, body: facts.ClockChecked) -> None:
    mark.camera_us, mark.reference_us = map(_us, (body.camera_time, body.reference_time))
    mark.offset_us = mark.camera_us - mark.reference_us
    mark.plus_minus_us, mark.reference = body.uncertainty_ms * 1_000, body.reference


def _recorded(mark: CameraMark, body: facts.SegmentRecorded) -> None:
    mark.camera_us = _us(body.start)
    mark.camera_until_us = mark.camera_us + body.duration_us
    mark.frames, mark.sha256 = body.frames, body.sha256


def _dark(mark: CameraMark, body: facts.CameraLost | facts.CameraRestored) -> None:
    mark.reason = body.reason


def _mapped(mark: CameraMark, body: CameraMapped | CameraUnmapped) -> None:
    mark.table = body.table


def _us(moment: str) -> int:
    return cast("int", parse_time(moment))  # a fact with an invalid time was quarantined


_READS: dict[str, tuple[Kind, Callable[..., None]]] = {
    type_name(facts.ClockChecked): ("checked", _checked),
    type_name(facts.SegmentRecorded): ("recorded", _recorded),
    type_name(facts.CameraLost): ("lost", _dark),
    type_name(facts.CameraRestored): ("restored", _dark),
    type_name(CameraMapped): ("mapped", _mapped),
    type_name(CameraUnmapped): ("unmapped", _mapped),
}


def apply(store: ViewStore, batch: Batch) -> None:
    """Store the marks of a batch."""
    rows = []
    for row, fact in batch.facts(frozenset(_READS)):
        kind, told = _READS[row.type]
        property_, camera = row.tape.partition("/")[0], fact.body.camera  # type: ignore[attr-defined] # all of _READS have one
        mark = CameraMark(property_, camera, kind, row.position, row.source, row.id, row.time_us)
        told(mark, fact.body)
        rows.append((property_, camera, row.position, msgspec.json.encode(mark).decode()))
    store.save(MARKS, rows)


def _part_of(row: TapeRow) -> str:
    """Each fact is its own part, since it has its own row."""
    return f"{row.tape}/{row.table_seq}"


def _body(row: NamedRow) -> str:
    """The mark as stored."""
    return cast("str", row.body)


VIEW = Projection(
    "camera_marks",
    1,
    (MARKS,),
    apply,
    ordered=False,
    reads=frozenset(_READS),
    tells=(OutboxMapping(TOPIC, MARKS, 2, _body),),
    part_of=_part_of,
)
"""The view `camera_marks`."""
