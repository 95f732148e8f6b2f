"""The view of the drop: expected content, counts and win by table and gaming day.

Expected and counted content stay apart. A column is NULL until a fact of its kind is recorded;
unknown is never 0. Corrections are in force, and each stands beside with what was recorded. Papers
count in the day of their time, slips once over all tables (ADR 0225, 0239), as in the three wins.
"""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING

import msgspec
from msgspec import Struct
from msgspec.structs import astuple

from consumers.money import placed_papers
from consumers.money.amounts import OF_ROUNDS, READS, BoxCount, amount_of, amounts, cents
from consumers.money.corrections_held import CORRECTION_TYPES
from consumers.money.placed_papers import (
    BOXES,
    DISPUTES,
    MADE,
    PAPERS,
    PLACES,
    columns,
    corrected_facts,
)
from consumers.runtime.source import (
    Batch,
    Crossing,
    OutboxMapping,
    Projection,
    name_of,
    round_of_row,
)
from infra.postgres.view_tables import Column, ViewStore, ViewTable, reading
from ledger.facts import FactCorrected
from ledger.finance.placing import day_before
from ledger.finance.win import AuditException  # noqa: TC001 - msgspec reads it at run time
from ledger.record.wire import fact_of

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence

    from consumers.money.placed_papers import Key
    from infra.postgres.connection import Database
    from infra.postgres.view_tables import NamedRow, Row
    from ledger.record.tape import TapeRow

_DAY_KEY = (
    Column("property", "text", "Property of the table."),
    Column("table_name", "text", "Table, e.g. CC-07."),
    Column("gaming_day", "text", "Label of the gaming day; empty: before the table's first."),
)

DAYS = ViewTable(
    "drop_days",
    "One row a table and gaming day: its amounts, with corrections.",
    3,
    (
        *_DAY_KEY,
        cents("cash", "Expected in the box: cash bought in"),
        cents("counter_checks", "Expected in the box: counter checks issued"),
        cents("vouchers", "Expected in the box: vouchers bought in"),
        cents("coupons", "Expected in the box: face of coupons dropped; never part of the drop"),
        cents("rake", "Expected in the box: rake taken"),
        cents("tips", "Into the tip box, never the drop box"),
        cents("opener", "First count at opening; without one the last count of the day before"),
        Column("opener_us", "bigint", "Device time of that count, microseconds.", null=True),
        cents("closer", "Table inventory at the drop or close: the latest count"),
        Column("closer_us", "bigint", "Device time of that count, microseconds.", null=True),
        cents("fills", "Fills accepted, each slip once"),
        cents("credits", "Credits accepted, each slip once"),
        cents("handle", "Wagers placed less withdrawn, at poker with calls, bets and raises"),
        cents("payouts", "Winnings paid from the table"),
        cents("payouts_cage", "Winnings paid from the cage"),
        cents("collected", "Wagers collected"),
        cents("returned", "Wagers returned"),
        cents("fees", "Fees paid"),
    ),
    ("(gaming_day)",),
)

WAGERS = ViewTable(
    "drop_wagers",
    "One row a table, gaming day and wager: the amounts of rounds as recorded.",
    4,
    (
        *_DAY_KEY,
        Column("wager", "text", "Wager id; empty: rake and fees."),
        cents("handle", "Placed less withdrawn"),
        cents("payouts", "Winnings paid from the table"),
        cents("payouts_cage", "Winnings paid from the cage"),
        cents("collected", "Collected"),
        cents("returned", "Returned"),
        cents("rake", "Rake taken"),
        cents("fees", "Fees paid"),
    ),
    ("(gaming_day)",),
)

_OF_ROUNDS = tuple(column.name for column in WAGERS.columns[WAGERS.keys :])


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


_AMOUNTS = frozenset(TableDay.__struct_fields__[3:])


class Win(Struct):
    """The amounts of one wager at a table on a gaming day. Cents; None: not recorded."""

    wager: str
    handle: int | None = None
    payouts: int | None = None  # from table and cage
    collected: int | None = None
    returned: int | None = None
    win: int | None = None  # collected less paid from the table; None until a wager was decided


class Correction(Struct):
    """One amount that a correction changes. Cents (coupons: pieces); null: no amount."""

    of_source: str
    of_id: str
    amount: str
    wager: str
    told: int | None
    meant: int | None
    time_us: int
    because: str
    source: str
    fact_id: str


class Drop(TableDay):
    """A table's gaming day as it is printed. Cents; null: not recorded, never 0.

    Corrections are in force. The amounts include the box's expected content; `boxes` has the
    counts. gaming_day is empty for facts before the first gaming day of the table.
    """

    boxes: list[BoxCount] = []
    box_total: int | None = None  # by the last count of each box; None: a box is not counted
    wagers: list[Win] = []
    win: int | None = None  # collected and fees less paid from the table; at poker the rake
    corrections: list[Correction] = []
    corrected: dict[str, int] = {}  # the amounts that corrections change, corrected
    exceptions: list[AuditException] = []  # what the drop has twice, as `drop` and `win` name it


def apply(store: ViewStore, batch: Batch) -> None:
    """Add a batch's money facts to their tables' gaming days."""
    moves = list(_moves(batch))
    _keep_wagers(store, moves)
    papers = placed_papers.note(store, batch)
    added = [*((key[:3], name, amount) for key, name, amount in moves), *papers.added]
    keys = {key for key, _, _ in added} | papers.again
    days = {key: TableDay(*row) for key, row in store.load(DAYS, keys).items()}
    again = papers.again | (keys - days.keys())
    gone = again & days.keys()
    worked_out = _worked_out(store, again, batch.position)
    for key, name, amount in added:
        if key not in again and name in _AMOUNTS:
            _add(days[key], name, amount)
    changed = {key: days[key] for key, _, _ in added if key not in again} | worked_out
    store.save(DAYS, map(astuple, changed.values()))
    store.delete(DAYS, gone - worked_out.keys())


def _moves(batch: Batch) -> Iterator[tuple[tuple[str, str, str, str], str, int]]:
    """The amounts of a batch's facts of rounds, as recorded: day and wager, name, cents."""
    for row in batch.rows:
        round_ = round_of_row(row) if row.type in OF_ROUNDS else None
        of = amount_of(row.type, batch.body(row)) if round_ else None
        if round_ and of:
            yield (*round_[:3], of.wager), of.name, of.cents


def _keep_wagers(
    store: ViewStore, moves: Sequence[tuple[tuple[str, str, str, str], str, int]]
) -> None:
    loaded = store.load(WAGERS, dict.fromkeys(key for key, _, _ in moves))
    rows = {
        key: dict(zip(_OF_ROUNDS, row[WAGERS.keys :], strict=True)) for key, row in loaded.items()
    }
    for key, name, amount in moves:
        its = rows.setdefault(key, dict.fromkeys(_OF_ROUNDS))
        its[name] = (its[name] or 0) + amount
    store.save(WAGERS, ((*key, *its.values()) for key, its in rows.items()))


def _add(to: TableDay | Win, field: str, amount: int) -> None:
    setattr(to, field, (getattr(to, field) or 0) + amount)


_ROUNDS = f"""
SELECT r.property, r.table_name, r.gaming_day, {", ".join(f"sum({n})::bigint" for n in _OF_ROUNDS)}
  FROM unnest(%(properties)s::text[], %(names)s::text[], %(days)s::text[])
       AS w (property, table_name, gaming_day)
  JOIN {{schema}}.drop_wagers r USING (property, table_name, gaming_day) GROUP BY 1, 2, 3
"""  # noqa: S608 - our own names


def _worked_out(store: ViewStore, keys: Collection[Key], until: int) -> dict[Key, TableDay]:
    """The days that have facts, from their rounds and papers up to a position."""
    if not keys:
        return {}
    before = {key: (*key[:2], day_before(key[2])) for key in keys}
    papers = placed_papers.sums(store, {*keys, *before.values()}, until)
    rounds = {row[:3]: row[3:] for row in store.query(_ROUNDS, columns(keys))}
    found = {}
    for key in keys:
        if key not in papers and key not in rounds:
            continue
        day = found[key] = TableDay(*key)
        for name, amount in zip(_OF_ROUNDS, rounds.get(key, ()), strict=False):
            setattr(day, name, amount)
        closers = [each.last for each in papers.get(before[key], ()) if each.last]
        for each in papers.get(key, ()):
            if each.sum is not None and each.amount in _AMOUNTS - {"opener", "closer"}:
                _add(day, each.amount, each.sum)
            if each.last:
                day.closer, day.closer_us = each.last
            if each.first:
                day.opener, day.opener_us = each.first
        if day.opener is None and closers:
            day.opener, day.opener_us = closers[0]
    return found


def _totals(row: Row) -> str:
    """One row of the drop as JSON. Cents; null: not recorded."""
    return msgspec.json.encode(TableDay(*row)).decode()


def _heard_by(_: ViewStore, batch: Batch) -> list[TapeRow]:
    """The rounds of the share's tables, and all papers and corrections: they may name any."""

    def is_own(row: TapeRow) -> bool:
        round_ = round_of_row(row)
        table = round_.table if round_ else batch.fact(row).table or ""
        return batch.share.owns_table(row.tape.partition("/")[0], table)

    heard = CORRECTION_TYPES | READS
    return [r for r in batch.rows if r.type in heard and (r.type not in OF_ROUNDS or is_own(r))]


DROP = Projection(
    "drop",
    8,
    (DAYS, WAGERS, BOXES, PAPERS, DISPUTES, PLACES, MADE),
    apply,
    reads=READS | CORRECTION_TYPES,
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
    crossing=Crossing(frozenset(map(name_of, (READS - OF_ROUNDS) | CORRECTION_TYPES))),
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
    where = " AND ".join(f"{name} = %({name})s" for name in wanted) or "true"
    with reading(database, [each.name for each in DROP.tables]) as store:
        days = _rows(store, DAYS, where, wanted)
        wagers = _by_day(_rows(store, WAGERS, where, wanted))
        boxes = _by_day(_rows(store, BOXES, where, wanted))
        of_box = f"amount = 'box' AND counts = 1 AND {where}"
        of_boxes = _by_day(_rows(store, PAPERS, of_box, wanted))
        changed = _by_day(_rows(store, PAPERS, f"made_tape IS NOT NULL AND {where}", wanted))
        adjusted = placed_papers.adjusted(store, where, wanted)
        lacking = any(row.unpriced for its in boxes.values() for row in its)
        bought = _bought(store, where, wanted) if lacking else {}
        made = _corrections(store, changed)
    found = []
    for row in days:
        key, drop = row[:3], Drop(*row)
        stays = _stays(of_boxes[key], boxes[key])
        drop.boxes = [BoxCount(*each[6:14]) for stay in stays for each in stay]
        drop.box_total = _box_total(stays, bought.get(key, {}))
        drop.wagers = _by_wager(wagers[key], changed[key])
        drop.win = _win(drop, adjusted.get(key))
        drop.corrections = made.get(key, [])
        drop.corrected = _corrected(drop)
        found.append(drop)
    return sorted(found, key=lambda drop: (drop.property, drop.gaming_day, drop.table))


def days(database: Database, property_: str | None, limit: int = 400) -> list[str]:
    """The gaming days that have facts of money, the latest first. property_: None: of any."""
    with reading(database, [DAYS.name]) as store:
        rows = store.query(
            f"SELECT DISTINCT gaming_day FROM {{schema}}.{DAYS.name}"  # noqa: S608 - values are parameters
            " WHERE gaming_day <> '' AND (%(property)s::text IS NULL OR property = %(property)s)"
            " ORDER BY gaming_day DESC LIMIT %(limit)s",
            {"property": property_, "limit": limit},
        )
    return [row[0] for row in rows]


def _rows(
    store: ViewStore, table: ViewTable, where: str, wanted: Mapping[str, str]
) -> list[NamedRow]:
    """The rows of a table that a condition holds for, in order of key."""
    cells = ", ".join(column.name for column in table.columns)
    order = ", ".join(column.name for column in table.key)
    found = store.query(
        f"SELECT {cells} FROM {{schema}}.{table.name} WHERE {where} ORDER BY {order}",  # noqa: S608 - values are parameters
        wanted,
    )
    return list(map(table.row._make, found))


def _by_day(rows: Iterable[NamedRow]) -> dict[Key, list[NamedRow]]:
    """Rows by table and gaming day, in their order."""
    found: dict[Key, list[NamedRow]] = defaultdict(list)
    for row in rows:
        found[row.property, row.table_name, row.gaming_day].append(row)
    return found


def _stays(facts: Iterable[NamedRow], counts: Iterable[NamedRow]) -> list[list[NamedRow]]:
    """The counts of each stay of a box at its table, as `ledger.finance.boxes.boxes` has them.

    facts: those of the day's boxes, counts among them. The later of two counts with one number
    is given.
    """
    counted = {row[:2]: row for row in counts}
    found: dict[str, list[dict[int, NamedRow]]] = {}
    seen = set()  # boxes that have a fact beside counts
    for row in sorted(facts, key=lambda row: (row.time_us, *row[:2])):
        stays = found.setdefault(row.paper, [{}])
        if row.starts and row.paper in seen:
            stays.append({})
        if count := counted.get(row[:2]):
            stays[-1][count.count] = count
        else:
            seen.add(row.paper)
    each = (stay for number in sorted(found) for stay in found[number])
    return [[stay[nth] for nth in sorted(stay)] for stay in each]


def _box_total(stays: Sequence[Sequence[NamedRow]], bought: Mapping[str, int]) -> int | None:
    """Cents in the boxes by their last counts; None: there is no box, or one is not counted.

    bought: cents of vouchers sold for chips, for those that were counted without an amount.
    """
    if not stays or not all(stays):
        return None
    total = 0
    for *_, row in stays:
        if not all(number in bought for number in row.unpriced):
            return None
        total += row.currency + row.counter_checks + row.priced + (row.chips or 0)
        total += sum(bought[number] for number in row.unpriced)
    return total


def _by_wager(rows: Iterable[NamedRow], changed: Iterable[NamedRow]) -> list[Win]:
    """The amounts by wager: as recorded, and then what corrections change."""
    sums = {row.wager: row._asdict() for row in rows if row.wager}
    for row in changed:
        if row.wager:
            its = sums.setdefault(row.wager, dict.fromkeys(_OF_ROUNDS))
            its[row.amount] = (its[row.amount] or 0) + row.cents * row.counts
    found = []
    for wager, its in sorted(sums.items()):
        paid, by_cage, collected = its["payouts"], its["payouts_cage"], its["collected"]
        win = _less((collected, by_cage and 0), (paid,))
        paid = _less((paid, by_cage), ())
        found.append(Win(wager, its["handle"], paid, collected, its["returned"], win))
    return found


def _win(drop: Drop, adjusted: int | None) -> int | None:
    """What the table won by the chips on record; at poker the rake."""
    if drop.rake is not None:
        return drop.rake
    by_cage = drop.payouts_cage and 0
    return _less((drop.collected, drop.fees, by_cage), (drop.payouts, adjusted))


def _less(gained: Sequence[int | None], lost: Sequence[int | None]) -> int | None:
    """The sum of gains less the sum of losses; None if nothing is recorded."""
    if all(amount is None for amount in (*gained, *lost)):
        return None
    return sum(amount or 0 for amount in gained) - sum(amount or 0 for amount in lost)


def _corrected(drop: Drop) -> dict[str, int]:
    """The amounts that the day's corrections change, and the win with them."""
    names = {each.amount for each in drop.corrections}
    if names & {"collected", "fees", "payouts", "rake", "adjustments"}:
        names.add("win")
    told = ((name, getattr(drop, name, None)) for name in (*TableDay.__struct_fields__[3:], "win"))
    return {name: cents_ for name, cents_ in told if name in names and cents_ is not None}


def _corrections(
    store: ViewStore, changed: Mapping[Key, Iterable[NamedRow]]
) -> dict[Key, list[Correction]]:
    """The amounts that corrections change, by the day that each leaves or comes to."""
    rows = [row for its in changed.values() for row in its]
    places = {(row.tape, row.table_seq) for row in rows}
    places |= {(row.made_tape, row.made_seq) for row in rows}
    kept = {(r.tape, r.table_seq): r for r in store.rows_at((t, n, n) for t, n in places)}
    found: dict[Key, list[Correction]] = {}
    for key, its in changed.items():
        counts: dict[tuple[tuple[str, int], tuple[str, int]], set[int]] = defaultdict(set)
        for row in its:
            counts[(row.tape, row.table_seq), (row.made_tape, row.made_seq)].add(row.counts)
        lines = [
            line
            for (fact, made), of in counts.items()
            for line in _lines(kept[fact], kept[made], of)
        ]
        lines.sort(key=lambda each: (each.time_us, each.of_source, each.of_id, each.amount))
        found[key] = lines
    return found


def _lines(row: TapeRow, why: TapeRow, counts: Collection[int]) -> Iterator[Correction]:
    """The amounts of one fact that change in a day. counts: which of its rows the day has."""
    made = fact_of(why)
    told: dict[tuple[str, str], int] = {}
    meant: dict[tuple[str, str], int] = {}
    for number, fact in corrected_facts(row, why, fact_of(row)):
        if number in counts:
            (meant if number == 1 else told).update(amounts(row.type, fact.body))
    because = made.body.because if isinstance(made.body, FactCorrected) else ""
    for name, wager in sorted(told.keys() | meant.keys()):
        before, now = told.get((name, wager)), meant.get((name, wager))
        if before != now:
            yield Correction(
                row.source, row.id, name, wager, before, now, row.time_us, because,
                made.source, made.id,
            )  # fmt: skip


def _bought(store: ViewStore, where: str, wanted: Mapping[str, str]) -> dict[Key, dict[str, int]]:
    """Cents of the vouchers that tables sold for chips, by day and number."""
    sold = _by_day(_rows(store, PAPERS, f"amount = 'vouchers' AND counts = 1 AND {where}", wanted))
    return {key: {row.paper: row.cents for row in its} for key, its in sold.items()}
