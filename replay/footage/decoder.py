"""Has footage decoded in a process of its own, which may fail, hang or be killed without harm.

One child answers many jobs; the job on which a child dies is answered as unreadable and the rest go
to a new one. This side never touches a decoder: it must not import `replay.footage.reader` or cv2.
"""

import os
import subprocess
import sys
from hashlib import file_digest
from pathlib import Path

from msgspec import DecodeError, Struct, json

from replay.footage.timecode import Timecode

FRAMES_MAX = 500_000  # of one file: over four hours at 30 a second
PIXELS_MAX = 4096 * 4096  # of one picture
BATCH_MAX = 64  # jobs of one child

_START_S_MAX = 30  # what starting the child may add, on a busy machine
_ROOT = Path(__file__).resolve().parents[2]
_PROGRAM = (
    "import sys; sys.path.insert(0, sys.argv[1]); from replay.footage.reader import main; main()"
)


class Limits(Struct, frozen=True):
    """What one child may use before it is ended."""

    memory_bytes: int = 2 << 30  # address space, its libraries (about half a GiB) included
    cpu_s: int = 120  # over all its jobs
    job_s: int = 15  # wall clock of one job


LIMITS = Limits()


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


class Answer(Struct, frozen=True, omit_defaults=True):
    """An index and the frames asked for; or a problem, and the frames read before it."""

    index: FrameIndex | None = None
    frames: tuple[Frame, ...] = ()
    problem: str | None = None


def sha256_of(path: Path) -> str:
    """The hash of a file's bytes, hexadecimal. Raises OSError where it cannot be read."""
    with path.open("rb") as file:
        return file_digest(file, "sha256").hexdigest()


def decode(jobs: list[Job], limits: Limits = LIMITS) -> list[Answer]:
    """One answer a job, in order, in bounded time whatever the files hold."""
    answers: list[Answer] = []
    while len(answers) < len(jobs):
        batch = jobs[len(answers) : len(answers) + BATCH_MAX]
        done, ended = _run(batch, limits)
        answers += done
        if len(done) < len(batch):
            answers.append(Answer(problem=f"the decoder {ended} on it"))
    return answers


def _run(jobs: list[Job], limits: Limits) -> tuple[list[Answer], str]:
    """The answers one child gave before it ended, and how it ended."""
    command = [sys.executable, "-I", "-c", _PROGRAM, str(_ROOT), json.encode(limits).decode()]
    environment = {"OPENBLAS_NUM_THREADS": "1", "OPENCV_LOG_LEVEL": "OFF", "PATH": os.defpath}
    asked = b"".join(json.encode(job) + b"\n" for job in jobs)
    with subprocess.Popen(  # noqa: S603 - our own interpreter and program; paths go by stdin
        command,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        env=environment,
        cwd="/",
    ) as child:
        try:
            told, _ = child.communicate(asked, timeout=_START_S_MAX + limits.job_s * len(jobs))
        except subprocess.TimeoutExpired:
            child.kill()
            told, _ = child.communicate()
        ended = f"was ended by signal {-child.returncode}" if child.returncode < 0 else "failed"
    return list(_answers(told)), ended


def _answers(told: bytes) -> list[Answer]:
    """The whole lines of a child's output; what it left half written is no answer."""
    answers = []
    for line in told.splitlines(keepends=True):
        if line.endswith(b"\n"):
            try:
                answers.append(json.decode(line, type=Answer))
            except DecodeError:
                break
    return answers
