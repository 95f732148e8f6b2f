"""The page of control charts: a table's luck and errors, day by day, as `variance chart` has them.

Every mark leads to its day. The figures stand in a table below, for the keyboard and for readers.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

from fastapi import APIRouter, Depends, Request, Response

from consumers.finance import papers, variances
from consumers.finance.day_facts import WinsAsked
from consumers.money import drop as drop_view
from infra.access.users import User
from ledger.errors import Usage
from ledger.finance.statistics.charts import ChartLimits
from ledger.finance.statistics.hold import VarianceAsked
from replay.recording.sealed_days import versions_folder
from replay.text.times import is_gaming_day
from replay.text.wins import signed
from replay.web.access import blind_review
from replay.web.access.authentication import signed_in
from replay.web.entry import papers as entry
from replay.web.finance.asked import asked_for
from replay.web.finance.chart_svg import DAYS_MAX, of_errors, of_luck
from replay.web.page import page
from replay.web.ports import ports

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ledger.finance.statistics.charts import ChartPoint

PATH = "/win/charts"

router = APIRouter(include_in_schema=False)
Analyst = Annotated[User, Depends(signed_in("finance", "auditor"))]
Asked = Annotated[WinsAsked, Depends(asked_for)]


@router.get(PATH)
def charts(request: Request, who: Analyst, asked: Asked) -> Response:
    """The control charts of one table (default: the first) up to a gaming day."""
    database, day = ports(request).database, asked.gaming_day or ""
    if day and not is_gaming_day(day):
        raise Usage(f"`{day}` is not a gaming day", where="gaming_day", hint="As 2026-11-20.")
    houses = entry.houses(request)
    house = asked.property or (houses[0] if houses else "")
    tables = papers.tables(database, house) if house else []
    name = asked.table or (tables[0] if tables else "")
    limits = ChartLimits()
    points: Sequence[ChartPoint] = []
    withheld = _is_withheld(request, who, house, name)
    if name and not withheld:
        up_to = VarianceAsked(house, "table", "day", day or "9999-12-31")
        days = [each for each in drop_view.days(database, house) if each <= up_to.until][:DAYS_MAX]
        kept = versions_folder(ports(request).library.home)
        since = min(days, default="")
        points = variances.charts(database, up_to, limits, kept, since=since, table=name)
    return page(
        request,
        "charts.html",
        houses=houses,
        house=house,
        tables=tables,
        table=name,
        gaming_day=day,
        points=list(reversed(points)),
        drawings=[of_luck(points, limits), of_errors(points, limits)] if points else [],
        limits=limits,
        withheld=withheld,
        with_sign=signed,
        days_max=DAYS_MAX,
    )


def _is_withheld(request: Request, who: User, house: str, table: str) -> bool:
    """Whether a round of the table is withheld from this user: its day's figures would show it."""
    blind = blind_review.days(blind_review.hidden(request, who))
    return any(of[:2] == (house, table) for of in blind)
