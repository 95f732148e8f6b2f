"""Shot lists of a simulated camera, and the camera's plan.

Pure data. The simulator writes it, and `replay.footage.simulated.camera` draws it. Shots have true
times. Only the plan knows the error of the camera's own clock, and nothing that replays a round may
read it. Places are millimetres on the felt: x from the left, y from the dealer's edge.
"""

from typing import Annotated, Literal

from msgspec import Meta, Struct

from ledger.values import Card, Cents, Die

PPM = 1_000_000
"""Parts per million: a drift of 37 gains 37 us in each true second."""

View = Literal["table", "end_left", "end_right"]
"""What a camera looks at."""

DEALER = 0
"""Whose hand reaches, if it is the dealer's; else a position."""


class LyingCard(Struct, frozen=True, array_like=True):
    """A card on the felt. `??` shows its back."""

    card: Card
    x: int
    y: int
    turn: int = 0  # degrees


class ChipPile(Struct, frozen=True, array_like=True):
    """Chips of a sum, spread so that each is seen, the highest first."""

    cents: Cents
    x: int
    y: int


class LyingDie(Struct, frozen=True, array_like=True):
    """A die on the felt, and what is up."""

    die: Die
    x: int
    y: int
    turn: int = 0  # degrees
    red: bool = False


class Puck(Struct, frozen=True, array_like=True):
    """A marker on the felt: its number among the table's markers, which gives its colour."""

    number: int
    x: int
    y: int


Piece = LyingCard | ChipPile | LyingDie | Puck


class Reach(Struct, frozen=True, array_like=True):
    """A hand that reaches to a place at the time of a shot."""

    who: int  # DEALER or a position
    x: int
    y: int


class Shot(Struct, frozen=True, omit_defaults=True):
    """All that lies on a table from a true instant on, until the next shot."""

    at_us: int  # true time, microseconds since the epoch
    cards: tuple[LyingCard, ...] = ()
    piles: tuple[ChipPile, ...] = ()
    dice: tuple[LyingDie, ...] = ()
    pucks: tuple[Puck, ...] = ()
    reach: Reach | None = None

    @property
    def pieces(self) -> tuple[Piece, ...]:
        """All of it, the upper over the lower."""
        return (*self.pucks, *self.cards, *self.piles, *self.dice)


PictureFault = Literal["blocked", "moved", "frozen"]


class CameraFault(Struct, frozen=True):
    """A camera's fault between two true times. A wrong clock is the plan's `offset_us`."""

    kind: PictureFault
    from_us: int
    to_us: int


class CameraPlan(Struct, frozen=True, kw_only=True):
    """One camera over one table: when it records, and the errors of its clock and frames."""

    camera: str
    table: str
    from_us: int  # true time of the first frame
    to_us: int  # true time at which recording ends
    view: View = "table"
    seats: Annotated[int, Meta(ge=1, le=99)] = 5  # the table's, and so its layout
    boxes: Annotated[int, Meta(ge=0)] = 0  # wagers printed as boxes for all; 0: spots at each seat
    strip: bool = False  # a small picture, with its clock as a strip that machines read
    faults: tuple[CameraFault, ...] = ()
    offset_us: int = 0  # camera clock minus true time at `from_us`
    drift_ppm: Annotated[int, Meta(ge=-1000, le=1000)] = 0
    frames_per_second: Annotated[int, Meta(ge=1, le=60)] = 10  # nominal; the true rate varies
    jitter_us: Annotated[int, Meta(ge=0)] = 15_000  # capture is up to this early or late
    dropped_permille: Annotated[int, Meta(ge=0, le=900)] = 30
    gap: tuple[int, int] | None = None  # nothing is recorded between these true times
    segment_us: Annotated[int, Meta(ge=1_000_000)] = 20_000_000  # by the camera's clock
    seed: int = 0


class ShotList(Struct, frozen=True):
    """A camera's plan and its shots, in order of time."""

    plan: CameraPlan
    shots: tuple[Shot, ...]


def camera_clock_us(plan: CameraPlan, true_us: int) -> int:
    """The camera's own clock at a true time, microseconds since the epoch."""
    return true_us + plan.offset_us + (true_us - plan.from_us) * plan.drift_ppm // PPM
