"""The page Drop: what the boxes of a gaming day should hold, what was counted, what was won.

The figures of `round-ledger drop`. What is not on record is n/a, never 0; what corrections make of
a sum stands beside it.
"""

from typing import Annotated, NamedTuple

from fastapi import APIRouter, Depends, Request, Response

from consumers.money import drop as drop_view
from consumers.money.drop import Drop
from infra.access.users import User
from replay.web.access import blind_review
from replay.web.access.authentication import signed_in
from replay.web.page import page
from replay.web.ports import ports

EXPECTED = ("cash", "counter_checks", "vouchers", "coupons", "rake")
TRAY = ("opener", "fills", "credits", "closer")
RESULT = ("handle", "payouts", "payouts_cage", "collected", "returned", "fees", "tips", "win")
_MONEY_COUNTED = ("currency", "counter_checks", "vouchers")

router = APIRouter(include_in_schema=False)
Analyst = Annotated[User, Depends(signed_in("finance", "auditor"))]


class BoxTotal(NamedTuple):
    """What a day's boxes should hold beside what was counted last. Cents; None: not on record."""

    expected: int | None  # cash, counter checks and vouchers, as facts at the table tell
    counted: int | None  # the same kinds, of each box its last count

    @property
    def over(self) -> int | None:
        """What was counted above what should be there; below zero: it is short."""
        known = self.expected is not None and self.counted is not None
        return (self.counted or 0) - (self.expected or 0) if known else None


@router.get("/drop")
def drop(request: Request, who: Analyst, gaming_day: str = "", table: str = "") -> Response:
    """A gaming day, the latest where none is named; its tables in lines, then one by one."""
    blind = blind_review.hidden(request, who)
    database = ports(request).database
    days = drop_view.days(database)
    wanted = gaming_day.strip() or (days[0] if days else "")
    read = (
        drop_view.read(database, gaming_day=wanted, table=table.strip() or None) if wanted else []
    )
    found = [blind_review.day(each, blind) for each in read]
    return page(
        request,
        "drop.html",
        days=days,
        gaming_day=wanted,
        table=table.strip(),
        found=found,
        boxes=[box_of(each.drop) for each in found],
        several=len({each.drop.property for each in found}) > 1,
        kinds=EXPECTED,
        counted=("currency", "counter_checks", "vouchers", "coupon_count", ""),
        tray=TRAY,
        result=RESULT,
        withheld=blind_review.RESULTS,
    )


def box_of(day: Drop) -> BoxTotal:
    """The box of a table's day; of an amount that is corrected, what it should have been."""
    names = ("cash", "counter_checks", "vouchers")
    told = [day.corrected.get(name, getattr(day, name)) for name in names]
    known = [amount for amount in told if amount is not None]
    last = {box.box: box for box in sorted(day.boxes, key=lambda each: each.count)}
    counted: int | None = None
    for box in last.values():
        amounts = [getattr(box, name) for name in _MONEY_COUNTED]
        counted = (counted or 0) + sum(each for each in amounts if each is not None)
    return BoxTotal(sum(known) if known else None, counted)
