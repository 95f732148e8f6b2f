"""The page Live: the floor now, refreshed every two seconds by its script.

The script fetches the inner part of this page, and the pictures of cameras beside it. Without
scripts there are no pictures, and the page is reloaded by hand.
"""

import time
from collections.abc import Collection, Mapping
from typing import Annotated, NamedTuple

from fastapi import APIRouter, Depends, Request, Response

from consumers.alerts.kinds.tables import TABLE_QUIET
from consumers.floor import table_board
from consumers.floor.table_board import Board
from consumers.rounds import index, search
from consumers.rounds.index import ROUNDS, Round
from infra.access.users import User
from infra.postgres.view_tables import reading
from ledger.values import RoundId, parse_subject
from replay.web.access import blind_review
from replay.web.access.authentication import signed_in
from replay.web.live.table import BACK_S, back_path, table_path
from replay.web.live.table_cameras import NO_CAMERAS, OnTables, TableName, table_cameras
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
    money: Round | None  # the round so far; None: there is none, or it is withheld
    camera: str | None  # whose live picture is shown
    path: str  # of the table's own page
    back_path: str


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
    rounds = who.has("surveillance", "auditor")
    money = _money(request, boards, blind) if rounds else {}
    cameras = table_cameras(request) if rounds else {}
    tables = [_table(each, now_us, quiet, money, cameras) for each in sorted(boards, key=_place)]
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
        rounds=rounds,
        pictures=sum(each.camera is not None for each in tables),
        back_s=BACK_S,
        day_s=DAY_S,
        left_out=len(blind),
        open_findings=blind_review.counts(request, who).open,
    )


def _place(board: Board) -> tuple[bool, str, str]:
    """The sort key of the list of tables: closed tables are last."""
    return board.open is False, board.table, board.property


def _money(
    request: Request, boards: list[Board], blind: blind_review.Hidden
) -> dict[RoundId, Round]:
    """What the tables' rounds came to so far, without withheld ones."""
    rounds = {parse_subject(each.round, each.property) for each in boards if each.round}
    shown = [each for each in rounds if each is not None and each not in blind]
    with reading(ports(request).database, [ROUNDS.name]) as store:
        return index.known(store, shown)


def _table(
    board: Board,
    now_us: int,
    quiet: Collection[str],
    money: Mapping[RoundId, Round],
    cameras: OnTables,
) -> TableNow:
    name = TableName(board.property, board.table)
    round_ = parse_subject(board.round, board.property) if board.round else None
    return TableNow(
        board,
        round_,
        len({position for seat in board.seats for position in seat.positions}),
        _state(board, quiet),
        (now_us - board.last_us) // 1_000_000,
        money.get(round_) if round_ else None,
        next(iter(cameras.get(name, NO_CAMERAS).shown), None),
        table_path(name),
        back_path(name),
    )


def _state(table: Board, quiet: Collection[str]) -> str:
    """open, quiet, closed, or unknown if no fact records it. quiet: tapes that an alert names."""
    if table.open is None:
        return "unknown"
    if not table.open:
        return "closed"
    return "quiet" if f"{table.property}/{table.table}" in quiet else "open"
