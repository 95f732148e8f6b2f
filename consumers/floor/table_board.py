"""The table board: the current state of each table and the stage of its round.

For each part of the board the latest fact by device clocks counts, so a late fact does not replace
a newer one. The view judges nothing.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import msgspec
from msgspec import Struct

from consumers.runtime.source import (
    Batch,
    Crossing,
    OutboxMapping,
    Projection,
    round_of_row,
    table_of_round,
)
from infra.postgres.view_tables import Column, ViewStore, ViewTable, reading
from ledger.facts import DealerAssigned, FloorpersonAssigned, SeatTaken
from ledger.record.wire import fact_of

if TYPE_CHECKING:
    from collections.abc import Callable

    from infra.postgres.connection import Database
    from infra.postgres.view_tables import NamedRow
    from ledger.record.tape import TapeRow
    from ledger.record.wire import Fact

BOARD = ViewTable(
    "table_board",
    "One row a table: its state by the latest facts.",
    2,
    (
        Column("property", "text", "Property of the table."),
        Column("table_name", "text", "Table, e.g. CC-07."),
        Column("last_us", "bigint", "Device time of its latest fact, microseconds."),
        Column("state", "json", "The table as `Board`, with the device time of each part."),
    ),
)


class Seat(Struct, omit_defaults=True):
    """Positions held by one patron. patron: an opaque token, if recorded."""

    positions: list[int]
    patron: str | None = None


class Post(Struct):
    """An employee at the table, by credential number. role: dealer, stickperson, ..."""

    employee: str
    role: str


class Board(Struct):
    """The current state of a table. Amounts in cents; None: not recorded."""

    property: str
    table: str
    open: bool | None = None
    game: str | None = None
    gaming_day: str | None = None
    min_wager: int | None = None
    max_wager: int | None = None
    positions: int | None = None
    dealers: list[Post] = []
    floorperson: str | None = None
    seats: list[Seat] = []
    round: str | None = None  # "<table>/<gaming day>/<number>"
    stage: str | None = None  # name of the round's latest fact: `cards_dealt`, `round_completed`
    inventory: dict[str, int] | None = None  # pieces by denomination, at the last count
    inventory_total: int | None = None
    inventory_us: int | None = None
    last_us: int = 0  # device time of the latest fact


class _Kept(Struct):
    """A board, with the device time of the latest fact for each part."""

    board: Board
    told_us: dict[str, int] = {}

    def newer(self, part: str, time_us: int) -> bool:
        """Whether a fact is the latest for a part of the board; its time is then stored."""
        if time_us < self.told_us.get(part, time_us):
            return False
        self.told_us[part] = time_us
        return True


def apply(store: ViewStore, batch: Batch) -> None:
    """Update the boards of a batch's tables."""
    told: list[tuple[tuple[str, str], TapeRow, Fact | None]] = []
    for row in batch.rows:
        if row.type in _READS:
            known = batch.fact(row)
            told.append(((row.tape.partition("/")[0], known.table or ""), row, known))
        elif round_ := round_of_row(row):
            told.append(((round_.property, round_.table), row, None))
    keys = dict.fromkeys(key for key, _, _ in told)
    kept = {
        key: msgspec.json.decode(row.state, type=_Kept)
        for key, row in store.load(BOARD, keys).items()
    }
    for key, row, fact in told:
        each = kept.get(key)
        if each is None:
            each = kept[key] = _Kept(Board(*key))
        each.board.last_us = max(each.board.last_us, row.time_us)
        if fact is None:
            _round(each, row)
        else:
            _READS[row.type](each, fact.body, row.time_us)
    store.save(
        BOARD,
        (
            (*key, each.board.last_us, msgspec.json.encode(each).decode())
            for key, each in kept.items()
        ),
    )


def _table_of(row: TapeRow) -> str | None:
    """The table whose board a fact changes, on any tape."""
    if row.type in _READS:
        return f"{row.tape.partition('/')[0]}/{fact_of(row).table or ''}"
    return table_of_round(row)


def _stated(row: NamedRow) -> str:
    """The board without the times of its parts, which are internal."""
    return msgspec.json.encode(msgspec.json.decode(row.state, type=_Kept).board).decode()


def read(
    database: Database,
    *,
    property: str | None = None,  # noqa: A002 - what it is called on the floor
    table: str | None = None,
) -> list[Board]:
    """The current state of all tables at one moment, in order of property and table."""
    with reading(database, [BOARD.name]) as store:
        rows = store.query(
            "SELECT state::text FROM {schema}.table_board"
            " WHERE (%(property)s::text IS NULL OR property = %(property)s)"
            " AND (%(table)s::text IS NULL OR table_name = %(table)s)"
            " ORDER BY property, table_name",
            {"property": property, "table": table},
        )
    return [msgspec.json.decode(row[0], type=_Kept).board for row in rows]


def _round(kept: _Kept, row: TapeRow) -> None:
    """Apply a fact of a round: the latest one gives the current round and its stage."""
    if kept.newer("round", row.time_us):
        kept.board.round = row.subject
        kept.board.stage = row.type.partition(".")[0]


def _opened(kept: _Kept, body: Any, time_us: int) -> None:  # noqa: ANN401 - a typed fact
    if kept.newer("open", time_us):
        board = kept.board
        board.open, board.game, board.gaming_day = True, body.game, body.gaming_day
        board.min_wager, board.max_wager = body.min_wager, body.max_wager
        board.positions = body.positions
        # Arrivals and departures before this day no longer matter, even if they come late.
        kept.told_us = {
            part: at for part, at in kept.told_us.items() if ":" not in part or at >= time_us
        }


def _closed(kept: _Kept, body: Any, time_us: int) -> None:  # noqa: ANN401 - a typed fact
    del body
    if kept.newer("open", time_us):
        kept.board.open = False


def _dealer(kept: _Kept, body: Any, time_us: int) -> None:  # noqa: ANN401 - a typed fact
    if kept.newer(f"post:{body.role}:{body.employee}", time_us):
        post = Post(body.employee, body.role)
        others = [each for each in kept.board.dealers if each != post]
        if isinstance(body, DealerAssigned):
            others.append(post)
        kept.board.dealers = others


def _floorperson(kept: _Kept, body: Any, time_us: int) -> None:  # noqa: ANN401 - a typed fact
    board = kept.board
    if isinstance(body, FloorpersonAssigned):
        if kept.newer("floor", time_us):
            board.floorperson = body.employee
    elif board.floorperson == body.employee and kept.newer("floor", time_us):
        board.floorperson = None


def _seat(kept: _Kept, body: Any, time_us: int) -> None:  # noqa: ANN401 - a typed fact
    fresh = [p for p in body.positions if kept.newer(f"seat:{p}", time_us)]
    if not fresh:
        return
    seats = [
        Seat([p for p in seat.positions if p not in fresh], seat.patron)
        for seat in kept.board.seats
    ]
    if isinstance(body, SeatTaken):
        seats.append(Seat(fresh, body.patron))
    kept.board.seats = sorted(
        (seat for seat in seats if seat.positions), key=lambda seat: seat.positions
    )


def _inventory(kept: _Kept, body: Any, time_us: int) -> None:  # noqa: ANN401 - a typed fact
    if kept.newer("inventory", time_us):
        board = kept.board
        board.inventory, board.inventory_total = dict(body.chips), body.total
        board.inventory_us = time_us


_READS: dict[str, Callable[[_Kept, Any, int], None]] = {
    "table_opened.v1": _opened,
    "table_closed.v1": _closed,
    "dealer_assigned.v1": _dealer,
    "dealer_relieved.v1": _dealer,
    "floorperson_assigned.v1": _floorperson,
    "floorperson_relieved.v1": _floorperson,
    "seat_taken.v1": _seat,
    "seat_left.v1": _seat,
    "inventory_counted.v1": _inventory,
}

VIEW = Projection(
    "table_board",
    1,
    (BOARD,),
    apply,
    reads=frozenset(_READS),
    counts_all=True,
    tells=(
        OutboxMapping(
            "ledger.table-state.v1",
            BOARD,
            2,
            _stated,
            compacted=True,
        ),
    ),
    part_of=_table_of,
    crossing=Crossing(),
)
"""The view `table_board`."""
