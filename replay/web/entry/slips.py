"""Pages of Fill and Credit Slips: request, dispatch, acceptance, void, and the slip on paper."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Annotated, Literal, cast

from fastapi import APIRouter, Depends, Request, Response
from msgspec.structs import replace

from consumers.finance import papers as paper_views
from infra.access.connections import Actor
from infra.access.users import Role, User
from ledger.errors import NotFound, Refused, Usage
from ledger.finance.placing import table_of
from ledger.finance.serials import numbered, printed
from ledger.finance.slips import Kind, SlipRecord
from ledger.games import games
from replay.recording.chip_slips import STEPS, EnteredSlip, SlipStep, is_at_cage
from replay.reports.printing import print_slip
from replay.text.typed import two_people
from replay.web.access.authentication import address, signed_in
from replay.web.entry import papers, typed
from replay.web.entry.second_person import require_signature, second_person
from replay.web.page import page
from replay.web.ports import ports

PATH = f"{papers.PATH}/slips"
SLIP = PATH + "/{property_}/{kind}/{slip:path}"
PRINTS = f"{papers.PATH}/prints"

router = APIRouter(include_in_schema=False)
Pit = Annotated[User, Depends(signed_in("pit"))]
Mover = Annotated[User, Depends(signed_in("pit", "cage"))]
Reader = Annotated[User, Depends(signed_in("pit", "cage", "finance", "auditor"))]
Printer = Annotated[User, Depends(signed_in("pit", "cage", "finance"))]
Form = Annotated[Mapping[str, str], Depends(typed.form_of)]
OfKind = Literal["fill", "credit"]


@router.get(f"{PATH}/new")
def new(request: Request, user: Pit, property: str = "", kind: OfKind = "fill") -> Response:  # noqa: A002 - as on the floor
    """The form that requests a fill or a credit; it suggests the next number of the series."""
    del user
    return _request_page(request, {"property": property, "kind": kind})


@router.post(PATH)
def request_(request: Request, user: Pit, form: Form) -> Response:
    """Put a request on record, by the signed-in person."""
    try:
        house, table = typed.text(form, "property"), typed.name(form, "table")
        day = papers.day_of(request, house)
        papers.require_table(day, table)
        kind, number = _kind(form), typed.text(form, "slip")
        case = _case(request, house, kind, number, "requested", table)
        chips = typed.pieces(form, "chips", typed.CHIPS)
        others = [replace(case, table=name) for name in day.tables if name != table]
        body = case.enter("requested", chips, [user.employee])
        ports(request).papers.begin(case, body, others)
    except (Usage, Refused) as error:
        return _request_page(request, form, 422, wrong=papers.wrong(error))
    return papers.see(papers.slip_path(house, SlipRecord(kind, number)))


@router.get(SLIP)
def slip(request: Request, user: Reader, property_: str, kind: OfKind, slip: str) -> Response:
    """A slip, and the steps that this user may take."""
    return _slip_page(request, user, _found(request, property_, kind, slip))


@router.post(SLIP)
def step(
    request: Request, user: Mover, form: Form, property_: str, kind: OfKind, slip: str
) -> Response:
    """Take the next step of a slip: two people, of the department whose step it is."""
    found = _found(request, property_, kind, slip)
    try:
        wanted = _step(form, user, kind)
        case = _case(request, property_, kind, slip, wanted, found.table)
        second = second_person(request, form.get("second", ""))
        people = two_people(user.employee, second.employee)
        chips = case.chips() if wanted == "voided" else typed.pieces(form, "chips", typed.CHIPS)
        body = case.enter(wanted, chips, people, form.get("reason", "").strip())
        papers.require_department(request, second, _role(kind, wanted))
        require_signature(request, user, second, form, body, f"{property_}/{case.table}")
        ports(request).papers.decide(case, body)
    except (Usage, Refused) as error:
        return _slip_page(request, user, found, 422, form=form, wrong=papers.wrong(error))
    return papers.see(papers.slip_path(property_, SlipRecord(kind, slip)))


@router.post(PRINTS)
def on_paper(request: Request, user: Printer, form: Form) -> Response:
    """The slip on one page. Each print is logged, and from the second on it says REPRINT."""
    house = typed.text(form, "property")
    case = _found(request, house, _kind(form), typed.text(form, "slip"))
    actor = Actor(user.name, address(request))
    again = print_slip(ports(request).access, house, f"{case.kind} {case.slip}", actor)
    return page(
        request,
        "entry_slip_paper.html",
        case=case,
        again=again,
        user=user,
        at=_place(request, case),
    )


def _place(request: Request, case: EnteredSlip) -> paper_views.PlaceOfPaper:
    """The game by its title, gaming day and shift of a slip: those of what decides it."""
    if case.record is None:
        return paper_views.PlaceOfPaper()
    time_us = case.record.decides.time_us
    at = paper_views.place_at(ports(request).database, case.property, case.table, time_us)
    known = games().get(at.game or "")
    return at._replace(game=known.title if known else at.game)


def _found(request: Request, house: str, kind: Kind, number: str) -> EnteredSlip:
    """A slip on record. Raises `NotFound`."""
    papers.day_of(request, house)
    found: EnteredSlip = _case(request, house, kind, number, "requested", "")
    if found.record is None:
        raise NotFound(f"No {kind} slip {number} is on record", where=house, hint="See the list.")
    return _case(request, house, kind, number, "requested", table_of(found.record.facts[0])[1])


def _case(
    request: Request, house: str, kind: Kind, number: str, step: SlipStep, table: str
) -> EnteredSlip:
    """A slip as the place that takes this step sees it."""
    new = EnteredSlip(
        property=house, table=table or "-", kind=kind, slip=number, at_cage=is_at_cage(kind, step)
    )
    found: EnteredSlip = ports(request).papers.read(new)
    return found


def _kind(form: Mapping[str, str]) -> Kind:
    if form.get("kind") not in ("fill", "credit"):
        raise Usage("The kind of slip is not known", where="kind", hint="Choose fill or credit.")
    return cast("Kind", form["kind"])


def _step(form: Mapping[str, str], user: User, kind: Kind) -> SlipStep:
    """The step that is asked for. Raises `Refused` if it is another department's."""
    if form.get("step") not in STEPS:
        raise Usage("The step is not known", where="step", hint="Choose one.")
    step = cast("SlipStep", form["step"])
    if not _is_of(user, kind, step):
        raise Refused("This step is another department's", where=step, hint="Let it sign in.")
    return step


def _is_of(user: User, kind: Kind, step: SlipStep) -> bool:
    """Whether a step is of this user's department."""
    return user.has(_role(kind, step))


def _role(kind: Kind, step: SlipStep) -> Role:
    """The department whose step it is."""
    return "cage" if is_at_cage(kind, step) else "pit"


def _suggested(slips: Sequence[SlipRecord], kind: str, tables: Sequence[str]) -> str:
    """The number after the highest of the newest series of a kind.

    Empty if there is none, or if it is one table's series.
    """
    its = [numbered(slip.number) for slip in slips if slip.kind == kind]
    if not its or not its[0].width or any(table in its[0].first for table in tables):
        return ""
    newest = its[0]
    last = max(each.low for each in its if each.width and each.stem == newest.stem)
    return printed(newest, last + 1)


def _request_page(
    request: Request, form: Mapping[str, str], status: int = 200, *, wrong: str = ""
) -> Response:
    its = papers.of_form(request, form)
    day = its["day"]
    return page(
        request,
        "entry_slip_new.html",
        status,
        form=form,
        **its,
        suggested=_suggested(day.slips, form.get("kind", "fill"), day.tables) if day else "",
        chips=typed.CHIPS,
        wrong=wrong,
    )


def _slip_page(
    request: Request,
    user: User,
    case: EnteredSlip,
    status: int = 200,
    *,
    form: Mapping[str, str] | None = None,
    wrong: str = "",
) -> Response:
    steps = [step for step in case.next_steps() if _is_of(user, case.kind, step)]
    usual = {f"chips_{cents}": str(count) for cents, count in case.chips().items()}
    return page(
        request,
        "entry_slip.html",
        status,
        case=case,
        steps=steps,
        form=usual if form is None else form,
        chips=sorted({*typed.CHIPS, *map(int, case.chips())}),
        path=papers.slip_path(case.property, SlipRecord(case.kind, case.slip)),
        wrong=wrong,
    )
