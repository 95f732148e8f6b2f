"""What a reviewer watched of a dispute's footage, and how an observation says so.

A span is of one camera, by the camera's own clock. An observation is blind only if its author did
not know the claim and had watched some footage.
"""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING, Annotated, NamedTuple

import msgspec
from msgspec import Meta

from consumers.cameras.cameras import CAMERA_FACTS, handled
from infra.postgres.view_tables import reading
from ledger.errors import Usage
from ledger.facts import FootageViewed, WatchedSpan
from ledger.record.wire import fact_of
from ledger.values import format_time, parse_time

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from infra.postgres.connection import Database
    from replay.disputes.dispute import Observation

SPANS_MAX = 256
"""The most spans of one observation."""

_S = 1_000_000
_Time = Annotated[int, Meta(ge=0, le=32_503_680_000_000_000)]  # until the year 3000
_Played = dict[str, Annotated[list[tuple[_Time, _Time]], Meta(max_length=SPANS_MAX)]]


class _Span(NamedTuple):
    from_us: int
    to_us: int


def how_seen(observation: Observation) -> str:
    """What its author knew and watched, for people."""
    if observation.knew:
        return "knew the claim"
    if not observation.watched:
        return "claim unknown, no footage watched"
    spans = _by_camera((each.camera, each.from_, each.to) for each in observation.watched)
    parts = [f"{_seconds(its)} on {camera}" for camera, its in sorted(spans.items())]
    return f"claim unknown, watched {', '.join(parts)}"


def played(text: str) -> list[tuple[str, int, int]]:
    """What a page says that it played: camera, from, to. Raises `Usage`."""
    if not text:
        return []
    try:
        told = msgspec.json.decode(text.encode(), type=_Played)
    except (msgspec.DecodeError, UnicodeEncodeError) as error:
        hint = "Reload the page and send what you saw again."
        raise Usage(
            f"What was watched cannot be read: {error}", where="watched", hint=hint
        ) from error
    return [(camera, *span) for camera, its in told.items() for span in its if span[0] < span[1]]


def typed_spans(texts: Iterable[str]) -> list[WatchedSpan]:
    """Spans as they are typed: `CAMERA@FROM/TO`. Raises `Usage`."""
    found = []
    for text in texts:
        camera, _, times = text.partition("@")
        from_, _, to = times.partition("/")
        from_us, to_us = parse_time(from_), parse_time(to)
        if not camera or from_us is None or to_us is None or to_us <= from_us:
            raise Usage(
                f"`{text}` is not footage of a camera",
                where="--watched",
                hint="Write camera, beginning and end by its clock: "
                "CC-02-cam1@2026-11-20T21:14:00Z/2026-11-20T21:15:00Z.",
            )
        found.append(WatchedSpan(camera=camera, from_=from_, to=to))
    return found


def opened(
    database: Database, property_: str, by: str, claimed: Sequence[tuple[str, int, int]]
) -> list[WatchedSpan]:
    """The parts of claimed spans that a person had opened, by the record of views."""
    found: list[tuple[str, _Span]] = []
    with reading(database, [CAMERA_FACTS.name]) as store:
        for camera, spans in _spans(claimed).items():
            rows = handled(store, property_, camera, spans[0].from_us, spans[-1].to_us)
            bodies = (fact_of(row).body for row in rows)
            views = [
                (camera, parse_time(body.from_) or 0, parse_time(body.to) or 0)
                for body in bodies
                if isinstance(body, FootageViewed) and body.by == by
            ]
            found += ((camera, each) for each in _common(spans, _spans(views).get(camera, [])))
    return [
        WatchedSpan(camera=camera, from_=format_time(span.from_us), to=format_time(span.to_us))
        for camera, span in found[:SPANS_MAX]
    ]


def _by_camera(spans: Iterable[tuple[str, str, str]]) -> Mapping[str, Sequence[_Span]]:
    return _spans([(camera, parse_time(a) or 0, parse_time(b) or 0) for camera, a, b in spans])


def _spans(spans: Iterable[tuple[str, int, int]]) -> dict[str, list[_Span]]:
    """The spans of each camera, in order, none overlapping another."""
    found: dict[str, list[_Span]] = defaultdict(list)
    for camera, from_us, to_us in sorted(spans):
        last = found[camera][-1] if found[camera] else None
        if last and from_us <= last.to_us:
            found[camera][-1] = _Span(last.from_us, max(last.to_us, to_us))
        else:
            found[camera].append(_Span(from_us, to_us))
    return found


def _common(ours: Sequence[_Span], theirs: Sequence[_Span]) -> Iterator[_Span]:
    for one in ours:
        for other in theirs:
            from_us, to_us = max(one.from_us, other.from_us), min(one.to_us, other.to_us)
            if from_us < to_us:
                yield _Span(from_us, to_us)


def _seconds(spans: Sequence[_Span]) -> str:
    tenths = sum(to_us - from_us for from_us, to_us in spans) * 10 // _S
    return f"{tenths // 10}.{tenths % 10} s"
