"""The page Statistics: who errs how often, where and when, and whether chance explains it.

The figures are those of `round-ledger errors`. The form is sent with GET, so that what is shown
has an address and works without scripts.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, NamedTuple, get_args
from urllib.parse import urlencode

from fastapi import APIRouter, Depends, Request, Response
from markupsafe import Markup

from consumers.rounds import search
from consumers.rulings import error_rates
from consumers.rulings.error_rates import ERRORS_MAX, ErrorsAsked, ErrorsBy
from infra.access.users import User
from ledger.errors import Usage
from ledger.games import games
from replay.rounds.sentences import wager_of_any_game
from replay.statistics.error_report import PLURALS, to_csv, work_out
from replay.text.times import is_gaming_day
from replay.web.access import blind_review
from replay.web.access.authentication import signed_in, signed_in_lately
from replay.web.page import page
from replay.web.ports import ports
from replay.web.statistics import charts

if TYPE_CHECKING:
    from collections.abc import Callable

    from consumers.rulings.error_rates import ErrorLine
    from replay.statistics.error_report import ErrorReport

TEXT_MAX = 100

FIELDS = ("by", "since", "until", "table", "game", "luck", "name")
"""The fields of the form and of the address; `name` is the group whose errors are listed."""

GROUPS: tuple[ErrorsBy, ...] = get_args(ErrorsBy)

router = APIRouter(include_in_schema=False)
Reader = Annotated[User, Depends(signed_in("surveillance", "auditor"))]
Exporter = Annotated[User, Depends(signed_in_lately("surveillance", "auditor"))]


class StatisticsForm(NamedTuple):
    """What is asked for, what was typed, and how many rounds are withheld from the reader."""

    asked: ErrorsAsked
    typed: dict[str, str]
    withheld: int

    def link(self, name: str) -> str:
        """The address of the errors of a group."""
        return f"/statistics?{urlencode(self._narrowed() | {'name': name})}#errors"

    @property
    def lucky(self) -> bool:
        """Whether luck is asked for."""
        return bool(self.typed["luck"])

    @property
    def csv(self) -> str:
        """The address of the rows as CSV."""
        return f"/statistics.csv?{urlencode(self._narrowed())}"

    def title(self, name: str) -> str:
        """A group as people call it."""
        if self.asked.by == "game":
            game = games().get(name)
            return game.title if game else name
        if self.asked.by == "wager":
            return wager_of_any_game(name)
        return f"Shift {name}" if self.asked.by == "shift" else name

    def _narrowed(self) -> dict[str, str]:
        return {key: text for key, text in self.typed.items() if text and key != "name"}


@router.get("/statistics")
def statistics(request: Request, who: Reader) -> Response:
    """The groups beside the house: words, charts, tables; and the errors of one of them."""
    form = _read(request, who)
    database = ports(request).database
    report = work_out(database, form.asked, lucky=form.lucky)
    chosen = form.typed["name"]
    names = {each.group for each in report.compared}
    listed: list[ErrorLine] = []
    if chosen in names:
        listed = error_rates.error_lines(database, form.asked, chosen)
    tables, _ = search.names(database)
    return page(
        request,
        "statistics.html",
        form=form,
        report=report,
        groups=GROUPS,
        plurals=PLURALS,
        tables=tables,
        games=games(),
        chosen=chosen if chosen in names else "",
        listed=listed,
        nobodys=error_rates.error_lines(database, form.asked, None),
        errors_max=ERRORS_MAX,
        charts=_charts(report, form),
    )


@router.get("/statistics.csv")
def rows(request: Request, who: Exporter) -> Response:
    """The rows of the page's first table as CSV."""
    form = _read(request, who)
    report = work_out(ports(request).database, form.asked, lucky=form.lucky)
    name = f'attachment; filename="errors-by-{form.asked.by}.csv"'
    return Response(to_csv(report), media_type="text/csv", headers={"Content-Disposition": name})


def _read(request: Request, who: User) -> StatisticsForm:
    """What the address asks for. Raises `Usage` for what cannot be read."""
    typed = {name: request.query_params.get(name, "").strip()[:TEXT_MAX] for name in FIELDS}
    by = next((each for each in GROUPS if each == (typed["by"] or "dealer")), None)
    if by is None:
        raise Usage(
            f"`{typed['by']}` is no group", where="by", hint=f"Give one of {', '.join(GROUPS)}."
        )
    for field in ("since", "until"):
        if typed[field] and not is_gaming_day(typed[field]):
            raise Usage(
                f"`{typed[field]}` is not a gaming day", where=field, hint="Give it as 2026-11-20."
            )
    blind = blind_review.hidden(request, who)
    asked = ErrorsAsked(
        by,
        ports(request).zones().of(None),
        since=typed["since"] or None,
        until=typed["until"] or None,
        table=typed["table"] or None,
        game=typed["game"] or None,
        without=tuple(blind),
    )
    asked = error_rates.last_days(ports(request).database, asked)
    return StatisticsForm(asked, typed | {"by": by}, len(blind))


def _charts(report: ErrorReport, form: StatisticsForm) -> dict[str, Markup]:
    """The charts that there is something for, by name."""
    drawn: dict[str, Callable[..., str]] = {}
    if report.house.settlements:
        drawn["funnel"] = charts.funnel
    if any(len(its) > 1 for its in report.trends.values()):
        drawn["trend"] = charts.trends
    return {
        name: Markup(draw(report, form.link, form.title))  # noqa: S704 - escaped where it is drawn
        for name, draw in drawn.items()
    }
