"""Small pictures for pages: a frame of a segment, of a round, and a strip for the timeline.

Viewing them is recorded as viewing the footage is. A withheld round has none.
"""

import io
from collections.abc import Iterator, Mapping
from typing import Annotated, NamedTuple

from fastapi import APIRouter, Depends, Query, Request, Response
from PIL import Image
from starlette.exceptions import HTTPException

from infra.access.users import User
from ledger.errors import NotFound, Refused
from ledger.values import RoundId
from replay.cameras.clock_pieces import clock_pieces
from replay.cameras.clocks import in_epoch
from replay.cameras.coverage import Camera
from replay.footage.library.index import FootageIndex, IndexedSegment
from replay.footage.library.thumbnails import WIDTH, nearest_key, thumbnails
from replay.web.access import blind_review
from replay.web.pages.footage import KEPT, Sha256, Viewer, looked_at
from replay.web.pages.lanes import cameras_on, segments_of
from replay.web.pages.round import asked_for
from replay.web.pages.round_page import span_of
from replay.web.ports import ports
from replay.web.round_reader import KeptRound

TILES, HEIGHT = 20, 90
"""The pictures of a strip, and the height of each; a page shows it at a third of that."""

_ROUND = "{property_}/{table}/{day}/{number}"

router = APIRouter(include_in_schema=False)
Asked = Annotated[RoundId, Depends(asked_for)]

NO_PICTURE = (
    b'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 160 90"><rect width="160" height="90" '
    b'fill="#202422"/><text x="80" y="50" fill="#f0f3f1" font-size="15" text-anchor="middle" '
    b'font-family="sans-serif">no footage</text></svg>'
)


class FrameOf(NamedTuple):
    """A frame of a segment by number."""

    sha256: str
    frame: int


@router.get("/footage/{sha256}/thumbs/{number}.jpg")
def thumbnail(request: Request, user: Viewer, sha256: Sha256, number: int) -> Response:
    """A frame of a segment, reduced."""
    entry = looked_at(request, user, sha256)
    if not 0 <= number < len(entry.times.pts_us):
        raise NotFound("The segment has no such frame", where=f"frame {number}", hint="Go back.")
    found = thumbnails(ports(request).library, entry, [number]).get(number)
    return _answer(found)


@router.get(f"/rounds/{_ROUND}/picture.jpg")
def picture(request: Request, user: Viewer, asked: Asked) -> Response:
    """The frame of a round's first finding, else of its last fact, from the first camera."""
    if blind_review.case_of(request, user, asked):
        raise HTTPException(403, blind_review.BLIND)
    told = ports(request).rounds.told(asked)
    return picture_of(request, user, told, _finding_us(told))


def picture_of(request: Request, user: User, told: KeptRound, at_us: int) -> Response:
    """The small picture of a round at the fact of a time."""
    for of in frames_at(told, at_us):
        try:
            entry = looked_at(request, user, of.sha256)
        except (NotFound, Refused):
            continue
        found = thumbnails(ports(request).library, entry, [of.frame]).get(of.frame)
        if found:
            return _answer(found)
    return _answer(None)


def frames_at(told: KeptRound, at_us: int) -> Iterator[FrameOf]:
    """The frames of the fact at a time, one a camera."""
    for moment, seen in zip(told.story.moments, told.story.seen, strict=True):
        if moment.time_us == at_us:
            for sight in seen.sights:
                if sight.segment is not None and sight.frame is not None:
                    yield FrameOf(sight.segment, sight.frame)


def _finding_us(told: KeptRound) -> int:
    """When the last fact of the round's first finding happened; else the round's last fact."""
    findings = told.story.ruling.findings if told.story.ruling else ()
    named = {(ref.source, ref.id) for ref in (findings[0].facts if findings else ())}
    times = [m.time_us for m in told.story.moments if (m.source, m.id) in named]
    return max(times) if times else told.story.moments[-1].time_us


@router.get(f"/watch/{_ROUND}/strip.jpg")
def strip(
    request: Request, user: Viewer, asked: Asked, camera: Annotated[str, Query(max_length=128)]
) -> Response:
    """Pictures of a camera along the timeline of a round: the keyframe nearest to each part."""
    told, library = ports(request).rounds.told(asked), ports(request).library
    if camera not in cameras_on(told.coverage, span_of(told.story)):
        raise NotFound("The camera was not mapped to this table then", where=camera, hint="")
    tiles = list(_tiles(told, library, camera))
    wanted: dict[str, set[int]] = {}
    for of in tiles:
        if of:
            wanted.setdefault(of.sha256, set()).add(of.frame)
    made: dict[FrameOf, bytes] = {}
    for sha256, frames in wanted.items():
        try:
            entry = looked_at(request, user, sha256)
        except (NotFound, Refused):
            continue
        for frame, octets in thumbnails(library, entry, frames).items():
            made[FrameOf(sha256, frame)] = octets
    return Response(_joined(tiles, made), media_type="image/jpeg", headers=KEPT)


def _tiles(told: KeptRound, library: FootageIndex, camera: str) -> Iterator[FrameOf | None]:
    """The keyframe nearest to the middle of each part of the timeline; None without footage."""
    span = span_of(told.story)
    its = told.coverage.cameras.get((span.property, camera), Camera())
    entries = [
        entry
        for each in segments_of(told.coverage, span, camera)
        if (entry := library.entry(each.body.sha256))
    ]
    part_us = (span.to_us - span.from_us) / TILES
    for number in range(TILES):
        at_us = round(span.from_us + part_us * (number + 0.5))
        [piece] = clock_pieces(its.clock, at_us, at_us + 1)
        clock_us = at_us if its.clock is None else in_epoch(its.clock, piece.epoch, at_us).time_us
        near = [(abs(_inside(each, clock_us) - clock_us), each.sha256, each) for each in entries]
        off_us, _, entry = min(near, default=(part_us, "", None))
        if entry is None or off_us >= part_us / 2:
            yield None
        else:
            yield FrameOf(entry.sha256, nearest_key(entry, clock_us))


def _inside(entry: IndexedSegment, clock_us: int) -> int:
    """The time within a segment that is nearest to another."""
    return min(max(clock_us, entry.start_us), entry.end_us - 1)


def _joined(tiles: list[FrameOf | None], made: Mapping[FrameOf, bytes]) -> bytes:
    """All pictures in a row; a part without a picture is dark."""
    whole = Image.new("RGB", (WIDTH * len(tiles), HEIGHT), "#202422")
    for number, of in enumerate(tiles):
        octets = made.get(of) if of else None
        if octets:
            with Image.open(io.BytesIO(octets)) as tile:
                tile.thumbnail((WIDTH, HEIGHT))
                left = (WIDTH - tile.width) // 2
                whole.paste(tile, (number * WIDTH + left, (HEIGHT - tile.height) // 2))
    out = io.BytesIO()
    whole.save(out, "JPEG", quality=70)
    return out.getvalue()


def _answer(octets: bytes | None) -> Response:
    if octets is None:
        return Response(
            NO_PICTURE, media_type="image/svg+xml", headers={"Cache-Control": "no-store"}
        )
    return Response(octets, media_type="image/jpeg", headers=KEPT)
