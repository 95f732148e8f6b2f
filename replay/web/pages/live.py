"""The page Live: the floor as it stands, made anew every two seconds by the module beside it.

What is asked for is the same page without its frame; without scripts it is loaded anew by hand.
"""

from typing import Annotated

from fastapi import APIRouter, Depends, Request, Response

from infra.access.users import User
from replay.web.access import blind_review
from replay.web.access.authentication import signed_in
from replay.web.page import page
from replay.web.pages.alarms import alarms
from replay.web.pages.find import FRAGMENT
from replay.web.ports import TableNow, ports

DAY_S = 24 * 3600

ALARMS_MAX = 30
"""Alerts that are shown; how many more there are is said."""

router = APIRouter(include_in_schema=False)
Watcher = Annotated[User, Depends(signed_in("surveillance", "ops", "auditor"))]


@router.get("/live")
def live(request: Request, who: Watcher) -> Response:
    """The floor, or the inner part of the page alone."""
    blind = blind_review.hidden(request, who)
    floor = blind_review.floor(ports(request).floor(tuple(blind)), blind)
    told = alarms(floor.alerts.all)
    tables = sorted(floor.tables, key=lambda each: (each.open is False, each.table, each.property))
    part = request.headers.get(FRAGMENT) == "floor"
    return page(
        request,
        "live_floor.html" if part else "live.html",
        floor=floor,
        alarms=told[:ALARMS_MAX],
        more_alarms=len(told) - ALARMS_MAX,
        tables=[
            (
                each,
                _state(each, floor.now_us, floor.quiet_s),
                (floor.now_us - each.last_us) // 1_000_000,
            )
            for each in tables
        ],
        several=len({each.property for each in tables}) > 1,
        open=sum(each.open is True for each in tables),
        rounds=who.has("surveillance", "auditor"),
        day_s=DAY_S,
        left_out=len(blind),
    )


def _state(table: TableNow, now_us: int, quiet_s: int) -> str:
    """open, quiet, closed, or unknown where no fact tells."""
    if table.open is None:
        return "unknown"
    if not table.open:
        return "closed"
    return "quiet" if now_us - table.last_us > quiet_s * 1_000_000 else "open"
