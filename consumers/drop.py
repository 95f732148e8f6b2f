"""The drop: per table and gaming day, what went into the box, what was counted, what was won.

Expected and counted content stay apart, and a column is NULL until a fact of its kind is on
record: nothing known is never 0. Amounts are as the facts tell them; nothing is inferred.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from msgspec import Struct
from msgspec.structs import astuple

from consumers.projection import Batch, Projection
from infra.views import Column, Store, Table, reading
from ledger.envelope import parse_subject_once
from ledger.facts import Voucher

if TYPE_CHECKING:
    from collections.abc import Sequence

    from infra.postgres import Database
    from ledger.facts import DropBoxCounted, InventoryCounted
    from ledger.tape import TapeRow

UNKNOWN_DAY = ""
"""The gaming day of facts told before the record names one for their table."""

_DAY_KEY = (
    Column("property", "text", "Property of the table."),
    Column("table_name", "text", "Table, e.g. CC-07."),
    Column("gaming_day", "text", "Label of the gaming day; empty: not told by then."),
)


def _cents(name: str, comment: str) -> Column:
    return Column(name, "bigint", f"{comment}, cents; null: no such fact.", null=True)


DAYS = Table(
    "drop_days",
    "One row a table and gaming day: its money, as far as facts tell it.",
    3,
    (
        *_DAY_KEY,
        _cents("cash", "Expected in the box: cash bought in"),
        _cents("counter_checks", "Expected in the box: counter checks issued"),
        _cents("vouchers", "Expected in the box: vouchers bought in"),
        _cents("coupons", "Expected in the box: face of coupons dropped; never part of the drop"),
        _cents("rake", "Expected in the box: rake taken"),
        _cents("tips", "Into the tip box, never the drop box"),
        _cents("opener", "Table inventory at opening: the earliest count"),
        Column("opener_us", "bigint", "Device time of that count, microseconds.", null=True),
        _cents("closer", "Table inventory at the drop or close: the latest count"),
        Column("closer_us", "bigint", "Device time of that count, microseconds.", null=True),
        _cents("fills", "Fills accepted"),
        _cents("credits", "Credits accepted"),
        _cents("handle", "Wagers placed less withdrawn"),
        _cents("payouts", "Winnings paid from the table"),
        _cents("payouts_cage", "Winnings paid from the cage"),
        _cents("collected", "Wagers collected"),
        _cents("returned", "Wagers returned"),
        _cents("fees", "Fees paid"),
    ),
)

WINS = Table(
    "drop_wagers",
    "One row a table, gaming day and wager: what was placed on it and what became of it.",
    4,
    (
        *_DAY_KEY,
        Column("wager", "text", "Wager id."),
        _cents("handle", "Placed less withdrawn"),
        _cents("payouts", "Winnings paid, from table and cage"),
        _cents("collected", "Collected"),
        _cents("returned", "Returned"),
    ),
)

BOXES = Table(
    "drop_boxes",
    "One row a count of a drop box: the first count and the second stay apart.",
    5,
    (
        *_DAY_KEY,
        Column("box", "text", "Number of the box."),
        Column("count", "smallint", "1: first count, 2: second."),
        Column("currency", "bigint", "Cash counted, cents."),
        Column("counter_checks", "bigint", "Counter checks counted, cents."),
        _cents("vouchers", "Vouchers counted, where every one has its amount"),
        Column("voucher_count", "integer", "Vouchers counted, pieces."),
        Column("coupon_count", "integer", "Coupons counted, pieces; their face is on the batch."),
        _cents("chips", "Chips counted"),
    ),
)

OPEN_DAYS = Table(
    "drop_open_days",
    "Which gaming day a table is in, as the record has told it so far.",
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


class Box(Struct):
    """One count of one box, in cents or pieces."""

    box: str
    count: int
    currency: int
    counter_checks: int
    vouchers: int | None
    voucher_count: int
    coupon_count: int
    chips: int | None


class Drop(TableDay):
    """A table's gaming day as it is printed. Cents; null: not on record, never 0.

    What facts at the table tell (what its box should hold among it) stands beside `boxes`, what
    was counted. gaming_day is empty for facts told before the record named a day for the table.
    """

    boxes: list[Box] = []
    wagers: list[Win] = []
    win: int | None = None  # collected and fees less winnings paid, from table and cage


_ADDED: dict[str, str] = {
    "cash_bought_in.v1": "cash",
    "counter_check_issued.v1": "counter_checks",
    "voucher_bought_in.v1": "vouchers",
    "coupon_dropped.v1": "coupons",
    "rake_taken.v1": "rake",
    "tip_dropped.v1": "tips",
    "fill_accepted.v1": "fills",
    "credit_accepted.v1": "credits",
    "fee_paid.v1": "fees",
}
_AMOUNT = {"coupon_dropped.v1": "face", "fill_accepted.v1": "total", "credit_accepted.v1": "total"}
_WAGERS: dict[str, str] = {
    "wager_placed.v1": "handle",
    "wager_withdrawn.v1": "handle",
    "wager_paid.v1": "payouts",
    "wager_collected.v1": "collected",
    "wager_returned.v1": "returned",
}
_OPENS_DAY = frozenset(("table_opened.v1", "drop_box_attached.v1"))
_COUNTED, _INVENTORY = "drop_box_counted.v1", "inventory_counted.v1"
_READS = frozenset((*_ADDED, *_WAGERS, *_OPENS_DAY, _COUNTED, _INVENTORY))
Key = tuple[Any, ...]


def apply(store: Store, batch: Batch) -> None:
    """Add a batch's money facts to their tables' gaming days."""
    told = _placed(store, batch)
    days = {
        key: TableDay(*row)
        for key, row in store.load(DAYS, dict.fromkeys(key for key, *_ in told)).items()
    }
    keys = dict.fromkeys((*key, body.wager) for key, row, body in told if row.type in _WAGERS)
    wins = {key: Win(*row[3:]) for key, row in store.load(WINS, keys).items()}
    boxes: dict[Key, Key] = {}
    for key, row, body in told:
        day = days.get(key)
        if day is None:
            day = days[key] = TableDay(*key)
        if row.type in _WAGERS:
            _move(day, wins, key, row.type, body)
        elif row.type in _ADDED:
            _add(day, _ADDED[row.type], getattr(body, _AMOUNT.get(row.type, "amount")))
        elif row.type == _INVENTORY:
            _inventory(day, body, row.time_us)
        elif row.type == _COUNTED:
            box = _box(body)
            boxes[(*key, box.box, box.count)] = (*key, *astuple(box))
    store.save(DAYS, (astuple(day) for day in days.values()))
    store.save(WINS, ((*key[:3], *astuple(win)[:5]) for key, win in wins.items()))
    store.save(BOXES, boxes.values())


DROP = Projection("drop", 1, (DAYS, WINS, BOXES, OPEN_DAYS), apply)
"""The view."""


def read(
    base: Database,
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

    def rows(table_of: Table) -> list[Key]:
        cells = ", ".join(column.name for column in table_of.columns)
        order = ", ".join(column.name for column in table_of.key)
        return store.query(
            f"SELECT {cells} FROM {{schema}}.{table_of.name}{where} ORDER BY {order}",  # noqa: S608 - values are parameters
            parameters,
        )

    with reading(base, [each.name for each in (DAYS, WINS, BOXES)]) as store:
        days, wins, boxes = rows(DAYS), rows(WINS), rows(BOXES)
    found = [
        _printed(
            row,
            [Box(*box[3:]) for box in boxes if box[:3] == row[:3]],
            [Win(*win[3:]) for win in wins if win[:3] == row[:3]],
        )
        for row in days
    ]
    return sorted(found, key=lambda drop: (drop.property, drop.gaming_day, drop.table))


def _printed(row: Key, boxes: list[Box], wagers: list[Win]) -> Drop:
    """A day with its boxes and wagers, and what was won."""
    drop = Drop(*row)
    drop.boxes, drop.wagers = boxes, wagers
    drop.win = _less((drop.collected, drop.fees), (drop.payouts, drop.payouts_cage))
    for each in wagers:
        each.win = _less((each.collected,), (each.payouts,))
    return drop


def _less(gained: Sequence[int | None], lost: Sequence[int | None]) -> int | None:
    """What was gained less what was lost; None where nothing is told of either."""
    if all(amount is None for amount in (*gained, *lost)):
        return None
    return sum(amount or 0 for amount in gained) - sum(amount or 0 for amount in lost)


def _placed(store: Store, batch: Batch) -> list[tuple[Key, TapeRow, Any]]:
    """What money facts say, with the table and gaming day they belong to.

    The day is the fact's round's, or its own; else the one its table is in at that point of the
    record: what the last `table_opened` or `drop_box_attached` said.
    """
    facts = [(row, *_table(row, batch)) for row in batch.rows if row.type in _READS]
    tables = dict.fromkeys(table for _, table, _, _ in facts)
    open_day = {key: row[2] for key, row in store.load(OPEN_DAYS, tables).items()}
    known = dict(open_day)
    found = []
    for row, table, day, body in facts:
        if row.type in _OPENS_DAY:
            open_day[table] = body.gaming_day
        else:
            told = day or getattr(body, "gaming_day", None) or open_day.get(table, UNKNOWN_DAY)
            found.append(((*table, told), row, body))
    changed = ((*table, day) for table, day in open_day.items() if known.get(table) != day)
    store.save(OPEN_DAYS, changed)
    return found


def _table(row: TapeRow, batch: Batch) -> tuple[tuple[str, str], str | None, Any]:
    """The table a fact is about, its round's gaming day, and what it says."""
    property_ = row.tape.partition("/")[0]
    if row.subject is not None:
        round_ = parse_subject_once(row.subject, property_)[0]
        if round_ is not None:
            return (property_, round_.table), round_.gaming_day, batch.body(row)
    fact = batch.fact(row)
    return (property_, fact.table or ""), None, fact.body


def _move(day: TableDay, wins: dict[Key, Win], key: Key, type_: str, body: Any) -> None:  # noqa: ANN401 - a wager's fact
    """A wager is placed, withdrawn, paid, collected or returned."""
    field = _WAGERS[type_]
    amount = -body.amount if type_ == "wager_withdrawn.v1" else body.amount
    win = wins.get((*key, body.wager))
    if win is None:
        win = wins[*key, body.wager] = Win(body.wager)
    _add(win, field, amount)
    cage = field == "payouts" and body.paid_from == "cage"
    _add(day, "payouts_cage" if cage else field, amount)


def _add(to: TableDay | Win, field: str, amount: int) -> None:
    setattr(to, field, (getattr(to, field) or 0) + amount)


def _inventory(day: TableDay, counted: InventoryCounted, at_us: int) -> None:
    """The earliest opening count of a day is its opener, the latest other count its closer."""
    if counted.kind == "open":
        if day.opener_us is None or at_us < day.opener_us:
            day.opener, day.opener_us = counted.total, at_us
    elif day.closer_us is None or at_us > day.closer_us:
        day.closer, day.closer_us = counted.total, at_us


def _box(counted: DropBoxCounted) -> Box:
    """What the count room found; the last word on a count stands."""
    amounts = [each.amount if isinstance(each, Voucher) else None for each in counted.vouchers]
    known = [amount for amount in amounts if amount is not None]
    return Box(
        counted.box,
        counted.count,
        _value(counted.currency),
        sum(check.amount for check in counted.counter_checks),
        sum(known) if len(known) == len(amounts) else None,
        len(amounts),
        len(counted.coupons),
        None if counted.chips is None else _value(counted.chips),
    )


def _value(pieces: dict[str, int]) -> int:
    """Cents of chips or notes by denomination."""
    return sum(int(denomination) * count for denomination, count in pieces.items())
