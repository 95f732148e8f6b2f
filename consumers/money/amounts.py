"""The amounts in facts of money: which amount of a table's gaming day, and of which wager.

The views of money share it. Amounts are as recorded; nothing is inferred.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from msgspec import Struct

from consumers.runtime.source import round_of_row
from infra.postgres.view_tables import Column
from ledger.facts import WAGER_MONEY, Voucher, wager_money
from ledger.finance.boxes import foreign_value

if TYPE_CHECKING:
    from consumers.runtime.lifecycle import Batch
    from ledger.facts import DropBoxCounted
    from ledger.record.tape import TapeRow

ADDED: dict[str, str] = {
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
"""Facts whose amount is added to the gaming day, with the name of its column."""

_AMOUNT = {"coupon_dropped.v1": "face", "fill_accepted.v1": "total", "credit_accepted.v1": "total"}
_DROP_NAMES = {"placed": "handle", "paid": "payouts"}
WAGERS = {type_: _DROP_NAMES.get(field, field) for type_, field in WAGER_MONEY.items()}
"""Facts of one wager, with the name of the amount they add to in the drop."""

OPENS_DAY = frozenset(("table_opened.v1", "drop_box_attached.v1"))
COUNTED, INVENTORY = "drop_box_counted.v1", "inventory_counted.v1"
READS = frozenset((*ADDED, *WAGERS, *OPENS_DAY, COUNTED, INVENTORY))
"""All facts of money, and those that set a table's gaming day."""


class BoxCount(Struct):
    """One count of one drop box, in cents or pieces."""

    box: str
    count: int
    currency: int
    counter_checks: int
    vouchers: int | None
    voucher_count: int
    coupon_count: int
    chips: int | None


def cents(name: str, comment: str) -> Column:
    """A column of money that is NULL until a fact of its kind is recorded."""
    return Column(name, "bigint", f"{comment}, cents; null: no such fact.", null=True)


def amount_of(type_: str, body: Any) -> int:  # noqa: ANN401 - a fact of ADDED
    """The amount of a fact, cents."""
    amount: int = getattr(body, _AMOUNT.get(type_, "amount"))
    return amount


def table_of(row: TapeRow, batch: Batch) -> tuple[tuple[str, str], str | None, Any]:
    """The table of a fact, its round's gaming day if any, and its body."""
    round_ = round_of_row(row)
    if round_ is not None:
        return (round_.property, round_.table), round_.gaming_day, batch.body(row)
    fact = batch.fact(row)
    return (row.tape.partition("/")[0], fact.table or ""), None, fact.body


def part_of(row: TapeRow, batch: Batch) -> str:
    """The table whose money a fact of `READS` is, with its property."""
    round_ = round_of_row(row)
    table = round_.table if round_ else batch.fact(row).table or ""
    return f"{row.tape.partition('/')[0]}/{table}"


def moved(type_: str, body: Any) -> tuple[str, int]:  # noqa: ANN401 - a fact of WAGERS
    """The day's amount that a fact of a wager adds to, and by how many cents."""
    field = WAGERS[type_]
    if field == "payouts" and body.paid_from == "cage":
        field = "payouts_cage"
    return field, wager_money(type_, body)[1]


def amounts(type_: str, body: Any) -> dict[tuple[str, str], int]:  # noqa: ANN401 - a fact of money
    """All amounts in a fact, by name in the drop and wager (empty: no wager)."""
    if type_ in WAGERS:
        field, amount = moved(type_, body)
        return {(field, body.wager): amount}
    if type_ in ADDED:
        return {(ADDED[type_], ""): amount_of(type_, body)}
    if type_ == INVENTORY:
        return {("opener" if body.kind == "open" else "closer", ""): body.total}
    if type_ == COUNTED:
        box = box_of(body)
        return {
            (f"box {box.box}, count {box.count}: {name}", ""): value
            for name in ("currency", "counter_checks", "vouchers", "coupon_count", "chips")
            if (value := getattr(box, name)) is not None
        }
    return {}


def box_of(counted: DropBoxCounted) -> BoxCount:
    """The amounts of one count by the count room."""
    told = [each.amount if isinstance(each, Voucher) else None for each in counted.vouchers]
    known = [amount for amount in told if amount is not None]
    return BoxCount(
        counted.box,
        counted.count,
        _value(counted.currency) + foreign_value(counted),
        sum(check.amount for check in counted.counter_checks),
        sum(known) if len(known) == len(told) else None,
        len(told),
        len(counted.coupons),
        None if counted.chips is None else _value(counted.chips),
    )


def _value(pieces: dict[str, int]) -> int:
    """The total of chips or notes by denomination, cents."""
    return sum(int(denomination) * count for denomination, count in pieces.items())
