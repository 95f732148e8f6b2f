"""Footage for the screen: what a browser plays, exact frames, and where each frame stands in time.

Nothing but paths of the footage index is opened, only of segments that a fact recorded, only while
their bytes are whole, and only for who may. Every view is on record before a byte of it is sent.
"""

from __future__ import annotations

import time
from collections import OrderedDict
from threading import Lock
from typing import TYPE_CHECKING, Annotated, NamedTuple

import msgspec
from fastapi import APIRouter, Depends, Path, Request, Response
from starlette.responses import FileResponse

from infra.access.users import Role, User
from ledger.errors import NotFound, Refused
from ledger.facts import FootageViewed
from ledger.values import RoundId, format_time
from replay.footage.decoding.decoder import Job, decode, sha256_of
from replay.footage.library.index import IndexedSegment, stamp_of
from replay.recording import house_facts
from replay.web.access.authentication import signed_in
from replay.web.ports import ports

if TYPE_CHECKING:
    from collections.abc import Iterable

    from replay.footage.library.index import Playable, Stamp

VIEWERS: tuple[Role, ...] = ("surveillance", "auditor")
"""Who may see footage."""

VIEW_S = 8 * 3600
"""How long a view that was put on record holds, seconds: a shift."""

VIEWS_MAX = 100_000
"""Views remembered; the oldest are forgotten first, and are put on record anew."""

_TYPES = {"mp4": "video/mp4", "webm": "video/webm"}
_KEPT = {"Cache-Control": "private, max-age=3600", "Vary": "Cookie"}
"""Kept by the browser for the one session: the next person's cookie is another."""

router = APIRouter(include_in_schema=False)

Viewer = Annotated[User, Depends(signed_in(*VIEWERS))]
Sha256 = Annotated[str, Path(pattern=r"^[0-9a-f]{64}$")]


class Views:
    """Which user has looked at which segment, as was put on record, for a while."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._until: OrderedDict[tuple[str, str], float] = OrderedDict()
        self._whole: dict[str, Stamp] = {}

    def add(self, user: User, sha256s: Iterable[str]) -> None:
        """Remember that views of these are on record."""
        until = time.monotonic() + VIEW_S
        with self._lock:
            for sha256 in sha256s:
                self._until[user.name, sha256] = until
                self._until.move_to_end((user.name, sha256))
            while len(self._until) > VIEWS_MAX:
                self._until.popitem(last=False)

    def has(self, user: User, sha256: str) -> bool:
        """Whether a view of this is on record and still holds."""
        with self._lock:
            return self._until.get((user.name, sha256), 0) > time.monotonic()

    def intact(self, copy: Playable) -> bool:
        """Whether a copy for browsers has the bytes it was made with; hashed where it looks new."""
        try:
            stamp = stamp_of(copy.path)
            if self._whole.get(copy.sha256) == stamp:
                return True
            if sha256_of(copy.path) != copy.sha256:
                return False
        except OSError:
            return False
        self._whole[copy.sha256] = stamp
        return True


class ViewedStretch(NamedTuple):
    """A stretch of a camera's footage, by the camera's clock."""

    camera: str
    from_us: int
    to_us: int
    sha256: str


def viewed(
    request: Request,
    user: User,
    round_: RoundId,
    shown: Iterable[tuple[str, int, int, str]],
    how: str = "opened",
) -> None:
    """Put on record that somebody opened a round with its footage: one fact a camera."""
    its = [ViewedStretch(*each) for each in shown]
    spans: dict[str, tuple[int, int]] = {}
    for each in its:
        from_us, to_us = spans.get(each.camera, (each.from_us, each.to_us))
        spans[each.camera] = (min(from_us, each.from_us), max(to_us, each.to_us))
    because = f"round {round_.subject} {how} on the screen"
    _put(request, user, round_.property, because, spans)
    views(request).add(user, (each.sha256 for each in its))


def views(request: Request) -> Views:
    """What was viewed through this server since it started."""
    state = request.app.state
    if not hasattr(state, "views"):
        state.views = Views()
    found: Views = state.views
    return found


def looked_at(request: Request, user: User, sha256: str) -> IndexedSegment:
    """The segment, now that looking at it is on record. Raises `NotFound`, and `Refused`.

    Who comes by its address, without a round opened before, is put on record here.
    """
    library = ports(request).library
    recorded = ports(request).rounds.recorded(sha256)
    entry = library.entry(sha256)
    if recorded is None or entry is None:
        raise NotFound(
            "No segment with these bytes is recorded and at hand",
            where=f"footage {sha256[:12]}…",
            hint="Open the round, and see what its cameras have.",
        )
    if not library.whole(entry):
        raise Refused(
            "The segment's file is gone or no longer has the bytes recorded",
            where=f"footage {sha256[:12]}…",
            hint="Put the untouched file back, then try again.",
        )
    if not views(request).has(user, sha256):
        property_, body = recorded
        span = {body.camera: (entry.start_us, entry.end_us)}
        _put(request, user, property_, "opened by its address on the screen", span)
        views(request).add(user, [sha256])
    return entry


@router.get("/footage/{sha256}")
def play(request: Request, user: Viewer, sha256: Sha256) -> Response:
    """What a browser plays of a segment, whole or in ranges."""
    entry = looked_at(request, user, sha256)
    copy = entry.playable
    if copy is None or not views(request).intact(copy):
        raise NotFound(
            f"A browser cannot play this segment: {entry.unplayable or 'its copy is not whole'}",
            where=f"footage {sha256[:12]}…",
            hint="Its exact frames are there; `round-ledger footage add` makes a copy anew.",
        )
    return FileResponse(
        copy.path,
        media_type=_TYPES[copy.container],
        headers={**_KEPT, "X-Footage-SHA256": sha256, "X-Footage-Copy": copy.how},
    )


@router.get("/footage/{sha256}/index")
def index(request: Request, user: Viewer, sha256: Sha256) -> Response:
    """When each frame is shown, microseconds from the first on; what a seek to a frame needs."""
    entry = looked_at(request, user, sha256)
    told = {
        "pts": entry.times.pts_us, "duration": entry.duration_us,
        "width": entry.width, "height": entry.height,
    }  # fmt: skip
    return Response(
        msgspec.json.encode(told),
        media_type="application/json",
        headers=_KEPT,
    )


@router.get("/footage/{sha256}/frames/{number}.png")
def frame(request: Request, user: Viewer, sha256: Sha256, number: int) -> Response:
    """One exact frame of the original, with the hash of its picture."""
    entry = looked_at(request, user, sha256)
    if not 0 <= number < len(entry.times.pts_us):
        raise NotFound(
            f"The segment has {len(entry.times.pts_us)} frames, counted from 0",
            where=f"frame {number}",
            hint="Ask for one of them.",
        )
    answer = decode([Job(str(entry.path), sha256, (number,))])[0]
    if not answer.frames:
        raise Refused(
            f"The frame cannot be read: {answer.problem}",
            where=f"frame {number} of {sha256[:12]}…",
            hint="The file is kept as it is; another frame may do.",
        )
    found = answer.frames[0]
    return Response(
        found.png,
        media_type="image/png",
        headers={
            **_KEPT,
            "X-Frame-SHA256": found.sha256,
            "X-Frame-Number": str(found.number),
            "X-Frame-PTS-US": str(found.pts_us),
        },
    )


def _put(
    request: Request,
    user: User,
    property_: str,
    because: str,
    spans: dict[str, tuple[int, int]],
) -> None:
    """One `footage_viewed` a camera, all in one transaction; nothing is sent if that fails."""
    bodies = [
        FootageViewed(
            camera=camera,
            from_=format_time(from_us),
            to=format_time(to_us),
            by=user.employee,
            because=because,
        )
        for camera, (from_us, to_us) in sorted(spans.items())
    ]
    if bodies:
        source = house_facts.screen(property_)
        facts = [house_facts.build_fact(body, source) for body in bodies]
        house_facts.append_facts(ports(request).tape, facts)
