"""Cameras: footage recorded, clock checks, and the handling of footage with its reason.

A path here is a label on a recording; the ledger never opens it. Readings of a clock keep that
clock's time.
"""

from typing import Annotated

from msgspec import Meta, field

from ledger.facts.vocabulary import (
    Count,
    Employee,
    FactOutsideRound,
    Label,
    Moment,
    Sha256,
    Text,
    require_moments,
)


class SegmentRecorded(FactOutsideRound, frozen=True, kw_only=True):
    """A camera's recorder finishes a segment of footage.

    start: by the camera's clock; frames: number of frames; duration_us: microseconds.
    """

    camera: Label
    path: Annotated[str, Meta(min_length=1, max_length=512)]
    sha256: Sha256
    start: Moment
    frames: Count
    duration_us: Count

    def __post_init__(self) -> None:
        require_moments(start=self.start)


class ClockChecked(FactOutsideRound, frozen=True, kw_only=True):
    """A camera's clock is compared with a reference. uncertainty_ms: milliseconds, plus or minus.

    camera_time, reference_time: the two readings at one moment; reference: the name of the
    reference clock.
    """

    camera: Label
    camera_time: Moment
    reference_time: Moment
    reference: Label
    uncertainty_ms: Count

    def __post_init__(self) -> None:
        require_moments(camera_time=self.camera_time, reference_time=self.reference_time)


class CameraLost(FactOutsideRound, frozen=True, kw_only=True):
    """A camera or its recorder stops recording."""

    camera: Label
    reason: Text


class CameraRestored(FactOutsideRound, frozen=True, kw_only=True):
    """A camera records again."""

    camera: Label
    reason: Text


class FootageHandled(FactOutsideRound, frozen=True, kw_only=True):
    """An employee handles footage. from, to: by the camera's clock; because: the reason given.

    dispute: the dispute it is handled for, if any.
    """

    camera: Label
    from_: Moment = field(name="from")
    to: Moment
    by: Employee
    because: Text
    dispute: Label | None = None

    def __post_init__(self) -> None:
        require_moments(from_=self.from_, to=self.to)


class FootageViewed(FootageHandled, frozen=True, kw_only=True):
    """Footage is looked at. from, to: by the camera's clock."""


class FootageExported(FootageHandled, frozen=True, kw_only=True):
    """Footage is copied out. from, to: by the camera's clock."""


class FootageLocked(FootageHandled, frozen=True, kw_only=True):
    """Footage is kept from expiring. from, to: by the camera's clock.

    window: the name of the preserved window, if it is kept without a dispute.
    """

    window: Label | None = None


class FootageReleased(FootageHandled, frozen=True, kw_only=True):
    """Locked footage may expire again. from, to: by the camera's clock.

    With a `dispute`, only that dispute's locks are released. With a `window`, only that window's.
    Without either, every lock on that span is released.
    """

    window: Label | None = None


class FootageExpired(FootageHandled, frozen=True, kw_only=True):
    """Footage is past its retention and deleted. from, to: by the camera's clock."""
