"""Has key frames looked at: what codes they show, how bright, sharp and still they are.

Done in a process of its own by `replay.footage.decoding.sampler`; this side imports no decoder (ADR
0013).
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
"""What a picture is scaled to before it is measured, width and height."""


class Look(Struct, frozen=True):
    """Look at frames of a file, by number, in order."""

    path: str  # absolute: the child stands elsewhere
    sha256: str
    frames: tuple[int, ...]
    codes: tuple[CodeKind, ...] = ()
    against: bytes | None = None  # a picture as `Looked.small` has it: how far is this one moved?


class Code(Struct, frozen=True):
    """A code in a picture, as it is written."""

    kind: CodeKind
    text: str  # of two ArUco markers: their numbers, left and right


class Looked(Struct, frozen=True):
    """One picture. Levels from 0 to 255, of the picture scaled to `SMALL`."""

    number: int
    pts_us: int
    codes: tuple[Code, ...]
    mean: float
    spread: float  # standard deviation
    sharpness: float  # variance of the Laplacian
    changed: float | None  # 99.9th percentile of the difference to the frame looked at before
    shift: tuple[float, float] | None  # against the given picture, in its pixels
    alike: tuple[float, float] | None  # correlation with it as they are, and once so moved
    small: bytes  # grey, row by row


class Sight(Struct, frozen=True, omit_defaults=True):
    """What was seen; or a problem, and what was seen before it."""

    looked: tuple[Looked, ...] = ()
    problem: str | None = None


def look(jobs: Sequence[Look], limits: Limits = LIMITS) -> list[Sight]:
    """One answer a job, in order, in bounded time whatever the files hold."""
    return list(in_turn(
        "decoding.sampler", jobs, Sight, lambda ended: Sight(problem=f"the decoder {ended}"),
        limits, lambda job: [job.path],
    ))  # fmt: skip
