"""Reads a camera's clock from codes in its pictures, and records the checks.

`footage calibrate` reads codes on request. `footage add` and `watch` look for codes in the segments
that they add (ADR 0141).
"""

from collections.abc import Iterator, Sequence
from datetime import tzinfo
from itertools import pairwise

from msgspec.structs import replace

from consumers.cameras.cameras import CAMERA_FACTS
from consumers.cameras.segments import standing_rows
from infra.postgres.connection import Database
from infra.postgres.tape import PostgresTape
from infra.postgres.view_tables import reading as views_read
from ledger.facts import ClockChecked
from ledger.record.wire import fact_of
from ledger.values import format_time
from replay.cameras.calibration import (
    ClockCheck,
    ClockReading,
    news,
    reading,
    running_checks,
    shown_us,
)
from replay.cameras.clocks import Check
from replay.cameras.coverage import coverage
from replay.cameras.picture_checks import looked_at, looked_over, sampled
from replay.footage.decoding.sampling import CodeKind, Looked
from replay.footage.library.index import FootageIndex, IndexedSegment
from replay.recording.house_facts import append_facts, build_fact, screen
from replay.shell.output import print_json, say
from replay.shell.zones import house_zones
from replay.text.times import stamp

S = 1_000_000
DEVICE = "library"
REFRESH_MS = 50
"""The default time until a code is redrawn."""

LOOK_US = 10 * S
"""The time between two pictures searched for a code automatically; a segment's first always is."""

KINDS: tuple[CodeKind, ...] = ("qr", "aruco")
"""Codes that show a reference clock. A strip shows the camera's own clock (ADR 0131)."""

REFERENCE = "code in the picture"
"""The name of the reference clock if none is given."""


class ClockReader:
    """Reads the clock of one camera from added segments, and records new checks."""

    def __init__(
        self, database: Database, index: FootageIndex, property_: str, camera: str, reference: str
    ) -> None:
        self._database, self._index = database, index
        self._of = (property_, camera, reference)
        self._known = checks_on_record(database, property_, camera)
        self._zone = house_zones(database).of(property_)

    def read(self, entries: Sequence[IndexedSegment], *, json: bool) -> None:
        """Search segments that were not searched yet, and print recorded checks.

        A segment is marked as searched only afterwards, so that an interrupted search is repeated.
        """
        anew = [each for each in entries if not each.codes_read]
        found = news(running_checks(_read(anew)), self._known)
        if found:
            property_, camera, reference = self._of
            verdicts = put_checks(self._database, property_, camera, reference, found)
            for each, verdict in zip(found, verdicts, strict=True):
                tell_check(camera, reference, each, verdict, self._zone, json=json)
                self._known.append(
                    Check(each.reference_us, each.camera_us, each.uncertainty_ms * 1000)
                )
        for entry in anew:
            self._index.keep(replace(entry, codes_read=True))


def _read(entries: Sequence[IndexedSegment]) -> Iterator[ClockReading]:
    """The readings in the pictures of segments; more pictures of segments with a code."""
    for entry, seen in looked_over(entries, KINDS, LOOK_US):
        if not any(each.codes for each in seen):
            continue
        frames = sorted({*sampled(entry, 0), len(entry.times.pts_us) - 1})
        for _, more in looked_at([(entry, tuple(frames))], KINDS):
            for each in more:
                yield from readings_of(entry, each, REFRESH_MS * 1000)


def readings_of(entry: IndexedSegment, looked: Looked, refresh_us: int) -> Iterator[ClockReading]:
    """The readings of one picture."""
    camera_us = entry.start_us + looked.pts_us
    around = entry.times.pts_us[max(looked.number - 2, 0) : looked.number + 3]
    frame_us = max((after - before for before, after in pairwise(around)), default=S)
    rounded = entry.start_from in ("name", "container") and entry.start_us % S == 0
    for code in looked.codes:
        shown = shown_us(code, camera_us)
        if shown is not None:
            stands_us = 0 if code.kind == "strip" else refresh_us
            doubt_us = S if rounded else 0
            yield reading(
                camera_us, shown, frame_us=frame_us, refresh_us=stands_us, start_us=doubt_us
            )


def check_fact(camera: str, reference: str, of: ClockCheck) -> ClockChecked:
    """The fact for a check."""
    return ClockChecked(
        camera=camera,
        camera_time=format_time(of.camera_us),
        reference_time=format_time(of.reference_us),
        reference=reference,
        uncertainty_ms=of.uncertainty_ms,
    )


def put_checks(
    database: Database, property_: str, camera: str, reference: str, found: Sequence[ClockCheck]
) -> list[str]:
    """Record checks; the same footage read again gives duplicates."""
    source = screen(property_, DEVICE)
    facts = [
        build_fact(
            check_fact(camera, reference, each),
            source,
            time_us=each.reference_us,
            id=f"clock-{camera}-{each.camera_us}-{each.reference_us}-{each.uncertainty_ms}",
        )
        for each in found
    ]
    with PostgresTape(database) as tape:
        return [each.receipt.verdict for each in append_facts(tape, facts)]


def checks_on_record(database: Database, property_: str, camera: str) -> list[Check]:
    """The recorded checks of a camera, by time."""
    with views_read(database, [CAMERA_FACTS.name]) as store:
        covered = coverage(fact_of(row) for row in standing_rows(store, property_, camera))
    found = covered.cameras.get((property_, camera))
    return found.checks if found else []


def tell_check(
    camera: str, reference: str, of: ClockCheck, verdict: str, zone: tzinfo, *, json: bool
) -> None:
    """Print a check and its verdict."""
    offset_us = of.camera_us - of.reference_us
    told = {
        "camera": camera,
        "camera_time": format_time(of.camera_us),
        "reference_time": format_time(of.reference_us),
        "reference": reference,
        "offset_us": offset_us,
        "uncertainty_ms": of.uncertainty_ms,
        "readings": of.readings,
        "verdict": verdict,
    }
    if json:
        print_json(told)
    else:
        say(
            f"{camera} is {seconds(offset_us)} {reference} at {stamp(of.reference_us, zone)}, "
            f"+/- {of.uncertainty_ms} ms, from {of.readings} readings: {verdict}"
        )


def seconds(offset_us: int) -> str:
    """How far one clock is off the other."""
    return f"{abs(offset_us) / 1e6:.3f} s {'ahead' if offset_us >= 0 else 'behind'}"
