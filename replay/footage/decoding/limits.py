"""Has footage handled in processes of their own, which may fail, hang or be killed without harm.

One child answers many jobs; the job on which a child dies is answered as failed and the rest go to
a new one. This side never touches a decoder: it must not import what a child runs (ADR 0013).
"""

import logging
import os
import select
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
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
_END_S_MAX = 5  # what a child may take to end that has said what it had to say
_PIECE = 1 << 20
_ROOT = Path(__file__).resolve().parents[3]
_PROGRAM = (
    "import sys; sys.path.insert(0, sys.argv[1]);"
    " from replay.footage.decoding.sandbox import confine, greet; greet(confine(sys.argv[2]));"
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


class TimedJob(NamedTuple, Generic[J]):
    """A job, and how long it may take."""

    seconds: int
    job: J


class Confined(Struct, frozen=True):
    """How far a child is confined, as it says itself before its first answer."""

    network: bool  # whether it still has one: the system gave it no namespace of its own
    refused: tuple[str, ...] = ()  # limits that the system did not take


LIMITS = Limits()
LOG = logging.getLogger("round_ledger.footage")


def in_turn(
    program: str,
    jobs: Sequence[J],
    kind: type[A],
    failed: Callable[[str], A],
    limits: Limits,
    reads: Callable[[J], Iterable[str]],
) -> Iterator[A]:
    """One answer a job, in order, in bounded time whatever the files hold; no other is held here.

    program: the module of `replay.footage` whose `main` answers; failed: makes the answer to a job
    on which a child ended, from how it ended; reads: the files that a job reads from end to end.
    """
    at = 0
    while at < len(jobs):
        batch = [
            TimedJob(limits.job_s + _size_s(reads(job), limits), job)
            for job in jobs[at : at + BATCH_MAX]
        ]
        done = 0
        with _started(program, batch, limits) as child:
            lines = _lines(child, _START_S_MAX + BUSY * sum(job.seconds for job in batch))
            confined = _read(next(lines, b""), Confined)
            if confined:
                _tell(confined)
            while done < len(batch) and (answer := _read(next(lines, b""), kind)):
                yield answer
                done += 1
            code = _ended(child)
        if done < len(batch):
            yield failed(_how(code, batch[done].seconds))
            done += 1
        at += done


def confinement() -> Confined | None:
    """How far children are confined here; None where none can be started."""
    with _started("decoding.reader", (), LIMITS) as child:
        return _read(next(_lines(child, _START_S_MAX), b""), Confined)


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


@contextmanager
def _started(
    program: str, jobs: Sequence[TimedJob[J]], limits: Limits
) -> Iterator[subprocess.Popen[bytes]]:
    """A child at work on these jobs, which does not outlive this.

    Its jobs lie in a file: where a pipe were too small for them, both sides would wait.
    """
    cpu_s = limits.cpu_s + sum(job.seconds for job in jobs) - limits.job_s * len(jobs)
    told = json.encode(structs.replace(limits, cpu_s=cpu_s)).decode()
    command = [sys.executable, "-I", "-c", _PROGRAM.format(program), str(_ROOT), told]
    environment = {"OPENBLAS_NUM_THREADS": "1", "OPENCV_LOG_LEVEL": "OFF", "PATH": os.defpath}
    with tempfile.TemporaryFile() as asked:
        asked.writelines(json.encode(job) + b"\n" for job in jobs)
        asked.seek(0)
        with subprocess.Popen(  # noqa: S603 - our own interpreter and program; paths go by stdin
            command,
            stdin=asked,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env=environment,
            cwd="/",
        ) as child:
            try:
                yield child
            finally:
                child.kill()


def _lines(child: subprocess.Popen[bytes], wait_s: float) -> Iterator[bytes]:
    """The whole lines of a child's output, until it ends or was waited for so long in all.

    What it left half written is no line.
    """
    if child.stdout is None:
        return
    pieces: list[bytes] = []
    while True:
        began = time.monotonic()
        ready, _, _ = select.select([child.stdout], [], [], wait_s)
        wait_s = max(wait_s - (time.monotonic() - began), 0.0)
        octets = os.read(child.stdout.fileno(), _PIECE) if ready else b""
        if not octets:
            return
        *ends, rest = octets.split(b"\n")
        for each in ends:
            yield b"".join([*pieces, each])
            pieces = []
        pieces.append(rest)


def _read(line: bytes, kind: type[A]) -> A | None:
    """What a line says; None where it says nothing of the kind."""
    try:
        return json.decode(line, type=kind)
    except DecodeError:
        return None


def _ended(child: subprocess.Popen[bytes]) -> int:
    """The code with which a child ends that has said what it had to say; killed where it stays."""
    try:
        return child.wait(_END_S_MAX)
    except subprocess.TimeoutExpired:
        child.kill()
        return child.wait()


def _how(code: int, seconds: int) -> str:
    """How a child ended on a job that had so many seconds."""
    took = {
        -signal.SIGALRM: f"{BUSY * seconds} s",
        -signal.SIGPROF: f"{seconds} s of processor time",
    }.get(code)
    if took:
        return f"was ended after {took} on it, the most that a file of its size may take"
    return f"was ended by signal {-code} on it" if code < 0 else "failed on it"
