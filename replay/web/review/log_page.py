"""The page Log: what surveillance writes down without a dispute."""

import re
from collections.abc import Mapping
from typing import Annotated

from fastapi import APIRouter, Depends, Query, Request, Response
from starlette.concurrency import run_in_threadpool
from starlette.responses import RedirectResponse

from consumers.review import desk as review_view
from consumers.review import log as entries
from consumers.rounds import search
from consumers.runtime.lifecycle import up_to_date
from infra.access.users import User
from ledger.errors import NotFound, Refused, Usage
from ledger.values import NAME
from replay.review import log
from replay.text.times import read
from replay.text.typed import lines
from replay.web.access import blind_review
from replay.web.access.authentication import signed_in
from replay.web.page import page
from replay.web.ports import ports

PATH = "/log"
TEXT_MAX = 4_000

router = APIRouter(include_in_schema=False)
Reader = Annotated[User, Depends(signed_in("surveillance", "auditor"))]
Writer = Annotated[User, Depends(signed_in("surveillance"))]

_NAME = re.compile(NAME)


@router.get(PATH)
def list_(
    request: Request,
    user: Reader,
    day: Annotated[str, Query(max_length=10)] = "",
    of: Annotated[str, Query(max_length=128)] = "",
) -> Response:
    """The entries of a day by the house's clock, or the newest; and the form of a new one.

    of: the entry that the form corrects.
    """
    return _page(request, user, day, of)


@router.post(PATH)
async def write(request: Request, user: Writer) -> Response:
    """Write an entry, or correct one."""
    form = await request.form()
    typed = {name: str(value) for name, value in form.items()}
    return await run_in_threadpool(_write, request, user, typed)


def _write(request: Request, user: User, typed: Mapping[str, str]) -> Response:
    database, record = ports(request).database, ports(request).tape
    property_, of = typed.get("property", "").strip(), typed.get("of", "")
    try:
        zone = ports(request).zones().of(_casino(property_))
        typed = {name: lines(value, name, TEXT_MAX).strip() for name, value in typed.items()}
        from_us = read(typed.get("from", ""), zone, "from")
        to, at = typed.get("to", ""), typed.get("camera_time", "")
        says = log.EntryText(
            from_us,
            read(to, zone, "to", after_us=from_us) if to else None,
            typed.get("place", ""),
            typed.get("what", ""),
            log.people(typed.get("who", "")),
            typed.get("recorded_where", ""),
            typed.get("disposition", ""),
            log.moment(
                typed.get("round", ""),
                typed.get("camera", ""),
                read(at, zone, "camera_time", after_us=from_us) if at else None,
            ),
        )
        if of:
            _may_see(request, user, property_, of)
            why = typed.get("because", "")
            log.correct(database, record, property_, of, says, why, user.employee)
        else:
            log.add(database, record, property_, says, user.employee, zone)
    except (Usage, Refused, NotFound) as error:
        return _page(request, user, "", of, typed, f"{error.what}. {error.hint}", 422)
    return RedirectResponse(PATH, 303)


def _casino(name: str) -> str:
    """The name of a casino. Raises `Usage`."""
    if not _NAME.fullmatch(name):
        raise Usage(f"`{name}` is not a casino", where="property", hint="Give it as hollywood.")
    return name


def _may_see(request: Request, user: User, property_: str, entry: str) -> None:
    """Raise `NotFound` for an entry that this user may not read yet."""
    found = entries.entries(ports(request).database, property=property_, entry=entry)
    if not found or blind_review.log(request, user, found)[1]:
        raise NotFound(f"There is no entry {entry}", where="of", hint="Open the log again.")


def _page(
    request: Request,
    user: User,
    day: str,
    of: str = "",
    typed: Mapping[str, str] | None = None,
    wrong: str = "",
    status: int = 200,
) -> Response:
    database = ports(request).database
    up_to_date(database, [review_view.VIEW])
    zone = ports(request).zones().of(None)
    try:
        since_us = read(f"{day} 00:00", zone, "day") if day else None
    except Usage as error:
        since_us, wrong, status = None, f"{error.what}. {error.hint}", 422
    until_us = since_us + 86_400_000_000 if since_us is not None else None
    every = entries.entries(database, since_us=since_us, until_us=until_us)
    shown, withheld = blind_review.log(request, user, every)
    newest = search.search(database, search.Filters(limit=1))
    return page(
        request,
        "log.html",
        status,
        entries=shown,
        withheld=withheld,
        day=day,
        may=user.has("surveillance"),
        correcting=next((each for each in shown if each.first.entry == of), None),
        typed=typed or {},
        usual_property=newest[0].id.property if newest else "",
        wrong=wrong,
        several=len({each.first.property for each in shown}) > 1,
    )
