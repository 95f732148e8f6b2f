"""The page Live: the floor now, refreshed every two seconds by its script.

The script fetches the inner part of this page. Without scripts the page is reloaded by hand.
"""

import time
from collections.abc import Collection
from typing import Annotated, NamedTuple

from fastapi import APIRouter, Depends, Request, Response

from consumers.alerts.kinds.tables import TABLE_QUIET
from consumers.floor import table_board
from consumers.floor.table_board import Board
from consumers.rounds import search
from infra.access.users import User
from ledger.values import RoundId, parse_subject
from replay.web.access import blind_review
from replay.web.access.authentication import signed_in
from replay.web.page import page
from replay.web.pages.alarms import alarms
from replay.web.pages.find import FRAGMENT
from replay.web.ports import ports

DAY_S = 24 * 3600

FINDINGS_MAX = 20
"""The number of latest findings shown."""

ALARMS_MAX = 30
"""The number of alerts shown; more are counted."""

router = APIRouter(include_in_schema=False)
Watcher = Annotated[User, Depends(signed_in("surveillance", "ops", "auditor"))]


class TableNow(NamedTuple):
    """A table in the list of the floor."""

    board: Board
    round: RoundId | None
    seats: int  # positions that are taken
    state: str
    age_s: int  # seconds since its latest fact


@router.get("/live")
def live(request: Request, who: Watcher) -> Response:
    """The page of the floor, or its inner part."""
    blind = blind_review.hidden(request, who)
    database, tape = ports(request).database, ports(request).tape
    now_us = time.time_ns() // 1_000
    boards = blind_review.boards(table_board.read(database), blind)
    alerts = ports(request).alerts.now()
    told = alarms(blind_review.alerts(alerts.all, blind))
    quiet = {each.about for each in alerts.all if each.kind == TABLE_QUIET.name}
    tables = [_table(each, now_us, quiet) for each in sorted(boards, key=_place)]
    part = request.headers.get(FRAGMENT) == "floor"
    return page(
        request,
        "live_floor.html" if part else "live.html",
        alarms=told[:ALARMS_MAX],
        more_alarms=len(told) - ALARMS_MAX,
        fed_us=alerts.fed_us,
        findings=search.latest_findings(database, FINDINGS_MAX, tuple(blind)),
        lags=tape.view_lags(),
        tables=tables,
        several=len({each.property for each in boards}) > 1,
        open=sum(each.open is True for each in boards),
        rounds=who.has("surveillance", "auditor"),
        day_s=DAY_S,
        left_out=len(blind),
        open_findings=blind_review.counts(request, who).open,
    )


def _place(board: Board) -> tuple[bool, str, str]:
    """The sort key of the list of tables: closed tables are last."""
    return board.open is False, board.table, board.property


def _table(board: Board, now_us: int, quiet: Collection[str]) -> TableNow:
    return TableNow(
        board,
        parse_subject(board.round, board.property) if board.round else None,
        len({position for seat in board.seats for position in seat.positions}),
        _state(board, quiet),
        (now_us - board.last_us) // 1_000_000,
    )


def _state(table: Board, quiet: Collection[str]) -> str:
    """open, quiet, closed, or unknown if no fact records it. quiet: tapes that an alert names."""
    if table.open is None:
        return "unknown"
    if not table.open:
        return "closed"
    return "quiet" if f"{table.property}/{table.table}" in quiet else "open"
