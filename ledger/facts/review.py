"""The review desk: work on findings, control samples, bookmarks, stills, the log, and shifts.

What is unknown or contradicts another fact is recorded too: a finding that no ruling has, a shift
that nobody began. Views decide what counts.
"""

from typing import Annotated, Any, Literal

from msgspec import Meta, Struct, field

from ledger.facts.cases import Moments
from ledger.facts.vocabulary import (
    Count,
    Employee,
    FactOutsideRound,
    FactRef,
    Hand,
    Identifier,
    Label,
    Moment,
    Place,
    RoundRef,
    Sha256,
    Text,
    Throw,
    require_moments,
)
from ledger.values import Position

ReviewOutcome = Literal["right", "wrong", "not_visible", "known"]
"""What the footage says of a finding: it is right, it is wrong, the footage does not show it, or it
was known before."""

Labels = Annotated[tuple[Label, ...], Meta(max_length=256)]

ReportText = Annotated[str, Meta(max_length=16_000)]
"""A report as lines of text; its SHA-256 is that of its UTF-8 bytes."""


class FindingRef(Struct, frozen=True, gc=False, omit_defaults=True, kw_only=True):
    """A finding or an alert, named by what it is of, so that a new ruling does not rename it.

    If it is of a round: round, code, and the wager's place. Otherwise: table, gaming_day, code, and
    the fact that completes it.
    """

    code: Identifier
    round: RoundRef | None = None
    position: Position | None = None
    hand: Hand | None = None
    wager: Identifier | None = None
    throw: Throw | None = None
    table: Place | None = None
    gaming_day: Annotated[str, Meta(max_length=32)] | None = None
    of: FactRef | None = None


class FindingTaken(FactOutsideRound, frozen=True, kw_only=True):
    """A person takes a finding to work on it."""

    finding: FindingRef
    by: Employee


class FindingHanded(FactOutsideRound, frozen=True, kw_only=True):
    """A finding is given to another person, who works on it from then on."""

    finding: FindingRef
    to: Employee
    by: Employee


class FindingClosed(FactOutsideRound, frozen=True, kw_only=True):
    """A person closes a finding after review. because: what was seen."""

    finding: FindingRef
    outcome: ReviewOutcome
    because: Text
    by: Employee


class FindingReopened(FactOutsideRound, frozen=True, kw_only=True):
    """A closed finding is opened again."""

    finding: FindingRef
    because: Text
    by: Employee


class SampleDrawn(FactOutsideRound, frozen=True, kw_only=True):
    """Rounds without a finding are drawn by chance, to be reviewed blind among findings.

    seed: with it the same rounds are drawn again. among: rounds with a finding that are reviewed
    blind beside them.
    """

    sample: Label
    shift: Label
    rounds: Annotated[tuple[RoundRef, ...], Meta(max_length=1000)]
    among: Annotated[tuple[RoundRef, ...], Meta(max_length=1000)] = ()
    seed: Label
    by: Employee


class BookmarkAdded(FactOutsideRound, frozen=True, kw_only=True, gc=True):
    """A stretch of footage is marked with a text. from, to: by the reference clock."""

    bookmark: Label
    round: RoundRef | None = None
    cameras: Labels
    from_: Moment = field(name="from")
    to: Moment
    text: Text
    tags: Labels
    view: dict[str, Any] | None = None
    by: Employee

    def __post_init__(self) -> None:
        require_moments(from_=self.from_, to=self.to)


class BookmarkRemoved(FactOutsideRound, frozen=True, kw_only=True):
    """A bookmark is taken away; its fact stays on record."""

    bookmark: Label
    because: Text
    by: Employee


class FrameShape(Struct, frozen=True, gc=False, omit_defaults=True, kw_only=True):
    """A shape beside a frame. points: x and y of each corner, in pixels of the frame."""

    kind: Identifier
    points: Annotated[tuple[tuple[int, int], ...], Meta(max_length=256)]
    text: Text | None = None


class FrameAnnotated(FactOutsideRound, frozen=True, kw_only=True):
    """Shapes are drawn beside a frame, as data; the frame itself is not changed."""

    camera: Label
    segment: Sha256
    frame: Count
    shapes: Annotated[tuple[FrameShape, ...], Meta(max_length=256)]
    by: Employee


class StillTaken(FactOutsideRound, frozen=True, kw_only=True):
    """One frame is saved as a picture. sha256: of the picture's bytes."""

    camera: Label
    segment: Sha256
    frame: Count
    sha256: Sha256
    because: Text
    by: Employee


class LogEntryAdded(FactOutsideRound, frozen=True, kw_only=True):
    """An entry is written into surveillance's log. from, to: by the house's clock."""

    entry: Label
    from_: Moment = field(name="from")
    to: Moment | None = None
    place: Label
    what: Text
    who: Labels
    recorded_where: Text
    disposition: Text
    by: Employee
    moments: Moments = ()

    def __post_init__(self) -> None:
        require_moments(from_=self.from_, **({} if self.to is None else {"to": self.to}))


class LogEntryCorrected(FactOutsideRound, frozen=True, kw_only=True):
    """A further log entry corrects an earlier one; both stay. from, to: by the house's clock."""

    entry: Label
    of: Label
    from_: Moment = field(name="from")
    to: Moment | None = None
    place: Label
    what: Text
    who: Labels
    recorded_where: Text
    disposition: Text
    because: Text
    by: Employee
    moments: Moments = ()

    def __post_init__(self) -> None:
        require_moments(from_=self.from_, **({} if self.to is None else {"to": self.to}))


class ShiftBegun(FactOutsideRound, frozen=True, kw_only=True):
    """A person begins a shift of surveillance."""

    shift: Label
    by: Employee


class ShiftHandedOver(FactOutsideRound, frozen=True, kw_only=True):
    """A shift is handed over to the next person. report: SHA-256 of the shift's report.

    text: the report itself. left_out: withheld rounds that it says nothing of.
    """

    shift: Label
    to: Employee
    report: Sha256
    by: Employee
    text: ReportText | None = None
    left_out: Annotated[tuple[RoundRef, ...], Meta(max_length=1000)] = ()


class ShiftCountersigned(FactOutsideRound, frozen=True, kw_only=True):
    """The person who receives a shift signs its report too."""

    shift: Label
    by: Employee
