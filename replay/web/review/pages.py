"""The page Review: what there is to look at, and the work on it, without leaving the page.

The queue has the findings of rounds and tables, and the alerts that hold now. The script asks for
parts of this page; without scripts every step is a form.
"""

import time
from collections.abc import Sequence
from typing import Annotated, Any, NamedTuple, get_args
from urllib.parse import urlencode

from fastapi import APIRouter, Depends, Query, Request, Response
from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException
from starlette.responses import JSONResponse, RedirectResponse

from consumers.alerts.kinds import BY_NAME
from consumers.review import queue
from consumers.review.queue import Queued, Shown
from consumers.rounds import search
from consumers.rulings import finding_work, rulings
from consumers.runtime.lifecycle import up_to_date
from infra.access.users import User
from ledger.errors import NotFound, Usage
from replay.review import desk
from replay.web.access import blind_review
from replay.web.access.authentication import signed_in
from replay.web.page import page, round_path
from replay.web.pages import find, footage
from replay.web.pages.alarms import alarms
from replay.web.pages.round_page import blind_data, shown
from replay.web.ports import ports

PATH = "/review"

BEFORE_US, AFTER_US = 8_000_000, 4_000_000
"""What is played around a finding's fact, microseconds."""

NAMES_MAX = 200
"""The most findings that one form may name."""

router = APIRouter(include_in_schema=False)
Reader = Annotated[User, Depends(signed_in("surveillance", "auditor"))]


class Alike(NamedTuple):
    """Findings that are alike, of the same dealers."""

    many: int  # more than its members, if a page cannot list them all
    off: int | None
    members: Sequence[Queued]
    dealers: Sequence[str]


@router.get("/")
def first(request: Request, who: find.Finder) -> Response:
    """The first page: Review for surveillance; Find for others, and for any search."""
    asks = request.query_params or find.FRAGMENT in request.headers
    return find.find(request, who) if asks or not who.has("surveillance") else review(request, who)


@router.get(PATH)
def review(
    request: Request,
    who: Reader,
    state: str = "open",
    at: str = "",
    number: Annotated[int, Query(alias="page", ge=1, le=100_000)] = 1,
) -> Response:
    """The queue and the chosen finding, or the queue alone for the script."""
    shown_: Shown = state if state in get_args(Shown) else "open"  # type: ignore[assignment] # as checked
    return _page(request, who, shown_, number, at)


def _page(
    request: Request,
    who: User,
    state: Shown,
    number: int,
    at: str,
    *,
    wrong: str = "",
    status: int = 200,
) -> Response:
    database, blind = ports(request).database, tuple(blind_review.hidden(request, who))
    found = queue.page(database, state, who.employee, number=number, without=blind)
    groups = _alike(request, found.groups)
    if number == 1:
        groups = [Alike(1, None, [each], ()) for each in _alerts(request, who, state)] + groups
    members = [each for group in groups for each in group.members]
    chosen = next((each for each in members if each.name == at), members[0] if members else None)
    part = request.headers.get(find.FRAGMENT) == "review"
    return page(
        request,
        "review_parts.html" if part else "review.html",
        status,
        path=PATH,
        groups=groups,
        chosen=chosen,
        alike=next((group for group in groups if chosen in group.members), None),
        counts=queue.counts(database, who.employee, blind),
        state=state,
        number=number,
        pages=-(-found.groups_all // queue.GROUPS_MAX),
        now_us=time.time_ns() // 1000,
        may=who.has("surveillance"),
        outcomes=desk.OUTCOMES,
        left_out=len(blind),
        wrong=wrong,
        kinds=BY_NAME,
        raise_address=_raise_address(chosen),
        several=len({each.property for each in members}) > 1,
    )


def _alike(request: Request, found: Sequence[queue.Group]) -> list[Alike]:
    """The groups, each divided by the dealers of its rounds."""
    rounds = [each.round for group in found for each in group.members if each.round]
    dealers = search.dealers_of(ports(request).database, rounds)
    divided = []
    for group in found:
        its: dict[tuple[str, ...], list[Queued]] = {}
        for each in group.members:
            its.setdefault(tuple(dealers.get(each.round, ())), []).append(each)
        more = group.many - len(group.members)
        for who, members in its.items():
            money = [each.off for each in members if each.off is not None]
            off = group.off if len(its) == 1 else sum(money) if money else None
            divided.append(Alike(len(members) + more, off, members, who))
            more = 0
    return divided


def _alerts(request: Request, who: User, state: Shown) -> list[Queued]:
    """The alerts that hold now and are no finding's, in one state; urgent ones first."""
    now = blind_review.alerts(ports(request).alerts.now().all, blind_review.hidden(request, who))
    its = {each.says: each for each in now}
    found = [
        _alert(each.about, its[each.says].kind, each.says, its[each.says].id, each.since_us)
        for each in alarms(now)
        if each.table and not each.round and its[each.says].id
    ]
    keys = [finding_work.ref_of(each.ref, each.property) for each in found]
    done = queue.state_of(ports(request).database, keys)
    placed = [_worked(each, done.get(ref)) for each, (_, ref) in zip(found, keys, strict=True)]
    return [each for each in placed if _is_in(each, state, who.employee)]


def _alert(about: str, kind: str, says: str, id_: str, since_us: int) -> Queued:
    """An alert as the queue shows it. about: as `AlertKind.about` says."""
    property_, _, rest = about.lstrip("/").replace(":", "/").partition("/")
    words = BY_NAME.get(kind)
    item = Queued(
        "", property_, rest.partition("/")[0] or None, None, None, kind, None, None, None, None,
        None, since_us, says, about, id_, 3 if words and words.severity == "urgent" else 1,
        "unseen", None, None, None, None, None, None,
    )  # fmt: skip
    return item._replace(name=finding_work.name_of(*finding_work.ref_of(item.ref, property_)))


def _worked(each: Queued, done: tuple[Any, ...] | None) -> Queued:
    if done is None:
        return each
    holder, given_by, closed, *rest = done
    status = "closed" if closed else "taken" if holder else "unseen"
    outcome, because, by, us = rest
    return each._replace(
        status=status, holder=holder, given_by=given_by, outcome=outcome, because=because,
        decided_by=by, decided_us=us,
    )  # fmt: skip


def _is_in(each: Queued, state: Shown, who: str) -> bool:
    if state == "closed":
        return each.status == "closed"
    return each.status != "closed" and (state == "open" or each.holder == who)


def _raise_address(chosen: Queued | None) -> str | None:
    """The form that raises a dispute, filled in."""
    if chosen is None or chosen.round is None:
        return None
    asked = {"round": str(chosen.round)}
    if chosen.position is not None:
        asked["position"] = str(chosen.position)
    return f"/cases/new?{urlencode(asked)}"


@router.post(PATH)
async def step(request: Request, who: Reader) -> Response:
    """Take, give, close or reopen the findings that the form names."""
    form = await request.form()
    names = [str(each) for each in form.getlist("name")][:NAMES_MAX]
    typed = {name: str(value) for name, value in form.items() if name != "name"}
    return await run_in_threadpool(_step, request, who, names, typed)


def _step(request: Request, who: User, names: Sequence[str], typed: dict[str, str]) -> Response:
    state: Any = typed.get("state") if typed.get("state") in get_args(Shown) else "open"
    number = int(typed["page"]) if typed.get("page", "").isdecimal() else 1
    database, record, by = ports(request).database, ports(request).tape, who.employee
    because, what = typed.get("because", ""), typed.get("step")
    try:
        found = _named(request, who, names)
        if what == "take":
            desk.take(record, found, by)
        elif what == "give":
            desk.give(record, found, typed.get("to", ""), by)
        elif what == "close":
            desk.close(record, found, typed.get("outcome", ""), because, by)
        elif what == "reopen":
            desk.reopen(record, found, because, by)
        else:
            raise HTTPException(422, "There is no such step.")
    except (Usage, NotFound) as error:
        at = names[0] if names else ""
        says = f"{error.what}. {error.hint}"
        return _page(request, who, state, number, at, wrong=says, status=422)
    up_to_date(database, [rulings.VIEW])
    if request.headers.get(find.FRAGMENT) == "review":
        return _page(request, who, state, number, typed.get("next", ""))
    return RedirectResponse(f"{PATH}?{urlencode({'state': state, 'page': number})}", 303)


def _named(request: Request, who: User, names: Sequence[str]) -> list[Queued]:
    """The findings and alerts with these names. Raises `NotFound`."""
    alerts = {
        each.name: each for state in ("open", "closed") for each in _alerts(request, who, state)
    }
    rest = [name for name in names if name not in alerts]
    blind = tuple(blind_review.hidden(request, who))
    found = desk.find(ports(request).database, rest, blind) if rest else []
    return [alerts[name] for name in names if name in alerts] + found


@router.get(PATH + "/footage/{name}")
def its_footage(request: Request, who: Reader, name: str) -> Response:
    """The cameras around a finding's fact, for the player; viewing them is recorded first."""
    [found] = desk.find(ports(request).database, [name], tuple(blind_review.hidden(request, who)))
    if found.round is None:
        raise NotFound("This is of no round", where=name, hint="Open Live, or the table's day.")
    its, library = ports(request).rounds, ports(request).library
    told = its.told(found.round)
    footage.viewed(request, who, found.round, shown(told, library), how="reviewed")
    zone = ports(request).zones().of(found.property)
    at_us = moment_of(told.story, found)
    data = blind_data(told, library, zone) | {
        "at": at_us,
        "from": at_us - BEFORE_US,
        "to": at_us + AFTER_US,
        "address": round_path(found.round),
    }
    return JSONResponse(data)


def moment_of(story: Any, found: Queued) -> int:  # noqa: ANN401 - a `Story`
    """When a finding's last fact happened, such as the wrong payment; else the round's last."""
    ruling = story.ruling
    refs = {
        (fact.source, fact.id)
        for each in (ruling.findings if ruling else ())
        if each.says == found.says
        for fact in each.facts
    }
    times = [m.time_us for m in story.moments if (m.source, m.id) in refs]
    return int(max(times) if times else story.moments[-1].time_us)
