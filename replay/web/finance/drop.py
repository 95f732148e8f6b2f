"""The page Drop: expected and counted drop of a gaming day, and win.

The figures are those of `round-ledger drop`. An amount that is not on record is n/a, never 0.
Corrections are in force, and each is listed with what was recorded.
"""

from typing import Annotated, NamedTuple

from fastapi import APIRouter, Depends, Request, Response

from consumers.finance.day_facts import WinsAsked
from consumers.finance.drop_days import drop_days
from consumers.money import drop as drop_view
from consumers.money.drop import Drop
from consumers.rulings import rulings
from infra.access.users import User
from replay.text.amounts import COUNTED, IN_BOXES, RESULT, TRAY
from replay.web.access import blind_review
from replay.web.access.authentication import signed_in
from replay.web.entry import papers
from replay.web.finance.asked import asked_for
from replay.web.page import page
from replay.web.ports import ports

router = APIRouter(include_in_schema=False)
Analyst = Annotated[User, Depends(signed_in("finance", "auditor"))]
Asked = Annotated[WinsAsked, Depends(asked_for)]


class BoxTotal(NamedTuple):
    """The expected and counted content of a day's boxes. Cents; None: not on record."""

    expected: int | None  # cash, counter checks, vouchers and rake, by facts at the table
    counted: int | None  # all but coupons, by the last count of each box

    @property
    def over(self) -> int | None:
        """Counted minus expected; negative if the boxes are short."""
        known = self.expected is not None and self.counted is not None
        return (self.counted or 0) - (self.expected or 0) if known else None


@router.get("/drop")
def drop(request: Request, who: Analyst, asked: Asked) -> Response:
    """A gaming day (default: the latest): a line for each table, then each in detail."""
    blind = blind_review.hidden(request, who)
    database = ports(request).database
    days = drop_view.days(database, asked.property)
    wanted = asked.gaming_day or (days[0] if days else "")
    its = asked._replace(gaming_day=wanted)
    read = drop_days(database, **its._asdict()) if wanted else []
    beside = rulings.table_findings(database, gaming_day=wanted) if read else []
    found = [blind_review.day(each, beside, blind) for each in read]
    return page(
        request,
        "drop.html",
        days=days,
        gaming_day=wanted,
        table=asked.table or "",
        casino=asked.property or "",
        casinos=papers.houses(request),
        found=found,
        boxes=[box_of(each.drop) for each in found],
        several=len({each.drop.property for each in found}) > 1,
        kinds=IN_BOXES,
        counted=COUNTED,
        tray=TRAY,
        result=RESULT,
        withheld=blind_review.RESULTS,
    )


def box_of(day: Drop) -> BoxTotal:
    """The boxes of a table's day."""
    told = [getattr(day, name) for name in IN_BOXES if name != "coupons"]
    known = [cents for cents in told if cents is not None]
    return BoxTotal(sum(known) if known else None, day.box_total)
