"""Blind review: decides for every page what is withheld from a reviewer.

A round is withheld from a surveillance user while a dispute about it is open, if they neither know
its claim nor have written down what they saw. A round of a control sample is withheld from all of
them until it is closed. Pages filter what they show through this module.
Withheld content is not in a response at all, and no search shows whether it would match.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple
from urllib.parse import quote

from msgspec.structs import asdict, replace
from starlette.exceptions import HTTPException
from starlette.requests import Request

from consumers.disputes import disputes
from consumers.floor.table_board import Board
from consumers.money.drop import Drop
from consumers.review import desk, queue, samples
from consumers.review.log import LoggedEntry
from consumers.review.samples import SampledRound
from consumers.review.shifts import Shift
from consumers.rounds.index import Round
from consumers.rounds.search import Dealt, Filters, Order
from consumers.runtime.lifecycle import up_to_date
from infra.access.users import User
from ledger.rules.engine.ruling import Finding, TableFindings
from ledger.values import RoundId, parse_subject
from replay.disputes.preserved_windows import PreservedWindow, WindowRelease
from replay.disputes.service import CaseFile, LockChange, round_times, unknown_to
from replay.dossier.request import DossierRequest
from replay.review.footage_marks import MarkedFrame, PlacedMarks
from replay.review.withheld_rounds import concerns
from replay.rounds.reading import footage_folder
from replay.web.alert_watch import AlertNow
from replay.web.ports import ports

WITHHELD = "withheld: blind review"
"""The text in place of withheld content."""

BLIND = (
    "Withheld: blind review. The record is hidden until you write down what you saw or reveal the"
    " claim."
)

BLIND_STEPS = frozenset(("observe", "reveal", "lock"))
"""Steps open to a reviewer under blind review: observe, reveal, lock."""

Hidden = Mapping[RoundId, str]
"""Rounds that are withheld from a user, each with the address where it is reviewed."""

OPEN_TO_ALL = frozenset(
    (
        "table", "gaming_day", "number", "game", "since_us", "until_us", "dealer", "dispute",
        "limit", "without",
    )
)  # fmt: skip
"""Search filters whose values a reviewer knows anyway. A search with any other filter leaves
withheld rounds out, whether they match or not."""

RESULTS = ("handle", "payouts", "payouts_cage", "collected", "returned", "fees", "rake", "win")
"""Amounts of a table's day that are sums over its rounds."""


def hidden(request: Request, user: User) -> Hidden:
    """The rounds withheld from this user; read once per request."""
    if not user.has("surveillance"):
        return {}
    kept: Hidden | None = getattr(request.state, "hidden", None)
    if kept is None:
        database = ports(request).database
        cases = unknown_to(database, user.employee)
        kept = {each.round: f"/review?at={each.queued.name}" for each in sampled(request, user)} | {
            round_: case_address(case.property, case.dispute) for round_, case in cases.items()
        }
        request.state.hidden = kept
    return kept


def sampled(request: Request, user: User) -> Sequence[SampledRound]:
    """The rounds of control samples that wait for this user's review; read once per request."""
    if not user.has("surveillance"):
        return ()
    kept: Sequence[SampledRound] | None = getattr(request.state, "sampled", None)
    if kept is None:
        up_to_date(ports(request).database, [desk.VIEW])  # as `unknown_to`
        kept = samples.open_rounds(ports(request).database)
        request.state.sampled = kept
    return kept


def counts(request: Request, user: User) -> queue.Counts:
    """How much this user has to review, rounds of control samples among it."""
    without = tuple(hidden(request, user))
    found = queue.counts(ports(request).database, user.employee, without)
    waiting = [each.queued for each in sampled(request, user)]
    return found._replace(
        open=found.open + len(waiting),
        mine=found.mine + sum(each.holder == user.employee for each in waiting),
        unseen=found.unseen + sum(each.holder is None for each in waiting),
    )


def case_of(request: Request, user: User, round_: RoundId) -> str | None:
    """The page that reviews a round withheld from this user; None: it is not withheld."""
    return hidden(request, user).get(round_)


def refuse_dossier(request: Request, user: User, asked: DossierRequest) -> None:
    """Raise 403 if a dossier would disclose anything about a withheld round.

    The dossier of a neighbouring round has the facts between its own, and the reasons of locks.
    """
    withheld = hidden(request, user)
    if not withheld:
        return
    from replay.dossier.service import VIEWS, rounds_of  # noqa: PLC0415 - imports the PDF library

    database = ports(request).database
    up_to_date(database, VIEWS)
    if not withheld.keys().isdisjoint(rounds_of(database, asked, footage_folder(None))):
        raise HTTPException(403, BLIND)


def case_address(property_: str, dispute: str) -> str:
    """The path of a case's page; names are quoted, since other systems may choose them."""
    return f"/cases/{property_}/{quote(dispute, safe='')}"


class FoundRound(NamedTuple):
    """A round in search results; a withheld one has only what its reviewer may know."""

    round: Round
    details: Dealt
    withheld: bool = False  # from this user: missing values here may be on record


TIMES: frozenset[Order] = frozenset(("newest", "oldest"))
"""Orders that show nothing but when a round began."""


def searched(asked: Filters, withheld: Hidden, order: Order = "newest") -> Filters:
    """The search, without withheld rounds if a filter or the order would show what they hold."""
    usual = Filters()
    tells = any(
        value != getattr(usual, name)
        for name, value in asdict(asked).items()
        if name not in OPEN_TO_ALL
    )
    return replace(asked, without=tuple(withheld)) if tells or order not in TIMES else asked


def found(each: Round, details: Dealt, withheld: Hidden) -> FoundRound:
    """A round in the list; a withheld one has only its name, begin, game and dealers."""
    if each.id not in withheld:
        return FoundRound(each, details)
    known = Round(*each.id, game=each.game, began_us=each.began_us)
    return FoundRound(known, Dealt(details.dealers, {}, [], details.disputes), withheld=True)


def boards(all_: Sequence[Board], withheld: Hidden) -> list[Board]:
    """The table boards, without the stage of withheld rounds."""
    return [
        replace(each, stage=None)
        if parse_subject(each.round or "", each.property) in withheld
        else each
        for each in all_
    ]


def alerts(all_: Sequence[AlertNow], withheld: Hidden) -> list[AlertNow]:
    """The alerts, without those of withheld rounds."""
    names = {str(each) for each in withheld}
    return [each for each in all_ if each.about not in names]


class ShownDay(NamedTuple):
    """A table's day as this user may see it."""

    drop: Drop
    findings: Sequence[Finding] = ()  # about the table's day, not about a round
    withheld: bool = False  # the sums over its rounds are withheld from this user


def log(
    request: Request, user: User, found: Sequence[LoggedEntry]
) -> tuple[list[LoggedEntry], int]:
    """The entries of the log, without those of withheld rounds; and how many are left out.

    An entry is of a round if it names it, or its table at that time. What the reader wrote stays.
    """
    blind = _blind(request, user)
    shown = [each for each in found if not any(concerns(each, user.employee, *of) for of in blind)]
    return shown, len(found) - len(shown)


def report_withheld(request: Request, user: User, shift: Shift) -> Sequence[RoundId]:
    """The rounds for which a shift's report is withheld from this user.

    It says nothing of rounds that were withheld as it was made. One that was withheld later and had
    begun by then may be counted in it. The report of an open shift is made for each reader.
    """
    until_us = shift.handed_us
    if until_us is None:
        return []
    return [
        round_
        for round_, went in _blind(request, user)
        if round_.property == shift.property
        and str(round_) not in shift.left_out
        and (went is None or went[0] <= until_us)
    ]


def table_findings(all_: Sequence[TableFindings], withheld: Hidden) -> list[TableFindings]:
    """The findings about tables' days, without those of days that have a withheld round."""
    its_days = days(withheld)
    tables = {round_[:2] for round_ in withheld}
    return [
        each
        for each in all_
        if (each.property, each.table, each.gaming_day) not in its_days
        and (each.gaming_day is not None or (each.property, each.table) not in tables)
    ]


def days(withheld: Hidden) -> set[tuple[str, str | None, str]]:
    """The tables' days that have a withheld round: property, table and gaming day."""
    return {round_[:3] for round_ in withheld}


def day(each: Drop, findings: Sequence[TableFindings], withheld: Hidden) -> ShownDay:
    """A table's day; without findings and sums over its rounds if one of them is withheld."""
    key = (each.property, each.table, each.gaming_day)
    if key not in days(withheld):
        its = (of for of in findings if (of.property, of.table, of.gaming_day) == key)
        return ShownDay(each, [found for of in its for found in of.findings])
    less = replace(
        each,
        **dict.fromkeys(RESULTS),
        corrected={name: cents for name, cents in each.corrected.items() if name not in RESULTS},
        wagers=[],
        exceptions=[],
        corrections=[made for made in each.corrections if made.amount not in RESULTS],
    )
    return ShownDay(less, withheld=True)


def row(each: disputes.DisputeRow, withheld: Hidden) -> disputes.DisputeRow:
    """A dispute in the list, without claim and outcome, which a reviewer may not know yet.

    If its round is withheld, adjustments are left out too.
    """
    adjusted = None if each.round in withheld else each.adjusted
    return replace(each, claim=None, outcome=None, adjusted=adjusted)


def refuse_step(user: User, file: CaseFile, step: str | None) -> None:
    """Raise 403 if a step is not open under blind review."""
    if step not in BLIND_STEPS and (file.withheld or not file.case.knows(user.employee)):
        raise HTTPException(403, BLIND)


def file(request: Request, user: User, each: CaseFile) -> CaseFile:
    """A case without its round, if that is withheld, even for another dispute.

    While its claim is not known, reasons for releasing its footage are left out too.
    """
    claim, reader = each.case.claim, user.employee
    if claim and claim.round in hidden(request, user):
        each = each._replace(story=None, withheld=True)
    if each.withheld or (user.has("surveillance") and not each.case.knows(reader)):
        held = [one._replace(because=_of_others(one, reader)) for one in each.held]
        each = each._replace(held=held)
    return each


def windows(
    request: Request, user: User, found: Sequence[PreservedWindow]
) -> list[PreservedWindow]:
    """Preserved windows, without reasons that could disclose the claim of a withheld round.

    Reasons that the reader wrote themselves stay.
    """
    blind = _blind(request, user)
    return [_window(each, user.employee) if _over(each, blind) else each for each in found]


def over_withheld(request: Request, user: User, each: PreservedWindow) -> bool:
    """Whether a withheld round is, or may be, in a window."""
    return _over(each, _blind(request, user))


def refuse_release(request: Request, user: User, each: PreservedWindow) -> None:
    """Raise 403 if a window keeps footage of a round that is withheld from this user.

    The footage is evidence of that round. Only users who know the claim may release it.
    """
    if over_withheld(request, user, each):
        raise HTTPException(403, BLIND)


def marks(request: Request, user: User, found: PlacedMarks) -> PlacedMarks:
    """Bookmarks, stills and shapes, without those that may be about a withheld round.

    Those that the reader made themselves stay.
    """
    blind = _blind(request, user)
    if not blind:
        return found
    its = [
        each
        for each in found.bookmarks
        if each.body.by == user.employee
        or not any(
            each.round == round_ or _meets(each.property, each.from_us, each.to_us, round_, went)
            for round_, went in blind
        )
    ]
    return PlacedMarks(its, [each for frame in found.frames for each in _frame(frame, user, blind)])


def _frame(each: MarkedFrame, user: User, blind: "Blind") -> Iterator[MarkedFrame]:
    """A marked frame, if it may be shown; near a withheld round only what the reader made."""
    at_us = each.time_us or 0
    near = (at_us - each.within_us, at_us + each.within_us)
    if not any(_meets(round_.property, *near, round_, went) for round_, went in blind):
        yield each
        return
    mine = each.drawn_by == user.employee
    kept = each._replace(
        stills=[still for still in each.stills if still.body.by == user.employee],
        shapes=each.shapes if mine else (),
        drawn_by=each.drawn_by if mine else None,
    )
    if kept.stills or kept.shapes:
        yield kept


def _meets(
    property_: str, from_us: int, to_us: int, round_: RoundId, went: tuple[int, int] | None
) -> bool:
    """Whether a withheld round is, or may be, in a span of its property."""
    return property_ == round_.property and (
        went is None or (from_us <= went[1] and to_us >= went[0])
    )


Blind = Sequence[tuple[RoundId, tuple[int, int] | None]]
"""Rounds that are withheld from a user, each with its time if that is known."""


def _blind(request: Request, user: User) -> Blind:
    database = ports(request).database
    return [(round_, round_times(database, round_)) for round_ in hidden(request, user)]


def _over(each: PreservedWindow, blind: Blind) -> bool:
    return any(_reaches(each, *of) for of in blind)


def _reaches(each: PreservedWindow, round_: RoundId, went: tuple[int, int] | None) -> bool:
    """Whether a round is in a window, or may be: a camera's window has no table, for example."""
    if each.property != round_.property or each.table not in (None, round_.table):
        return False
    return went is None or (each.from_us <= went[1] and each.to_us >= went[0])


def _window(each: PreservedWindow, reader: str) -> PreservedWindow:
    released = [one._replace(because=_of_others(one, reader)) for one in each.released]
    return each._replace(because=_of_others(each, reader), released=released)


def _of_others(told: PreservedWindow | WindowRelease | LockChange, reader: str) -> str:
    return told.because if told.by == reader else WITHHELD
