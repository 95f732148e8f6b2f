"""Marks on a round's footage: bookmarks, stills, and shapes beside a frame.

The script asks for the part of the page that lists them. Without scripts the page lists them too;
a bookmark can be removed, and none be made.
"""

from collections.abc import Mapping
from typing import Annotated, Any

import msgspec
from fastapi import APIRouter, Depends, Form, Request, Response
from markupsafe import Markup
from starlette.exceptions import HTTPException
from starlette.responses import RedirectResponse

from consumers.review.footage_marks import (
    VIEW,
    Bookmark,
    marks_in,
    rows_of_bookmark,
    rows_on_segment,
)
from consumers.runtime.lifecycle import up_to_date
from infra.access.users import User
from infra.postgres.view_tables import reading
from ledger.errors import NotFound, Usage
from ledger.record.wire import fact_of
from ledger.values import RoundId, parse_round
from replay.disputes import service
from replay.review import footage_marks
from replay.review.footage_marks import LensView, MarkedFrame, MarkedTime, PlacedMarks
from replay.review.shapes import shapes_svg
from replay.web.access import blind_review
from replay.web.access.authentication import signed_in
from replay.web.page import page, round_path
from replay.web.pages.clips import TIME_US_MAX
from replay.web.pages.find import FRAGMENT
from replay.web.pages.footage import Sha256, Viewer, looked_at
from replay.web.pages.lanes import cameras_on
from replay.web.pages.round_page import span_of
from replay.web.ports import ports
from replay.web.round_reader import KeptRound

TEXT_MAX, WHY_MAX, VIEW_MAX, SHAPES_MAX = 1000, 200, 4000, 100_000
"""The longest texts, reasons, views and shapes of a form, in characters."""

CAMERAS_MAX = 64

router = APIRouter(include_in_schema=False)
Editor = Annotated[User, Depends(signed_in("surveillance"))]
_Views = dict[str, LensView]
_Why = Annotated[str, Form(min_length=1, max_length=WHY_MAX)]


def marks_of(request: Request, user: User, told: KeptRound) -> PlacedMarks:
    """The marks about a round that this user may see."""
    round_, span = told.story.round, span_of(told.story)
    of = MarkedTime(round_.property, (round_,), span.from_us, span.to_us)
    database = ports(request).database
    found = footage_marks.marks_about(database, of, told.coverage, told.footage)
    return blind_review.marks(request, user, found)


def about(request: Request, user: User, told: KeptRound) -> dict[str, Any]:
    """The values of the template for the marks about a round."""
    span = span_of(told.story)
    return {
        "marks": marks_of(request, user, told),
        "of_round": told.story.round,
        "may_mark": user.has("surveillance"),
        "frame_source": lambda each: _frame_source(request, each),
        "frame_shapes": lambda each: _frame_shapes(request, each),
        "view_of": _view_of,
        "fact_at": lambda at_us: _fact_at(told, at_us),
        "cameras": cameras_on(told.coverage, span),
    }


def _frame_source(request: Request, each: MarkedFrame) -> str | None:
    """The address of a marked frame's picture; None if its footage is not available."""
    if ports(request).library.entry(each.segment) is None:
        return None
    return f"/footage/{each.segment}/frames/{each.frame}.png"


def _frame_shapes(request: Request, each: MarkedFrame) -> Markup:
    entry = ports(request).library.entry(each.segment)
    if entry is None or not each.shapes:
        return Markup()
    drawn = shapes_svg(each.shapes, entry.width, entry.height)
    return Markup(drawn)  # noqa: S704 - escaped there


def _fact_at(told: KeptRound, at_us: int) -> int:
    """The number of the last fact at or before a time; before the first fact, the first."""
    return max((m.number for m in told.story.moments if m.time_us <= at_us), default=1)


def _view_of(each: Bookmark) -> str:
    return msgspec.json.encode(each.body.view or {}).decode()


def _between(
    from_us: Annotated[int, Form(ge=0, le=TIME_US_MAX)],
    to_us: Annotated[int, Form(ge=0, le=TIME_US_MAX)],
) -> tuple[int, int]:
    return from_us, to_us


@router.post("/bookmarks")
def add_bookmark(
    request: Request,
    user: Editor,
    round: Annotated[str, Form()],  # noqa: A002 - the form's field
    between: Annotated[tuple[int, int], Depends(_between)],
    text: Annotated[str, Form(max_length=TEXT_MAX)],
    tags: Annotated[str, Form(max_length=TEXT_MAX)] = "",
    view: Annotated[str, Form(max_length=VIEW_MAX)] = "",
    camera: Annotated[tuple[str, ...], Form()] = (),
) -> Response:
    """Mark a stretch of the round's footage with a text."""
    told = _told(request, user, round)
    span = span_of(told.story)
    if not span.from_us <= between[0] <= between[1] <= span.to_us:
        raise Usage(
            "The bookmark is not within the round", where="time", hint="Set it on the timeline."
        )
    unknown = set(camera) - set(cameras_on(told.coverage, span))
    if unknown or len(camera) > CAMERAS_MAX:
        hint = "Choose cameras of the round."
        raise Usage("A camera is not on this table", where="cameras", hint=hint)
    footage_marks.add_bookmark(
        ports(request).tape,
        told.story.round,
        camera,
        between,
        text,
        tags.split(","),
        _views(view, camera),
        user.employee,
    )
    return _marked(request, user, told)


@router.post("/bookmarks/removed")
def remove_bookmark(
    request: Request,
    user: Editor,
    round: Annotated[str, Form()],  # noqa: A002 - the form's field
    name: Annotated[str, Form(min_length=1, max_length=128)],
    because: _Why,
) -> Response:
    """Take a bookmark away; its fact stays on record."""
    told = _told(request, user, round)
    place, database = told.story.round.property, ports(request).database
    with reading(database, [each.name for each in VIEW.tables]) as store:
        known = rows_of_bookmark(store, place, name)
    if not known:
        raise NotFound("There is no such bookmark", where=name, hint="Reload the page.")
    footage_marks.remove_bookmark(ports(request).tape, place, name, because, user.employee)
    return _marked(request, user, told)


@router.post("/footage/{sha256}/stills")
def take_still(
    request: Request,
    user: Editor,
    sha256: Sha256,
    round: Annotated[str, Form()],  # noqa: A002 - the form's field
    frame: Annotated[int, Form(ge=0)],
    because: _Why,
) -> Response:
    """Save one exact frame as a picture, with its hash on record."""
    told = _told(request, user, round)
    entry = looked_at(request, user, sha256)
    record = ports(request).tape
    footage_marks.take_still(
        record, ports(request).library.home, entry, frame, because, user.employee
    )
    return _marked(request, user, told)


@router.get("/footage/{sha256}/stills/{picture}.png")
def still(request: Request, user: Viewer, sha256: Sha256, picture: Sha256) -> Response:
    """The picture of a still, exactly as it was saved."""
    entry = looked_at(request, user, sha256)
    with reading(ports(request).database, [each.name for each in VIEW.tables]) as store:
        rows = rows_on_segment(store, entry.property, sha256)
    stills = marks_in(entry.property, map(fact_of, rows)).stills
    taken = any(each.body.sha256 == picture for each in stills)
    home = ports(request).library.home
    octets = footage_marks.kept_still(home, picture) if taken else None
    if octets is None:
        raise NotFound(
            "The picture of this still is not there",
            where=f"still {picture[:12]}…",
            hint="Its frame can still be opened on the round's page.",
        )
    name = f"still-{picture[:12]}.png"
    headers = {"Content-Disposition": f'attachment; filename="{name}"', "X-Frame-SHA256": picture}
    return Response(octets, media_type="image/png", headers=headers)


@router.post("/footage/{sha256}/shapes")
def draw(
    request: Request,
    user: Editor,
    sha256: Sha256,
    round: Annotated[str, Form()],  # noqa: A002 - the form's field
    frame: Annotated[int, Form(ge=0)],
    shapes: Annotated[str, Form(max_length=SHAPES_MAX)],
) -> Response:
    """Draw shapes beside a frame, in place of those it has."""
    told = _told(request, user, round)
    entry = looked_at(request, user, sha256)
    footage_marks.annotate(ports(request).tape, entry, frame, shapes, user.employee)
    return _marked(request, user, told)


def _told(request: Request, user: User, name: str) -> KeptRound:
    """The round that a form names. Raises 403 while it is withheld, `Usage`, `NotFound`."""
    round_ = parse_round(name)
    if round_ is None:
        hint = "Open the round again."
        raise Usage(f"`{name}` is not the name of a round", where="round", hint=hint)
    if blind_review.case_of(request, user, round_):
        raise HTTPException(403, blind_review.BLIND)
    return ports(request).rounds.told(round_)


def _views(text: str, cameras: tuple[str, ...]) -> Mapping[str, LensView]:
    """How each chosen picture was looked at; those seen whole are left out. Raises `Usage`."""
    if not text:
        return {}
    try:
        told = msgspec.json.decode(text.encode(), type=_Views)
    except (msgspec.DecodeError, UnicodeEncodeError) as error:
        hint = "Reload the page and set the bookmark again."
        raise Usage(f"The view cannot be read: {error}", where="view", hint=hint) from error
    whole = LensView()
    return {name: each for name, each in told.items() if name in cameras and each != whole}


def _marked(request: Request, user: User, told: KeptRound) -> Response:
    """The list of marks for the script; without one, the round's page."""
    up_to_date(ports(request).database, [VIEW])
    round_: RoundId = told.story.round
    if request.headers.get(FRAGMENT) != "marks":
        return RedirectResponse(round_path(round_), 303)
    disputes = service.about(ports(request).database, round_)
    return page(
        request,
        "marks.html",
        zone=ports(request).zones().of(round_.property),
        here=round_path(round_),
        disputes=[(d.dispute, blind_review.case_address(d.property, d.dispute)) for d in disputes],
        **about(request, user, told),
    )
