"""Shot lists of a simulated camera, and the camera's plan.

Pure data. The simulator writes it, and `replay.footage.simulated.camera` draws it. Shots have true
times. Only the plan knows the error of the camera's own clock, and nothing that replays a round may
read it.
"""

from typing import Annotated

from msgspec import Meta, Struct

from ledger.values import Card, Cents, Die

PPM = 1_000_000
"""Parts per million: a drift of 37 gains 37 us in each true second."""


class FilmedArea(Struct, frozen=True, omit_defaults=True):
    """One area of the layout and what lies in it; drawn in the order given."""

    label: str  # printed on the felt: "Dealer", "3 Ante", "Yard 20"
    cards: tuple[Card, ...] = ()  # `??` is drawn as a card's back
    dice: tuple[Die, ...] = ()
    chips: Cents = 0  # 0: no chips are drawn
    text: str = ""


class Shot(Struct, frozen=True, omit_defaults=True):
    """The whole drawn table from a true instant on, until the next shot."""

    at_us: int  # true time, microseconds since the epoch
    caption: str  # one line above the layout
    areas: tuple[FilmedArea, ...] = ()


class CameraPlan(Struct, frozen=True, kw_only=True):
    """One camera over one table: when it records, and the errors of its clock and frames."""

    camera: str
    table: str
    from_us: int  # true time of the first frame
    to_us: int  # true time at which recording ends
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
