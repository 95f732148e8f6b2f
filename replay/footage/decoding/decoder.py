"""Has footage decoded in a process of its own: the index of a file, and frames of it by number.

This side never touches a decoder: it must not import `replay.footage.decoding.reader` or cv2 (ADR
0013).
"""

from collections.abc import Iterator, Sequence

from msgspec import Struct

from replay.footage.decoding.containers import Container
from replay.footage.decoding.hashing import sha256_of
from replay.footage.decoding.limits import LIMITS, Limits, in_turn
from replay.footage.decoding.timecode import Timecode

__all__ = [
    "DecodedFrames",
    "Frame",
    "FrameIndex",
    "Job",
    "Nature",
    "decode",
    "decoded",
    "sha256_of",
]

FRAMES_MAX = 500_000  # of one file: over four hours at 30 a second


class FrameIndex(Struct, frozen=True):
    """When each frame of a file is shown, in microseconds from the file's first frame on."""

    pts_us: tuple[int, ...]  # in order; a frame's number is its place here
    keys: tuple[int, ...]  # numbers of the frames that decode alone


class Frame(Struct, frozen=True):
    """One decoded frame."""

    number: int
    pts_us: int
    png: bytes
    sha256: str  # of `png`, hexadecimal
    timecode: Timecode | None  # what the picture says of itself


class Job(Struct, frozen=True):
    """Read the index of a file, and frames of it by number. Not done if its bytes have changed."""

    path: str  # absolute: the child stands elsewhere
    sha256: str
    frames: tuple[int, ...] = ()
    timecode: bool = False  # whether the clock in its first pictures is looked for


class Nature(Struct, frozen=True):
    """What a file is, as its octets and its decoder tell."""

    container: Container
    codec: str  # as FFmpeg names it: h264, hevc, vp8, vp9, av1, mpeg4, msmpeg4, mjpeg, ...
    width: int
    height: int
    audio: bool | None  # None: not known
    created_us: int | None  # when the container says it was made; UTC
    plain: bool  # whether a browser, too, shows its first frame at time 0


class DecodedFrames(Struct, frozen=True, omit_defaults=True):
    """An index and the frames asked for; or a problem, and the frames read before it."""

    index: FrameIndex | None = None
    nature: Nature | None = None
    frames: tuple[Frame, ...] = ()
    timecode_us: int | None = None  # when its first frame was taken, by a clock seen to run
    problem: str | None = None


def decode(jobs: Sequence[Job], limits: Limits = LIMITS) -> list[DecodedFrames]:
    """One answer a job, in order, in bounded time whatever the files hold."""
    return list(decoded(jobs, limits))


def decoded(jobs: Sequence[Job], limits: Limits = LIMITS) -> Iterator[DecodedFrames]:
    """The same, each answer as it comes: the frames of no more than one are in memory."""
    return in_turn(
        "decoding.reader", jobs, DecodedFrames,
        lambda ended: DecodedFrames(problem=f"the decoder {ended}"),
        limits, lambda job: [job.path],
    )  # fmt: skip
