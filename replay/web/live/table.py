"""A table now: its live pictures, the money of its round, and the way to 30 s before."""

import time
from collections.abc import Sequence
from typing import Annotated, NamedTuple
from urllib.parse import urlencode

from fastapi import APIRouter, Query, Request, Response
from fastapi.responses import RedirectResponse

from consumers.cameras.cameras import CAMERA_FACTS, rows_about
from consumers.floor import table_board
from consumers.floor.table_board import Board
from consumers.rounds import index
from consumers.rounds.index import Round, RoundWager
from infra.postgres.view_tables import reading
from ledger.errors import NotFound
from ledger.record.wire import fact_of
from ledger.values import RoundId, parse_subject
from replay.cameras.coverage import coverage
from replay.cameras.timeline import SEEN, sights_at
from replay.web.access import blind_review
from replay.web.live.pictures import Name
from replay.web.live.table_cameras import NO_CAMERAS, TableName, table_cameras
from replay.web.page import page, round_path
from replay.web.pages.find import FRAGMENT
from replay.web.pages.footage import Viewer
from replay.web.ports import ports
from replay.web.round_reader import NEAR_US

BACK_S = 30
"""Seconds that *30 s back* goes back."""

router = APIRouter(include_in_schema=False)

_SEE_OTHER = 303
_OPEN_US = 3_600_000_000  # the longest that an unfinished round is taken to last


class RoundMoneyNow(NamedTuple):
    """The money of a table's round so far. withheld: none is shown to this user."""

    round: RoundId
    totals: Round | None
    wagers: Sequence[RoundWager]
    withheld: bool


@router.get("/live/table")
def table(
    request: Request,
    user: Viewer,
    property: Name,  # noqa: A002 - what it is called on the floor
    table: Name,
    back: Annotated[int, Query(ge=0, le=BACK_S)] = 0,
) -> Response:
    """The page of one table, or the part of it that changes. back: seconds to begin before now."""
    board = _board(request, TableName(property, table))
    blind = blind_review.hidden(request, user)
    part = request.headers.get(FRAGMENT) == "money"
    return page(
        request,
        "live_money.html" if part else "live_table.html",
        zone=ports(request).zones().of(property),
        board=blind_review.boards([board], blind)[0],
        cameras=table_cameras(request).get(TableName(property, table), NO_CAMERAS),
        money=_money(request, board, blind),
        back=back,
        back_s=BACK_S,
        back_path=back_path(TableName(property, table)),
    )


@router.get("/live/back")
def back(
    request: Request,
    user: Viewer,
    property: Name,  # noqa: A002 - what it is called on the floor
    table: Name,
) -> Response:
    """30 s back: the player if that footage is at hand, else what is kept of the live picture."""
    del user
    of = TableName(property, table)
    _board(request, of)
    at_us = time.time_ns() // 1_000 - BACK_S * 1_000_000
    round_ = _filmed(request, of, at_us)
    if round_ is not None:
        return RedirectResponse(f"{round_path(round_)}#time={at_us}", _SEE_OTHER)
    return RedirectResponse(f"{table_path(of)}&back={BACK_S}", _SEE_OTHER)


def table_path(of: TableName) -> str:
    """The address of a table's page."""
    return f"/live/table?{urlencode(of._asdict())}"


def back_path(of: TableName) -> str:
    """The address of what a table showed 30 s before."""
    return f"/live/back?{urlencode(of._asdict())}"


def _board(request: Request, of: TableName) -> Board:
    """The table. Raises NotFound."""
    found = table_board.read(ports(request).database, property=of.property, table=of.table)
    if not found:
        raise NotFound(
            "No fact of this table is on record", where=of.table, hint="Open Live, and choose one."
        )
    return found[0]


def _money(request: Request, board: Board, blind: blind_review.Hidden) -> RoundMoneyNow | None:
    """The money of the table's round; None: it has had no round yet."""
    round_ = parse_subject(board.round, board.property) if board.round else None
    if round_ is None:
        return None
    if round_ in blind:
        return RoundMoneyNow(round_, None, (), withheld=True)
    with reading(
        ports(request).database, [each.name for each in index.ROUND_INDEX.tables]
    ) as store:
        totals = index.known(store, [round_]).get(round_)
        return RoundMoneyNow(round_, totals, index.wagers_of(store, round_), withheld=False)


def _filmed(request: Request, of: TableName, at_us: int) -> RoundId | None:
    """The round at a time whose footage of then is at hand; None: there is none."""
    tables = [CAMERA_FACTS.name, *(each.name for each in index.ROUND_INDEX.tables)]
    with reading(ports(request).database, tables) as store:
        rounds = index.rounds_over(
            store, of.property, at_us, at_us, tables=[of.table], open_us=_OPEN_US
        )
        rows = rows_about(store, *of, at_us, at_us, near_us=NEAR_US) if rounds else []
    facts = [fact_of(row) for row in rows]
    if not facts:
        return None
    footage = ports(request).library.at_hand(facts)
    sights = sights_at(coverage(facts), *of, at_us, footage)
    shown = any(each.state in SEEN and each.frame is not None for each in sights)
    return max(rounds) if shown else None
