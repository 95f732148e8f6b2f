"""The report of a file before it is on record: what it holds, how its start is known, what is odd.

The command and the page show the same report. Nothing is recorded, and nothing added to the index.
"""

from __future__ import annotations

from itertools import pairwise
from statistics import median_low
from typing import TYPE_CHECKING

from msgspec import Struct
from msgspec.structs import replace

from consumers.cameras.cameras import CAMERA_FACTS
from infra.postgres.view_tables import reading
from ledger.values import format_time, quantity
from replay.cameras.intake.beside import FileTimes, FootageWarning, TableBeside, beside_record
from replay.cameras.intake.taking import on_record
from replay.cameras.timeline import HOLE_US_MAX
from replay.footage.library.adding import look
from replay.footage.library.index import S, rates_of

if TYPE_CHECKING:
    from datetime import tzinfo
    from pathlib import Path

    from infra.postgres.connection import Database
    from replay.footage.decoding.containers import Ending
    from replay.footage.decoding.decoder import FrameIndex
    from replay.footage.library.adding import FileContents, FootageDetails
    from replay.footage.library.index import FootageIndex, IndexedSegment, StartFrom

VARIES_US = 2_000
"""Frames farther apart or nearer than most by more than this have a variable rate."""

HOLES_TOLD = 20
"""The most holes that a report lists."""


class Hole(Struct, frozen=True):
    """A time without a frame, in microseconds from the first frame."""

    from_us: int
    to_us: int


class FileReport(Struct, frozen=True, kw_only=True):
    """A file of footage before it is on record. None: not known, or nothing was read."""

    file: str
    size: int
    sha256: str | None = None
    problem: str | None = None  # why it cannot be put on record yet
    added: bool = False  # whether the same bytes are in the index already
    container: str | None = None
    codec: str | None = None
    width: int | None = None
    height: int | None = None
    rotation: int | None = None
    audio: bool | None = None
    ending: Ending | None = None
    frames: int | None = None
    not_whole: int | None = None  # pictures at the end of a cut file that nothing shows
    key_frames: int | None = None
    duration_us: int | None = None
    fps_nominal: float | None = None  # by the distance of most frames
    fps_mean: float | None = None
    fps_min: float | None = None
    fps_max: float | None = None
    variable: bool | None = None
    holes: tuple[Hole, ...] = ()
    holes_total: int = 0
    start: str | None = None  # by the camera's clock
    start_from: StartFrom | None = None
    timecode_start: str | None = None
    beside: tuple[TableBeside, ...] = ()
    warnings: tuple[FootageWarning, ...] = ()


class Reported(Struct, frozen=True):
    """A report, and the file's first picture as a small JPEG."""

    report: FileReport
    picture: bytes | None


def report(
    database: Database,
    index: FootageIndex,
    path: Path,
    told: FootageDetails,
    house: tzinfo,
    now_us: int,
) -> Reported:
    """The report of one file, as footage of a camera. house: the zone of the property."""
    with reading(database, [CAMERA_FACTS.name]) as store:
        found = look(index, path, told, on_record(store, told.property, told.camera))
    try:
        size = path.stat().st_size
    except OSError:
        size = 0
    head = FileReport(
        file=path.name, size=size, sha256=found.sha256, problem=found.problem, added=found.added
    )
    if found.contents is None:
        return Reported(head, None)
    made = _with_contents(head, found.contents)
    own = warnings_of_contents(found.contents.times, made.ending or "whole", found.picture_problem)
    if found.start is None or found.sha256 is None:
        return Reported(replace(made, warnings=tuple(own)), found.picture)
    times = FileTimes(
        told.property, told.camera, found.sha256, path.name,
        found.start.start_us, found.start.start_from, found.contents.duration_us, told.zone,
    )  # fmt: skip
    beside = beside_record(database, times, house, now_us)
    start, timecode_us = found.start, found.start.timecode_us
    placed = replace(
        made,
        start=format_time(start.start_us),
        start_from=start.start_from,
        timecode_start=None if timecode_us is None else format_time(timecode_us),
        beside=tuple(beside.tables),
        warnings=(*beside.warnings, *own),
    )
    return Reported(placed, found.picture)


def warnings_of(
    database: Database, entry: IndexedSegment, house: tzinfo, zone: tzinfo | None, now_us: int
) -> list[FootageWarning]:
    """What is odd about a file that was added. zone: given for names without an offset."""
    times = FileTimes(
        entry.property, entry.camera, entry.sha256, entry.path.name,
        entry.start_us, entry.start_from, entry.duration_us, zone,
    )  # fmt: skip
    own = warnings_of_contents(entry.times, entry.ending)
    return [*beside_record(database, times, house, now_us).warnings, *own]


def _with_contents(head: FileReport, contents: FileContents) -> FileReport:
    times, nature, duration_us = contents
    steps = [after - before for before, after in pairwise(times.pts_us)]
    usual = median_low(steps) if steps else duration_us
    rates = rates_of(times, duration_us)
    holes = holes_of(times)
    return replace(
        head,
        container=nature.container,
        codec=nature.codec,
        width=nature.width,
        height=nature.height,
        rotation=nature.rotation,
        audio=nature.audio,
        ending=nature.ending,
        frames=len(times.pts_us),
        not_whole=times.not_whole,
        key_frames=len(times.keys),
        duration_us=duration_us,
        fps_nominal=round(S / max(usual, 1), 3),
        fps_mean=round(len(times.pts_us) * S / max(duration_us, 1), 3),
        fps_min=rates.least,
        fps_max=rates.most,
        variable=any(abs(step - usual) > VARIES_US for step in steps),
        holes=tuple(holes[:HOLES_TOLD]),
        holes_total=len(holes),
    )


def holes_of(times: FrameIndex) -> list[Hole]:
    """The times without a frame that count as gaps in the footage."""
    return [
        Hole(before, after)
        for before, after in pairwise(times.pts_us)
        if after - before > HOLE_US_MAX
    ]


def warnings_of_contents(
    times: FrameIndex, ending: Ending, picture_problem: str | None = None
) -> list[FootageWarning]:
    """What a file lacks by its own bytes: it is cut off, has holes, or pictures do not decode."""
    found = []
    if ending == "cut":
        kept = quantity(len(times.pts_us), "frame")
        broken = quantity(times.not_whole, "picture")
        says = f"It is cut off: {kept} up to {_seconds(times.pts_us[-1])} can be read, each exact"
        if times.not_whole:
            says += f"; left out at the end, since it may lack bytes: {broken}"
        again = "Copy it again if the recorder still has it whole"
        found.append(FootageWarning("cut", f"{says}. {again}"))
    holes = holes_of(times)
    if holes:
        longest = max(holes, key=lambda each: each.to_us - each.from_us)
        found.append(
            FootageWarning(
                "holes",
                f"It has {quantity(len(holes), 'hole')} without a frame; the longest lasts "
                f"{_seconds(longest.to_us - longest.from_us)}, from {_seconds(longest.from_us)}",
            )
        )
    if picture_problem is not None:
        says = f"Its first picture cannot be shown: {picture_problem}"
        found.append(FootageWarning("pictures", says))
    return found


def _seconds(span_us: int) -> str:
    return f"{span_us / S:.1f} s"
