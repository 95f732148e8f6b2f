"""What the pages Live and Drop read: the floor as it stands, and the money of its days."""

import time
from collections.abc import Callable, Sequence

from msgspec.structs import asdict

from consumers.floor import table_board
from consumers.money import drop
from consumers.rounds import search
from infra.postgres.connection import Database
from infra.postgres.tape import PostgresTape
from infra.settings import Settings
from ledger.values import RoundId, parse_subject
from replay.web.alert_watch import Watch
from replay.web.ports import DropDay, DropPorts, FindingNow, Floor, TableNow

SHOWN_MAX = 20
"""Findings on the page Live."""


def floor_of(
    base: Database, tape: PostgresTape, settings: Settings
) -> Callable[[Sequence[RoundId]], Floor]:
    """Reads the floor, its findings but for those of some rounds."""
    watch = Watch(base, tape, settings)

    def floor(without: Sequence[RoundId]) -> Floor:
        return Floor(
            now_us=time.time_ns() // 1_000,
            quiet_s=settings.alert_table_quiet_s,
            tables=[_table(board) for board in table_board.read(base)],
            alerts=watch.now(),
            findings=[
                FindingNow(*each) for each in search.latest_findings(base, SHOWN_MAX, without)
            ],
            lags=[(lag.view, lag.facts, lag.behind_us // 1_000_000) for lag in tape.view_lags()],
        )

    return floor


def drop_of(base: Database) -> DropPorts:
    """Reads the drop."""

    def read(gaming_day: str | None, table: str | None) -> list[DropDay]:
        return [_day(each) for each in drop.read(base, gaming_day=gaming_day, table=table)]

    return DropPorts(lambda: drop.days(base), read)


def _table(board: table_board.Board) -> TableNow:
    return TableNow(
        board.property,
        board.table,
        board.open,
        board.game,
        board.gaming_day,
        (board.min_wager, board.max_wager),
        [(post.employee, post.role) for post in board.dealers],
        board.floorperson,
        len({position for seat in board.seats for position in seat.positions}),
        _round(board),
        board.stage,
        board.last_us,
    )


def _round(board: table_board.Board) -> RoundId | None:
    return parse_subject(board.round, board.property) if board.round else None


def _day(day: drop.Drop) -> DropDay:
    fields = asdict(day)
    names = (*drop.TableDay.__struct_fields__[3:], "win")
    return DropDay(
        day.property,
        day.table,
        day.gaming_day,
        {name: fields[name] for name in names},
        day.corrected,
        [asdict(box) for box in day.boxes],
        [asdict(wager) for wager in day.wagers],
        [asdict(each) for each in day.corrections],
    )
