"""The form of a table inventory: the opener, or the count at a drop or closing (465a.36)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Annotated, cast

from fastapi import APIRouter, Depends, Request, Response

from infra.access.users import User
from ledger.errors import Refused, Usage
from replay.recording.table_inventories import KINDS, InventoryKind, TableInventory
from replay.text.typed import same_people, two_people
from replay.web.access.authentication import signed_in
from replay.web.entry import papers, typed
from replay.web.entry.second_person import require_signature, second_person
from replay.web.page import page
from replay.web.ports import ports

if TYPE_CHECKING:
    from infra.access.users import Account

PATH = f"{papers.PATH}/inventories"

router = APIRouter(include_in_schema=False)
Pit = Annotated[User, Depends(signed_in("pit"))]
Form = Annotated[Mapping[str, str], Depends(typed.form_of)]


@router.get(PATH)
def new(request: Request, user: Pit, property: str = "", done: str = "") -> Response:  # noqa: A002 - as on the floor
    """The form, with the count that its address names."""
    asked = {name: request.query_params.get(name, "") for name in ("table", "gaming_day", "kind")}
    named = {name: text for name, text in asked.items() if text}
    return _page(request, named | {"property": property, "counted_by": user.employee}, done=done)


@router.post(PATH)
def enter(request: Request, user: Pit, form: Form) -> Response:
    """Put the inventory on record. The signed-in person is one of the two."""
    try:
        house = typed.text(form, "property")
        day = papers.day_of(request, house)
        table = typed.name(form, "table")
        papers.require_table(day, table)
        people, second = _people(request, form, user)
        decisions = ports(request).papers
        gaming_day = typed.begun_day(form)
        slip = typed.text(form, "slip")
        case = decisions.read(
            TableInventory(property=house, table=table, gaming_day=gaming_day, slip=slip)
        )
        body = case.enter(
            _kind(form),
            typed.pieces(form, "chips", typed.CHIPS),
            total=typed.amount(form, "total"),
            counted_by=people[0],
            observed_by=people[1],
            shift=form.get("shift", "").strip(),
        )
        papers.require_department(request, second, "pit")
        require_signature(request, user, second, form, body, f"{house}/{table}")
        decisions.decide(case, body)
    except (Usage, Refused) as error:
        return _page(request, form, 422, wrong=papers.wrong(error))
    return papers.see(f"{PATH}?property={house}&done={table}")


def _people(
    request: Request, form: Mapping[str, str], user: User
) -> tuple[tuple[str, str], Account]:
    """Who counted and who observed, and the account of the one who is not signed in.

    Raises `Usage` unless the signed-in person is one of two.
    """
    people = two_people(typed.text(form, "counted_by"), typed.text(form, "observed_by"))
    others = [each for each in people if not same_people([each], [user.employee, user.name])]
    if len(others) != 1:
        raise Usage(
            f"You are {user.employee}, and one of the two must be you",
            where="counted_by",
            hint="Let one of those two sign in.",
        )
    second = second_person(request, others[0], "observed_by")
    both = (user.employee, second.employee)
    return (both if others[0] == people[1] else both[::-1]), second


def _kind(form: Mapping[str, str]) -> InventoryKind:
    if form.get("kind") not in KINDS:
        raise Usage("The kind of count is not known", where="kind", hint="Choose one.")
    return cast("InventoryKind", form["kind"])


def _page(
    request: Request, form: Mapping[str, str], status: int = 200, *, wrong: str = "", done: str = ""
) -> Response:
    return page(
        request,
        "entry_inventory.html",
        status,
        form=form,
        **papers.of_form(request, form),
        chips=typed.CHIPS,
        wrong=wrong,
        done=done,
    )
