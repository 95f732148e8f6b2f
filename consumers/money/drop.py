"""The view of the drop: expected content, counts and win by table and gaming day.

Expected and counted content stay apart. A column is NULL until a fact of its kind is recorded;
unknown is never 0. Amounts are as recorded and nothing is inferred. Corrected amounts are kept
beside the recorded ones (ADR 0066).
"""

from __future__ import annotations

from collections import defaultdict
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
    part_of,
    table_of,
)
from consumers.money.corrections import (
    CORRECTED,
    DAY_STARTS,
    MADE,
    UNKNOWN_DAY,
    Correction,
)
from consumers.money.corrections_held import CORRECTIONS
from consumers.runtime.source import Batch, Crossing, OutboxMapping, Projection
from infra.postgres.view_tables import Column, ViewStore, ViewTable, reading

if TYPE_CHECKING:
    from collections.abc import Sequence

    from infra.postgres.connection import Database
    from infra.postgres.view_tables import NamedRow, Row
    from ledger.facts import InventoryCounted
    from ledger.record.tape import TapeRow

_DAY_KEY = (
    Column("property", "text", "Property of the table."),
    Column("table_name", "text", "Table, e.g. CC-07."),
    Column("gaming_day", "text", "Label of the gaming day; empty: none was recorded by then."),
)


DAYS = ViewTable(
    "drop_days",
    "One row a table and gaming day: its recorded amounts.",
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
    ("(gaming_day)",),
)

WINS = ViewTable(
    "drop_wagers",
    "One row a table, gaming day and wager: amounts placed, paid, collected, returned.",
    4,
    (
        *_DAY_KEY,
        Column("wager", "text", "Wager id."),
        cents("handle", "Placed less withdrawn"),
        cents("payouts", "Winnings paid, from table and cage"),
        cents("collected", "Collected"),
        cents("returned", "Returned"),
    ),
    ("(gaming_day)",),
)

BOXES = ViewTable(
    "drop_boxes",
    "One row a count of a drop box; first and second count stay apart.",
    5,
    (
        *_DAY_KEY,
        Column("box", "text", "Number of the box."),
        Column("count", "smallint", "1: first count, 2: second."),
        Column("currency", "bigint", "Cash counted, foreign notes at their rate, cents."),
        Column("counter_checks", "bigint", "Counter checks counted, cents."),
        cents("vouchers", "Vouchers counted, if each has an amount"),
        Column("voucher_count", "integer", "Vouchers counted, pieces."),
        Column(
            "coupon_count", "integer", "Coupons counted, pieces; the batch has their face value."
        ),
        cents("chips", "Chips counted"),
    ),
    ("(gaming_day)",),
)

OPEN_DAYS = ViewTable(
    "drop_open_days",
    "The current gaming day of each table.",
    2,
    (*_DAY_KEY,),
)


class TableDay(Struct):
    """One row of the drop as stored. Cents; None: not recorded."""

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
    """The amounts of one wager at a table on a gaming day. Cents; None: not recorded."""

    wager: str
    handle: int | None = None
    payouts: int | None = None
    collected: int | None = None
    returned: int | None = None
    win: int | None = None  # collected less winnings paid; None until a wager was decided


class Drop(TableDay):
    """A table's gaming day as it is printed. Cents; null: not recorded, never 0.

    The recorded amounts include the box's expected content; `boxes` has the counts. gaming_day is
    empty for facts recorded before a gaming day of the table.
    """

    boxes: list[BoxCount] = []
    wagers: list[Win] = []
    win: int | None = None  # collected and fees less winnings paid, from table and cage
    corrections: list[Correction] = []
    corrected: dict[str, int] = {}  # the amounts that corrections change, corrected


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
    """One row of the drop as JSON. Cents; null: not recorded."""
    return msgspec.json.encode(TableDay(*row)).decode()


def _heard_by(_: ViewStore, batch: Batch) -> list[TapeRow]:
    """The money of the share's tables, and every correction: it may name any fact."""
    return [
        row
        for row in batch.rows
        if row.type in CORRECTIONS or (row.type in READS and batch.share.owns(part_of(row, batch)))
    ]


DROP = Projection(
    "drop",
    4,
    (DAYS, WINS, BOXES, OPEN_DAYS, DAY_STARTS, MADE, CORRECTED),
    apply,
    reads=READS | CORRECTIONS,
    tells=(
        OutboxMapping(
            "ledger.drop-totals.v1",
            DAYS,
            3,
            _totals,
            compacted=True,
        ),
    ),
    heard_by=_heard_by,
    crossing=Crossing(frozenset(("fact_corrected",))),
)
"""The view `drop`."""


def read(
    database: Database,
    *,
    property: str | None = None,  # noqa: A002 - what it is called on the floor
    table: str | None = None,
    gaming_day: str | None = None,
) -> list[Drop]:
    """The drop by table and gaming day at one moment, in order of property, day, table."""
    told = {"property": property, "table_name": table, "gaming_day": gaming_day}
    wanted = {name: value for name, value in told.items() if value is not None}
    with reading(database, [each.name for each in (DAYS, WINS, BOXES, CORRECTED)]) as store:
        days, *parts = (_rows(store, each, wanted) for each in (DAYS, WINS, BOXES, CORRECTED))
    wins, boxes, meant = map(_by_day, parts)
    found = [
        _printed(
            row,
            [BoxCount(*box[3:]) for box in boxes[row[:3]]],
            [Win(*win[3:]) for win in wins[row[:3]]],
            drop_corrections.read(meant[row[:3]]),
        )
        for row in days
    ]
    return sorted(found, key=lambda drop: (drop.property, drop.gaming_day, drop.table))


def _rows(store: ViewStore, table: ViewTable, wanted: dict[str, str]) -> list[NamedRow]:
    """The rows of a table with these cells, in order of key."""
    cells = ", ".join(column.name for column in table.columns)
    order = ", ".join(column.name for column in table.key)
    where = " AND ".join(f"{name} = %({name})s" for name in wanted) or "true"
    found = store.query(
        f"SELECT {cells} FROM {{schema}}.{table.name} WHERE {where} ORDER BY {order}",  # noqa: S608 - values are parameters
        wanted,
    )
    return list(map(table.row._make, found))


def _by_day(rows: Sequence[NamedRow]) -> dict[Key, list[NamedRow]]:
    """Rows by table and gaming day, in their order."""
    found: dict[Key, list[NamedRow]] = defaultdict(list)
    for row in rows:
        found[row.property, row.table_name, row.gaming_day].append(row)
    return found


def days(database: Database, limit: int = 400) -> list[str]:
    """The gaming days that have facts of money, the latest first."""
    with reading(database, [DAYS.name]) as store:
        rows = store.query(
            f"SELECT DISTINCT gaming_day FROM {{schema}}.{DAYS.name}"  # noqa: S608 - values are parameters
            " WHERE gaming_day <> %(unknown)s"
            " ORDER BY gaming_day DESC LIMIT %(limit)s",
            {"unknown": UNKNOWN_DAY, "limit": limit},
        )
    return [row[0] for row in rows]


def _printed(row: Key, boxes: list[BoxCount], wagers: list[Win], made: list[Correction]) -> Drop:
    """A day with its boxes, wagers, win, corrections and corrected amounts."""
    drop = Drop(*row)
    drop.boxes, drop.wagers, drop.corrections = boxes, wagers, made
    drop.win = _win(drop)
    for each in wagers:
        each.win = _less((each.collected,), (each.payouts,))
    if made:
        drop.corrected = _corrected(drop)
    return drop


def _corrected(drop: Drop) -> dict[str, int]:
    """The day's corrected amounts. A count is replaced; a difference is added to a sum."""
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
    """The sum of gains less the sum of losses; None if nothing is recorded."""
    if all(amount is None for amount in (*gained, *lost)):
        return None
    return sum(amount or 0 for amount in gained) - sum(amount or 0 for amount in lost)


def _placed(store: ViewStore, batch: Batch) -> tuple[list[tuple[Key, TapeRow, Any]], list[Key]]:
    """The facts of money with their table and gaming day, and the rows of new gaming days.

    The day is that of the fact's round, or the fact's own. Otherwise it is the day that the table's
    last `table_opened` or `drop_box_attached` in the record set.
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
    """Add a fact of a wager: placed, withdrawn, paid, collected or returned."""
    field, amount = moved(type_, body)
    win = wins.get((*key, body.wager))
    if win is None:
        win = wins[*key, body.wager] = Win(body.wager)
    _add(win, WAGERS[type_], amount)
    _add(day, field, amount)


def _add(to: TableDay | Win, field: str, amount: int) -> None:
    setattr(to, field, (getattr(to, field) or 0) + amount)


def _inventory(day: TableDay, counted: InventoryCounted, at_us: int) -> None:
    """Set opener and closer: the earliest opening count, and the latest other count."""
    if counted.kind == "open":
        if day.opener_us is None or at_us < day.opener_us:
            day.opener, day.opener_us = counted.total, at_us
    elif day.closer_us is None or at_us > day.closer_us:
        day.closer, day.closer_us = counted.total, at_us
