"""The page Shift: begin a shift, hand it over with its report, countersign another one."""

import re
from typing import Annotated, Any, NamedTuple

from fastapi import APIRouter, Depends, Form, Request, Response
from starlette.responses import RedirectResponse

from consumers.review import shifts as kept
from consumers.review.shifts import Shift
from consumers.rounds import search
from consumers.runtime.lifecycle import up_to_date
from infra.access.users import User
from ledger.errors import NotFound, Refused, Usage
from ledger.values import NAME
from replay.cameras.retention import policy_from
from replay.recording.house_facts import now_us
from replay.review import shift_report, shifts
from replay.review.shift_report import ReportSources, ShiftReport
from replay.shell.settings import in_force
from replay.text.file_names import file_name
from replay.web.access import blind_review
from replay.web.access.authentication import signed_in
from replay.web.page import page
from replay.web.ports import ports

PATH = "/shift"

SEEN_FOR_US = 3_600_000_000
"""How long a report that was shown can be handed over, microseconds."""

CHANGED = "The report has changed since you opened this page. Read it, then hand over."

router = APIRouter(include_in_schema=False)
Reader = Annotated[User, Depends(signed_in("surveillance", "auditor"))]
Investigator = Annotated[User, Depends(signed_in("surveillance"))]
Field = Annotated[str, Form(max_length=128)]

_NAME = re.compile(NAME)


class Shown(NamedTuple):
    """The report that a person read before they pressed the button. report: its SHA-256."""

    property: str
    shift: str
    made_us: int
    report: str


@router.get(PATH)
def list_(request: Request, user: Reader) -> Response:
    """The own shift with its report, the one to countersign, and the newest ones."""
    return _page(request, user)


@router.post(PATH)
def step(
    request: Request,
    user: Investigator,
    step: Field,
    property_: Annotated[str, Form(alias="property", max_length=64)],
    shift: Field = "",
    to: Annotated[str, Form(max_length=64)] = "",
    made: Annotated[int, Form(ge=0, le=2**62)] = 0,
    report: Field = "",
) -> Response:
    """Begin a shift, hand it over, or countersign one."""
    _catch_up(request)
    try:
        if step == "begin":
            _begin(request, user, property_)
        elif step == "countersign":
            _countersign(request, user, property_, shift)
        elif not _hand_over(request, user, Shown(property_, shift, made, report), to):
            return _page(request, user, CHANGED, 409, to)
    except (Usage, Refused, NotFound) as error:
        return _page(request, user, f"{error.what}. {error.hint}", 422, to)
    _catch_up(request)
    return RedirectResponse(PATH, 303)


def _begin(request: Request, user: User, property_: str) -> None:
    its = ports(request)
    zone = its.zones().of(_casino(property_))
    shifts.begin(its.database, its.tape, property_, user.employee, zone)


def _hand_over(request: Request, user: User, shown: Shown, to: str) -> bool:
    """Hand a shift over, unless the report is no longer the one that was shown."""
    found = shifts.find(ports(request).database, shown.property, shown.shift)
    now = now_us()
    told = _report(request, found, now, shown.made_us)
    fresh = now - SEEN_FOR_US <= shown.made_us <= now
    if found.begun_by == user.employee and not (fresh and told.sha256 == shown.report):
        return False
    shifts.hand_over(ports(request).tape, found, told, to, user.employee)
    return True


def _countersign(request: Request, user: User, property_: str, shift: str) -> None:
    found = shifts.find(ports(request).database, property_, shift)
    _refuse_withheld(request, user, found)
    shifts.countersign(ports(request).tape, found, user.employee)


@router.get(PATH + "/{property_}/{name:path}.pdf")
def paper(request: Request, user: Reader, property_: str, name: str) -> Response:
    """The report as one sheet of paper."""
    from replay.reports.shift_paper import shift_pdf  # noqa: PLC0415 - imports the PDF library

    _catch_up(request)
    found = shifts.find(ports(request).database, property_, name)
    _refuse_withheld(request, user, found)
    octets = shift_pdf(found, _text(request, found))
    named = file_name(f"shift-{property_}-{name}")
    headers = {"Content-Disposition": f'attachment; filename="{named}.pdf"'}
    return Response(octets, media_type="application/pdf", headers=headers)


@router.get(PATH + "/{property_}/{name:path}")
def one(request: Request, user: Reader, property_: str, name: str) -> Response:
    """The report of one shift: as it was handed over, or as it stands now."""
    _catch_up(request)
    found = shifts.find(ports(request).database, property_, name)
    return page(request, "shift.html", **_shown(request, user, found))


def _page(
    request: Request, user: User, wrong: str = "", status: int = 200, to: str = ""
) -> Response:
    _catch_up(request)
    database = ports(request).database
    may = user.has("surveillance")
    mine = shifts.open_of(database, user.employee) if may else None
    waiting = shifts.waiting_for(database, user.employee) if may else None
    made_us = now_us()
    newest = search.search(database, search.Filters(limit=1))
    return page(
        request,
        "shifts.html",
        status,
        may=may,
        mine=mine,
        now=_report(request, mine, made_us) if mine else None,
        made_us=made_us,
        waiting=_shown(request, user, waiting) if waiting else None,
        found=kept.shifts(database),
        usual_property=newest[0].id.property if newest else "",
        sections=shift_report.sections_of,
        to=to,
        wrong=wrong,
    )


def _shown(request: Request, user: User, found: Shift) -> dict[str, Any]:
    """What a page shows of a shift; its report is left out while it is withheld from the user."""
    withheld = blind_review.report_withheld(request, user, found)
    text = None if withheld else _text(request, found)
    return {
        "shift": found,
        "zone": ports(request).zones().of(found.property),
        "report": shift_report.sections_of(text) if text else (),
        "withheld": withheld,
        "fits": found.text is None or shift_report.hash_of(found.text) == found.report,
    }


def _text(request: Request, found: Shift) -> str | None:
    """The report's text: on record, or of now for an open shift; None: only its hash is known."""
    return _report(request, found, now_us()).text if found.handed_us is None else found.text


def _report(
    request: Request, found: Shift, until_us: int, made_us: int | None = None
) -> ShiftReport:
    its = ports(request)
    policy = policy_from(in_force().retention_file)
    sources = ReportSources(its.database, its.tape, policy, its.zones().of(found.property))
    return shift_report.report(sources, found, until_us, made_us)


def _refuse_withheld(request: Request, user: User, found: Shift) -> None:
    """Raise `Refused` while a shift's report is withheld from this user."""
    withheld = blind_review.report_withheld(request, user, found)
    if withheld:
        names = ", ".join(each.subject for each in withheld)
        hint = f"Review {names} first."
        raise Refused("The report is withheld: blind review", where="shift", hint=hint)


def _casino(name: str) -> str:
    """The name of a casino. Raises `Usage`."""
    if not _NAME.fullmatch(name):
        raise Usage(f"`{name}` is not a casino", where="property", hint="Give it as hollywood.")
    return name


def _catch_up(request: Request) -> None:
    up_to_date(ports(request).database, shifts.VIEWS)
