"""Cases: a patron's dispute from claim to outcome, and corrections of the record.

A correction adds a fact beside the one it corrects; neither ever changes or disappears.
"""

from typing import Any

from msgspec import field

from ledger.facts.vocabulary import (
    Employee,
    FactRef,
    Label,
    PaidFrom,
    RoundRef,
    Text,
    Told,
)
from ledger.values import Cents, Position


class DisputeRaised(Told, frozen=True, kw_only=True):
    """A patron disputes what happened in a round. claim: in the patron's words."""

    dispute: Label
    round: RoundRef
    position: Position
    claim: Text
    by: Employee


class DisputeNoted(Told, frozen=True, kw_only=True):
    """Something is noted in a dispute's file."""

    dispute: Label
    note: Text
    by: Employee


class ObservationRecorded(Told, frozen=True, kw_only=True):
    """An investigator writes down what the footage shows, before knowing the claim."""

    dispute: Label
    round: RoundRef
    saw: Text
    by: Employee


class ClaimRevealed(Told, frozen=True, kw_only=True):
    """The patron's claim is shown to the investigator."""

    dispute: Label
    by: Employee


class DisputeResolved(Told, frozen=True, kw_only=True):
    """A dispute is closed. outcome: what was decided."""

    dispute: Label
    outcome: Text
    by: Employee


class AdjustmentPaid(Told, frozen=True, kw_only=True):
    """Money is paid to settle a dispute. amount: cents."""

    dispute: Label
    position: Position
    amount: Cents
    paid_from: PaidFrom


class FactCorrected(Told, frozen=True, kw_only=True, gc=True):
    """A recorded fact is corrected by two people; both rulings, before and after, stay visible.

    data: what it should have said; absent where it should not have been recorded at all.
    """

    of: FactRef
    data: dict[str, Any] | None = field(default=None)
    because: Text
    by: Employee
    second: Employee
