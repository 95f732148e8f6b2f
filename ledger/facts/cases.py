"""Cases: a patron's dispute from claim to outcome, and corrections of the record.

A correction is a fact added to the one it corrects. Neither ever changes or disappears.
"""

from typing import Annotated, Any, Literal

from msgspec import Meta, Struct, field

from ledger.facts.vocabulary import (
    Employee,
    FactOutsideRound,
    FactRef,
    Label,
    Moment,
    PaidFrom,
    RoundRef,
    Text,
    require_moments,
)
from ledger.values import Cents, Position


class Attached(Struct, frozen=True, gc=False, omit_defaults=True, kw_only=True):
    """A fact of a round, an instant, or both, attached to a note.

    reference_time: by the reference clock; camera_time: by the camera's own.
    """

    round: RoundRef | None = None
    fact: FactRef | None = None
    reference_time: Moment | None = None
    camera: Label | None = None
    camera_time: Moment | None = None

    def __post_init__(self) -> None:
        times = {"reference_time": self.reference_time, "camera_time": self.camera_time}
        require_moments(**{name: time for name, time in times.items() if time is not None})


Moments = Annotated[tuple[Attached, ...], Meta(max_length=64)]
"""Moments attached to a note."""


class WatchedSpan(Struct, frozen=True, gc=False, kw_only=True):
    """Footage of one camera that a person watched. from, to: by the camera's clock."""

    camera: Label
    from_: Moment = field(name="from")
    to: Moment

    def __post_init__(self) -> None:
        require_moments(from_=self.from_, to=self.to)


Watched = Annotated[tuple[WatchedSpan, ...], Meta(max_length=256)]
"""What a person watched before writing down what the footage shows."""


DisputeCategory = Literal["paid_short", "paid_over", "rule", "procedure", "no_error", "other"]
"""What kind of dispute it proved to be."""


class DisputeRaised(FactOutsideRound, frozen=True, kw_only=True):
    """A patron disputes what happened in a round. claim: in the patron's words."""

    dispute: Label
    round: RoundRef
    position: Position
    claim: Text
    by: Employee


class DisputeNoted(FactOutsideRound, frozen=True, kw_only=True):
    """A note is added to a dispute's file. moments: the facts and instants attached to it."""

    dispute: Label
    note: Text
    by: Employee
    moments: Moments = ()


class ObservationRecorded(FactOutsideRound, frozen=True, kw_only=True):
    """An investigator writes down what the footage shows, before he knows the claim.

    watched: the footage that was in motion before his eyes; empty if none is on record.
    """

    dispute: Label
    round: RoundRef
    saw: Text
    by: Employee
    watched: Watched = ()


class ClaimRevealed(FactOutsideRound, frozen=True, kw_only=True):
    """The patron's claim is shown to the investigator."""

    dispute: Label
    by: Employee


class DisputeResolved(FactOutsideRound, frozen=True, kw_only=True):
    """A dispute is closed. outcome: what was decided."""

    dispute: Label
    outcome: Text
    by: Employee
    category: DisputeCategory | None = None


class AdjustmentPaid(FactOutsideRound, frozen=True, kw_only=True):
    """Money is paid to settle a dispute. amount: cents; by: who paid it."""

    dispute: Label
    position: Position
    amount: Cents
    paid_from: PaidFrom
    by: Employee | None = None


class TaskSet(FactOutsideRound, frozen=True, kw_only=True):
    """A person is to do something for a dispute by a time. Set again, it replaces the task."""

    dispute: Label
    task: Label
    what: Text
    to: Employee
    due: Moment
    by: Employee

    def __post_init__(self) -> None:
        require_moments(due=self.due)


class TaskDone(FactOutsideRound, frozen=True, kw_only=True):
    """A task of a dispute is done. because: what came of it."""

    dispute: Label
    task: Label
    because: Text | None = None
    by: Employee


class FactCorrected(FactOutsideRound, frozen=True, kw_only=True, gc=True):
    """A recorded fact is corrected by two people. The rulings before and after both stay visible.

    data: the corrected content; absent if the fact should not have been recorded at all.
    """

    of: FactRef
    data: dict[str, Any] | None = field(default=None)
    because: Text
    by: Employee
    second: Employee
