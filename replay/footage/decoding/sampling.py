"""Measures keyframes in a separate process: codes, brightness, sharpness, movement.

`replay.footage.decoding.sampler` does the work; this side imports no decoder (ADR 0013).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from msgspec import Struct

from replay.footage.decoding.limits import Limits, in_turn

if TYPE_CHECKING:
    from collections.abc import Sequence

CodeKind = Literal["qr", "aruco", "strip"]
"""A QR code; two ArUco markers side by side; the strip of a simulated camera."""

LIMITS = Limits(cpu_s=600, job_s=60)

SMALL = (320, 180)
"""Width and height that a picture is scaled to before it is measured."""


class Look(Struct, frozen=True):
    """Measure frames of a file, by number, in order."""

    path: str  # absolute: the child has another folder
    sha256: str
    frames: tuple[int, ...]
    codes: tuple[CodeKind, ...] = ()
    against: bytes | None = None  # a picture like `Looked.small` to measure the shift from


class Code(Struct, frozen=True):
    """A code in a picture."""

    kind: CodeKind
    text: str  # for two ArUco markers: their numbers, left and right


class Looked(Struct, frozen=True):
    """One measured picture. Levels from 0 to 255, of the picture scaled to `SMALL`."""

    number: int
    pts_us: int
    codes: tuple[Code, ...]
    mean: float
    spread: float  # standard deviation, without the 3 % of levels at either end
    sharpness: float  # variance of the Laplacian
    changed: float | None  # 99.9th percentile of the difference to the previous measured frame
    shift: tuple[float, float] | None  # of the corner moved most against the given picture
    alike: tuple[float, float] | None  # correlation with it, without and with the shift
    small: bytes  # grey, row by row


class Sight(Struct, frozen=True, omit_defaults=True):
    """The measured pictures; or a problem, and the pictures before it."""

    looked: tuple[Looked, ...] = ()
    problem: str | None = None


def look(jobs: Sequence[Look], limits: Limits = LIMITS) -> list[Sight]:
    """An answer for each job, in order, in bounded time for any content of the files."""
    return list(in_turn(
        "decoding.sampler", jobs, Sight, lambda ended: Sight(problem=f"the decoder {ended}"),
        limits, lambda job: [job.path],
    ))  # fmt: skip
