"""Puts parts of footage into new files in a separate process: copied, or re-encoded on request.

`replay.footage.muxing.muxer` does the work; it is the only module that uses PyAV, an optional extra
(ADR 0013). This side imports neither PyAV nor a decoder.
"""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path
from typing import Literal

from msgspec import Struct

from ledger.errors import Lacking
from replay.footage.decoding.limits import Limits, in_turn
from replay.text.extras import install

How = Literal["copy", "encode", "preview"]
"""Packets copied; frames re-encoded; or some of them re-encoded smaller, each at its own time."""

Made = Literal["mp4", "webm"]

LIMITS = Limits(cpu_s=3600, job_s=900, file_bytes=8 << 30)
"""Limits of a writing process: encoding an hour of footage takes minutes."""

END_US = 1 << 62
"""A value of `to_us`: to the end of the file."""


class Part(Struct, frozen=True):
    """A part of one file, in microseconds from its first frame, and its place in the output."""

    path: str  # absolute: the child has another folder
    sha256: str
    from_us: int
    to_us: int  # exclusive
    at_us: int  # the file's first frame on the common clock of the parts
    cut: bool = False  # the file is cut off: its last packet, which may lack bytes, is left out


class Writing(Struct, frozen=True):
    """Put parts into a new file. A copy begins at the keyframe before the requested part."""

    parts: tuple[Part, ...]
    out: str
    container: Made
    how: How = "copy"
    label: str | None = None  # written into the picture before the time
    note: str = ""  # the comment in the file


class Written(Struct, frozen=True, omit_defaults=True):
    """The written file, or the problem."""

    began_us: int = 0  # the first frame on the common clock, which is time 0 of the new file
    frames: int = 0
    audio: bool = False  # whether the parts had sound, which is left out
    problem: str | None = None


def available() -> bool:
    """Whether the optional extra for clips and copies is installed."""
    return find_spec("av") is not None


def require_video(what: str) -> None:
    """Raise Lacking if the extra is missing. what: the thing that needs it."""
    if not available():
        raise Lacking(
            f"{what} needs PyAV, which is not installed",
            where="the optional extra `video`",
            hint=f"Install it with: {install('video')}",
        )


def write(jobs: list[Writing], limits: Limits = LIMITS) -> list[Written]:
    """An answer for each job, in order, in bounded time. No unfinished file is left."""
    answers = list(in_turn(
        "muxing.muxer", jobs, Written, lambda ended: Written(problem=f"the writer {ended}"), limits,
        lambda job: [part.path for part in job.parts], lambda job: [job.out],
    ))  # fmt: skip
    for job, written in zip(jobs, answers, strict=True):
        if written.problem:
            Path(job.out).unlink(missing_ok=True)
    return answers
