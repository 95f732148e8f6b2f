"""What is withheld from a reviewer under blind review: the one place that decides it, for any page.

A round is withheld from a surveillance user while a dispute about it is open whose claim they do
not know and for which they have not written down what they saw. Pages pass what they show through
here; what is withheld is not in an answer at all, and no search tells whether it would fit.
"""

from collections.abc import Mapping, Sequence
from typing import NamedTuple
from urllib.parse import quote

from msgspec.structs import asdict, replace
from starlette.exceptions import HTTPException
from starlette.requests import Request

from consumers.disputes import disputes
from consumers.floor.table_board import Board
from consumers.money.drop import Drop
from consumers.rounds.index import Round
from consumers.rounds.search import Dealt, Filters
from consumers.runtime.lifecycle import up_to_date
from infra.access.users import User
from ledger.values import RoundId, parse_subject
from replay.disputes.dispute import Dispute
from replay.disputes.preserved_windows import PreservedWindow, WindowRelease
from replay.disputes.service import CaseFile, LockChange, round_times, unknown_to
from replay.dossier.request import DossierRequest
from replay.rounds.reading import footage_folder
from replay.web.alert_watch import AlertNow
from replay.web.ports import ports

WITHHELD = "withheld: blind review"
"""What stands on a page in place of what is withheld."""

BLIND = (
    "Withheld: blind review. What the record says is hidden until you have written down what you"
    " saw, or the claim is shown to you."
)

BLIND_STEPS = frozenset(("observe", "reveal", "lock"))
"""What a reviewer under blind review may do about a dispute: look, be shown, keep footage."""

Hidden = Mapping[RoundId, Dispute]
"""Rounds that are withheld from somebody, and the dispute for which."""

OPEN_TO_ALL = frozenset(
    (
        "table", "gaming_day", "number", "game", "since_us", "until_us", "dealer", "dispute",
        "limit", "without",
    )
)  # fmt: skip
"""What a round under blind review may be searched by: what its reviewer knows anyway. By anything
else it is left out, whether it would fit or not."""

RESULTS = ("handle", "payouts", "payouts_cage", "collected", "returned", "fees", "rake", "win")
"""Amounts of a table's day that its rounds add up to."""


def hidden(request: Request, user: User) -> Hidden:
    """The rounds that are withheld from this person; asked for once a request."""
    if not user.has("surveillance"):
        return {}
    kept: Hidden | None = getattr(request.state, "hidden", None)
    if kept is None:
        kept = unknown_to(ports(request).database, user.employee)
        request.state.hidden = kept
    return kept


def case_of(request: Request, user: User, round_: RoundId) -> str | None:
    """The address of the case for which a round is withheld from this person; None: it is not."""
    about = hidden(request, user).get(round_)
    return None if about is None else case_address(about.property, about.dispute)


def refuse_dossier(request: Request, user: User, asked: DossierRequest) -> None:
    """Raise 403 where a dossier would tell anything of a withheld round, whatever its name.

    A neighbour's holds what was told between its own facts, and why footage of its time was kept.
    """
    withheld = hidden(request, user)
    if not withheld:
        return
    from replay.dossier.service import VIEWS, rounds_of  # noqa: PLC0415 - it sets paper

    database = ports(request).database
    up_to_date(database, VIEWS)
    if not withheld.keys().isdisjoint(rounds_of(database, asked, footage_folder(None))):
        raise HTTPException(403, BLIND)


def case_address(property_: str, dispute: str) -> str:
    """Where a case's page is; other systems name disputes as they like."""
    return f"/cases/{property_}/{quote(dispute, safe='')}"


class FoundRound(NamedTuple):
    """A round in the list of those found: of a withheld one what its reviewer may know."""

    round: Round
    details: Dealt
    withheld: bool = False  # from who looks: what is not told here, is on record


def searched(asked: Filters, withheld: Hidden) -> Filters:
    """A search that leaves withheld rounds out where it asks what their reviewer may not know."""
    usual = Filters()
    tells = any(
        value != getattr(usual, name)
        for name, value in asdict(asked).items()
        if name not in OPEN_TO_ALL
    )
    return replace(asked, without=tuple(withheld)) if tells else asked


def found(each: Round, details: Dealt, withheld: Hidden) -> FoundRound:
    """A round in the list: of a withheld one its name, when it began, its game and its dealers."""
    if each.id not in withheld:
        return FoundRound(each, details)
    known = Round(*each.id, game=each.game, began_us=each.began_us)
    return FoundRound(known, Dealt(details.dealers, {}, [], details.disputes), withheld=True)


def boards(all_: Sequence[Board], withheld: Hidden) -> list[Board]:
    """Tables as they stand: not how far a withheld round has come."""
    return [
        replace(each, stage=None)
        if parse_subject(each.round or "", each.property) in withheld
        else each
        for each in all_
    ]


def alerts(all_: Sequence[AlertNow], withheld: Hidden) -> list[AlertNow]:
    """Alerts: none of a withheld round."""
    names = {str(each) for each in withheld}
    return [each for each in all_ if each.about not in names]


class ShownDay(NamedTuple):
    """A table's day as somebody may see it."""

    drop: Drop
    withheld: bool = False  # what its rounds add up to, from who looks


def day(each: Drop, withheld: Hidden) -> ShownDay:
    """A table's day: without what its rounds add up to, where one of them is withheld."""
    key = (each.property, each.table, each.gaming_day)
    if key not in {round_[:3] for round_ in withheld}:
        return ShownDay(each)
    less = replace(
        each,
        **dict.fromkeys(RESULTS),
        corrected={name: cents for name, cents in each.corrected.items() if name not in RESULTS},
        wagers=[],
        corrections=[made for made in each.corrections if made.amount not in RESULTS],
    )
    return ShownDay(less, withheld=True)


def row(each: disputes.DisputeRow, withheld: Hidden) -> disputes.DisputeRow:
    """A dispute in the list, without its claim and its outcome, which a reviewer may not know yet.

    Without what was paid on it too, where its round is withheld.
    """
    adjusted = None if each.round in withheld else each.adjusted
    return replace(each, claim=None, outcome=None, adjusted=adjusted)


def refuse_step(user: User, file: CaseFile, step: str | None) -> None:
    """Raise 403 where a step would decide on what is withheld, whatever its form said."""
    if step not in BLIND_STEPS and (file.withheld or not file.case.knows(user.employee)):
        raise HTTPException(403, BLIND)


def file(request: Request, user: User, each: CaseFile) -> CaseFile:
    """A case whose round is withheld: without the round, whosever dispute it is withheld for.

    Nor why its footage was let go, as long as its claim is not known.
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
    """Preserved windows: why one is kept or was let go may tell the claim of a round in it.

    What somebody wrote themselves they know.
    """
    blind = _blind(request, user)
    return [_window(each, user.employee) if _over(each, blind) else each for each in found]


def over_withheld(request: Request, user: User, each: PreservedWindow) -> bool:
    """Whether a withheld round lies in a window, or may."""
    return _over(each, _blind(request, user))


def refuse_release(request: Request, user: User, each: PreservedWindow) -> None:
    """Raise 403 where a window keeps what somebody is to look at before they know the claim.

    Its footage is evidence of that round, and whether it may go is for who knows what is claimed.
    """
    if over_withheld(request, user, each):
        raise HTTPException(403, BLIND)


Blind = Sequence[tuple[RoundId, tuple[int, int] | None]]
"""Rounds that are withheld from somebody, each with when it went, where that is known."""


def _blind(request: Request, user: User) -> Blind:
    database = ports(request).database
    return [(round_, round_times(database, round_)) for round_ in hidden(request, user)]


def _over(each: PreservedWindow, blind: Blind) -> bool:
    return any(_reaches(each, *of) for of in blind)


def _reaches(each: PreservedWindow, round_: RoundId, went: tuple[int, int] | None) -> bool:
    """Whether a round lies in a window, or may: a camera's is of no table, a round of no time."""
    if each.property != round_.property or each.table not in (None, round_.table):
        return False
    return went is None or (each.from_us <= went[1] and each.to_us >= went[0])


def _window(each: PreservedWindow, reader: str) -> PreservedWindow:
    released = [one._replace(because=_of_others(one, reader)) for one in each.released]
    return each._replace(because=_of_others(each, reader), released=released)


def _of_others(told: PreservedWindow | WindowRelease | LockChange, reader: str) -> str:
    return told.because if told.by == reader else WITHHELD
