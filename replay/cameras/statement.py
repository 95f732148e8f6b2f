"""The statement of coverage: what each camera filmed of an open table, and each gap with its cause.

It is compared with 465a.9(c)(2), which requires a number of stationary cameras for a table. The
seven states of footage are kept apart, so that a gap is never silent. An unknown value, such as the
frame rate of an unavailable file, is None and never 0. Footage from a covered lens still counts as
footage; picture faults are listed beside it. Pure: callers pass in what they read from files.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from functools import cache, partial
from itertools import pairwise
from typing import TYPE_CHECKING, NamedTuple

from msgspec import Struct, to_builtins
from msgspec.structs import replace

from ledger.facts import CameraMapped, CameraUnmapped
from ledger.rules.procedures.staffing import STATIONARY, cameras_due, watched
from ledger.values import format_time
from replay.cameras.clock_pieces import epochs_of
from replay.cameras.clocks import to_camera, to_reference, unchecked_us
from replay.cameras.coverage import (
    Camera,
    coverage,
    expired_by,
    expiry_of,
    held_by,
    lock_on,
    property_of,
)
from replay.cameras.health import Pictured
from replay.cameras.timeline import HOLE_US_MAX, SEEN, CameraState, State, camera_states, joined

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Sequence

    from ledger.record.wire import Fact
    from ledger.rules.procedures.staffing import Watched
    from replay.cameras.coverage import Segment
    from replay.cameras.health import Ailing
    from replay.cameras.timeline import FrameLookup
    from replay.footage.library.files import FootageFiles


class StatedTime(NamedTuple):
    """A time to state: an open table, or a round. Device times, in microseconds."""

    name: str  # "open", or the round's subject
    game: str
    from_us: int
    to_us: int
    ended: bool = True  # False: no fact ends it, and `to_us` is the latest known time


_TIMES = ("from_us", "to_us")

FAR_US = 2**62
"""Later than any time on record."""


class Filmed(NamedTuple):
    """The picture size of a file, and its lowest and highest frame rate."""

    width: int
    height: int
    fps_min: float
    fps_max: float


class CameraCover(Struct, frozen=True, kw_only=True):
    """The coverage of a span by one camera in one role. Times in microseconds.

    A camera that was turned or replaced in between has an entry for each kind and covered area,
    each with its time. fps_min, fps_max, sizes: measured in the files; None or empty without files.
    findings: times of dark, blurred, moved or frozen pictures in checked segments, by the reference
    clock.
    """

    camera: str
    kind: str  # stationary, ptz
    covers: Sequence[str]  # table, end_left, end_right, tray
    clock: str  # checked, never_checked
    plus_minus_us: int | None  # the largest of start, middle and end
    unchecked_us: int | None  # distance from the span to the nearest check; 0: within it
    mapped_us: int
    recorded_us: int  # time with footage, locked or not
    locked_us: int
    segments: int
    looked_at: int  # segments with an available file
    fps_min: float | None
    fps_max: float | None
    sizes: Sequence[str]  # as "1280x720"
    pictured: int  # segments with checked pictures
    findings: Sequence[Ailing]
    pieces: Sequence[CameraState]


class Cover(Struct, frozen=True, kw_only=True):
    """A span compared with the section. short: times with fewer cameras than required.

    section, due, met: None if the regulation prints no number for the game.
    """

    name: str
    game: str
    from_us: int
    to_us: int
    ended: bool
    section: str | None
    due: str | None
    met: bool | None
    covered_us: int | None  # time in which enough cameras have footage
    short: Sequence[CameraState]
    cameras: Sequence[CameraCover]


class Statement(Struct, frozen=True, kw_only=True):
    """The coverage of one table. looked: whether footage files were searched."""

    property: str
    table: str
    looked: bool
    stretches: Sequence[Cover]


class _Mapped(NamedTuple):
    from_us: int
    to_us: int
    kind: str
    covers: Sequence[str]


class _Filming(NamedTuple):
    """A camera, its times on the table, and its segments by the reference clock, by time."""

    name: str
    camera: Camera
    mapped: Sequence[_Mapped]
    segments: Sequence[tuple[int, int, Segment]]
    longest_us: int

    def near(self, from_us: int, to_us: int) -> list[tuple[int, int, Segment]]:
        """The segments that overlap a time."""
        start = bisect_left(self.segments, from_us - self.longest_us, key=lambda each: each[0])
        end = bisect_right(self.segments, to_us, key=lambda each: each[0])
        return [each for each in self.segments[start:end] if each[1] > from_us]


def coverage_statement(
    facts: Iterable[Fact],
    property_: str,
    table: str,
    stretches: Iterable[StatedTime],
    at_hand: FootageFiles | None = None,
    filmed: Callable[[str], Filmed | None] = lambda _: None,
    pictured: Callable[[Sequence[str]], Pictured] = lambda _: Pictured(0, ()),
) -> Statement:
    """The coverage of a table in each span.

    facts: those of the table's cameras. at_hand: the available segments by SHA-256; None if files
    were not searched, and recorded facts then count as recorded. filmed: size and frame rate by
    SHA-256. pictured: picture faults of one camera's segments, by SHA-256.
    """
    told = list(facts)
    covered = coverage(told)
    mapped = _mappings(told, property_, table)
    cameras = [
        _Filming(name, camera, mapped[name], _by_time(camera), _longest_us(camera))
        for name in sorted(mapped)
        for camera in [covered.cameras.get((property_, name), Camera())]
    ]
    ask = cache(filmed)
    covers = []
    for each in stretches:
        stretch = each._replace(to_us=max(each.to_us, each.from_us + 1))
        seen = [
            _camera(camera, on, stretch, at_hand, ask, pictured)
            for camera in cameras
            for on in _roles(camera, stretch)
        ]
        covers.append(_cover(stretch, seen))
    return Statement(property=property_, table=table, looked=at_hand is not None, stretches=covers)


def _by_time(camera: Camera) -> list[tuple[int, int, Segment]]:
    """The segments of a camera with their times by the reference clock, by time."""
    times = ((*_by_reference(camera, segment), segment) for segment in camera.segments)
    return sorted(times, key=lambda each: each[:2])


def _by_reference(camera: Camera, segment: Segment) -> tuple[int, int]:
    """The reference span of a segment, by the likeliest fit of the clock."""
    if camera.clock is None:
        return segment.start_us, segment.end_us
    epoch, *_ = epochs_of(camera.clock, segment)
    start, end = (to_reference(camera.clock, at, epoch) for at in segment[:2])
    return start, end


def _longest_us(camera: Camera) -> int:
    """The longest segment, by any clock."""
    return 2 * max((each.body.duration_us for each in camera.segments), default=0)


def _mappings(facts: Iterable[Fact], property_: str, table: str) -> dict[str, list[_Mapped]]:
    """When each camera was on the table, and the area it covered."""
    changes: dict[str, list[tuple[int, CameraMapped | None]]] = {}
    for fact in facts:
        body = fact.body
        if not isinstance(body, CameraMapped | CameraUnmapped) or body.table != table:
            continue
        if property_of(fact) == property_:
            on = body if isinstance(body, CameraMapped) else None
            changes.setdefault(body.camera, []).append((fact.time_us, on))
    found = {}
    for camera, told in changes.items():
        told.sort(key=lambda each: (each[0], each[1] is not None))
        ends = [*(time_us for time_us, _ in told[1:]), FAR_US]
        found[camera] = [
            _Mapped(from_us, to_us, on.kind, on.covers)
            for (from_us, on), to_us in zip(told, ends, strict=True)
            if on is not None
        ]
    return found


def _roles(filming: _Filming, stretch: StatedTime) -> Iterable[Sequence[_Mapped]]:
    """A camera's times on the table in a span, for each kind and covered area."""
    roles: dict[tuple[str, tuple[str, ...]], list[_Mapped]] = {}
    for each in filming.mapped:
        from_us, to_us = max(each.from_us, stretch.from_us), min(each.to_us, stretch.to_us)
        if from_us < to_us:
            role = roles.setdefault((each.kind, tuple(sorted(each.covers))), [])
            role.append(each._replace(from_us=from_us, to_us=to_us))
    return roles.values()


def _camera(
    filming: _Filming,
    on: Sequence[_Mapped],
    stretch: StatedTime,
    at_hand: FootageFiles | None,
    filmed: Callable[[str], Filmed | None],
    pictured: Callable[[Sequence[str]], Pictured],
) -> CameraCover:
    """One camera in a span while it was on the table in one role."""
    camera = filming.camera
    near = filming.near(stretch.from_us - HOLE_US_MAX, stretch.to_us + HOLE_US_MAX)
    says = partial(_says, camera, looked=at_hand is not None)
    pieces = [
        piece
        for each in on
        for piece in camera_states(filming.name, camera, at_hand, (each.from_us, each.to_us), says)
    ]
    counted = [each for each in near if _touches(on, each[0], each[1] - 1)]
    over = [each for _, _, each in counted]
    files = [file for each in over if (file := filmed(each.body.sha256))]
    pictures = pictured([each.body.sha256 for each in over])
    clock = camera.clock
    looked_us = (stretch.from_us, (stretch.from_us + stretch.to_us) // 2, stretch.to_us)
    doubts = [to_camera(clock, at_us).plus_minus_us for at_us in looked_us] if clock else []
    checked_us = [each.reference_us for each in camera.checks]
    return CameraCover(
        camera=filming.name,
        kind=on[0].kind,
        covers=on[0].covers,
        clock="checked" if clock else "never_checked",
        plus_minus_us=max(doubts, default=None),
        unchecked_us=unchecked_us(checked_us, stretch.from_us, stretch.to_us),
        mapped_us=sum(each.to_us - each.from_us for each in on),
        recorded_us=sum(each.to_us - each.from_us for each in pieces if each.state in SEEN),
        locked_us=sum(each.to_us - each.from_us for each in pieces if each.state == "locked"),
        segments=len(over),
        looked_at=len(files),
        fps_min=min((file.fps_min for file in files), default=None),
        fps_max=max((file.fps_max for file in files), default=None),
        sizes=sorted({f"{file.width}x{file.height}" for file in files}),
        pictured=pictures.segments,
        findings=list(_findings(pictures.findings, counted, on)),
        pieces=pieces,
    )


def _says(camera: Camera, of: FrameLookup, *, looked: bool) -> str:
    """The sentence for a span, from the lookup of one time in it."""
    camera_us = of.camera_time_us or 0
    if of.state == "altered":
        return "Recorded, but no available file has its bytes."
    if of.state == "expired" and (expiry := expiry_of(camera, camera_us)):
        return expired_by(expiry)
    if of.state == "off_line":
        return "The camera was reported lost."
    if of.state == "gap":
        return "The segment has no frame here." if of.segment else "No segment was recorded."
    lock = lock_on(camera, camera_us)
    kept = "Recorded; its file is unaltered." if looked else "Recorded; no file was checked."
    return f"{kept} {held_by(lock)}." if lock else kept


def _findings(
    ails: Iterable[Ailing], counted: Sequence[tuple[int, int, Segment]], on: Sequence[_Mapped]
) -> Iterable[Ailing]:
    """The picture faults while the camera was on the table, by the reference clock."""

    def reference(camera_us: int) -> int:
        inside = (
            from_us + camera_us - each.start_us
            for from_us, _, each in counted
            if each.start_us <= camera_us <= each.end_us
        )
        return next(inside, camera_us)

    for each in ails:
        from_us, to_us = reference(each.from_us), reference(each.to_us)
        if _touches(on, from_us, to_us):
            yield replace(each, from_us=from_us, to_us=to_us)


def _touches(on: Sequence[_Mapped], first_us: int, last_us: int) -> bool:
    """Whether a span (ends included) overlaps the time of a role."""
    return any(each.from_us <= last_us and each.to_us > first_us for each in on)


def _cover(stretch: StatedTime, cameras: Sequence[CameraCover]) -> Cover:
    """A span compared with the section: when too few cameras have footage."""
    due = cameras_due(stretch.game)
    short = joined(_short(stretch, due, cameras)) if due else []
    lacking = sum(each.to_us - each.from_us for each in short)
    return Cover(
        name=stretch.name,
        game=stretch.game,
        from_us=stretch.from_us,
        to_us=stretch.to_us,
        ended=stretch.ended,
        section=due.section if due else None,
        due=f"{due.cameras}{', one at each end' if due.ends else ''}" if due else None,
        met=not short if due else None,
        covered_us=stretch.to_us - stretch.from_us - lacking if due else None,
        short=short,
        cameras=cameras,
    )


def _short(
    stretch: StatedTime, due: Watched, cameras: Sequence[CameraCover]
) -> Iterable[CameraState]:
    """When fewer stationary cameras have footage than required, and why."""
    fixed = [each for each in cameras if each.kind == STATIONARY]
    edges = {stretch.from_us, stretch.to_us}
    edges |= {at for each in fixed for piece in each.pieces for at in (piece.from_us, piece.to_us)}
    for start, end in pairwise(sorted(edges)):
        now = [(each, _piece_at(each.pieces, start)) for each in fixed]
        seen = [each.covers for each, piece in now if piece and piece.state in SEEN]
        if watched(due, seen):
            continue
        state, says = _why(due, [(each.camera, piece) for each, piece in now if piece])
        yield CameraState(start, end, state, says)


def _piece_at(pieces: Sequence[CameraState], time_us: int) -> CameraState | None:
    found = bisect_right(pieces, time_us, key=lambda piece: piece.from_us) - 1
    return pieces[found] if found >= 0 and pieces[found].to_us > time_us else None


def _why(due: Watched, now: Collection[tuple[str, CameraState]]) -> tuple[State, str]:
    """Why there are too few: the first camera's cause of a gap, or too few were mapped."""
    missing = [(camera, piece) for camera, piece in now if piece.state not in SEEN]
    if missing:
        says = " ".join(f"{camera}: {piece.says}" for camera, piece in missing)
        return missing[0][1].state, says
    asked = f"{due.cameras} are required{', one at each end' if due.ends else ''}"
    return "no_camera_mapped", f"{len(now)} stationary cameras were mapped and recorded; {asked}."


def statement_json(stated: Statement) -> dict[str, object]:
    """The statement as JSON; each time also as RFC 3339 in UTC."""
    told = to_builtins(stated)
    _with_times(told)
    whole: dict[str, object] = told
    return whole


def _with_times(told: object) -> None:
    """Add the text form of every time in microseconds."""
    if isinstance(told, list):
        for each in told:
            _with_times(each)
    elif isinstance(told, dict):
        for name in _TIMES:
            if isinstance(told.get(name), int):
                told[name.removesuffix("_us")] = format_time(told[name])
        for each in list(told.values()):
            _with_times(each)
