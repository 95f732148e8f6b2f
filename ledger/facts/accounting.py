"""The papers of accounting: coupons, checks, box totals, variances, tournaments, closed days.

Every amount is in cents. Serial numbers of coupons and checks are those printed on them.
"""

from typing import Annotated, Literal

from msgspec import Meta

from ledger.facts.vocabulary import (
    Body,
    Count,
    Employee,
    FactOutsideRound,
    Label,
    Place,
    Sha256,
    Text,
    require_day,
)
from ledger.values import Cents, GamingDay

By = Annotated[tuple[Employee, ...], Meta(max_length=16)]
Serials = Annotated[tuple[Label, ...], Meta(max_length=1_000)]
Range = tuple[Label, Label]


class CouponRange(FactOutsideRound, frozen=True, kw_only=True):
    """A range of coupons, by its first and last serial. face: cents."""

    serial_from: Label
    serial_to: Label
    face: Cents


class CouponsReceived(CouponRange, frozen=True, kw_only=True):
    """Coupons arrive from the printer (603a.20(e)). checked_by: who compared them with the invoice.

    face: cents. recorded_by: who enters them in the coupon ledger.
    """

    invoice: Label
    checked_by: By
    recorded_by: Employee


class CouponsRequisitioned(FactOutsideRound, frozen=True, kw_only=True):
    """A department asks for coupons (603a.20(g)). face: cents; quantity: pieces."""

    requisition: Label
    face: Cents
    quantity: Count
    needed_on: GamingDay
    prepared_by: Employee
    authorised_by: Employee

    def __post_init__(self) -> None:
        require_day("needed_on", self.needed_on)


class CouponsDistributed(CouponRange, frozen=True, kw_only=True):
    """Coupons are given to patrons on a gaming day (603a.20(d)). face: cents.

    by: the supervisor of marketing who completed the form. recorded_by: who entered it.
    """

    gaming_day: GamingDay
    by: Employee
    recorded_by: Employee | None = None

    def __post_init__(self) -> None:
        require_day("gaming_day", self.gaming_day)


class CouponsReturned(CouponRange, frozen=True, kw_only=True):
    """Coupons that were not distributed come back. face: cents."""

    reason: Text
    returned_by: Employee
    received_by: Employee


class CouponsVoided(FactOutsideRound, frozen=True, kw_only=True):
    """Coupons are voided before use: damaged, misprinted or expired. serials: each one."""

    serials: Serials
    reason: Text
    by: Employee


class CouponsCancelled(FactOutsideRound, frozen=True, kw_only=True):
    """Redeemed coupons are cancelled, so that they cannot be used again. serials: each one."""

    serials: Serials
    reason: Text
    by: Employee


class CouponsInventoried(FactOutsideRound, frozen=True, kw_only=True):
    """The coupons in stock are counted. held: ranges of serials, first and last of each."""

    held: Annotated[tuple[Range, ...], Meta(max_length=1_000)]
    by: Employee
    observed_by: Employee


class CounterCheckRedeemed(FactOutsideRound, frozen=True, kw_only=True):
    """A patron pays a counter check back. amount: cents; form: key of the form that says so.

    A patron may pay the same amount twice. A form that was sent twice is one payment.
    """

    check: Label
    amount: Cents
    by: Employee
    form: Label | None = None


class CounterCheckVoided(FactOutsideRound, frozen=True, kw_only=True):
    """A counter check is voided; it stays in its number series."""

    check: Label
    reason: Text | None = None
    by: Employee | None = None


class CheckBook(FactOutsideRound, frozen=True, kw_only=True):
    """A book of blank counter checks, by its first and last number."""

    book: Label
    check_from: Label
    check_to: Label
    issued_by: Employee
    received_by: Employee


class CheckBookSignedOut(CheckBook, frozen=True, kw_only=True):
    """A book of blank counter checks leaves its store (609a.13)."""


class CheckBookSignedIn(CheckBook, frozen=True, kw_only=True):
    """A book of counter checks comes back to its store (609a.13)."""


class DropBoxVerified(Body, frozen=True, kw_only=True):
    """The cage counts a box's content again, before it sees the count. total: cents."""

    box: Label
    table: Place
    gaming_day: GamingDay
    total: Cents
    by: Employee

    def __post_init__(self) -> None:
        require_day("gaming_day", self.gaming_day)


class VarianceExplained(Body, frozen=True, kw_only=True):
    """Two people sign what an investigation of a table's variance found.

    amount: the cents that it explains; unexplained: those that stay without an explanation. about:
    a limit of the hold by its name, or `gap` for the gaps of the day. about, period and shift:
    absent: of every line of the table that ends on the day.
    """

    table: Place
    gaming_day: GamingDay
    amount: Cents
    because: Text
    by: Employee
    second: Employee
    unexplained: Cents | None = None
    about: Label | None = None
    period: Literal["day", "month", "year"] | None = None
    shift: Label | None = None

    def __post_init__(self) -> None:
        require_day("gaming_day", self.gaming_day)


class TournamentMoney(Body, frozen=True, kw_only=True):
    """Money of a tournament at the cage. table: the table that the tournament is booked to."""

    tournament: Label
    table: Place
    gaming_day: GamingDay
    amount: Cents
    patron: Label | None = None
    by: Employee

    def __post_init__(self) -> None:
        require_day("gaming_day", self.gaming_day)


class TournamentEntered(TournamentMoney, frozen=True, kw_only=True):
    """A patron enters a tournament, or enters it again (601a.9(f)). amount: all cents paid."""


class TournamentPrizePaid(TournamentMoney, frozen=True, kw_only=True):
    """A prize of a tournament is paid. amount: cents; of a prize that is no money its cost."""


Heads = Annotated[dict[Place, Count], Meta(max_length=2_000)]
Version = Annotated[int, Meta(ge=1, le=1_000_000)]


class DaySealed(Body, frozen=True, kw_only=True):
    """Two people close a gaming day: what its wins rest on, and what they said.

    heads: number of the last fact on each place's tape that counts. digest: SHA-256 of the day's
    wins as `win --version` prints them. shifts: SHA-256 of its wins by table and shift. despite:
    why it is closed though something is missing.
    """

    gaming_day: GamingDay
    version: Version
    heads: Heads
    rules: Label
    report: Version
    digest: Sha256
    because: Text | None = None
    despite: Text | None = None
    by: Employee
    second: Employee
    shifts: Sha256 | None = None

    def __post_init__(self) -> None:
        require_day("gaming_day", self.gaming_day)


class DayReopened(Body, frozen=True, kw_only=True):
    """Two people open a closed gaming day again. What its versions said stays as it is."""

    gaming_day: GamingDay
    version: Version
    because: Text
    by: Employee
    second: Employee

    def __post_init__(self) -> None:
        require_day("gaming_day", self.gaming_day)
