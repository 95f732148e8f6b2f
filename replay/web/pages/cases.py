"""Cases: disputes from claim to outcome, and footage preserved without a dispute.

Every step is a fact with the credential of the signed-in user. Under blind review the page has
neither claim nor record.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from datetime import tzinfo
from typing import Annotated, Any, get_args
from urllib.parse import quote

from fastapi import APIRouter, Depends, Form, Query, Request, Response
from starlette.concurrency import run_in_threadpool
from starlette.responses import RedirectResponse

from consumers.disputes import disputes
from consumers.runtime.lifecycle import up_to_date
from infra.access.users import Role, User
from ledger.errors import NotFound, Refused, Usage
from ledger.facts import Attached, Body, FactRef
from ledger.facts.vocabulary import PaidFrom
from ledger.values import RoundId, format_time, parse_time
from replay.cameras.custody_service import ReleaseScope
from replay.disputes import carried, service, watched
from replay.disputes.carried import OfferedMoment
from replay.disputes.comparison import compare
from replay.disputes.dispute import CATEGORIES, Dispute
from replay.disputes.preserved_windows import CameraScope
from replay.disputes.service import CaseFile, case_file
from replay.recording.house_facts import now_us
from replay.review.footage_marks import PlacedMarks
from replay.rounds.story import Story
from replay.text.times import aloud, local, read, span
from replay.text.typed import cents, lines, written
from replay.web.access import blind_review
from replay.web.access.authentication import (
    OWN_FIELDS,
    require_fresh,
    signed_in,
    signed_in_lately,
)
from replay.web.access.blind_review import case_address as address
from replay.web.page import page
from replay.web.pages import marks
from replay.web.pages.clips import TIME_US_MAX
from replay.web.ports import ports
from replay.web.round_reader import KeptRound

READERS: tuple[Role, ...] = ("surveillance", "auditor")
"""Roles that read cases. Only surveillance decides: an auditor changes nothing."""

NAME_MAX, TEXT_MAX, CAMERA_MAX = 256, 4_000, 128
NUMBER_MAX = 999_999  # of a fact in its round
WORDS = (
    *("note", "fact", "time", "camera", "camera_time", "saw", "outcome", "category", "because"),
    *("what", "to", "due"),
)
"""Fields that are given back to be sent again if the case has changed; amounts are not."""

MOVED_ON = (
    "The case has changed since you opened this page. Check it, then send what still applies."
)
_STATUSES: Mapping[str, disputes.Status] = {"raised": "raised", "resolved": "resolved"}
"""Statuses that the list can be filtered by."""

PATH = "/cases"
WINDOWS = "/preserved"

router = APIRouter(include_in_schema=False)
Reader = Annotated[User, Depends(signed_in(*READERS))]
Investigator = Annotated[User, Depends(signed_in("surveillance"))]
Releaser = Annotated[User, Depends(signed_in_lately("surveillance"))]
Name = Annotated[str, Form(min_length=1, max_length=NAME_MAX)]
Text = Annotated[str, Form(min_length=1, max_length=2 * TEXT_MAX)]  # as it is sent; see `lines`
Maybe = Annotated[str, Form(max_length=2 * TEXT_MAX)]


def about(request: Request, user: User, round_: RoundId) -> Sequence[Dispute]:
    """The disputes about a round that this user may know of."""
    return service.about(ports(request).database, round_) if user.has(*READERS) else ()


@router.get(PATH)
def list_(request: Request, user: Reader, status: str = "") -> Response:
    """All disputes, newest first, and the form to preserve footage without a dispute."""
    return _list_page(request, user, status)


def _list_page(
    request: Request,
    user: User,
    status: str = "",
    code: int = 200,
    *,
    wrong: str = "",
    typed: Mapping[str, str] = {},
) -> Response:
    known: disputes.Status | None = _STATUSES.get(status)
    blind = blind_review.hidden(request, user)
    database = ports(request).database
    up_to_date(database, service.VIEWS)
    rows = [blind_review.row(each, blind) for each in disputes.read(database, status=known)]
    late = Counter((each.property, each.dispute) for each in disputes.overdue(database, now_us()))
    return page(
        request,
        "cases.html",
        code,
        rows=rows,
        late=late,
        windows=blind_review.windows(request, user, ports(request).windows.all()),
        withheld=blind,
        status=known or "",
        may=user.has("surveillance"),
        address=address,
        window_address=window_address,
        span=_span,
        wrong=wrong,
        typed=typed,
    )


@router.get(f"{PATH}/new")
def new(
    request: Request,
    user: Investigator,
    round_: Annotated[str, Query(alias="round", max_length=NAME_MAX)] = "",
    position: Annotated[int | None, Query(ge=0, le=99)] = None,
    time: Annotated[int | None, Query(ge=0, le=TIME_US_MAX)] = None,
) -> Response:
    """The form to raise a dispute about a round, with what is known of it filled in.

    time: where the player stood, microseconds.
    """
    told = _round_of(request, user, round_)
    if told and position is None:
        position = carried.usual_position(told.story)
    return _new_page(request, user, told, round=round_, position=position, time=time)


def _new_page(  # noqa: PLR0913 - one argument a field
    request: Request,
    user: User,
    told: KeptRound | None,
    status: int = 200,
    *,
    round: str,  # noqa: A002 - as the form has it
    position: int | None,
    time: int | None = None,
    claim: str = "",
    wrong: str = "",
    sure: bool = True,
    chosen: Sequence[str] | None = None,
) -> Response:
    """chosen: the moments that were chosen; None: all of them are."""
    moments = _offered(request, user, told, position, time) if told else []
    return page(
        request,
        "case_new.html",
        status,
        round=round,
        position=position,
        claim=claim,
        wrong=wrong,
        sure=sure,
        amount=carried.amount_text(told.story, position) if told and position is not None else None,
        moments=moments,
        chosen=[each.value for each in moments] if chosen is None else chosen,
        at=ports(request).zones().of(told.story.round.property) if told else None,
    )


def _round_of(request: Request, user: User, name: str) -> KeptRound | None:
    """The named round, unless it is withheld from this user; None: it is not on record."""
    if not name:
        return None
    database = ports(request).database
    up_to_date(database, service.VIEWS)
    try:
        told = ports(request).rounds.told(service.round_named(database, name))
    except (NotFound, Usage):
        return None
    return None if told.story.round in blind_review.hidden(request, user) else told


def _offered(
    request: Request, user: User, told: KeptRound, position: int | None, playhead_us: int | None
) -> list[OfferedMoment]:
    """The moments that a dispute can take over: of findings, of the player, and what is marked."""
    found = [] if position is None else [*carried.of_findings(told.story, position)]
    if playhead_us is not None:
        found.append(OfferedMoment(f"time:{playhead_us}", "The player's moment", playhead_us))
    marked = marks.marks_of(request, user, told)
    found += [
        OfferedMoment(f"time:{each.from_us}", each.body.text, each.from_us)
        for each in marked.bookmarks
    ]
    found += [
        OfferedMoment(
            f"camera:{each.camera_us}:{each.camera}",
            f"{each.camera}, frame {each.frame}",
            each.time_us,
        )
        for each in marked.frames
        if each.camera_us is not None
    ]
    return [*{each.value: each for each in found}.values()][: carried.MOMENTS_MAX]


@router.post(PATH)
def raise_(
    request: Request,
    user: Investigator,
    round_: Annotated[str, Form(alias="round", min_length=1, max_length=NAME_MAX)],
    position: Annotated[int, Form(ge=0, le=99)],
    claim: Text,
    sure: Annotated[str, Form(max_length=3)] = "",
    moment: Annotated[list[str] | None, Form()] = None,
) -> Response:
    """Raise a dispute and lock its footage; asks again if nobody played the position."""
    chosen, name = moment or [], round_.strip()
    typed: dict[str, Any] = {"round": round_, "position": position, "claim": claim}
    told = _round_of(request, user, name)
    try:
        said = lines(claim, "claim", TEXT_MAX)
        taken = carried.taken_over(told.story, chosen) if told else []
        if not sure and (doubt := _doubt(request, user, name, position)):
            typed |= {"wrong": f"{doubt}.", "sure": False, "chosen": chosen}
            return _new_page(request, user, told, 422, **typed)
        context = ports(request).dispute_context
        case = service.raise_(context, name, position, said, user.employee).case
        if told and taken and not case.notes:
            says = carried.amount_text(told.story, position) or "The moments of the claim."
            context.decisions.decide(case, case.note(says, user.employee, taken))
            up_to_date(context.database, service.VIEWS)
    except (Usage, NotFound) as error:
        status = 404 if isinstance(error, NotFound) else 422
        return _new_page(request, user, told, status, **typed, wrong=_wrong(error), chosen=chosen)
    return _see(case.property, case.dispute)


def _doubt(request: Request, user: User, round_: str, position: int) -> str:
    """The question to ask before a dispute is raised; empty if there is none."""
    blind = blind_review.hidden(request, user)
    return service.doubt(ports(request).database, round_, position, blind)


@router.post(f"{PATH}/preserve")
def preserve(
    request: Request,
    user: Investigator,
    since: Annotated[str, Form(alias="from", max_length=40)],
    until: Annotated[str, Form(alias="to", max_length=40)],
    because: Text,
    table: Annotated[str, Form(max_length=64)] = "",
    camera: Annotated[str, Form(max_length=CAMERA_MAX)] = "",
) -> Response:
    """Lock a time of a table's cameras, or of one camera, without a dispute."""
    zone = ports(request).zones().of(None)
    try:
        what = CameraScope(table.strip() or None, camera.strip() or None, None)
        from_us = read(since, zone, "from")
        stretch = (from_us, read(until, zone, "to", after_us=from_us))
        why = written(lines(because, "because", TEXT_MAX), "because")
        window = ports(request).windows.preserve(what, stretch, why, user.employee)
    except (Usage, NotFound) as error:
        typed = {"table": table, "camera": camera, "from": since, "to": until, "because": because}
        status = 404 if isinstance(error, NotFound) else 422
        return _list_page(request, user, code=status, wrong=_wrong(error), typed=typed)
    return RedirectResponse(window_address(window.property, window.name), 303)


@router.get(WINDOWS + "/{property_}/{name}")
def window(request: Request, user: Reader, property_: str, name: str) -> Response:
    """A preserved window: its footage, and who released it."""
    return _window_page(request, user, property_, name)


@router.post(WINDOWS + "/{property_}/{name}")
def release(
    request: Request, user: Releaser, property_: str, name: str, because: Maybe = ""
) -> Response:
    """Let the footage of a window expire again: a fact for each camera, with who and why."""
    blind_review.refuse_release(request, user, ports(request).windows.one(property_, name))
    try:
        why = written(lines(because, "because", TEXT_MAX), "because")
    except Usage as error:
        return _window_page(request, user, property_, name, wrong=_wrong(error), status=422)
    ports(request).windows.release(property_, ReleaseScope(window=name), why, user.employee)
    return RedirectResponse(window_address(property_, name), 303)


def window_address(property_: str, name: str) -> str:
    """The page of a preserved window."""
    return f"{WINDOWS}/{quote(property_, safe='')}/{quote(name, safe='')}"


def _window_page(
    request: Request, user: User, property_: str, name: str, *, wrong: str = "", status: int = 200
) -> Response:
    zone = ports(request).zones().of(property_)
    whole = ports(request).windows.one(property_, name)
    [found] = blind_review.windows(request, user, [whole])
    return page(
        request,
        "case_window.html",
        status,
        zone=zone,
        window=found,
        span=_span,
        when=lambda time_us: aloud(local(time_us, zone)),
        here=window_address(property_, name),
        may=user.has("surveillance") and not blind_review.over_withheld(request, user, whole),
        wrong=wrong,
    )


@router.get(PATH + "/{property_}/{dispute:path}")
def show(
    request: Request,
    user: Reader,
    property_: str,
    dispute: str,
    fact: Annotated[int | None, Query(ge=1, le=NUMBER_MAX)] = None,
    time: Annotated[int | None, Query(ge=0, le=TIME_US_MAX)] = None,
) -> Response:
    """One dispute: claimed, seen, on record, owed and paid; or only what a reviewer may know.

    fact, time (microseconds): a moment that the note's form begins with.
    """
    mark = (fact, None if time is None else format_time(time))
    return _page(request, user, _file(request, user, property_, dispute), mark=mark)


@router.post(PATH + "/{property_}/{dispute:path}")
async def step(request: Request, user: Investigator, property_: str, dispute: str) -> Response:
    """Take one step: note, task, task done, observe, reveal, resolve, adjust, lock, release.

    Under blind review all but observe, reveal and lock wait until the claim is known.
    """
    form = await request.form()
    typed = {name: str(value) for name, value in form.items() if name not in OWN_FIELDS}
    if typed.get("step") == "release":
        await require_fresh(request, user)
    return await run_in_threadpool(_step, request, user, (property_, dispute), typed)


def _step(
    request: Request, user: User, which: tuple[str, str], typed: Mapping[str, str]
) -> Response:
    file = _file(request, user, *which)
    step = typed.get("step")
    blind_review.refuse_step(user, file, step)
    version = str(file.case.version)
    if step != "lock" and typed.get("version", version) != version:
        kept = {name: said for name, said in typed.items() if name in WORDS}
        return _page(request, user, file, wrong=MOVED_ON, status=409, typed=kept)
    try:
        typed = {name: lines(value, name, TEXT_MAX) for name, value in typed.items()}
        if not _done(file, typed, user.employee):
            _take(request, file, typed, user.employee)
    except (Usage, Refused) as error:
        file = _file(request, user, *which)
        if not _done(file, typed, user.employee):
            return _page(request, user, file, wrong=_wrong(error), status=422, typed=typed)
    return _see(*which)


def _take(request: Request, file: CaseFile, typed: Mapping[str, str], by: str) -> None:
    """Record a form's step. Raises `Usage`, and `Refused` if the case has changed."""
    context, case = ports(request).dispute_context, file.case
    if typed.get("step") == "lock":
        service.lock(context.lock_context, case, by)
    elif typed.get("step") == "release":
        why = written(typed.get("because", ""), "because")
        ports(request).windows.release(case.property, ReleaseScope(case.dispute), why, by)
    else:
        context.decisions.decide(case, _decided(request, file, typed, by))
        up_to_date(context.database, service.VIEWS)  # the views decide what the user may see now


def _done(file: CaseFile, typed: Mapping[str, str], by: str) -> bool:
    """Whether a form was sent twice and its step is already recorded.

    Else a blind observation would be recorded again as one that was not blind.
    """
    if typed.get("step") == "release":
        return not file.locked
    said = typed.get("saw", "").strip()
    return typed.get("step") == "observe" and any(
        (each.by, each.saw) == (by, said) for each in file.case.observations
    )


def _wrong(error: Usage | NotFound | Refused) -> str:
    return f"{error.what}. {error.hint}"


def _file(request: Request, user: User, property_: str, dispute: str) -> CaseFile:
    """A case with its round, unless that is withheld from this user. Catches up the views."""
    file = case_file(ports(request).dispute_context, property_, dispute)
    return blind_review.file(request, user, file)


def _decided(request: Request, file: CaseFile, typed: Mapping[str, str], by: str) -> Body:
    """The fact that a form's step makes. Raises `Usage`, `Refused`."""
    case, what = file.case, typed.get("step")
    if what == "note":
        return case.note(typed.get("note", ""), by, _moments(request, file, typed))
    if what == "observe":
        said = watched.played(typed.get("watched", ""))
        its = watched.opened(ports(request).dispute_context.database, case.property, by, said)
        return case.observe(typed.get("saw", ""), by, its)
    if what in ("task", "task done"):
        return _task(request, case, typed, by)
    if what == "reveal":
        return case.reveal(by)
    if what == "resolve":
        return case.resolve(typed.get("outcome", ""), by, typed.get("category"))
    if what == "adjust":
        paid = cents(written(typed.get("amount", ""), "amount"), "amount") or 0
        paid_from = typed.get("paid_from", "cage")
        if paid_from not in get_args(PaidFrom):
            hint = f"Give one of {', '.join(get_args(PaidFrom))}."
            raise Usage("An adjustment is not paid from there", where="paid_from", hint=hint)
        return case.adjust(paid, paid_from, by)
    raise Usage("There is no such step", where="step", hint="Go back and use the page's forms.")


def _task(request: Request, case: Dispute, typed: Mapping[str, str], by: str) -> Body:
    """A task that is set, or done. Raises `Usage`, `Refused`."""
    if typed.get("step") == "task done":
        return case.task_done(typed.get("task", ""), by, typed.get("came", ""))
    zone = ports(request).zones().of(case.property)
    due_us = read(typed.get("due", ""), zone, "due", after_us=now_us())
    return case.set_task(typed.get("what", ""), typed.get("to", ""), due_us, by)


def _moments(request: Request, file: CaseFile, typed: Mapping[str, str]) -> list[Attached]:
    """The moments attached to a note: a fact by number, a time, or a camera's time."""
    found, zone = [], ports(request).zones().of(file.case.property)
    story = file.story
    number, instant = typed.get("fact", ""), typed.get("time", "")
    round_ = str(story.round) if story else None
    at_us = read(instant, zone, "time", after_us=_hour_before(story)) if instant else None
    when = None if at_us is None else format_time(at_us)
    if number:
        moments = story.moments if story else ()
        if not (number.isascii() and number.isdecimal() and 0 < int(number) <= len(moments)):
            hint = f"Give one from 1 to {len(moments)}."
            raise Usage(f"The round has no fact {number}", where="fact", hint=hint)
        fact = moments[int(number) - 1]
        ref = FactRef(fact.source, fact.id)
        found.append(Attached(round=round_, fact=ref, reference_time=when))
    elif when:
        found.append(Attached(round=round_, reference_time=when))
    camera, at = typed.get("camera", ""), typed.get("camera_time", "")
    if camera or at:
        if not (camera and at) or len(camera) > CAMERA_MAX:
            raise Usage(
                "Either the camera or its time is missing", where="camera", hint="Give both."
            )
        at_us = read(at, zone, "camera_time", after_us=_hour_before(story))
        found.append(Attached(camera=camera, camera_time=format_time(at_us)))
    return found


def _hour_before(story: Story | None) -> int | None:
    """From when on a time of day alone is of a round: an hour before its first fact."""
    return story.moments[0].time_us - 3_600_000_000 if story and story.moments else None


def _page(
    request: Request,
    user: User,
    file: CaseFile,
    *,
    wrong: str = "",
    status: int = 200,
    mark: tuple[int | None, str | None] = (None, None),
    typed: Mapping[str, str] | None = None,
) -> Response:
    """The page of a case as this user may see it. mark: a fact and a time for a note.

    typed: the fields of a refused form, to be sent again.
    """
    may = user.has("surveillance")
    seen = compare(file.case, file.story, user.employee if may else None)
    zone = ports(request).zones().of(file.case.property)
    numbers = _numbers(file.story)
    return page(
        request,
        "case.html",
        status,
        zone=zone,
        seen=seen,
        case=file.case,
        held=file.held,
        unlocked=file.unlocked,
        locked=file.locked,
        withheld=file.withheld,
        marks=_marks(request, user, file) if file.story and not seen.hidden else None,
        game=file.story.game if file.story else None,
        here=address(seen.property, seen.dispute),
        may=may,
        wrong=wrong,
        mark=mark,
        typed=typed or {},
        now_us=now_us(),
        how_seen=watched.how_seen,
        categories=CATEGORIES,
        usual_amount=_lacking(seen.left),
        when=lambda time_us: aloud(local(time_us, zone)),
        at=lambda text: aloud(local(parse_time(text) or 0, zone)),
        time_us=parse_time,
        number=lambda ref: numbers.get((ref.source, ref.id)),
        observed=any(each.by == user.employee for each in file.case.observations),
        facts=len(file.story.moments) if file.story else 0,
    )


def _marks(request: Request, user: User, file: CaseFile) -> PlacedMarks | None:
    """The marks about the round of a case whose record the user may see."""
    round_ = file.case.claim.round if file.case.claim else None
    try:
        return marks.marks_of(request, user, ports(request).rounds.told(round_)) if round_ else None
    except NotFound:
        return None


def _lacking(left: int | None) -> str:
    """What a patron still lacks, as an amount is typed; empty if nothing."""
    return f"{-left // 100}.{-left % 100:02}" if left is not None and left < 0 else ""


def _numbers(story: Story | None) -> dict[tuple[str, str], int]:
    """The current number of each fact of the round."""
    moments = story.moments if story else ()
    return {(each.source, each.id): each.number for each in moments}


def _see(property_: str, dispute: str) -> Response:
    return RedirectResponse(address(property_, dispute), 303)


def _span(from_us: int, to_us: int, zone: tzinfo) -> str:
    """A span for a page, its offsets with a real minus sign."""
    return aloud(span(from_us, to_us, zone))
