"""Forms of one fact: counter checks, their books, coupons, boxes, tournaments, variances."""

from __future__ import annotations

import re
import secrets
from collections.abc import Callable, Mapping
from typing import Annotated, Any

from fastapi import APIRouter, Depends, Request, Response
from starlette.exceptions import HTTPException

from infra.access.users import User
from ledger.errors import NotFound, Refused, Usage
from replay.recording.plain_papers import FORMS, PaperForm, filled, paper_of
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
        values = {each.name: _READERS[each.kind](form, each.name) for each in of.fields}
        if "table" in values:
            papers.require_table(day, values["table"])
        key = _key(form)
        if of.act:
            terms = {name: str(value) for name, value in values.items()}
            asked = ports(request).approvals.ask(of.act, house, terms | {"key": key}, user)
            return papers.see(asked.page)
        second = second_person(request, form.get("second", "")) if of.second else None
        body = filled(of, key, values, user.employee, second.employee if second else "")
        if second and of.of_both:
            papers.require_department(request, second, None, without=frozenset((of.role,)))
        case = ports(request).papers.read(paper_of(of, house, key, values))
        case.require(body)
        if second:
            require_signature(request, user, second, form, body)
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
    "number": typed.whole,
    "day": typed.gaming_day,
    "begun": typed.begun_day,
    "lines": lambda form, field: tuple(typed.lines_of(form, field)),
    "ranges": lambda form, field: tuple(typed.ranges(form, field)),
    "maybe": lambda form, field: form.get(field, "").strip() or None,
    "text": typed.text,
    "prose": typed.prose,
    "terms": typed.text,
}
"""What reads a field, by its kind. Each raises `Usage`."""


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
        key=form.get("key") or secrets.token_hex(8),
        wrong=wrong,
        done=done,
    )
