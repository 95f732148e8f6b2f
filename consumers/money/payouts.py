"""The view of payouts: amounts placed, paid, collected and returned by table, day and wager.

Payments are kept by payer: the table's tray, or the cage. A column is NULL until a fact of its kind
is recorded. Only facts of rounds are read; the gaming day is the round's. Amounts are as recorded;
corrections are kept with the drop (`consumers.money.placed_papers`).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from msgspec import Struct
from msgspec.structs import astuple

from consumers.money.amounts import cents
from consumers.runtime.source import Batch, Crossing, Projection, round_of_row, table_of_round
from infra.postgres.view_tables import Column, ViewStore, ViewTable, reading
from ledger.facts import WAGER_MONEY, WagerWithdrawn, wager_money

if TYPE_CHECKING:
    from infra.postgres.connection import Database


PAYOUTS = ViewTable(
    "payouts",
    "One row a table, gaming day and wager.",
    4,
    (
        Column("property", "text", "Property of the table."),
        Column("table_name", "text", "Table, e.g. CC-07."),
        Column("gaming_day", "text", "Label of the round's gaming day, YYYY-MM-DD."),
        Column("wager", "text", "Wager id."),
        cents("placed", "Placed less withdrawn"),
        cents("paid_table", "Winnings paid from the table's tray"),
        cents("paid_cage", "Winnings paid from the cage"),
        cents("collected", "Collected"),
        cents("returned", "Returned"),
        Column("placed_count", "integer", "Number of placements."),
        Column("paid_count", "integer", "Number of payments."),
        Column("collected_count", "integer", "Number of collections."),
        Column("returned_count", "integer", "Number of returns."),
    ),
)


class Payout(Struct):
    """One wager at one table on one gaming day. Cents; None: not recorded."""

    property: str
    table: str
    gaming_day: str
    wager: str
    placed: int | None = None
    paid_table: int | None = None
    paid_cage: int | None = None
    collected: int | None = None
    returned: int | None = None
    placed_count: int = 0
    paid_count: int = 0
    collected_count: int = 0
    returned_count: int = 0


def apply(store: ViewStore, batch: Batch) -> None:
    """Add a batch's facts of wagers."""
    told: list[tuple[tuple[Any, ...], str, Any]] = []
    for row in batch.rows:
        round_ = round_of_row(row) if row.type in WAGER_MONEY else None
        if round_ is not None:
            body = batch.body(row)
            told.append(((*round_[:3], body.wager), row.type, body))
    loaded = store.load(PAYOUTS, dict.fromkeys(key for key, _, _ in told))
    payouts = {key: Payout(*row) for key, row in loaded.items()}
    for key, type_, body in told:
        payout = payouts.get(key)
        if payout is None:
            payout = payouts[key] = Payout(*key)
        _add(payout, type_, body)
    store.save(PAYOUTS, (astuple(payout) for payout in payouts.values()))


VIEW = Projection(
    "payouts",
    2,
    (PAYOUTS,),
    apply,
    ordered=False,
    reads=frozenset(WAGER_MONEY),
    part_of=table_of_round,
    crossing=Crossing(),
)
"""The view `payouts`."""


def read(
    database: Database,
    *,
    property: str | None = None,  # noqa: A002 - what it is called on the floor
    table: str | None = None,
    gaming_day: str | None = None,
    wager: str | None = None,
) -> list[Payout]:
    """Payouts at one moment, in order of property, table, gaming day and wager."""
    cells = ", ".join(column.name for column in PAYOUTS.columns)
    wanted = {"property": property, "table_name": table, "gaming_day": gaming_day, "wager": wager}
    where = " AND ".join(f"(%({n})s::text IS NULL OR {n} = %({n})s)" for n in wanted)
    with reading(database, [PAYOUTS.name]) as store:
        rows = store.query(
            f"SELECT {cells} FROM {{schema}}.payouts WHERE {where} ORDER BY 1, 2, 3, 4",  # noqa: S608 - values are parameters
            wanted,
        )
    return [Payout(*row) for row in rows]


def _add(payout: Payout, type_: str, body: Any) -> None:  # noqa: ANN401 - a wager's fact
    """Add one fact; a withdrawal reduces the amount placed."""
    kind, amount = wager_money(type_, body)
    field = f"paid_{body.paid_from}" if kind == "paid" else kind
    setattr(payout, field, (getattr(payout, field) or 0) + amount)
    if not isinstance(body, WagerWithdrawn):
        setattr(payout, f"{kind}_count", getattr(payout, f"{kind}_count") + 1)
