"""Counting a box: a blank form for each count, then the cage's.

There are two counts, and a third one if these disagree. A counter sees them after the last, the
cage after it verified. Who reads counts on other pages counts none here.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Annotated, NamedTuple
from urllib.parse import quote

from fastapi import APIRouter, Depends, Request, Response
from starlette.exceptions import HTTPException

from infra.access.users import Role, User
from ledger.errors import NotFound, Refused, Usage
from ledger.facts.money import Voucher
from ledger.finance.boxes import KINDS, PaperKind, counted, numbers_of
from replay.recording.box_counts import CountedBox
from replay.text.typed import same_people
from replay.web.access.authentication import signed_in
from replay.web.entry import papers, typed
from replay.web.entry.second_person import require_signature, second_person
from replay.web.page import page
from replay.web.ports import ports

if TYPE_CHECKING:
    from ledger.facts import DropBoxCounted, DropBoxVerified

PATH = papers.PATH + "/boxes/{property_}/{table}/{day}/{box:path}"

router = APIRouter(include_in_schema=False)
Counter = Annotated[User, Depends(signed_in("count", "cage"))]
Form = Annotated[Mapping[str, str], Depends(typed.form_of)]


_SEES_COUNTS: frozenset[Role] = frozenset(("finance", "auditor", "cage"))
"""Roles of people who see counts elsewhere, or verify them."""


NAMES = papers.NAMES_OF_COUNTS


class ComparedCounts(NamedTuple):
    """One kind of content by each count, in cents; coupons in pieces."""

    kind: str
    amounts: list[int | None]

    @property
    def differs(self) -> bool:
        """Whether the counts disagree."""
        return len(set(self.amounts)) > 1


@router.get(PATH)
def box(
    request: Request, user: Counter, property_: str, table: str, day: str, box: str
) -> Response:
    """The form that is due of a box, or its counts once they may be seen."""
    return _page(request, user, _case(request, user, (property_, table, day, box)))


@router.post(PATH)
def count(
    request: Request, user: Counter, form: Form, property_: str, table: str, day: str, box: str
) -> Response:
    """Put a count, or the cage's verification, on record."""
    case = _case(request, user, (property_, table, day, box))
    try:
        body = _body(request, case, user, form)
        ports(request).papers.decide(case, body)
    except (Usage, Refused) as error:
        return _page(request, user, case, 422, form=form, wrong=papers.wrong(error))
    return papers.see(f"{papers.PATH}/boxes/{property_}/{table}/{day}/{quote(box, safe='')}")


def _body(
    request: Request, case: CountedBox, user: User, form: Form
) -> DropBoxCounted | DropBoxVerified:
    """The fact that a form says."""
    if case.at_cage:
        return case.verify(typed.amount(form, "total"), user.employee)
    second = second_person(request, form.get("second", ""))
    papers.require_department(request, second, "count", without=_SEES_COUNTS)
    nth = int(form["count"]) if form.get("count") in ("2", "3") else 1
    content = typed.box_content(form)
    if not any(content.values()) and form.get("empty") != "yes":
        raise Usage(
            "Nothing was typed",
            where="content",
            hint="Type what the box held, or tick that it was empty.",
        )
    body = case.count(nth, content, user.employee, second.employee)
    if (again := _typed_again(body)) and form.get("twice") != "yes":
        raise Usage(
            f"{again} is typed more than once",
            where="content",
            hint="Take a line out, or tick that the box held several papers of one number.",
        )
    at = f"{case.property}/{case.table}"
    require_signature(request, user, second, form, body, at)
    return body


_PAPERS: dict[PaperKind, str] = {
    "check": "Counter check",
    "voucher": "Voucher",
    "coupon": "Coupon",
}


def _typed_again(body: DropBoxCounted) -> str:
    """The first paper that a count has more than once, in words; empty if there is none."""
    for kind, numbers in numbers_of(body).items():
        seen: set[str] = set()
        for number in numbers:
            if number in seen:
                return f"{_PAPERS[kind]} {number}"
            seen.add(number)
    return ""


def _case(request: Request, user: User, which: tuple[str, str, str, str]) -> CountedBox:
    """The box as this user's department sees it. Raises `NotFound`.

    A person who reads counts as another user counts none as this one.
    """
    roles = user.roles | papers.roles_of(request, user.employee)
    if roles & {"finance", "auditor"} or ("count" in roles) == ("cage" in roles):
        raise HTTPException(403, "Who may read counts elsewhere cannot count or verify blind.")
    house, table, day, number = which
    papers.day_of(request, house, day)
    new = CountedBox(
        property=house, table=table, gaming_day=day, box=number, at_cage=user.has("cage")
    )
    found: CountedBox = ports(request).papers.read(new)
    if found.record is None:
        raise NotFound(f"No fact names box {number} then", where=table, hint="See the list.")
    return found


def _page(
    request: Request,
    user: User,
    case: CountedBox,
    status: int = 200,
    *,
    form: Mapping[str, str] | None = None,
    wrong: str = "",
) -> Response:
    verified = [body.total for body in case.verified]
    due = case.next_count()
    done = due is None
    others = bool(same_people([user.employee], [n for of in case.counts for n in of.counted_by]))
    may_see = done and (not case.at_cage or bool(verified))
    return page(
        request,
        "entry_box.html",
        status,
        case=case,
        due=None if case.at_cage else due,
        others=others,
        to_verify=case.at_cage and done and not verified,
        state=papers.box_state(case),
        compared=_compared(case) if may_see else [],
        counts=[NAMES[body.count].capitalize() for body in case.counts] if may_see else [],
        name_of_due=NAMES.get(due or 0, ""),
        verified=verified if may_see else [],
        without_amount=_without_amount(case) if may_see else [],
        form=form or {},
        notes=typed.NOTES,
        chips=typed.CHIPS,
        who_counts=user.employee,
        wrong=wrong,
    )


def _without_amount(case: CountedBox) -> list[str]:
    """The vouchers that a count has without an amount: none was printed or typed."""
    named = (each for body in case.counts for each in body.vouchers)
    numbers = (
        (each.voucher, each.amount) if isinstance(each, Voucher) else (each, None) for each in named
    )
    return list(dict.fromkeys(number for number, amount in numbers if amount is None))


def _compared(case: CountedBox) -> list[ComparedCounts]:
    """The counts side by side; a total is not known if the amount of a voucher is not."""
    each = [counted(fact, {}) for fact in case.in_order()]
    found = [ComparedCounts(kind, [of[kind] for of in each]) for kind in KINDS]
    found.append(ComparedCounts("coupons", [len(body.coupons) for body in case.counts]))
    return [of for of in found if any(amount != 0 for amount in of.amounts)]
