"""Marks on footage as facts of surveillance: bookmarks, stills, shapes beside a frame.

A further fact removes a bookmark or replaces the shapes of a frame. A still stays: its picture is
kept by its hash, so that a newer decoder gives the same bytes.
"""

from __future__ import annotations

import hashlib
import secrets
from typing import TYPE_CHECKING, Annotated, Literal, NamedTuple

import msgspec
from msgspec import Meta, Struct

from consumers.cameras.cameras import OFF_US
from consumers.review.footage_marks import FOOTAGE_MARKS, marks_in, rows_of_marks
from infra.files import replace_file
from infra.postgres.view_tables import reading
from ledger.errors import NotFound, Refused, Usage
from ledger.facts import BookmarkAdded, BookmarkRemoved, FrameAnnotated, StillTaken
from ledger.facts.review import FrameShape
from ledger.record.wire import fact_of
from ledger.values import format_time, quantity
from replay.cameras.clock_pieces import epochs_of
from replay.cameras.clocks import DEVICE_PLUS_MINUS_US, to_camera, to_reference
from replay.cameras.coverage import Camera
from replay.footage.decoding.decoder import Job, decode
from replay.recording.house_facts import append_fact, screen
from replay.shell.stills import STILLS
from replay.text.typed import written

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping, Sequence
    from collections.abc import Set as AbstractSet
    from pathlib import Path

    from consumers.review.footage_marks import Bookmark, FootageMarks, Still
    from infra.postgres.connection import Database
    from infra.postgres.view_tables import ViewStore
    from ledger.record.tape import TapeRow
    from ledger.values import RoundId
    from replay.cameras.coverage import Coverage
    from replay.footage.library.files import FootageFiles
    from replay.footage.library.index import IndexedSegment
    from replay.recording.house_facts import FactWriter, Noted

DEVICE = "marks"
"""The device of surveillance that these facts come from."""

ShapeKind = Literal["arrow", "box", "mask"]
"""An arrow from its first point to its second; a box or a mask with its points as corners."""

TAGS_MAX = 16


class LensView(Struct, frozen=True):
    """How a picture was looked at: zoom, and its offset as a share of the picture, in 1/1000."""

    zoom: Annotated[int, Meta(ge=1000, le=8000)] = 1000
    x: Annotated[int, Meta(ge=-7000, le=0)] = 0
    y: Annotated[int, Meta(ge=-7000, le=0)] = 0


class _Shape(Struct, frozen=True):
    """A shape as a page sends it."""

    kind: ShapeKind
    points: tuple[tuple[int, int], tuple[int, int]]
    text: Annotated[str, Meta(max_length=200)] = ""


class MarkedTime(NamedTuple):
    """Rounds, and the time around them, microseconds by the reference clock."""

    property: str
    rounds: Collection[RoundId]
    from_us: int
    to_us: int
    others: bool = True  # also bookmarks that name another round


class MarkedFrame(NamedTuple):
    """A frame with its stills and shapes. Times in microseconds; None: not known."""

    camera: str
    segment: str
    frame: int
    camera_us: int | None
    time_us: int | None  # by the reference clock
    within_us: int  # how far that may be wrong
    stills: Sequence[Still]
    shapes: Sequence[FrameShape]
    drawn_by: str | None


class PlacedMarks(NamedTuple):
    """The marks about a round, by time."""

    bookmarks: Sequence[Bookmark] = ()
    frames: Sequence[MarkedFrame] = ()


def marks_about(
    database: Database, of: MarkedTime, coverage: Coverage, footage: FootageFiles
) -> PlacedMarks:
    """The bookmarks of the rounds or their time, and the marked frames within that time."""
    with reading(database, [FOOTAGE_MARKS.name]) as store:
        return mark_rows(store, of, coverage, footage)[1]


def mark_rows(
    store: ViewStore, of: MarkedTime, coverage: Coverage, footage: FootageFiles | None
) -> tuple[list[TapeRow], PlacedMarks]:
    """The same, with the rows of their facts."""
    segments = _segments(coverage, of.property)
    rows = rows_of_marks(store, of.property, of.rounds, (of.from_us, of.to_us), segments)
    facts = [fact_of(row) for row in rows]
    found = _placed(marks_in(of.property, facts), of, coverage, footage)
    names = {each.body.bookmark for each in found.bookmarks}
    frames = {(each.segment, each.frame) for each in found.frames}
    kept = [row for row, fact in zip(rows, facts, strict=True) if _is_of(fact.body, names, frames)]
    return kept, found


def _is_of(body: object, names: AbstractSet[str], frames: AbstractSet[tuple[str, int]]) -> bool:
    if isinstance(body, BookmarkAdded | BookmarkRemoved):
        return body.bookmark in names
    return isinstance(body, StillTaken | FrameAnnotated) and (body.segment, body.frame) in frames


def _placed(
    marks: FootageMarks, of: MarkedTime, coverage: Coverage, footage: FootageFiles | None
) -> PlacedMarks:
    since_us, until_us = of.from_us, of.to_us
    bookmarks = [
        each
        for each in marks.bookmarks
        if each.round in of.rounds
        or (
            (of.others or each.round is None)
            and (each.to_us >= since_us and each.from_us <= until_us)
        )
    ]
    frames = marked_frames(marks, of.property, coverage, footage)
    inside = [
        each for each in frames if each.time_us is not None and since_us <= each.time_us <= until_us
    ]
    return PlacedMarks(bookmarks, inside)


def marked_frames(
    marks: FootageMarks, property_: str, coverage: Coverage, footage: FootageFiles | None
) -> list[MarkedFrame]:
    """Each frame with a still or shapes, by time."""
    stills: dict[tuple[str, str, int], list[Still]] = {}
    for still in marks.stills:
        key = (still.body.camera, still.body.segment, still.body.frame)
        stills.setdefault(key, []).append(still)
    drawn = {(d.body.camera, d.body.segment, d.body.frame): d.body for d in marks.drawn}
    found = []
    for key in sorted({*stills, *drawn}):
        body = drawn.get(key)
        found.append(
            MarkedFrame(
                *key,
                *_moment(coverage, footage, property_, *key),
                stills.get(key, ()),
                body.shapes if body else (),
                body.by if body else None,
            )
        )
    return sorted(found, key=lambda it: (it.time_us is None, it.time_us or 0, it.camera))


def _moment(
    coverage: Coverage,
    footage: FootageFiles | None,
    property_: str,
    camera: str,
    segment: str,
    frame: int,
) -> tuple[int | None, int | None, int]:
    """When a frame was taken, by the camera's clock and by the reference clock.

    Without the file its frames count as evenly spaced.
    """
    its = coverage.cameras.get((property_, camera), Camera())
    of = next((each for each in its.segments if each.body.sha256 == segment), None)
    if of is None or frame >= of.body.frames:
        return None, None, OFF_US
    kept = footage.kept.get(segment) if footage else None
    times = kept.times.pts_us if kept and kept.times else ()
    after_us = times[frame] if frame < len(times) else frame * of.body.duration_us // of.body.frames
    camera_us = of.start_us + after_us
    if its.clock is None:
        return camera_us, camera_us, OFF_US
    time_us = to_reference(its.clock, camera_us, epochs_of(its.clock, of)[0])
    within_us = to_camera(its.clock, time_us).plus_minus_us + DEVICE_PLUS_MINUS_US
    return camera_us, time_us, within_us


def _segments(coverage: Coverage, property_: str) -> Iterable[str]:
    return {
        segment.body.sha256
        for (place, _), camera in coverage.cameras.items()
        if place == property_
        for segment in camera.segments
    }


def add_bookmark(
    record: FactWriter,
    round_: RoundId,
    cameras: Sequence[str],
    between_us: tuple[int, int],
    text: str,
    tags: Iterable[str],
    view: Mapping[str, LensView],
    by: str,
) -> Noted:
    """Mark a stretch of footage with a text. Raises `Usage`."""
    named = tuple(dict.fromkeys(each.strip() for each in tags if each.strip()))
    if len(named) > TAGS_MAX:
        raise Usage("The bookmark has too many tags", where="tags", hint=f"Give up to {TAGS_MAX}.")
    body = BookmarkAdded(
        bookmark=f"B-{secrets.token_hex(6)}",
        round=str(round_),
        cameras=tuple(dict.fromkeys(cameras)),
        from_=format_time(between_us[0]),
        to=format_time(between_us[1]),
        text=written(text.strip(), "text"),
        tags=named,
        view=msgspec.to_builtins(view) or None,
        by=by,
    )
    return append_fact(record, body, screen(round_.property, DEVICE))


def remove_bookmark(record: FactWriter, property_: str, name: str, because: str, by: str) -> Noted:
    """Take a bookmark away; its fact stays on record. Raises `Usage`."""
    why = written(because.strip(), "because")
    body = BookmarkRemoved(bookmark=name, because=why, by=by)
    return append_fact(record, body, screen(property_, DEVICE))


def take_still(
    record: FactWriter, home: Path, entry: IndexedSegment, frame: int, because: str, by: str
) -> Noted:
    """Save one exact frame as a picture, with its hash on record.

    Raises `Usage`, `NotFound`, and `Refused` if it cannot be read.
    """
    why = written(because.strip(), "because")
    _require_frame(entry, frame)
    answer = decode([Job(str(entry.path), entry.sha256, (frame,))])[0]
    if not answer.frames:
        raise Refused(
            f"The frame cannot be read: {answer.problem}",
            where=f"frame {frame} of {entry.sha256[:12]}…",
            hint="The file is kept unchanged. Try another frame.",
        )
    picture = answer.frames[0]
    replace_file(still_path(home, picture.sha256), picture.png)
    body = StillTaken(
        camera=entry.camera,
        segment=entry.sha256,
        frame=frame,
        sha256=picture.sha256,
        because=why,
        by=by,
    )
    return append_fact(record, body, screen(entry.property, DEVICE))


def still_path(home: Path, sha256: str) -> Path:
    """The file of a still's picture."""
    return home / STILLS / f"{sha256}.png"


def kept_still(home: Path, sha256: str) -> bytes | None:
    """The picture of a still, if its bytes are there and unchanged."""
    try:
        octets = still_path(home, sha256).read_bytes()
    except OSError:
        return None
    return octets if hashlib.sha256(octets).hexdigest() == sha256 else None


def annotate(record: FactWriter, entry: IndexedSegment, frame: int, shapes: str, by: str) -> Noted:
    """Draw shapes beside a frame, in place of those it has; none takes them away.

    shapes: a JSON list. Raises `Usage` and `NotFound`.
    """
    _require_frame(entry, frame)
    try:
        told = msgspec.json.decode(shapes.encode(), type=list[_Shape])
    except (msgspec.DecodeError, UnicodeEncodeError) as error:
        hint = "Reload the page and draw again."
        raise Usage(f"The shapes cannot be read: {error}", where="shapes", hint=hint) from error
    outside = any(
        not (0 <= x <= entry.width and 0 <= y <= entry.height)
        for each in told
        for x, y in each.points
    )
    if outside:
        raise Usage("A shape is not within the frame", where="shapes", hint="Draw it again.")
    body = FrameAnnotated(
        camera=entry.camera,
        segment=entry.sha256,
        frame=frame,
        shapes=tuple(
            FrameShape(kind=each.kind, points=each.points, text=each.text or None) for each in told
        ),
        by=by,
    )
    return append_fact(record, body, screen(entry.property, DEVICE))


def _require_frame(entry: IndexedSegment, frame: int) -> None:
    count = len(entry.times.pts_us)
    if not 0 <= frame < count:
        raise NotFound(
            f"The segment has only {quantity(count, 'frame')}, counted from 0",
            where=f"frame {frame}",
            hint="Choose one of them.",
        )
