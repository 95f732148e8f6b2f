"""The page Win: the three wins of a gaming day, and what explains every cent of their gaps.

The figures are those of `round-ledger win`. The tray of each table is shown from opener to closer,
by the entries of `round-ledger journal`; that of a closed day with late facts by what was signed.
Closing the day, or opening it again, is asked for here.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from typing import TYPE_CHECKING, Annotated, NamedTuple

from fastapi import APIRouter, Depends, Request, Response

from consumers.finance import journal as entries
from consumers.finance import variances
from consumers.finance.day_facts import WinsAsked
from consumers.finance.sealed import sealed_wins
from consumers.money import drop as drop_view
from infra.access.users import User
from ledger.errors import Refused, Usage
from ledger.finance.day_versions import DaySeals
from ledger.finance.groups import houses
from ledger.finance.journal import CARRIED
from ledger.finance.win import rake_in
from ledger.values import dollars
from replay.recording.sealed_days import versions_folder
from replay.text.wins import FIGURES, cents_of, graded, missing_says, named, rake_apart, signed
from replay.web.access import blind_review
from replay.web.access.authentication import signed_in
from replay.web.entry import papers, typed
from replay.web.finance.asked import asked_for
from replay.web.finance.work_list import work_list
from replay.web.page import page
from replay.web.ports import ports

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from consumers.finance.day_facts import WinsFilter
    from ledger.finance.journal import JournalEntry
    from ledger.finance.win import TableWin
    from ledger.rules.engine.ruling import FactRef
    from replay.approvals.request import ApprovalRequest

BAR = 1_000
"""The width of the longest bar, in units of its drawing."""

DIFFERS = "Difference of the tray"

ACTS = ("day_close", "day_reopen")
"""The acts that are asked for here."""

router = APIRouter(include_in_schema=False)
Analyst = Annotated[User, Depends(signed_in("finance", "auditor"))]
Asked = Annotated[WinsAsked, Depends(asked_for)]
Closer = Annotated[User, Depends(signed_in("finance"))]
Form = Annotated[Mapping[str, str], Depends(typed.form_of)]


class TrayStep(NamedTuple):
    """A change of a table's tray, or what it held at the opening or closing."""

    says: str
    amount: int  # cents
    before: int
    after: int
    facts: Sequence[FactRef] = ()
    is_count: bool = False
    of_rounds: bool = False  # what all rounds of the day moved
    figure: str = ""  # the figure that late facts may change


class Bar(NamedTuple):
    """The bar of a step, in units of its drawing."""

    x: int
    width: int
    kind: str  # count, gain or loss


class ShownWin(NamedTuple):
    """A table's day as this user may see it."""

    win: TableWin
    steps: Sequence[tuple[TrayStep, Bar]] = ()
    withheld: bool = False  # what its rounds moved is withheld from this user

    @property
    def figures(self) -> Mapping[str, int | None]:
        """The figures of a line in cents, by name."""
        return dict(zip(FIGURES, cents_of(self.win), strict=True))

    @property
    def grade(self) -> str:
        """The grade, with the version of a closed day."""
        return graded(self.win)

    @property
    def overtaken(self) -> bool:
        """Whether facts came after it was closed."""
        return is_overtaken(self.win)

    @property
    def missing(self) -> list[str]:
        """What the day lacks, a sentence each."""
        names = (n for n in self.win.missing if not (self.withheld and n.startswith("round:")))
        return [missing_says(self.win, name) for name in names]


@router.get("/win")
def win(request: Request, who: Analyst, asked: Asked) -> Response:
    """A gaming day (default: the latest): a line for each table, then each in detail."""
    return _page(request, who, asked)


@router.post("/win")
def close(request: Request, who: Closer, form: Form) -> Response:
    """Ask for a gaming day to be closed or opened again; another person approves it."""
    day, house = typed.gaming_day(form), form.get("property", "").strip()
    act = "day_reopen" if form.get("step") == "reopen" else "day_close"
    terms = {name: form.get(name, "").strip() for name in ("because", "despite")}
    try:
        papers.day_of(request, typed.text(form, "property"), day)
        case = ports(request).approvals.ask(act, house, terms | {"gaming_day": day}, who)
    except (Usage, Refused) as error:
        asked = WinsAsked(gaming_day=day)
        return _page(request, who, asked, 422, form=form, wrong=papers.wrong(error))
    return papers.see(case.page)


def _page(
    request: Request,
    who: User,
    asked: WinsAsked,
    status: int = 200,
    *,
    form: Mapping[str, str] | None = None,
    wrong: str = "",
) -> Response:
    blind = blind_review.days(blind_review.hidden(request, who))
    database = ports(request).database
    days = drop_view.days(database, asked.property)
    wanted = asked.gaming_day or (days[0] if days else "")
    day: WinsFilter = {
        "property": asked.property,
        "table": asked.table,
        "gaming_day": wanted,
    }
    kept = versions_folder(ports(request).library.home)
    found = sealed_wins.read(database, kept=kept, by_shift=False, **day) if wanted else []
    explained = variances.explained_days(database, wanted) if found else {}
    its: dict[tuple[str, str], list[JournalEntry]] = defaultdict(list)
    for entry in entries.read(database, **day) if found else ():
        its[entry.property, entry.table].append(entry)
    shown = [
        ShownWin(each, withheld=True)
        if (each.property, each.table, each.gaming_day) in blind
        else ShownWin(each, drawn(_tray(each, its[each.property, each.table or ""])))
        for each in found
    ]
    return page(
        request,
        "win.html",
        status,
        days=days,
        gaming_day=wanted,
        table=asked.table or "",
        casino=asked.property or "",
        casinos=papers.houses(request),
        found=shown,
        houses=list(_houses(shown)),
        rake_apart=rake_apart,
        several=len({each.win.property for each in shown}) > 1,
        work=[
            of
            for each in shown
            for of in work_list(
                each.win,
                who,
                withheld=each.withheld,
                of_gap=explained.get((each.win.property, each.win.table)),
            )
        ],
        closing=[]
        if asked.table
        else list(_closing(request, shown, sealed_wins.seals_of(database, wanted))),
        form=form or {},
        wrong=wrong,
        names=FIGURES,
        of_papers=("drop", "counted"),
        figure=named,
        dollars=dollars,
        with_sign=signed,
    )


class DayToClose(NamedTuple):
    """A casino's gaming day, as it may be closed or opened again."""

    property: str
    is_closed: bool
    lacks: bool  # a table lacks something
    seals: DaySeals
    waiting: Sequence[ApprovalRequest]  # what is asked for and not answered


def _closing(
    request: Request, shown: Sequence[ShownWin], seals: Mapping[str, DaySeals]
) -> Iterator[DayToClose]:
    for house in sorted({each.win.property for each in shown}):
        wins = [each.win for each in shown if each.win.property == house]
        is_closed = any(each.grade == "SEALED" for each in wins)
        lacks = any(each.missing for each in wins)
        asked = [
            case
            for case in ports(request).approvals.waiting(house)
            if case.request.act in ACTS and case.request.about == wins[0].gaming_day
        ]
        yield DayToClose(house, is_closed, lacks, seals.get(house, DaySeals()), asked)


def _houses(shown: Sequence[ShownWin]) -> Iterator[ShownWin]:
    """The sum of each house that has several tables; withheld if a part of it is."""
    for house in houses([each.win for each in shown]):
        its = (each for each in shown if each.win.property == house.property)
        yield ShownWin(house, withheld=any(each.withheld for each in its))


def _tray(win: TableWin, its: Iterable[JournalEntry]) -> list[TrayStep]:
    """A table's tray; by what was signed if facts came after that."""
    return signed_steps(win) if is_overtaken(win) else tray_steps(its)


def is_overtaken(win: TableWin) -> bool:
    """Whether facts came after a table's day was closed, so that the journal has others."""
    return bool(win.late or win.pending)


def signed_steps(win: TableWin) -> list[TrayStep]:
    """A closed day's tray from opener to closer by its signed figures.

    What neither slips nor rounds moved was sold for cash, checks and vouchers, or exchanged.
    """
    if win.opener is None or win.closer is None:
        return []
    poker = win.owed is None
    item = next((each for each in win.items if each.gap != "pay" and each.code == "tray"), None)
    differs = item.amount if item else 0
    if not any(each.gap == "bank" for each in win.items):  # poker before version 5 of the report
        differs += win.bank_variance or 0
    moved = win.moved - rake_in(win)  # rake goes into the box
    others = win.closer - win.opener - win.fills + win.credits - moved - differs
    names = "Chips sold and exchanged" + (", and moved by rounds" if poker else "")
    changes = (
        ("Fills", win.fills, "fills", False),
        ("Credits", -win.credits, "credits", False),
        (names, others, "", False),
        ("Chips that rounds moved", moved, "moved", True),
        (DIFFERS, differs, "", False),
    )
    held = win.opener
    steps = [TrayStep("Opener", held, 0, held, is_count=True, figure="opener")]
    for says, amount, figure, of_rounds in changes:
        if amount or win.pending.get(figure):
            facts = item.facts if item and says == DIFFERS else ()
            after = held + amount
            steps.append(
                TrayStep(says, amount, held, after, facts, of_rounds=of_rounds, figure=figure)
            )
            held = after
    return [*steps, TrayStep("Closer", win.closer, 0, held, is_count=True, figure="closer")]


def tray_steps(its: Iterable[JournalEntry]) -> list[TrayStep]:
    """A table's tray from opener to closer; empty if either was not counted."""
    steps: list[TrayStep] = []
    held = 0
    for entry in its:
        if entry.entry == CARRIED:  # of the days before; the opener counts
            continue
        tray = f"assets:tray:{entry.table}"
        gained = sum(each.amount for each in entry.postings if each.account == tray)
        counted = next((each.amount for each in entry.balances if each.account == tray), None)
        if entry.entry == "opening" and counted is not None:
            steps.append(TrayStep("Opener", counted, 0, counted, entry.facts, is_count=True))
            held = counted
        elif counted is not None:
            if gained:
                steps.append(TrayStep(DIFFERS, gained, held, held + gained, entry.facts))
            steps.append(TrayStep("Closer", counted, 0, counted, entry.facts, is_count=True))
        elif gained:
            of_rounds = entry.entry == "play"
            after = held + gained
            steps.append(
                TrayStep(entry.says, gained, held, after, entry.facts, of_rounds=of_rounds)
            )
            held = after
    counts = [each.says for each in steps if each.is_count]
    return steps if counts == ["Opener", "Closer"] else []


def drawn(steps: Sequence[TrayStep]) -> list[tuple[TrayStep, Bar]]:
    """Each step with its bar; all have one scale, from the lowest the tray held to the highest."""
    reached = [0, *(each.before for each in steps), *(each.after for each in steps)]
    low, high = min(reached), max(reached)
    scale = max(high - low, 1)

    def bar(step: TrayStep) -> Bar:
        first, last = sorted((step.before, step.after))
        kind = "count" if step.is_count else "gain" if step.amount > 0 else "loss"
        return Bar((first - low) * BAR // scale, max((last - first) * BAR // scale, 2), kind)

    return [(each, bar(each)) for each in steps]
