"""The round page: a round's facts beside the cameras of its table.

The server renders all of it: without scripts it lists everything and shows the table and the exact
frames at `?at=28`. Opening it records a view of its footage before any is sent.
"""

import gzip
from typing import Annotated

from fastapi import APIRouter, Depends, Query, Request, Response
from starlette.exceptions import HTTPException

from infra.access.users import Role, User
from ledger.errors import NotFound
from ledger.values import RoundId, quantity
from replay.web.access import blind_review
from replay.web.access.authentication import signed_in
from replay.web.page import page
from replay.web.pages import cases, footage, marks
from replay.web.pages.round_page import (
    blind,
    blind_data,
    data,
    json_text,
    shown,
    tables,
    values,
)
from replay.web.ports import ports
from replay.web.round_reader import KeptRound

READERS: tuple[Role, ...] = ("surveillance", "finance", "auditor")
"""Roles that read rounds. Finance sees neither footage nor patron tokens."""

router = APIRouter(include_in_schema=False)

Reader = Annotated[User, Depends(signed_in(*READERS))]
Watcher = Annotated[User, Depends(signed_in(*footage.VIEWERS))]
_ADDRESS = "/rounds/{property_}/{table}/{day}/{number}"
_WATCH = "/watch/{property_}/{table}/{day}/{number}"


def address(round_: RoundId, at: int | None = None) -> str:
    """The address of a round's page. at: the number of a fact."""
    path = f"/rounds/{round_.property}/{round_.table}/{round_.gaming_day}/{round_.number}"
    return f"{path}?at={at}#fact={at}" if at else path


def asked_for(property_: str, table: str, day: str, number: int) -> RoundId:
    """The round that an address names."""
    return RoundId(property_, table, day, number)


Asked = Annotated[RoundId, Depends(asked_for)]


@router.get(_ADDRESS)
def round_page(
    request: Request,
    user: Reader,
    asked: Asked,
    at: Annotated[int | None, Query(ge=1)] = None,
    view: str = "known",
) -> Response:
    """The page, with the table after fact `at`; `view=all` turns every card up."""
    its, library = ports(request).rounds, ports(request).library
    told = its.told(asked)
    hindsight = view == "all"
    sees = user.has(*footage.VIEWERS)
    if case := blind_review.case_of(request, user, asked):
        return _watched(request, user, asked, case)
    number = _at(told, at)  # raises NotFound beyond the last fact
    disputes = cases.about(request, user, asked)
    if sees:
        footage.viewed(request, user, asked, shown(told, library))
    beside = its.beside(asked)
    zone = ports(request).zones().of(asked.property)
    return page(
        request,
        "round.html",
        zone=zone,
        **values(told, number, zone, hindsight=hindsight, footage=sees, disputes=disputes),
        patrons=its.patrons(told) if sees else {},
        **(marks.about(request, user, told) if sees else {"may_mark": False}),
        before_link=address(beside.before) if beside.before else None,
        after_link=address(beside.after) if beside.after else None,
        here=address(asked),
        case_address=blind_review.case_address,
        disputes=[(d.dispute, blind_review.case_address(d.property, d.dispute)) for d in disputes],
        data=json_text(data(told, library, zone, footage=sees, address=address(asked))),
    )


@router.get(_WATCH)
def watch_page(request: Request, user: Watcher, asked: Asked) -> Response:
    """The cameras of a round and nothing else, for blind review."""
    return _watched(request, user, asked)


@router.get(_ADDRESS + "/tables")
def pictures(
    request: Request, user: Reader, asked: Asked, v: str = "", view: str = "known"
) -> Response:
    """The pictures of the table after every fact, fetched once for stepping."""
    if blind_review.case_of(request, user, asked):
        raise HTTPException(403, blind_review.BLIND)
    told = ports(request).rounds.told(asked)
    kept = "private, max-age=86400, immutable" if v == told.version else "no-store"
    headers = {"Cache-Control": kept, "Vary": "Accept-Encoding, Cookie"}
    body = json_text(tables(told.story, hindsight=view == "all")).encode()
    if "gzip" in request.headers.get("Accept-Encoding", ""):  # a twelfth of the bytes
        headers["Content-Encoding"] = "gzip"
        body = gzip.compress(body, compresslevel=5, mtime=0)
    return Response(body, media_type="application/json", headers=headers)


def _watched(request: Request, user: User, asked: RoundId, case: str | None = None) -> Response:
    """The cameras alone; `case`: the dispute for which the record is not shown."""
    its, library = ports(request).rounds, ports(request).library
    told = its.told(asked)
    looked = shown(told, library)
    footage.viewed(request, user, asked, looked, how="watched without the record")
    zone = ports(request).zones().of(asked.property)
    data_ = json_text(blind_data(told, library, zone))
    return page(
        request,
        "watch.html",
        zone=zone,
        **blind(told, zone),
        data=data_,
        case=case,
    )


def _at(told: KeptRound, at: int | None) -> int:
    """The fact to show: the requested one, else the first in a finding, else the last."""
    count = len(told.story.moments)
    if at is not None:
        if at > count:
            raise NotFound(
                f"The round has only {quantity(count, 'fact')}", where=f"fact {at}", hint="Go back."
            )
        return at
    findings = told.story.ruling.findings if told.story.ruling else ()
    named = {(ref.source, ref.id) for finding in findings for ref in finding.facts}
    return next((m.number for m in told.story.moments if (m.source, m.id) in named), count)
