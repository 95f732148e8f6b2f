"""Has stretches of footage put into new files: copied packet by packet, or encoded anew on request.

Done in a process of its own by `replay.footage.muxing.muxer`, the one module that knows PyAV, an
optional extra (ADR 0013). This side imports neither it nor a decoder.
"""

from __future__ import annotations

from importlib.util import find_spec
from typing import Literal

from msgspec import Struct

from ledger.errors import Lacking
from replay.footage.decoding.limits import Limits, in_turn

How = Literal["copy", "encode"]
Made = Literal["mp4", "webm"]

LIMITS = Limits(cpu_s=3600, job_s=900, file_bytes=8 << 30)
"""Of a process that writes: encoding an hour of footage takes minutes."""

END_US = 1 << 62
"""As `to_us`: to the end of the file."""


class Part(Struct, frozen=True):
    """A stretch of one file, in microseconds from its first frame on, and where it goes."""

    path: str  # absolute: the child stands elsewhere
    sha256: str
    from_us: int
    to_us: int  # the first instant that is not wanted any more
    at_us: int  # where the file's first frame stands on the common clock of the parts


class Writing(Struct, frozen=True):
    """Put parts into a new file. A copy begins at the key frame before what is wanted."""

    parts: tuple[Part, ...]
    out: str
    container: Made
    how: How = "copy"
    label: str | None = None  # burned in before the time, where a picture is to carry it
    note: str = ""  # kept in the file as its comment


class Written(Struct, frozen=True, omit_defaults=True):
    """What was written, or why nothing was."""

    began_us: int = 0  # of the common clock: the first frame, which is time 0 of the new file
    frames: int = 0
    audio: bool = False  # whether the parts had sound, which is not taken along
    problem: str | None = None


def available() -> bool:
    """Whether the optional extra for clips and copies is installed."""
    return find_spec("av") is not None


def require_video(what: str) -> None:
    """Raises Lacking where the extra is missing; `what` needs it."""
    if not available():
        raise Lacking(
            f"{what} needs PyAV, which is not installed",
            where="the optional extra `video`",
            hint="Install it with: pip install 'round-ledger[video]'.",
        )


def write(jobs: list[Writing], limits: Limits = LIMITS) -> list[Written]:
    """One answer a job, in order, in bounded time whatever the files hold."""
    return list(in_turn(
        "muxing.muxer", jobs, Written, lambda ended: Written(problem=f"the writer {ended}"), limits,
        lambda job: [part.path for part in job.parts],
    ))  # fmt: skip
