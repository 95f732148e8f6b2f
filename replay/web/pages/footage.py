"""Footage for browsers: playable segments, exact frames, and the times of frames.

Only files of the footage index are opened, only if a fact recorded the segment and its bytes are
unchanged, and only for permitted roles. Every view is recorded before a byte is sent.
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
from ledger.values import RoundId, format_time, quantity
from replay.footage.clips.previews import Previews
from replay.footage.decoding.decoder import Job, decode, sha256_of
from replay.footage.library.index import IndexedSegment, stamp_of
from replay.recording import house_facts
from replay.web.access.authentication import require_own_will, signed_in
from replay.web.ports import ports

if TYPE_CHECKING:
    from collections.abc import Iterable

    from replay.footage.library.index import Playable, Stamp

VIEWERS: tuple[Role, ...] = ("surveillance", "auditor")
"""Roles that may see footage."""

VIEW_S = 8 * 3600
"""Seconds for which a recorded view stays valid: a shift."""

VIEWS_MAX = 100_000
"""The most views remembered. The oldest are dropped first, and recorded again if repeated."""

_TYPES = {"mp4": "video/mp4", "webm": "video/webm"}
KEPT = {"Cache-Control": "private, max-age=3600", "Vary": "Cookie"}
"""The browser may cache a response for one session: it varies by cookie."""

router = APIRouter(include_in_schema=False)

Viewer = Annotated[User, Depends(signed_in(*VIEWERS))]
Sha256 = Annotated[str, Path(pattern=r"^[0-9a-f]{64}$")]


class Views:
    """Recent recorded views: which user has viewed which segment."""

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
        """Whether a copy for browsers is unchanged; it is hashed again if its file looks new."""
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
    """A span of a camera's footage, by the camera's clock."""

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
    """Record that a user opened a round with its footage: one fact for each camera."""
    its = [ViewedStretch(*each) for each in shown]
    spans: dict[str, tuple[int, int]] = {}
    for each in its:
        from_us, to_us = spans.get(each.camera, (each.from_us, each.to_us))
        spans[each.camera] = (min(from_us, each.from_us), max(to_us, each.to_us))
    because = f"round {round_.subject} {how} on the screen"
    _put(request, user, round_.property, because, spans)
    views(request).add(user, (each.sha256 for each in its))


def viewed_live(
    request: Request, user: User, property_: str, camera: str, span: tuple[int, int]
) -> None:
    """Record that a user opened a camera's live picture, once a shift.

    span: from and to of the pictures that are at hand as it is opened.
    """
    name = f"live {property_}/{camera}"
    if not views(request).has(user, name):
        _put(request, user, property_, "live picture opened on the screen", {camera: span})
        views(request).add(user, [name])


def views(request: Request) -> Views:
    """What was viewed through this server since it started."""
    state = request.app.state
    if not hasattr(state, "views"):
        state.views = Views()
    found: Views = state.views
    return found


def looked_at(request: Request, user: User, sha256: str) -> IndexedSegment:
    """The segment, after its view is recorded. Raises `NotFound` and `Refused`.

    A view by the segment's address, without opening a round, is recorded here.
    """
    library = ports(request).library
    recorded = ports(request).rounds.recorded(sha256)
    entry = library.entry(sha256)
    if recorded is None or entry is None:
        raise NotFound(
            "No recorded and available segment has these bytes",
            where=f"footage {sha256[:12]}…",
            hint="Open the round and see what its cameras have.",
        )
    if not library.whole(entry):
        raise Refused(
            "The segment's file is missing or no longer has the recorded bytes",
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
            hint="Its exact frames are available; `round-ledger footage add` makes a new copy.",
        )
    return FileResponse(
        copy.path,
        media_type=_TYPES[copy.container],
        headers={**KEPT, "X-Footage-SHA256": sha256, "X-Footage-Copy": copy.how},
    )


@router.get("/footage/{sha256}/index")
def index(request: Request, user: Viewer, sha256: Sha256) -> Response:
    """The time of each frame, in microseconds after the first; players need it to seek."""
    entry = looked_at(request, user, sha256)
    told = {
        "pts": entry.times.pts_us, "duration": entry.duration_us,
        "width": entry.width, "height": entry.height,
    }  # fmt: skip
    return Response(
        msgspec.json.encode(told),
        media_type="application/json",
        headers=KEPT,
    )


@router.get("/footage/{sha256}/frames/{number}.png")
def frame(request: Request, user: Viewer, sha256: Sha256, number: int) -> Response:
    """One exact frame of the original, with the hash of its picture."""
    entry = looked_at(request, user, sha256)
    if not 0 <= number < len(entry.times.pts_us):
        raise NotFound(
            f"The segment has only {quantity(len(entry.times.pts_us), 'frame')}, counted from 0",
            where=f"frame {number}",
            hint="Ask for one of them.",
        )
    answer = decode([Job(str(entry.path), sha256, (number,))])[0]
    if not answer.frames:
        raise Refused(
            f"The frame cannot be read: {answer.problem}",
            where=f"frame {number} of {sha256[:12]}…",
            hint="The file is kept unchanged. Try another frame.",
        )
    found = answer.frames[0]
    return Response(
        found.png,
        media_type="image/png",
        headers={
            **KEPT,
            "X-Frame-SHA256": found.sha256,
            "X-Frame-Number": str(found.number),
            "X-Frame-PTS-US": str(found.pts_us),
        },
    )


@router.get("/footage/{sha256}/preview")
def preview_state(request: Request, user: Viewer, sha256: Sha256) -> Response:
    """Whether a segment has a preview; asking for one lets it be made."""
    entry = looked_at(request, user, sha256)
    told = {"state": _previews(request).ask(entry)}
    return Response(
        msgspec.json.encode(told),
        media_type="application/json",
        headers={"Cache-Control": "no-store"},
    )


@router.get("/footage/{sha256}/preview.mp4")
def preview(request: Request, user: Viewer, sha256: Sha256) -> Response:
    """A segment smaller and with fewer frames, each at its own time; whole or in ranges."""
    entry = looked_at(request, user, sha256)
    made = _previews(request).made(entry)
    if made is None:
        raise NotFound(
            "The segment has no preview yet",
            where=f"footage {sha256[:12]}…",
            hint="Play the segment itself, or ask again.",
        )
    return FileResponse(
        made.path,
        media_type=_TYPES[made.container],
        headers={**KEPT, "X-Footage-SHA256": sha256, "X-Footage-Copy": "preview"},
    )


def _previews(request: Request) -> Previews:
    state = request.app.state
    if not hasattr(state, "previews"):
        state.previews = Previews(ports(request).library)
    found: Previews = state.previews
    return found


def _put(
    request: Request,
    user: User,
    property_: str,
    because: str,
    spans: dict[str, tuple[int, int]],
) -> None:
    """Record one `footage_viewed` for each camera in one transaction, before anything is sent.

    Raises `OpenedElsewhereError`, and records nothing, if another site asked for it.
    """
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
        require_own_will(request)
        source = house_facts.screen(property_)
        facts = [house_facts.build_fact(body, source) for body in bodies]
        house_facts.append_facts(ports(request).tape, facts)
