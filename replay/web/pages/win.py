"""The page Win: the three wins of a gaming day, and what explains every cent of their gaps.

The figures are those of `round-ledger win`. The tray of each table is shown from opener to closer,
by the entries of `round-ledger journal`.
"""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING, Annotated, NamedTuple

from fastapi import APIRouter, Depends, Request, Response

from consumers.finance import journal as entries
from consumers.finance import sealed_wins
from consumers.money import drop as drop_view
from infra.access.users import User
from ledger.finance.groups import houses
from ledger.values import dollars
from replay.recording.sealed_days import versions_folder
from replay.text.wins import FIGURES, cents_of, graded, missing_says, named, signed
from replay.web.access import blind_review
from replay.web.access.authentication import signed_in
from replay.web.page import page
from replay.web.ports import ports

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from ledger.finance.journal import JournalEntry
    from ledger.finance.win import TableWin
    from ledger.rules.engine.ruling import FactRef

BAR = 1_000
"""The width of the longest bar, in units of its drawing."""

router = APIRouter(include_in_schema=False)
Analyst = Annotated[User, Depends(signed_in("finance", "auditor"))]


class TrayStep(NamedTuple):
    """A change of a table's tray, or what it held at the opening or closing."""

    says: str
    amount: int  # cents
    before: int
    after: int
    facts: Sequence[FactRef] = ()
    is_count: bool = False
    of_rounds: bool = False  # what all rounds of the day moved


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
    def missing(self) -> list[str]:
        """What the day lacks, a sentence each."""
        names = self.win.missing
        return [
            missing_says(name) for name in names if not (self.withheld and name[:6] == "round:")
        ]


@router.get("/win")
def win(request: Request, who: Analyst, gaming_day: str = "", table: str = "") -> Response:
    """A gaming day (default: the latest): a line for each table, then each in detail."""
    blind = blind_review.days(blind_review.hidden(request, who))
    database = ports(request).database
    days = drop_view.days(database)
    wanted = gaming_day.strip() or (days[0] if days else "")
    asked = {"gaming_day": wanted, "table": table.strip() or None}
    kept = versions_folder(ports(request).library.home)
    found = sealed_wins.read(database, kept=kept, by_shift=False, **asked) if wanted else []
    its: dict[tuple[str, str], list[JournalEntry]] = defaultdict(list)
    for entry in entries.read(database, **asked) if found else ():
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
        days=days,
        gaming_day=wanted,
        table=table.strip(),
        found=shown,
        houses=list(_houses(shown)),
        several=len({each.win.property for each in shown}) > 1,
        names=FIGURES,
        of_papers=("drop", "counted"),
        figure=named,
        dollars=dollars,
        with_sign=signed,
    )


def _houses(shown: Sequence[ShownWin]) -> Iterator[ShownWin]:
    """The sum of each house that has several tables; withheld if a part of it is."""
    for house in houses([each.win for each in shown]):
        its = (each for each in shown if each.win.property == house.property)
        yield ShownWin(house, withheld=any(each.withheld for each in its))


def _tray(win: TableWin, its: Iterable[JournalEntry]) -> list[TrayStep]:
    """A table's tray; empty if late facts changed it after the day was closed."""
    return [] if win.pending else tray_steps(its)


def tray_steps(its: Iterable[JournalEntry]) -> list[TrayStep]:
    """A table's tray from opener to closer; empty if either was not counted."""
    steps: list[TrayStep] = []
    held = 0
    for entry in its:
        tray = f"assets:tray:{entry.table}"
        gained = sum(each.amount for each in entry.postings if each.account == tray)
        counted = next((each.amount for each in entry.balances if each.account == tray), None)
        if entry.entry == "opening" and counted is not None:
            steps.append(TrayStep("Opener", counted, 0, counted, entry.facts, is_count=True))
            held = counted
        elif counted is not None:
            if gained:
                says = "Difference that nothing explains"
                steps.append(TrayStep(says, gained, held, held + gained))
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
