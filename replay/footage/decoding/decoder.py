"""Decodes footage in a separate process: the index of a file, and frames by number.

This side never uses a decoder: it must not import `replay.footage.decoding.reader` or cv2 (ADR
0013).
"""

from collections.abc import Iterator, Sequence

from msgspec import Struct

from replay.footage.decoding.containers import Container, Ending
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

FRAMES_MAX = 500_000  # in one file: over four hours at 30 frames/s


class FrameIndex(Struct, frozen=True):
    """The time of each frame of a file, in microseconds from its first frame."""

    pts_us: tuple[int, ...]  # in order; a frame's number is its index here
    keys: tuple[int, ...]  # numbers of the keyframes
    not_whole: int = 0  # further pictures of a cut file, which may lack bytes or need those that do


class Frame(Struct, frozen=True):
    """One decoded frame."""

    number: int
    pts_us: int
    png: bytes  # a JPEG if the job names a width
    sha256: str  # of `png`, hexadecimal
    timecode: Timecode | None  # the timecode in the picture


class Job(Struct, frozen=True):
    """Read the index of a file, and frames by number. It fails if the file's bytes have changed."""

    path: str  # absolute: the child has another folder
    sha256: str
    frames: tuple[int, ...] = ()
    timecode: bool = False  # whether to search its first pictures for a clock
    width: int = 0  # above 0: frames as JPEG of this width, for a page; else whole, as PNG


class Nature(Struct, frozen=True):
    """The kind of a file, by its bytes and its decoder."""

    container: Container
    codec: str  # as FFmpeg names it: h264, hevc, vp8, vp9, av1, mpeg4, msmpeg4, mjpeg, ...
    width: int
    height: int
    audio: bool | None  # None: not known
    created_us: int | None  # the container's creation time, UTC
    plain: bool  # whether a browser shows its first frame at time 0, and none that is cut through
    rotation: int = 0  # degrees clockwise that the file asks a player to turn its pictures by
    ending: Ending = "whole"


class DecodedFrames(Struct, frozen=True, omit_defaults=True):
    """An index and the requested frames; or a problem, and what was read before it."""

    index: FrameIndex | None = None
    nature: Nature | None = None
    frames: tuple[Frame, ...] = ()
    timecode_us: int | None = None  # when its first frame was taken, by a running timecode
    problem: str | None = None


def decode(jobs: Sequence[Job], limits: Limits = LIMITS) -> list[DecodedFrames]:
    """An answer for each job, in order, in bounded time for any content of the files."""
    return list(decoded(jobs, limits))


def decoded(jobs: Sequence[Job], limits: Limits = LIMITS) -> Iterator[DecodedFrames]:
    """The same, each answer as it comes, so that only one job's frames are in memory."""
    return in_turn(
        "decoding.reader", jobs, DecodedFrames,
        lambda ended: DecodedFrames(problem=f"the decoder {ended}"),
        limits, lambda job: [job.path],
    )  # fmt: skip
