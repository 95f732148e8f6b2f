"""Has footage handled in processes of their own, which may fail, hang or be killed without harm.

One child answers many jobs; the job on which a child dies is answered as failed and the rest go to
a new one. This side never touches a decoder: it must not import what a child runs (ADR 0013).
"""

import logging
import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import Generic, NamedTuple, TypeVar

from msgspec import DecodeError, Struct, json, structs

BATCH_MAX = 64  # jobs of one child
PIXELS_MAX = 4096 * 4096  # of one picture

SIZE_S_MAX = 600
"""What a job may have more by the size of its files, seconds; the largest segment has 512."""

BUSY = 4
"""How many times its processor time a job may take by the clock: machines are busy."""

_START_S_MAX = 30  # what starting the child may add, on a busy machine
_ROOT = Path(__file__).resolve().parents[2]
_PROGRAM = (
    "import sys; sys.path.insert(0, sys.argv[1]);"
    " from replay.footage.confined import confine, greet; greet(confine(sys.argv[2]));"
    " from replay.footage.{} import main; main()"
)

J = TypeVar("J")
A = TypeVar("A")


class Limits(Struct, frozen=True):
    """What one child may use before it is ended."""

    memory_bytes: int = 2 << 30  # address space, its libraries (about half a GiB) included
    cpu_s: int = 120  # over all its jobs, and what these have by their size
    job_s: int = 15  # processor time of one job, and what it has by its size; see `BUSY`
    file_bytes: int = 0  # of one file that it writes
    bytes_a_s: int = 16 << 20  # of what a job reads: a second more for each so many octets


class Timed(NamedTuple, Generic[J]):
    """A job, and how long it may take."""

    seconds: int
    job: J


class Confined(Struct, frozen=True):
    """How far a child is confined, as it says itself before its first answer."""

    network: bool  # whether it still has one: the system gave it no namespace of its own
    refused: tuple[str, ...] = ()  # limits that the system did not take


LIMITS = Limits()
LOG = logging.getLogger("round_ledger.footage")


def answered(
    program: str,
    jobs: Sequence[J],
    kind: type[A],
    failed: Callable[[str], A],
    limits: Limits,
    reads: Callable[[J], Iterable[str]],
) -> list[A]:
    """One answer a job, in order, in bounded time whatever the files hold.

    program: the module of `replay.footage` whose `main` answers; failed: makes the answer to a job
    on which a child ended, from how it ended; reads: the files that a job reads from end to end.
    """
    answers: list[A] = []
    while len(answers) < len(jobs):
        batch = [
            Timed(limits.job_s + _size_s(reads(job), limits), job)
            for job in jobs[len(answers) : len(answers) + BATCH_MAX]
        ]
        done, ended, confined = _run(program, batch, kind, limits)
        if confined:
            _tell(confined)
        answers += done
        if len(done) < len(batch):
            answers.append(failed(ended))
    return answers


def confinement() -> Confined | None:
    """How far children are confined here; None where none can be started."""
    return _run("reader", (), object, LIMITS)[2]


def _size_s(paths: Iterable[str], limits: Limits) -> int:
    """What a job may take longer because of the size of its files, seconds."""
    octets = 0
    for path in paths:
        with suppress(OSError):  # the child says what is wrong with it
            octets += Path(path).stat().st_size
    return min(octets // limits.bytes_a_s, SIZE_S_MAX)


@cache
def _tell(confined: Confined) -> None:
    """Say once a process what keeps footage in its place no more. Its lists of formats still do."""
    if confined.network:
        LOG.warning(
            "footage is read by a process that has a network: this system gives it no namespace "
            "without one; it opens local files only all the same"
        )
    if confined.refused:
        LOG.warning("footage is read without limits of: %s", ", ".join(confined.refused))


def _run(
    program: str, jobs: Sequence[Timed[J]], kind: type[A], limits: Limits
) -> tuple[list[A], str, Confined | None]:
    """The answers one child gave before it ended, how it ended, and how far it was confined."""
    jobs_s = sum(job.seconds for job in jobs)
    cpu_s = limits.cpu_s + jobs_s - limits.job_s * len(jobs)
    told = json.encode(structs.replace(limits, cpu_s=cpu_s)).decode()
    command = [sys.executable, "-I", "-c", _PROGRAM.format(program), str(_ROOT), told]
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
            out, _ = child.communicate(asked, timeout=_START_S_MAX + BUSY * jobs_s)
        except subprocess.TimeoutExpired:
            child.kill()
            out, _ = child.communicate()
        except BaseException:
            child.kill()
            raise
    first, _, rest = out.partition(b"\n")
    confined, answers = _lines(first + b"\n", Confined), _lines(rest, kind)
    ended = _how(child.returncode, jobs[len(answers)].seconds) if len(answers) < len(jobs) else ""
    return answers, ended, confined[0] if confined else None


def _how(code: int, seconds: int) -> str:
    """How a child ended on a job that had so many seconds."""
    took = {
        -signal.SIGALRM: f"{BUSY * seconds} s",
        -signal.SIGPROF: f"{seconds} s of processor time",
    }.get(code)
    if took:
        return f"was ended after {took} on it, the most that a file of its size may take"
    return f"was ended by signal {-code} on it" if code < 0 else "failed on it"


def _lines(told: bytes, kind: type[A]) -> list[A]:
    """The whole lines of a child's output; what it left half written is no answer."""
    answers = []
    for line in told.splitlines(keepends=True):
        if line.endswith(b"\n"):
            try:
                answers.append(json.decode(line, type=kind))
            except DecodeError:
                break
    return answers
