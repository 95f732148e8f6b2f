"""Money outside rounds: inventories, fills and credits, buy-ins, drop boxes, coupons, meters.

Every amount is in cents. Chips and notes are pieces by denomination in cents.
"""

from typing import Annotated, Literal

from msgspec import Meta, Struct

from ledger.facts.vocabulary import (
    Body,
    Currency,
    Employee,
    FactOutsideRound,
    Identifier,
    Label,
    Place,
    Rate,
    Text,
    require_day,
)
from ledger.values import Cents, GamingDay, Pieces, Position

By = Annotated[tuple[Employee, ...], Meta(max_length=16)]


class InventoryCounted(FactOutsideRound, frozen=True, kw_only=True):
    """The table's chips are counted. chips: pieces; total: cents, as written on the slip."""

    kind: Literal["open", "drop", "close"]
    gaming_day: GamingDay
    shift: Label | None = None
    chips: Pieces
    total: Cents
    slip: Label
    counted_by: Employee
    observed_by: Employee

    def __post_init__(self) -> None:
        require_day("gaming_day", self.gaming_day)


class ChipSlip(FactOutsideRound, frozen=True, kw_only=True):
    """A slip for chips between the cage and a table. chips: pieces; total: cents."""

    slip: Label
    chips: Pieces
    total: Cents
    by: By
    reason: Text | None = None


class FillRequested(ChipSlip, frozen=True, kw_only=True):
    """A table asks for chips. chips: pieces; total: cents."""


class FillDispatched(ChipSlip, frozen=True, kw_only=True):
    """The cage sends chips to a table. chips: pieces; total: cents."""


class FillAccepted(ChipSlip, frozen=True, kw_only=True):
    """A table takes chips from the cage into its tray. chips: pieces; total: cents."""


class FillVoided(ChipSlip, frozen=True, kw_only=True):
    """A fill slip is voided. chips: pieces; total: cents."""


class CreditRequested(ChipSlip, frozen=True, kw_only=True):
    """A table asks to give chips back to the cage. chips: pieces; total: cents."""


class CreditDispatched(ChipSlip, frozen=True, kw_only=True):
    """Chips leave the table for the cage. chips: pieces; total: cents."""


class CreditAccepted(ChipSlip, frozen=True, kw_only=True):
    """The cage takes chips from a table. chips: pieces; total: cents."""


class CreditVoided(ChipSlip, frozen=True, kw_only=True):
    """A credit slip is voided. chips: pieces; total: cents."""


class Tendered(Struct, frozen=True, gc=False):
    """Foreign cash handed over for chips. amount: minor units of its currency; rate: see `Rate`."""

    currency: Currency
    amount: Cents
    rate: Rate


class CashBoughtIn(FactOutsideRound, frozen=True, kw_only=True):
    """A patron buys chips with cash, which goes into the drop box.

    amount: cents of the house's currency, also for foreign cash. tendered: the foreign cash.
    """

    position: Position
    amount: Cents
    tendered: Tendered | None = None


class VoucherBoughtIn(FactOutsideRound, frozen=True, kw_only=True):
    """A patron buys chips with a voucher. amount: cents; voucher: its number."""

    position: Position
    amount: Cents
    voucher: Label


class CounterCheckIssued(FactOutsideRound, frozen=True, kw_only=True):
    """A patron draws chips against a counter check. amount: cents; check: its number."""

    position: Position
    amount: Cents
    check: Label


class ChipsExchanged(FactOutsideRound, frozen=True, kw_only=True):
    """A patron changes chips for others. given, received: pieces, from the patron's side."""

    position: Position
    given: Pieces
    received: Pieces


class TipDropped(FactOutsideRound, frozen=True, kw_only=True):
    """A tip goes into the tip box. amount: cents."""

    amount: Cents


class DropBoxAttached(Body, frozen=True, kw_only=True):
    """An empty drop box is put on a table."""

    box: Label
    table: Place
    gaming_day: GamingDay
    shift: Label | None = None

    def __post_init__(self) -> None:
        require_day("gaming_day", self.gaming_day)


class DropBoxRemoved(Body, frozen=True, kw_only=True):
    """A drop box is taken off a table for the count."""

    box: Label
    table: Place
    gaming_day: GamingDay
    shift: Label | None = None

    def __post_init__(self) -> None:
        require_day("gaming_day", self.gaming_day)


class CounterCheck(Struct, frozen=True, gc=False):
    """A counter check found in a drop box. amount: cents."""

    check: Label
    amount: Cents


class Voucher(Struct, frozen=True, gc=False):
    """A voucher found in a drop box. amount: cents, if the count room recorded it."""

    voucher: Label
    amount: Cents | None = None


class ForeignNotes(Struct, frozen=True, gc=False):
    """Foreign notes found in a drop box. notes: pieces by denomination in minor units."""

    currency: Currency
    notes: Pieces
    rate: Rate


class DropBoxCounted(Body, frozen=True, kw_only=True):
    """The count room counts one drop box, a first or second time; a third one if these disagree.

    currency, chips: pieces by denomination in cents; counter_checks: with their cents; vouchers:
    numbers, or numbers with their cents; coupons: serial numbers. Notes of other currencies are in
    foreign, with the rate of the day.
    """

    box: Label
    table: Place
    gaming_day: GamingDay
    count: Literal[1, 2, 3]
    currency: Pieces
    counter_checks: tuple[CounterCheck, ...]
    vouchers: tuple[Label | Voucher, ...]
    coupons: tuple[Label, ...]
    chips: Pieces | None = None
    counted_by: By
    foreign: tuple[ForeignNotes, ...] = ()

    def __post_init__(self) -> None:
        require_day("gaming_day", self.gaming_day)


class CouponsIssued(FactOutsideRound, frozen=True, kw_only=True):
    """A batch of coupons is issued. face: cents; expires: the last gaming day they are valid.

    requisition: the form that asked for them; by, to: who hands them out, and who receives them.
    """

    serial_from: Label
    serial_to: Label
    face: Cents
    terms: Literal["even_money", "odds"]
    games: tuple[Identifier, ...]
    expires: GamingDay
    requisition: Label | None = None
    by: Employee | None = None
    to: Employee | None = None

    def __post_init__(self) -> None:
        require_day("expires", self.expires)


class CouponDropped(FactOutsideRound, frozen=True, kw_only=True):
    """A coupon that was played goes into the drop box. face: cents."""

    serial: Label
    face: Cents
    reason: Text | None = None


class CouponRefused(FactOutsideRound, frozen=True, kw_only=True):
    """A coupon is refused at the table. face: cents."""

    serial: Label
    face: Cents
    reason: Text | None = None


class MeterRead(FactOutsideRound, frozen=True, kw_only=True):
    """A progressive meter is read. amount: cents; with a round, the amount its win is paid from."""

    meter: Label
    amount: Cents
    because: Text | None = None


class MeterAdvanced(FactOutsideRound, frozen=True, kw_only=True):
    """A progressive meter goes up. amount: cents it shows afterwards."""

    meter: Label
    amount: Cents
    because: Text | None = None


class MeterReset(FactOutsideRound, frozen=True, kw_only=True):
    """A progressive meter goes back to its seed. amount: cents it shows afterwards."""

    meter: Label
    amount: Cents
    because: Text | None = None


class PayoutVerified(FactOutsideRound, frozen=True, kw_only=True):
    """A supervisor verifies a payout before it is made."""

    position: Position
    wager: Identifier
    by: Employee


class JackpotDocumented(FactOutsideRound, frozen=True, kw_only=True):
    """A large win is documented on paper. amount: cents."""

    position: Position
    wager: Identifier
    amount: Cents
