"""Clock readings, custody and coverage as tables and in sentences, from facts alone.

A reading keeps both clocks. Sentences state the uncertainty, and what is not on record.
"""

from __future__ import annotations

import csv
import io
from typing import TYPE_CHECKING

from ledger.facts import (
    ClockChecked,
    FootageExpired,
    FootageExported,
    FootageLocked,
    FootageReleased,
    FootageViewed,
)
from ledger.facts.cameras import FootageHandled
from ledger.record.tape import unframe_attributes
from ledger.record.wire import fact_of
from ledger.values import format_time, parse_time, quantity
from replay.cameras.clocks import Check, camera_clock, rate_ppm
from replay.dossier.writing.evidence import rows_by_file
from replay.text import times

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from ledger.record.tape import TapeRow
    from replay.cameras.clocks import CameraClock
    from replay.dossier.writing.evidence import Evidence

_HANDLED: dict[type[FootageHandled], str] = {
    FootageViewed: "viewed",
    FootageExported: "exported",
    FootageLocked: "locked",
    FootageReleased: "released",
    FootageExpired: "expired",
}
CLOCK_COLUMNS = (
    "camera", "camera_time", "reference_time", "reference", "plus_minus_ms", "offset_ms",
    "property", "source", "id",
)  # fmt: skip
CUSTODY_COLUMNS = (
    "told_at", "what", "camera", "from_camera_clock", "to_camera_clock", "by", "because",
    "tape", "sequence",
)  # fmt: skip


def clock_table(evidence: Evidence) -> list[dict[str, object]]:
    """A row for each reading, by camera and time: both clocks as read, and their offset."""
    return [
        {
            "camera": body.camera,
            "camera_time": body.camera_time,
            "reference_time": body.reference_time,
            "reference": body.reference,
            "plus_minus_ms": body.uncertainty_ms,
            "offset_ms": _ms(_check(body).camera_us - _check(body).reference_us),
            "source": row.source,
            "id": row.id,
        }
        for row, body in _readings(evidence)
    ]


def clock_words(evidence: Evidence) -> list[str]:
    """Sentences about each camera's clock, from the readings."""
    checks: dict[str, list[Check]] = {
        sight.camera: []
        for story in evidence.stories
        for seen in story.seen
        for sight in seen.sights
        if sight.camera
    }
    checks |= {camera: [] for camera in evidence.cameras}
    for _, body in _readings(evidence):
        checks.setdefault(body.camera, []).append(_check(body))
    return [
        says
        for camera, own in sorted(checks.items())
        for says in _of_clock(camera, camera_clock(own), len(own))
    ]


def custody_table(evidence: Evidence) -> list[dict[str, object]]:
    """A row for each viewing, export, lock, release or expiry of these cameras' footage."""
    rows = []
    for row in sorted(row for of in rows_by_file(evidence).values() for row in of):
        body = fact_of(row).body
        if isinstance(body, FootageHandled):
            rows.append(
                {
                    "told_at": unframe_attributes(row.attributes)["time"],
                    "what": _HANDLED[type(body)],
                    "camera": body.camera,
                    "from_camera_clock": body.from_,
                    "to_camera_clock": body.to,
                    "by": body.by,
                    "because": body.because,
                    "tape": row.tape,
                    "sequence": row.table_seq,
                }
            )
    return rows


def csv_of(columns: Sequence[str], rows: Iterable[Mapping[str, object]]) -> bytes:
    """A CSV table (RFC 4180) in which no cell can become a formula.

    A line ends with CR LF. A text with either character is quoted, so every reader sees one cell.
    """
    text = io.StringIO()
    writer = csv.DictWriter(text, columns, extrasaction="ignore", lineterminator="\r\n")
    writer.writeheader()
    writer.writerows({name: _cell(row.get(name)) for name in columns} for row in rows)
    return text.getvalue().encode()


def _cell(value: object) -> object:
    if isinstance(value, str) and value.startswith(("=", "+", "-", "@", "\t", "\r")):
        return "'" + value
    return value


def _of_clock(camera: str, clock: CameraClock | None, readings: int) -> Iterator[str]:
    if clock is None:
        yield (
            f"Camera {camera}: its clock was never compared with a reference. Its own time is "
            "used and may be wrong by any amount."
        )
        return
    epochs = len(clock.epochs)
    sets = f", and was set {quantity(epochs - 1, 'time')} in between" if epochs > 1 else ""
    times_read = quantity(readings, "time")
    yield f"Camera {camera}: its clock was compared with a reference {times_read}{sets}."
    for number, epoch in enumerate(clock.epochs):
        first, last = epoch.knots[0], epoch.knots[-1]
        offset = _ms(last.camera_us - last.reference_us)
        rate = rate_ppm(clock, number)
        drift = (
            "compared once, so its rate is not known"
            if rate is None
            else f"{'losing' if rate < 0 else 'gaining'} {abs(round(rate))} parts in a million"
        )
        yield (
            f"  From {format_time(first.reference_us)} to {format_time(last.reference_us)}: "
            f"{offset:+d} ms from the reference at the end, "
            f"±{times.whole_ms(last.plus_minus_us)} ms; {drift}."
        )


def _readings(evidence: Evidence) -> list[tuple[TapeRow, ClockChecked]]:
    """The clock readings in the camera facts, by camera and reference time."""
    told = [
        (row, fact.body)
        for row in rows_by_file(evidence)["camera-facts.jsonl"]
        for fact in [fact_of(row)]
        if isinstance(fact.body, ClockChecked)
    ]
    return sorted(told, key=lambda each: (each[1].camera, _check(each[1]).reference_us, each[0]))


def _check(body: ClockChecked) -> Check:
    reference, camera = parse_time(body.reference_time), parse_time(body.camera_time)
    if reference is None or camera is None:
        raise ValueError(f"{body} was accepted as well formed")
    return Check(reference, camera, body.uncertainty_ms * 1000)


def _ms(microseconds: int) -> int:
    return round(microseconds / 1000)
