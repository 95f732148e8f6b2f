"""The amounts in facts of money: which amount of a table's gaming day, and of which wager.

The views of money share it. Amounts are as recorded; nothing is inferred.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from msgspec import Struct

from consumers.money import slip_places
from infra.postgres.view_tables import Column
from ledger.facts import WAGER_MONEY, Voucher, every_version, wager_money
from ledger.finance.boxes import foreign_value
from ledger.rules.engine.steps import POT, POT_DECISIONS

if TYPE_CHECKING:
    from ledger.facts import DropBoxCounted

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
    "adjustment_paid.v1": "adjustments",
}
"""Facts of one amount, with its name in the drop."""

_CENTS = {"coupon_dropped.v1": "face", "fill_accepted.v1": "total", "credit_accepted.v1": "total"}
_PAPERS = {
    "adjustment_paid.v1": "dispute",
    "voucher_bought_in.v1": "voucher",
    "fill_accepted.v1": "slip",
    "credit_accepted.v1": "slip",
    "drop_box_attached.v1": "box",
    "drop_box_removed.v1": "box",
    "drop_box_counted.v1": "box",
    "drop_box_verified.v1": "box",
}
"""Facts of a paper or a box, with the field of its number."""

ACCEPTED = frozenset(type_ for type_, field in _PAPERS.items() if field == "slip")
"""Facts of a slip. It counts once, at whichever table it was accepted first."""

_BOXES = frozenset(type_ for type_, field in _PAPERS.items() if field == "box")

_DROP_NAMES = {"placed": "handle", "paid": "payouts"}
WAGERS = {type_: _DROP_NAMES.get(field, field) for type_, field in WAGER_MONEY.items()}
"""Facts of one wager, with the name of the amount they add to in the drop."""

_DECISIONS = every_version({"decision_made.v1": "handle"})
OF_ROUNDS = frozenset((*WAGERS, *_DECISIONS, "rake_taken.v1", "fee_paid.v1"))
"""Facts of a round. Their table and gaming day are the round's."""

COUNTED, INVENTORY = "drop_box_counted.v1", "inventory_counted.v1"
RAISED = "dispute_raised.v1"
READS = frozenset((*ADDED, *OF_ROUNDS, *_BOXES, INVENTORY, RAISED, *slip_places.READS))
"""All facts of money and boxes, of slips, and those that begin a gaming day."""


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


class Amount(NamedTuple):
    """The one amount of a fact: its name in the drop, its wager (empty: none), and cents."""

    name: str
    wager: str
    cents: int


BOX = "box"
"""The name of the amount of a fact of a box, which is none of the drop's."""


def amount_of(type_: str, body: Any) -> Amount | None:  # noqa: ANN401 - a fact of READS
    """The amount of a fact; None if it has none."""
    if type_ in WAGERS:
        name = WAGERS[type_]
        if name == "payouts" and body.paid_from == "cage":
            name = "payouts_cage"
        return Amount(name, body.wager, wager_money(type_, body)[1])
    if type_ in _DECISIONS:
        adds = body.amount is not None and body.decision in POT_DECISIONS
        return Amount("handle", POT, body.amount) if adds else None
    if type_ in ADDED:
        of_cage = ADDED[type_] == "adjustments" and body.paid_from == "cage"
        cents_ = 0 if of_cage else getattr(body, _CENTS.get(type_, "amount"))
        return Amount(ADDED[type_], "", cents_)
    if type_ == INVENTORY:
        return Amount("opener" if body.kind == "open" else "closer", "", body.total)
    return Amount(BOX, "", 0) if type_ in _BOXES else None


def paper_of(type_: str, body: Any) -> str | None:  # noqa: ANN401 - a fact of READS
    """The number of a fact's slip, voucher, dispute or box."""
    return getattr(body, _PAPERS[type_]) if type_ in _PAPERS else None


def amounts(type_: str, body: Any) -> dict[tuple[str, str], int]:  # noqa: ANN401 - a fact of READS
    """All amounts in a fact, by name in the drop and wager (empty: no wager)."""
    if type_ == COUNTED:
        box = box_of(body)
        return {
            (f"box {box.box}, count {box.count}: {name}", ""): value
            for name in ("currency", "counter_checks", "vouchers", "coupon_count", "chips")
            if (value := getattr(box, name)) is not None
        }
    of = amount_of(type_, body)
    return {(of.name, of.wager): of.cents} if of and of.name != BOX else {}


def box_of(counted: DropBoxCounted) -> BoxCount:
    """The amounts of one count by the count room."""
    return BoxCount(
        counted.box,
        counted.count,
        _value(counted.currency) + foreign_value(counted),
        sum(check.amount for check in counted.counter_checks),
        None if unpriced(counted) else priced(counted),
        len(counted.vouchers),
        len(counted.coupons),
        None if counted.chips is None else _value(counted.chips),
    )


def priced(counted: DropBoxCounted) -> int:
    """Cents of the vouchers in a count that it gives an amount of."""
    return sum(each.amount or 0 for each in counted.vouchers if isinstance(each, Voucher))


def unpriced(counted: DropBoxCounted) -> list[str]:
    """Numbers of the vouchers in a count that it gives no amount of."""
    told = [each if isinstance(each, Voucher) else Voucher(each) for each in counted.vouchers]
    return [each.voucher for each in told if each.amount is None]


def _value(pieces: dict[str, int]) -> int:
    """The total of chips or notes by denomination, cents."""
    return sum(int(denomination) * count for denomination, count in pieces.items())
