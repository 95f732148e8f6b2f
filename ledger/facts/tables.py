"""Tables, equipment and people: openings, cards and dice in use, staff and cameras.

An employee is a credential number, a patron a position or an opaque token. No name is ever
recorded.
"""

from typing import Annotated, Any, Literal

from msgspec import Meta, Struct, field

from ledger.facts.vocabulary import (
    Body,
    Count,
    Employee,
    Face,
    FactOutsideRound,
    Identifier,
    Label,
    Place,
    Text,
    To,
    require_day,
    require_position,
)
from ledger.values import Card, Cents, GamingDay, Position

By = Annotated[tuple[Employee, ...], Meta(max_length=16)]
Role = Literal["dealer", "stickperson", "boxperson"]
CameraKind = Literal["stationary", "ptz"]
Covers = tuple[Literal["table", "end_left", "end_right", "tray"], ...]


class TableOpened(FactOutsideRound, frozen=True, kw_only=True):
    """A table opens for a gaming day. min_wager, max_wager: cents; positions: how many.

    pit: the group of tables it belongs to.
    """

    game: Identifier
    gaming_day: GamingDay
    min_wager: Cents
    max_wager: Cents
    positions: Position | None = None
    pit: Label | None = None

    def __post_init__(self) -> None:
        require_day("gaming_day", self.gaming_day)


class TableClosed(FactOutsideRound, frozen=True, kw_only=True):
    """The table closes."""


class SeatTaken(FactOutsideRound, frozen=True, kw_only=True):
    """A patron takes one or more positions. patron: an opaque token, never a name."""

    positions: tuple[Position, ...]
    patron: Label | None = None


class SeatLeft(FactOutsideRound, frozen=True, kw_only=True):
    """A patron leaves one or more positions."""

    positions: tuple[Position, ...]
    patron: Label | None = None


class Breakage(Struct, frozen=True, gc=False):
    """The rounding of odd cents: to a multiple of `unit` cents, in direction `mode`."""

    unit: Annotated[int, Meta(ge=1, le=2**53)] = 1
    mode: Identifier = "down"


class RulesSubmissionFiled(Body, frozen=True, kw_only=True, gc=True):
    """The certificate holder files its choices for a game, in force from a gaming day on.

    Its `subject` is the table, or the property. limits: cents, null for none; paytables: the
    printed letter, or the rows themselves with their odds. by: who filed it.
    """

    game: Identifier
    edition: Label | None = None
    effective_from: GamingDay
    offers: tuple[Identifier, ...] = ()
    paytables: dict[Identifier, Label | dict[Label, Label]] = field(default_factory=dict)
    options: dict[Identifier, Any] = field(default_factory=dict)
    readings: dict[Identifier, bool | Label] = field(default_factory=dict)
    limits: dict[Identifier, Cents | None] = field(default_factory=dict)
    breakage: Breakage = Breakage()
    progressives: dict[str, Any] = field(default_factory=dict)
    by: Employee | None = None

    def __post_init__(self) -> None:
        require_day("effective_from", self.effective_from)


class DealerAssigned(FactOutsideRound, frozen=True, kw_only=True):
    """An employee takes up a post at the table."""

    employee: Employee
    role: Role


class DealerRelieved(FactOutsideRound, frozen=True, kw_only=True):
    """An employee leaves a post at the table."""

    employee: Employee
    role: Role


class FloorpersonAssigned(FactOutsideRound, frozen=True, kw_only=True):
    """A floorperson takes over the supervision of the table."""

    employee: Employee


class FloorpersonRelieved(FactOutsideRound, frozen=True, kw_only=True):
    """A floorperson gives up the supervision of the table."""

    employee: Employee


class CameraMapped(Body, frozen=True, kw_only=True):
    """A camera is trained on a table. covers: the parts of the table it shows."""

    camera: Label
    table: Place
    kind: CameraKind
    covers: Covers


class CameraUnmapped(Body, frozen=True, kw_only=True):
    """A camera no longer covers a table."""

    camera: Label
    table: Place
    kind: CameraKind
    covers: Covers


class DeviceOutOfOrder(FactOutsideRound, frozen=True, kw_only=True):
    """A device of the table fails. covered: whether a cover or sign is on it."""

    device: Label
    covered: bool


class DeviceRestored(FactOutsideRound, frozen=True, kw_only=True):
    """A failed device works again."""

    device: Label


class DecksReceived(FactOutsideRound, frozen=True, kw_only=True):
    """A batch of cards comes to the table. decks, cards: how many; back: colour or design."""

    batch: Label
    decks: Count
    cards: Count
    back: Label
    preshuffled: bool


class CardsRemoved(FactOutsideRound, frozen=True, kw_only=True):
    """Cards are taken out of a batch. cards: how many, or which ones."""

    batch: Label
    cards: Count | tuple[Card, ...]
    reason: Text
    by: Employee


class CardsInspected(FactOutsideRound, frozen=True, kw_only=True):
    """The dealer inspects a batch, front and back."""

    batch: Label
    by: Employee


class InspectionVerified(FactOutsideRound, frozen=True, kw_only=True):
    """A supervisor verifies the inspection of a batch."""

    batch: Label
    by: Employee


class CardsSpread(FactOutsideRound, frozen=True, kw_only=True):
    """A batch is spread over the table."""

    batch: Label
    face: Face


class CardsWashed(FactOutsideRound, frozen=True, kw_only=True):
    """A batch is mixed face down on the table."""

    batch: Label


class CardsShuffled(FactOutsideRound, frozen=True, kw_only=True):
    """A batch is shuffled. counted: cards the shuffler counted, or whether it counts at all."""

    batch: Label
    method: Literal["manual", "automated", "preshuffled", "continuous"]
    device: Label | None = None
    counted: Count | bool | None = None


class CardsCut(FactOutsideRound, frozen=True, kw_only=True):
    """A batch is cut, by the dealer or a position. cards_above, cards_below: number of cards."""

    batch: Label
    by: Literal["dealer"] | Position
    cards_above: Count | None = None
    cards_below: Count | None = None


class RecutDirected(FactOutsideRound, frozen=True, kw_only=True):
    """A supervisor orders another cut."""

    batch: Label
    by: Employee
    reason: Text


class CoverCardReached(FactOutsideRound, frozen=True, kw_only=True):
    """The cover card appears: this is the last round of the shoe. to: the next holder due."""

    to: To
    position: Position | None = None

    def __post_init__(self) -> None:
        require_position(self.to, self.position)


class StubCounted(FactOutsideRound, frozen=True, kw_only=True):
    """The undealt cards are counted. counted: number of cards."""

    batch: Label
    counted: Count


class DecksRemoved(FactOutsideRound, frozen=True, kw_only=True):
    """A batch leaves the table."""

    batch: Label
    reason: Text


class DiceReceived(FactOutsideRound, frozen=True, kw_only=True):
    """A set of dice comes to the table. dice: how many; envelope: its number."""

    set: Label
    dice: Count
    envelope: Label | None = None


class DiceInspected(FactOutsideRound, frozen=True, kw_only=True):
    """A set of dice is inspected before use. alternative: the number of the procedure used."""

    set: Label
    by: By
    observed_by: By
    alternative: Literal[1, 2, 3]


class DiceSealed(FactOutsideRound, frozen=True, kw_only=True):
    """A set of dice goes into a sealed envelope."""

    set: Label
    envelope: Label
    seal_intact: bool
    by: By


class DiceOpened(FactOutsideRound, frozen=True, kw_only=True):
    """A sealed envelope of dice is opened. seal_intact: its state when it was opened."""

    set: Label
    envelope: Label
    seal_intact: bool
    by: By


class DiceRemoved(FactOutsideRound, frozen=True, kw_only=True):
    """A set of dice is taken out of play."""

    set: Label
    reason: Text


class DiceDiscrepancyReported(FactOutsideRound, frozen=True, kw_only=True):
    """A discrepancy of a set of dice is reported."""

    set: Label
    reason: Text
