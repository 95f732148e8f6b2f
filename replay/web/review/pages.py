"""The page Review: what there is to look at, and the work on it, without leaving the page.

The queue has the findings of rounds and tables, and the alerts that hold now. The script asks for
parts of this page; without scripts every step is a form.
"""

import time
from collections.abc import Mapping, Sequence
from typing import Annotated, Any, NamedTuple, get_args
from urllib.parse import urlencode

from fastapi import APIRouter, Depends, Form, Query, Request, Response
from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException
from starlette.responses import JSONResponse, RedirectResponse

from consumers.alerts.kinds import BY_NAME
from consumers.review import desk as review_view
from consumers.review import queue, samples
from consumers.review.queue import Queued, Shown
from consumers.rounds import search
from consumers.rulings import finding_work, rulings
from consumers.runtime.lifecycle import up_to_date
from infra.access.users import User
from ledger.errors import NotFound, Usage
from replay.review import desk
from replay.review import samples as sampling
from replay.web.access import blind_review
from replay.web.access.authentication import signed_in
from replay.web.page import page, round_path
from replay.web.pages import find, footage
from replay.web.pages.alarms import alarms
from replay.web.pages.round_page import blind_data, shown
from replay.web.ports import ports

PATH = "/review"
SAMPLES = f"{PATH}/samples"

USUAL = 10
"""Rounds without a finding in a sample, unless another number is typed."""

BEFORE_US, AFTER_US = 8_000_000, 4_000_000
"""What is played around a finding's fact, microseconds."""

NAMES_MAX = 200
"""The most findings that one form may name."""

router = APIRouter(include_in_schema=False)
Reader = Annotated[User, Depends(signed_in("surveillance", "auditor"))]
Reviewer = Annotated[User, Depends(signed_in("surveillance"))]


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
        groups = _with_others(request, who, state, groups)
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
        counts=blind_review.counts(request, who),
        state=state,
        number=number,
        pages=-(-found.groups_all // queue.GROUPS_MAX),
        now_us=time.time_ns() // 1000,
        may=who.has("surveillance"),
        outcomes=_outcomes(chosen),
        sampled=samples.SAMPLED,
        left_out=len(blind),
        wrong=wrong,
        kinds=BY_NAME,
        raise_address=_raise_address(chosen),
        several=len({each.property for each in members}) > 1,
    )


def _with_others(request: Request, who: User, state: Shown, groups: Sequence[Alike]) -> list[Alike]:
    """The first page: alerts, findings of money and cards, rounds of samples, then the rest."""
    alerts, blind = (
        [Alike(1, None, [each], ()) for each in its(request, who, state)]
        for its in (_alerts, _sampled)
    )
    grave = [each for each in groups if each.members[0].gravity > samples.GRAVITY]
    return [*alerts, *grave, *blind, *(each for each in groups if each not in grave)]


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


def _sampled(request: Request, who: User, state: Shown) -> list[Queued]:
    """The rounds of control samples in one state. Those with a finding look the same."""
    if not who.has("surveillance"):
        return []
    if state == "closed":
        return [each.queued for each in samples.closed_rounds(ports(request).database)]
    waiting = (each.queued for each in blind_review.sampled(request, who))
    return [each for each in waiting if _is_in(each, state, who.employee)]


def _outcomes(chosen: Queued | None) -> Mapping[Any, str]:
    """How the chosen finding can be closed."""
    is_blind = chosen is not None and chosen.code == samples.SAMPLED
    return sampling.OUTCOMES if is_blind else desk.OUTCOMES


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
async def step(request: Request, who: Reviewer) -> Response:
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
    """The findings, alerts and rounds of samples with these names. Raises `NotFound`."""
    states: tuple[Shown, ...] = ("open", "closed")
    known = {
        each.name: each
        for state in states
        for each in (*_alerts(request, who, state), *_sampled(request, who, state))
    }
    rest = [name for name in names if name not in known]
    blind = tuple(blind_review.hidden(request, who))
    found = desk.find(ports(request).database, rest, blind) if rest else []
    return [known[name] for name in names if name in known] + found


@router.get(SAMPLES)
def control_samples(request: Request, who: Reader) -> Response:
    """The control samples with their results, and the form that draws one."""
    return _samples_page(request, who)


@router.post(SAMPLES)
def draw(
    request: Request,
    who: Reviewer,
    property_: Annotated[str, Form(alias="property", max_length=64)],
    gaming_day: Annotated[str, Form(max_length=32)],
    many: Annotated[int, Form(alias="rounds")],
    shift: Annotated[str, Form(max_length=64)] = "",
) -> Response:
    """Draw a sample."""
    shift_ = shift.strip() or None
    asked = sampling.Draw(property_.strip(), gaming_day.strip(), shift_, many, sampling.new_seed())
    try:
        sampling.draw(ports(request).database, ports(request).tape, asked, who.employee)
    except Usage as error:
        wrong = f"{error.what}. {error.hint}"
        return _samples_page(request, who, wrong, 422, asked)
    return RedirectResponse(SAMPLES, 303)


def _samples_page(
    request: Request,
    who: User,
    wrong: str = "",
    status: int = 200,
    asked: sampling.Draw | None = None,
) -> Response:
    database = ports(request).database
    up_to_date(database, [rulings.VIEW, review_view.VIEW])
    newest = search.search(database, search.Filters(limit=1))
    where = (newest[0].id.property, newest[0].id.gaming_day) if newest else ("", "")
    return page(
        request,
        "samples.html",
        status,
        results=sampling.results(database),
        may=who.has("surveillance"),
        asked=asked or sampling.Draw(*where, None, USUAL, ""),
        wrong=wrong,
    )


@router.get(PATH + "/footage/{name}")
def its_footage(request: Request, who: Reader, name: str) -> Response:
    """The cameras around a finding's fact, for the player; viewing them is recorded first."""
    if blind := next((e for e in _sampled(request, who, "open") if e.name == name), None):
        return _whole_round(request, who, blind)
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


def _whole_round(request: Request, who: User, blind: Queued) -> Response:
    """The cameras of a whole round, which is reviewed blind."""
    round_, library = blind.round, ports(request).library
    assert round_ is not None  # noqa: S101 - a sample has rounds only
    told = ports(request).rounds.told(round_)
    footage.viewed(request, who, round_, shown(told, library), how="watched without the record")
    data = blind_data(told, library, ports(request).zones().of(blind.property))
    return JSONResponse(data | {"at": data["from"], "address": round_path(round_)})


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
