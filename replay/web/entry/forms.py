"""Forms of one fact: counter checks, their books, coupons, boxes, tournaments, variances."""

from __future__ import annotations

import re
import secrets
from collections.abc import Callable, Mapping
from typing import Annotated, Any

from fastapi import APIRouter, Depends, Request, Response
from starlette.exceptions import HTTPException

from consumers.finance import variances
from consumers.finance.sealed import sealed_wins
from consumers.runtime.lifecycle import up_to_date
from infra.access.users import User
from ledger.errors import NotFound, Refused, Usage
from replay.recording.plain_papers import FORMS, PaperField, PaperForm, filled, paper_of
from replay.recording.sealed_days import versions_folder
from replay.text.times import is_gaming_day
from replay.text.variances import limits_say
from replay.web.access.authentication import signed_in
from replay.web.entry import papers, typed
from replay.web.entry.second_person import require_signature, second_person
from replay.web.page import page
from replay.web.ports import ports

PATH = papers.PATH + "/forms/{name}"

_KEY = re.compile(r"[0-9a-f]{16}")

router = APIRouter(include_in_schema=False)
Writer = Annotated[User, Depends(signed_in("pit", "cage", "finance"))]
Form = Annotated[Mapping[str, str], Depends(typed.form_of)]


@router.get(PATH)
def new(request: Request, user: Writer, name: str, property: str = "", done: str = "") -> Response:  # noqa: A002 - as on the floor
    """A form with what its address says; the page Win gives a table and its day."""
    of = _of(name, user)
    known = {each.name for each in of.fields}
    given = {name: text for name, text in request.query_params.items() if name in known}
    return _page(request, of, given | {"property": property}, done=done)


@router.post(PATH)
def enter(request: Request, user: Writer, form: Form, name: str) -> Response:
    """Put the paper on record."""
    of = _of(name, user)
    try:
        house = typed.text(form, "property")
        day = papers.day_of(request, house)
        values = {each.name: _value(form, each) for each in of.fields}
        if "table" in values:
            papers.require_table(day, values["table"])
        key = _key(form)
        if of.act:
            terms = {name: str(its) for name, its in values.items() if its is not None}
            asked = ports(request).approvals.ask(of.act, house, terms | {"key": key}, user)
            return papers.see(asked.page)
        second = second_person(request, form.get("second", "")) if of.second else None
        body = filled(of, key, values, user.employee, second.employee if second else "")
        if second and of.of_both:
            papers.require_department(request, second, None, without=frozenset((of.role,)))
        case = ports(request).papers.read(paper_of(of, house, key, values))
        case.require(body)
        if second:
            require_signature(request, user, second, form, body, house)
        ports(request).papers.decide(case, body)
    except (Usage, Refused) as error:
        return _page(request, of, form, 422, wrong=papers.wrong(error))
    return papers.see(f"{papers.PATH}/forms/{name}?property={house}&done=1")


def _of(name: str, user: User) -> PaperForm:
    found = next((form for form in FORMS if form.fact == name), None)
    if found is None:
        raise NotFound(f"There is no form {name}", where="address", hint="See the list.")
    if not user.has(found.role):
        raise HTTPException(403, "Your role may not open this page.")
    return found


def _key(form: Mapping[str, str]) -> str:
    """The key that the form was shown with. Raises `Usage`."""
    if not _KEY.fullmatch(form.get("key", "")):
        raise Usage("The form has lost its key", where="key", hint="Open a new one.")
    return form["key"]


_READERS: Mapping[str, Callable[[Mapping[str, str], str], Any]] = {
    "table": typed.name,
    "money": typed.amount,
    "signed": typed.signed_amount,
    "signed_maybe": typed.signed_maybe,
    "number": typed.whole,
    "position": typed.position,
    "day": typed.gaming_day,
    "begun": typed.begun_day,
    "lines": lambda form, field: tuple(typed.lines_of(form, field)),
    "ranges": lambda form, field: tuple(typed.ranges(form, field)),
    "maybe": lambda form, field: form.get(field, "").strip() or None,
    "text": typed.text,
    "prose": typed.prose,
}
"""What reads a field, by its kind; a choice is read by its choices. Each raises `Usage`."""


def _value(form: Mapping[str, str], field: PaperField) -> Any:  # noqa: ANN401 - of a field's kind
    """What a field says. Raises `Usage`."""
    if field.kind == "choice":
        return typed.choice(form, field.name, field.choices)
    return _READERS[field.kind](form, field.name)


def _beside(request: Request, of: PaperForm, form: Mapping[str, str]) -> list[tuple[str, str]]:
    """The limits that a table's hold breaks on the day of an explanation, beside its amount."""
    house, table, day = (form.get(name, "") for name in ("property", "table", "gaming_day"))
    if of.act != "variance_explain" or not (house and table and is_gaming_day(day)):
        return []
    database = ports(request).database
    up_to_date(database, sealed_wins.VIEWS)
    kept = versions_folder(ports(request).library.home)
    return list(limits_say(variances.of_table(database, house, table, day, kept=kept)))


def _page(
    request: Request,
    of: PaperForm,
    form: Mapping[str, str],
    status: int = 200,
    *,
    wrong: str = "",
    done: str = "",
) -> Response:
    return page(
        request,
        "entry_form.html",
        status,
        of=of,
        form=form,
        **papers.of_form(request, form),
        beside=_beside(request, of, form),
        key=form.get("key") or secrets.token_hex(8),
        wrong=wrong,
        done=done,
    )
