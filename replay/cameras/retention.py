"""Retention: how long footage is kept and when it expires, by a policy table.

A house gives its own table; the built-in one is not a regulation's. Locked footage never expires. A
release does not restart the retention time. Pure, except for reading the table's file.
"""

from __future__ import annotations

import tomllib
from bisect import bisect_left, bisect_right
from fnmatch import fnmatchcase
from itertools import pairwise
from typing import TYPE_CHECKING, Annotated, NamedTuple

import msgspec
from msgspec import Meta, Struct

from ledger.errors import Refused, Usage
from ledger.facts import FootageExpired, FootageLocked
from replay.cameras.custody import held, without

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from pathlib import Path

    from replay.cameras.coverage import Camera
    from replay.cameras.custody import LockedSpan

DAY_US = 24 * 3_600_000_000

BUILT_IN = """\
# How long footage is kept, in days from its recording, by area and reason.
# These are this program's own figures and no regulation's: put your approved ones in their place.
# The first area that fits a camera holds; globs are allowed. Footage is kept for the
# longest reason that holds: `dispute` if it was ever locked for a dispute, `preserved` if it was
# ever locked without one, `routine` always. Locked footage is kept until it is released.
jurisdiction = "none named"

[[areas]]
name = "everything"
cameras = ["*"]
tables = ["*"]
released_by = ["*"]   # credentials of who may release a lock
days = { routine = 30, dispute = 365, preserved = 365 }
"""
"""The table used without a file."""


class Area(Struct, frozen=True, forbid_unknown_fields=True):
    """Cameras with one retention. cameras, tables, released_by: globs; one of each must fit."""

    name: str
    days: dict[str, Annotated[int, Meta(ge=1, le=36_500)]]
    cameras: tuple[str, ...] = ("*",)
    tables: tuple[str, ...] = ("*",)
    released_by: tuple[str, ...] = ("*",)


class Policy(Struct, frozen=True, forbid_unknown_fields=True):
    """The table. jurisdiction: whose figures they are, in the house's own words."""

    areas: tuple[Area, ...]
    jurisdiction: str = "none named"


class Footage(NamedTuple):
    """A segment's start (inclusive) and end (exclusive)."""

    start_us: int
    end_us: int


class SegmentRetention(NamedTuple):
    """A segment, when it may expire, and by which reason. Times in microseconds."""

    segment: Footage
    area: str
    reason: str  # routine, dispute, preserved
    days: int
    expires_us: int
    locks: Sequence[FootageLocked]  # locks on any part of it; while it has one, it does not expire


class RetentionRun(Struct, frozen=True, kw_only=True):
    """Consecutive segments of a camera with the same retention, by the camera's clock."""

    camera: str
    from_us: int
    to_us: int
    segments: int
    area: str
    reason: str
    days: int
    expires_us: int  # when the first expires
    expires_last_us: int


REASONS = ("routine", "dispute", "preserved")
FAR_US = 2**62
"""Earlier and later than any time on record."""

PAUSE_US = 60_000_000
"""A longer pause between two segments begins another run."""


def policy_from(path: Path | None) -> Policy:
    """The table in a file, or the one built in. Raises `Usage`."""
    try:
        text = BUILT_IN if path is None else path.read_text(encoding="utf-8")
        policy = msgspec.convert(tomllib.loads(text), Policy)
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError, msgspec.ValidationError) as error:
        raise Usage(
            f"The retention table cannot be read: {error}",
            where=f"ROUND_LEDGER_RETENTION_FILE {path}",
            hint="`round-ledger footage retention --policy` prints a table to start from.",
        ) from error
    for area in policy.areas:
        strange = sorted(set(area.days) - set(REASONS))
        if strange or "routine" not in area.days:
            raise Usage(
                f"Area {area.name} has {', '.join(strange) or 'no days for `routine`'}",
                where=f"{path}",
                hint=f"Give days for {', '.join(REASONS)}; at least for `routine`.",
            )
    return policy


def area_of(policy: Policy, camera: str, tables: Iterable[str]) -> Area:
    """The first area that fits a camera and a table it was ever on. Raises `Usage` for none."""
    names = list(tables) or [""]
    for area in policy.areas:
        if _fits(camera, area.cameras) and any(_fits(name, area.tables) for name in names):
            return area
    raise Usage(
        f"No area of the retention table fits camera {camera}",
        where="ROUND_LEDGER_RETENTION_FILE",
        hint='Add a last area with cameras = ["*"] and tables = ["*"].',
    )


def may_release(area: Area, by: str) -> None:
    """Raise `Refused` if the table does not let this person release footage of an area."""
    if not _fits(by, area.released_by):
        raise Refused(
            f"{by} may not release footage of area {area.name}",
            where="the retention table",
            hint=f"Ask one of {', '.join(area.released_by)}.",
        )


def expired(camera: Camera) -> list[tuple[int, int]]:
    """The spans of a camera's footage that have expired, in order, joined, ends included."""
    gone = sorted(
        (each.from_us, each.to_us)
        for each in camera.handled
        if isinstance(each.body, FootageExpired) and each.to_us >= each.from_us
    )
    found: list[tuple[int, int]] = []
    for start, end in gone:
        if found and start <= found[-1][1] + 1:
            found[-1] = (found[-1][0], max(found[-1][1], end))
        else:
            found.append((start, end))
    return found


def not_expired(camera: Camera, until_us: int) -> list[tuple[int, int]]:
    """The spans up to a time that have not expired."""
    return without(-FAR_US, until_us, expired(camera))


def keeping(
    camera: Camera, area: Area, footage: Iterable[Footage] | None = None
) -> list[SegmentRetention]:
    """Every segment of a camera that has not expired, with its time of expiry, by time.

    footage: the segments to read, by time; default: all of the camera's.
    """
    spans, gone, reasons = held(camera), expired(camera), _reasons(camera, area)
    segments = camera.segments if footage is None else footage
    found = []
    for each in segments:
        segment = Footage(each.start_us, each.end_us)
        if _over(gone, segment.start_us, segment.end_us - 1):
            continue
        reason, days = _longest(reasons, segment, area)
        locks = _locks_on(spans, segment)
        expires_us = segment.end_us + days * DAY_US
        found.append(SegmentRetention(segment, area.name, reason, days, expires_us, locks))
    return found


def due(kept: Iterable[SegmentRetention], by_us: int) -> list[SegmentRetention]:
    """What may expire by then: old enough, and not locked."""
    return [each for each in kept if each.expires_us <= by_us and not each.locks]


def runs(
    camera: str, kept: Sequence[SegmentRetention], between: Sequence[SegmentRetention]
) -> list[RetentionRun]:
    """Runs of consecutive segments with the same retention.

    between: all segments of the camera, so that a run contains none with another retention.
    """
    chosen = set(map(id, kept))
    found: list[RetentionRun] = []
    joined = False
    for each in between:
        if id(each) not in chosen:
            joined = False
            continue
        segment, last = each.segment, found[-1] if found else None
        same = last and (last.area, last.reason, last.days) == (each.area, each.reason, each.days)
        if last and joined and same and segment.start_us - last.to_us <= PAUSE_US:
            found[-1] = msgspec.structs.replace(
                last,
                to_us=max(last.to_us, segment.end_us),
                segments=last.segments + 1,
                expires_last_us=max(last.expires_last_us, each.expires_us),
            )
        else:
            found.append(
                RetentionRun(
                    camera=camera,
                    from_us=segment.start_us,
                    to_us=segment.end_us,
                    segments=1,
                    area=each.area,
                    reason=each.reason,
                    days=each.days,
                    expires_us=each.expires_us,
                    expires_last_us=each.expires_us,
                )
            )
        joined = True
    return found


def _reasons(camera: Camera, area: Area) -> list[tuple[int, int, str, int]]:
    """Spans that were ever locked, in order, with the reason that keeps them longest."""
    locks = [each for each in camera.handled if isinstance(each.body, FootageLocked)]
    edges = sorted({each.from_us for each in locks} | {each.to_us + 1 for each in locks})
    found = []
    for start, end in pairwise(edges):
        over = [each.body for each in locks if each.from_us <= start <= each.to_us]
        if over:
            reasons = ["dispute" if each.dispute else "preserved" for each in over]
            reason = max(reasons, key=lambda reason: area.days.get(reason, 0))
            found.append((start, end - 1, reason, area.days.get(reason, 0)))
    return found


def _longest(
    reasons: Sequence[tuple[int, int, str, int]], segment: Footage, area: Area
) -> tuple[str, int]:
    """The reason that keeps a segment longest, and its days."""
    found = [("routine", area.days["routine"])]
    at = bisect_left(reasons, segment.start_us, key=lambda each: each[1])
    while at < len(reasons) and reasons[at][0] < segment.end_us:
        found.append(reasons[at][2:])
        at += 1
    return max(found, key=lambda each: each[1])


def _over(spans: Sequence[tuple[int, int]], first: int, last: int) -> bool:
    """Whether one of joined spans contains all of a span (ends included)."""
    at = bisect_right(spans, first, key=lambda each: each[0]) - 1
    return at >= 0 and spans[at][1] >= last


def _locks_on(spans: Sequence[LockedSpan], segment: Footage) -> list[FootageLocked]:
    """The locks on any part of a segment, each once."""
    at = bisect_left(spans, segment.start_us, key=lambda each: each.to_us)
    found: dict[int, FootageLocked] = {}
    while at < len(spans) and spans[at].from_us < segment.end_us:
        found |= {id(lock): lock for lock in spans[at].locks}
        at += 1
    return list(found.values())


def _fits(name: str, globs: Iterable[str]) -> bool:
    return any(fnmatchcase(name, glob) for glob in globs)
