"""The drop: per table and gaming day, what went into the box, what was counted, what was won.

Expected and counted content stay apart, and a column is NULL until a fact of its kind is on
record: nothing known is never 0. Amounts are as the facts tell them, nothing is inferred; what a
correction changes stands beside them (ADR 0066).
"""

from __future__ import annotations

from copy import copy
from typing import TYPE_CHECKING, Any

import msgspec
from msgspec import Struct
from msgspec.structs import astuple

from consumers.money import corrections as drop_corrections
from consumers.money.amounts import (
    ADDED,
    COUNTED,
    INVENTORY,
    OPENS_DAY,
    READS,
    WAGERS,
    BoxCount,
    amount_of,
    box_of,
    cents,
    moved,
    table_of,
)
from consumers.money.corrections import (
    CORRECTED,
    DAY_STARTS,
    MADE,
    UNKNOWN_DAY,
    Correction,
)
from consumers.runtime.source import Batch, OutboxMapping, Projection
from infra.postgres.view_tables import Column, ViewStore, ViewTable, reading

if TYPE_CHECKING:
    from collections.abc import Sequence

    from infra.postgres.connection import Database
    from infra.postgres.view_tables import Row
    from ledger.facts import InventoryCounted
    from ledger.record.tape import TapeRow

_DAY_KEY = (
    Column("property", "text", "Property of the table."),
    Column("table_name", "text", "Table, e.g. CC-07."),
    Column("gaming_day", "text", "Label of the gaming day; empty: not recorded by then."),
)


DAYS = ViewTable(
    "drop_days",
    "One row a table and gaming day: its money, as far as facts tell it.",
    3,
    (
        *_DAY_KEY,
        cents("cash", "Expected in the box: cash bought in"),
        cents("counter_checks", "Expected in the box: counter checks issued"),
        cents("vouchers", "Expected in the box: vouchers bought in"),
        cents("coupons", "Expected in the box: face of coupons dropped; never part of the drop"),
        cents("rake", "Expected in the box: rake taken"),
        cents("tips", "Into the tip box, never the drop box"),
        cents("opener", "Table inventory at opening: the earliest count"),
        Column("opener_us", "bigint", "Device time of that count, microseconds.", null=True),
        cents("closer", "Table inventory at the drop or close: the latest count"),
        Column("closer_us", "bigint", "Device time of that count, microseconds.", null=True),
        cents("fills", "Fills accepted"),
        cents("credits", "Credits accepted"),
        cents("handle", "Wagers placed less withdrawn"),
        cents("payouts", "Winnings paid from the table"),
        cents("payouts_cage", "Winnings paid from the cage"),
        cents("collected", "Wagers collected"),
        cents("returned", "Wagers returned"),
        cents("fees", "Fees paid"),
    ),
)

WINS = ViewTable(
    "drop_wagers",
    "One row a table, gaming day and wager: what was placed on it and what became of it.",
    4,
    (
        *_DAY_KEY,
        Column("wager", "text", "Wager id."),
        cents("handle", "Placed less withdrawn"),
        cents("payouts", "Winnings paid, from table and cage"),
        cents("collected", "Collected"),
        cents("returned", "Returned"),
    ),
)

BOXES = ViewTable(
    "drop_boxes",
    "One row a count of a drop box: the first count and the second stay apart.",
    5,
    (
        *_DAY_KEY,
        Column("box", "text", "Number of the box."),
        Column("count", "smallint", "1: first count, 2: second."),
        Column("currency", "bigint", "Cash counted, cents."),
        Column("counter_checks", "bigint", "Counter checks counted, cents."),
        cents("vouchers", "Vouchers counted, where every one has its amount"),
        Column("voucher_count", "integer", "Vouchers counted, pieces."),
        Column("coupon_count", "integer", "Coupons counted, pieces; their face is on the batch."),
        cents("chips", "Chips counted"),
    ),
)

OPEN_DAYS = ViewTable(
    "drop_open_days",
    "The gaming day that a table is in, by the record so far.",
    2,
    (*_DAY_KEY,),
)


class TableDay(Struct):
    """One row of the drop as it is kept. Cents; None: no such fact is on record."""

    property: str
    table: str
    gaming_day: str
    cash: int | None = None
    counter_checks: int | None = None
    vouchers: int | None = None
    coupons: int | None = None
    rake: int | None = None
    tips: int | None = None
    opener: int | None = None
    opener_us: int | None = None
    closer: int | None = None
    closer_us: int | None = None
    fills: int | None = None
    credits: int | None = None
    handle: int | None = None
    payouts: int | None = None
    payouts_cage: int | None = None
    collected: int | None = None
    returned: int | None = None
    fees: int | None = None


class Win(Struct):
    """What one wager made at a table on a gaming day. Cents; None: no such fact."""

    wager: str
    handle: int | None = None
    payouts: int | None = None
    collected: int | None = None
    returned: int | None = None
    win: int | None = None  # collected less winnings paid; None until a wager was decided


class Drop(TableDay):
    """A table's gaming day as it is printed. Cents; null: not on record, never 0.

    What facts at the table tell (what its box should hold among it) stands beside `boxes`, what
    was counted. gaming_day is empty for facts told before the record named a day for the table.
    """

    boxes: list[BoxCount] = []
    wagers: list[Win] = []
    win: int | None = None  # collected and fees less winnings paid, from table and cage
    corrections: list[Correction] = []
    corrected: dict[str, int] = {}  # the amounts that these change, as they should have been


Key = tuple[Any, ...]


def apply(store: ViewStore, batch: Batch) -> None:
    """Add a batch's money facts to their tables' gaming days."""
    told, starts = _placed(store, batch)
    days = {
        key: TableDay(*row)
        for key, row in store.load(DAYS, dict.fromkeys(key for key, *_ in told)).items()
    }
    keys = dict.fromkeys((*key, body.wager) for key, row, body in told if row.type in WAGERS)
    wins = {key: Win(*row[3:]) for key, row in store.load(WINS, keys).items()}
    boxes: dict[Key, Key] = {}
    for key, row, body in told:
        day = days.get(key)
        if day is None:
            day = days[key] = TableDay(*key)
        if row.type in WAGERS:
            _move(day, wins, key, row.type, body)
        elif row.type in ADDED:
            _add(day, ADDED[row.type], amount_of(row.type, body))
        elif row.type == INVENTORY:
            _inventory(day, body, row.time_us)
        elif row.type == COUNTED:
            box = box_of(body)
            boxes[(*key, box.box, box.count)] = (*key, *astuple(box))
    store.save(DAYS, (astuple(day) for day in days.values()))
    store.save(WINS, ((*key[:3], *astuple(win)[:5]) for key, win in wins.items()))
    store.save(BOXES, boxes.values())
    drop_corrections.note(store, batch, starts)


def _totals(row: Row) -> str:
    """One row of the drop. Cents; null: no such fact is on record."""
    return msgspec.json.encode(TableDay(*row)).decode()


DROP = Projection(
    "drop",
    3,
    (DAYS, WINS, BOXES, OPEN_DAYS, DAY_STARTS, MADE, CORRECTED),
    apply,
    reads=READS | drop_corrections.CORRECTIONS,
    tells=(
        OutboxMapping(
            "ledger.drop-totals.v1",
            DAYS,
            3,
            _totals,
            compacted=True,
        ),
    ),
)
"""The view."""


def read(
    database: Database,
    *,
    property: str | None = None,  # noqa: A002 - what it is called on the floor
    table: str | None = None,
    gaming_day: str | None = None,
) -> list[Drop]:
    """The drop of tables and gaming days, all of one moment, in order of property, day, table."""
    parameters = {"property": property, "table": table, "gaming_day": gaming_day}
    where = (
        " WHERE (%(property)s::text IS NULL OR property = %(property)s)"
        " AND (%(table)s::text IS NULL OR table_name = %(table)s)"
        " AND (%(gaming_day)s::text IS NULL OR gaming_day = %(gaming_day)s)"
    )

    def rows(table_of: ViewTable) -> list[Key]:
        cells = ", ".join(column.name for column in table_of.columns)
        order = ", ".join(column.name for column in table_of.key)
        return store.query(
            f"SELECT {cells} FROM {{schema}}.{table_of.name}{where} ORDER BY {order}",  # noqa: S608 - values are parameters
            parameters,
        )

    with reading(database, [each.name for each in (DAYS, WINS, BOXES, CORRECTED)]) as store:
        days, wins, boxes, meant = rows(DAYS), rows(WINS), rows(BOXES), rows(CORRECTED)
    found = [
        _printed(
            row,
            [BoxCount(*box[3:]) for box in boxes if box[:3] == row[:3]],
            [Win(*win[3:]) for win in wins if win[:3] == row[:3]],
            drop_corrections.read(line for line in meant if line[-3:] == row[:3]),
        )
        for row in days
    ]
    return sorted(found, key=lambda drop: (drop.property, drop.gaming_day, drop.table))


def days(database: Database, limit: int = 400) -> list[str]:
    """Gaming days that money facts are told of, the latest first."""
    with reading(database, [DAYS.name]) as store:
        rows = store.query(
            f"SELECT DISTINCT gaming_day FROM {{schema}}.{DAYS.name}"  # noqa: S608 - values are parameters
            " WHERE gaming_day <> %(unknown)s"
            " ORDER BY gaming_day DESC LIMIT %(limit)s",
            {"unknown": UNKNOWN_DAY, "limit": limit},
        )
    return [row[0] for row in rows]


def _printed(row: Key, boxes: list[BoxCount], wagers: list[Win], made: list[Correction]) -> Drop:
    """A day with its boxes and wagers, what was won, and what corrections make of it."""
    drop = Drop(*row)
    drop.boxes, drop.wagers, drop.corrections = boxes, wagers, made
    drop.win = _win(drop)
    for each in wagers:
        each.win = _less((each.collected,), (each.payouts,))
    if made:
        drop.corrected = _corrected(drop)
    return drop


def _corrected(drop: Drop) -> dict[str, int]:
    """The day's amounts that corrections change. A count is replaced, all else is added to."""
    meant = copy(drop)
    for each in drop.corrections:
        if each.amount in ("opener", "closer"):
            counted = (getattr(drop, each.amount), getattr(drop, f"{each.amount}_us"))
            if counted == (each.told, each.time_us) and each.meant is not None:
                setattr(meant, each.amount, each.meant)
        elif each.amount in TableDay.__struct_fields__:
            _add(meant, each.amount, (each.meant or 0) - (each.told or 0))
    meant.win = _win(meant)
    names = (*TableDay.__struct_fields__[3:], "win")
    return {
        name: value
        for name in names
        if (value := getattr(meant, name)) is not None and value != getattr(drop, name)
    }


def _win(drop: Drop) -> int | None:
    return _less((drop.collected, drop.fees), (drop.payouts, drop.payouts_cage))


def _less(gained: Sequence[int | None], lost: Sequence[int | None]) -> int | None:
    """What was gained less what was lost; None where nothing is told of either."""
    if all(amount is None for amount in (*gained, *lost)):
        return None
    return sum(amount or 0 for amount in gained) - sum(amount or 0 for amount in lost)


def _placed(store: ViewStore, batch: Batch) -> tuple[list[tuple[Key, TapeRow, Any]], list[Key]]:
    """What money facts say, with the table and gaming day they belong to; where days begin.

    The day is the fact's round's, or its own; else the one its table is in at that point of the
    record: what the last `table_opened` or `drop_box_attached` said.
    """
    facts = [(row, *table_of(row, batch)) for row in batch.rows if row.type in READS]
    tables = dict.fromkeys(table for _, table, _, _ in facts)
    open_day = {key: row.gaming_day for key, row in store.load(OPEN_DAYS, tables).items()}
    known = dict(open_day)
    found, starts = [], []
    for row, table, day, body in facts:
        if row.type in OPENS_DAY:
            if open_day.get(table) != body.gaming_day:
                starts.append((*table, row.position, body.gaming_day))
            open_day[table] = body.gaming_day
        else:
            told = day or getattr(body, "gaming_day", None) or open_day.get(table, UNKNOWN_DAY)
            found.append(((*table, told), row, body))
    changed = ((*table, day) for table, day in open_day.items() if known.get(table) != day)
    store.save(OPEN_DAYS, changed)
    return found, starts


def _move(day: TableDay, wins: dict[Key, Win], key: Key, type_: str, body: Any) -> None:  # noqa: ANN401 - a wager's fact
    """A wager is placed, withdrawn, paid, collected or returned."""
    field, amount = moved(type_, body)
    win = wins.get((*key, body.wager))
    if win is None:
        win = wins[*key, body.wager] = Win(body.wager)
    _add(win, WAGERS[type_], amount)
    _add(day, field, amount)


def _add(to: TableDay | Win, field: str, amount: int) -> None:
    setattr(to, field, (getattr(to, field) or 0) + amount)


def _inventory(day: TableDay, counted: InventoryCounted, at_us: int) -> None:
    """The earliest opening count of a day is its opener, the latest other count its closer."""
    if counted.kind == "open":
        if day.opener_us is None or at_us < day.opener_us:
            day.opener, day.opener_us = counted.total, at_us
    elif day.closer_us is None or at_us > day.closer_us:
        day.closer, day.closer_us = counted.total, at_us
