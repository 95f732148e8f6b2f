"""The page To approve: requests that wait, and what each would record.

Who asked and who answers are signed in, each in a session of their own. No credential is typed.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Annotated, NamedTuple

from fastapi import APIRouter, Depends, Request, Response
from starlette.exceptions import HTTPException

from infra.access.users import User
from ledger.errors import Refused, Usage
from replay.approvals.acts import PEOPLE, act_of, terms_say
from replay.recording.house_facts import now_us
from replay.web.access.authentication import signed_in, signed_in_lately
from replay.web.entry import papers, typed
from replay.web.page import page
from replay.web.ports import ports

if TYPE_CHECKING:
    from replay.approvals.acts import Act
    from replay.approvals.request import ApprovalRequest, State

PATH = "/approvals"
OF_ONE = PATH + "/{property_}/{name}"

router = APIRouter(include_in_schema=False)
Reader = Annotated[User, Depends(signed_in(*PEOPLE, "auditor"))]
Answerer = Annotated[User, Depends(signed_in_lately(*PEOPLE))]
Form = Annotated[Mapping[str, str], Depends(typed.form_of)]


class ListedRequest(NamedTuple):
    """A request as a line of the list."""

    case: ApprovalRequest
    act: Act
    state: State
    is_mine: bool


@router.get(PATH)
def approvals(request: Request, who: Reader) -> Response:
    """The requests of the last seven days that concern the reader's roles."""
    found = _listed(request, who)
    return page(
        request,
        "approvals.html",
        waiting=[each for each in found if each.state == "waiting"],
        others=[each for each in found if each.state != "waiting"],
    )


@router.get(OF_ONE)
def approval(request: Request, who: Reader, property_: str, name: str) -> Response:
    """What a request would record, with its amounts, and the answer to it."""
    return _page(request, who, property_, name)


@router.post(OF_ONE)
def answer(request: Request, who: Answerer, form: Form, property_: str, name: str) -> Response:
    """Approve a request, refuse it, or withdraw one's own."""
    case = ports(request).approvals.request(property_, name)
    try:
        _answer(request, who, case, form)
    except (Usage, Refused) as error:
        return _page(request, who, property_, name, 422, form=form, wrong=papers.wrong(error))
    return papers.see(case.page)


def _answer(request: Request, who: User, case: ApprovalRequest, form: Mapping[str, str]) -> None:
    """Raises `Refused` and `Usage`."""
    desk = ports(request).approvals
    match form.get("step"):
        case "give":
            desk.give(case, who, form.get("digest", ""), ports(request).users.list())
        case "refuse":
            desk.refuse(case, who, form.get("because", ""))
        case "withdraw":
            desk.withdraw(case, who)
        case _:
            raise Usage("The answer is not known", where="step", hint="Choose one.")


def _listed(request: Request, who: User) -> list[ListedRequest]:
    found = []
    for case in ports(request).approvals.recent():
        act = act_of(case.request.act)
        if who.has(*act.asks, *act.gives, "auditor"):
            state, is_mine = case.state(now_us()), case.is_of(who)
            found.append(ListedRequest(case, act, state, is_mine))
    return found


def _page(
    request: Request,
    who: User,
    property_: str,
    name: str,
    status: int = 200,
    *,
    form: Mapping[str, str] | None = None,
    wrong: str = "",
) -> Response:
    shown = ports(request).approvals.shown(property_, name)
    case, act = shown.case, shown.act
    if not who.has(*act.asks, *act.gives, "auditor"):
        raise HTTPException(403, "Your role may not open this request.")
    state = case.state(now_us())
    is_mine = case.is_of(who)
    return page(
        request,
        "approval.html",
        status,
        case=case,
        act=act,
        says=shown.made.says if shown.made else terms_say(case.request.terms),
        made=shown.made,
        why=shown.why,
        state=state,
        may_answer=state == "waiting" and who.has(*act.gives) and not is_mine,
        may_withdraw=state == "waiting" and is_mine,
        form=form or {},
        wrong=wrong,
    )
