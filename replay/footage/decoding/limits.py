"""Runs footage jobs in child processes, which may fail, hang or be killed without harm.

One child answers many jobs. A job on which a child dies is answered as failed, and the rest go to a
new child. This side never uses a decoder: it must not import what a child runs (ADR 0013).
"""

import logging
import os
import select
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import Generic, NamedTuple, TypeVar

from msgspec import DecodeError, Struct, json, structs

from ledger.errors import Lacking
from replay.footage.decoding.files import GivenFile, close, give

BATCH_MAX = 64  # most jobs of one child
FILES_MAX = 256  # most files of one child, unless a job has more
PIXELS_MAX = 4096 * 4096  # most pixels of one picture

SIZE_S_MAX = 600
"""The most additional seconds for a job by the size of its files; the largest segment has 512."""

BUSY = 4
"""A job may take this many times its processor time in real time, since machines are busy."""

_START_S_MAX = 30  # seconds that starting a child may take on a busy machine
_END_S_MAX = 5  # seconds that a finished child may take to end
_PIECE = 1 << 20
_ROOT = Path(__file__).resolve().parents[3]
_PROGRAM = (
    "import sys; sys.path.insert(0, sys.argv[1]);"
    " from replay.footage.decoding.sandbox import confine; confined = confine(sys.argv[2]);"
    " from replay.footage.{} import main; main(confined)"
)

J = TypeVar("J")
A = TypeVar("A")


class Limits(Struct, frozen=True):
    """What one child may use before it is killed."""

    memory_bytes: int = 2 << 30  # address space, its libraries (about half a GiB) included
    cpu_s: int = 120  # over all its jobs, plus their seconds by size
    job_s: int = 15  # processor time of one job, plus its seconds by size; see `BUSY`
    file_bytes: int = 0  # most bytes of a file that it writes
    bytes_a_s: int = 16 << 20  # a job gets one second more for each so many bytes it reads


class TimedJob(NamedTuple, Generic[J]):
    """A job, and the seconds it may take."""

    seconds: int
    job: J


class Confined(Struct, frozen=True):
    """How a child is confined, as it reports before its first answer."""

    network: bool  # whether it may still reach a network
    refused: tuple[str, ...] = ()  # limits that the system refused
    opens: bool = True  # whether it may still open files and start programs
    landlock: bool = False  # whether Landlock refuses that as well as the filter of calls


LIMITS = Limits()
LOG = logging.getLogger("round_ledger.footage")


def in_turn(
    program: str,
    jobs: Sequence[J],
    kind: type[A],
    failed: Callable[[str], A],
    limits: Limits,
    reads: Callable[[J], Iterable[str]],
    writes: Callable[[J], Iterable[str]] = lambda _job: (),
) -> Iterator[A]:
    """An answer for each job, in order, in bounded time; only one answer is in memory.

    program: the module of `replay.footage` whose `main` answers. failed: makes the answer for a job
    on which a child ended, from how it ended. reads, writes: the files that a job reads completely
    and the new files that it writes. They are opened here, since a child may open none.
    Raises Lacking if a child may reach more than its files, and the settings refuse that.
    """
    at = 0
    while at < len(jobs):
        batch = _batch(jobs[at : at + BATCH_MAX], reads)
        files = give((path for job in batch for path in reads(job)),
                     (path for job in batch for path in writes(job)))  # fmt: skip
        try:
            timed = [
                TimedJob(limits.job_s + _size_s(reads(job), files, limits), job) for job in batch
            ]
            done = 0
            with _started(program, timed, files, limits) as child:
                lines = _lines(child, _START_S_MAX + BUSY * sum(job.seconds for job in timed))
                confined = _read(next(lines, b""), Confined)
                if confined:
                    accept(confined)
                while done < len(batch) and (answer := _read(next(lines, b""), kind)):
                    yield answer
                    done += 1
                code = _ended(child)
        finally:
            close(files)
        if done < len(batch):
            yield failed(_how(code, timed[done].seconds))
            done += 1
        at += done


def confinement() -> Confined | None:
    """How children are confined here; None if none can be started."""
    with _started("decoding.reader", (), {}, LIMITS) as child:
        return _read(next(_lines(child, _START_S_MAX), b""), Confined)


def _batch(jobs: Sequence[J], reads: Callable[[J], Iterable[str]]) -> Sequence[J]:
    """The first of these jobs, at least one, whose files may be open together."""
    count, files = 0, 0
    for job in jobs:
        files += len({*reads(job)}) + 1
        if count and files > FILES_MAX:
            break
        count += 1
    return jobs[:count]


def _size_s(paths: Iterable[str], files: Mapping[str, GivenFile], limits: Limits) -> int:
    """The additional seconds of a job by the size of its files."""
    octets = sum(files[path].octets for path in paths)
    return min(octets // limits.bytes_a_s, SIZE_S_MAX)


def accept(confined: Confined) -> None:
    """Accept how a child is confined, or raise Lacking."""
    from replay.shell.settings import in_force  # noqa: PLC0415 - a child loads this file too

    _tell(confined)
    if confined.opens and in_force().unconfined_footage == "refuse":
        raise Lacking(
            "footage is not read here: the process that reads it could open other files",
            where="ROUND_LEDGER_UNCONFINED_FOOTAGE=refuse",
            hint="Read it on Linux, on x86-64 or ARM64, where filters of system calls are allowed.",
        )


@cache
def _tell(confined: Confined) -> None:
    """Log once per process which confinement is missing. The lists of formats still hold."""
    if confined.opens:
        LOG.warning(
            "footage is read by a process that could open other files: the system filters no"
            " system calls"
        )
    if confined.network:
        LOG.warning(
            "footage is read by a process with a network: the system grants no network namespace"
        )
    if confined.refused:
        LOG.warning("footage is read without limits of: %s", ", ".join(confined.refused))


@contextmanager
def _started(
    program: str, jobs: Sequence[TimedJob[J]], files: Mapping[str, GivenFile], limits: Limits
) -> Iterator[subprocess.Popen[bytes]]:
    """A child that runs these jobs on these files and ends with the block."""
    cpu_s = limits.cpu_s + sum(job.seconds for job in jobs) - limits.job_s * len(jobs)
    given = [each.descriptor for each in files.values() if each.problem is None]
    lines = map(json.encode, (files, *jobs))
    with started(program, lines, given, structs.replace(limits, cpu_s=cpu_s)) as child:
        yield child


@contextmanager
def started(
    program: str, lines: Iterable[bytes], given: Sequence[int], limits: Limits
) -> Iterator[subprocess.Popen[bytes]]:
    """A child that reads these lines, has these descriptors open, and ends with the block.

    Its lines are in a file, because a full pipe would block both sides. It writes no bytecode: the
    limit of a file's size would cut it, and no later process could import that module.
    """
    told = json.encode(limits).decode()
    command = [sys.executable, "-I", "-B", "-c", _PROGRAM.format(program), str(_ROOT), told]
    environment = {"OPENBLAS_NUM_THREADS": "1", "OPENCV_LOG_LEVEL": "OFF", "PATH": os.defpath}
    with tempfile.TemporaryFile() as asked:
        asked.writelines(line + b"\n" for line in lines)
        asked.seek(0)
        with subprocess.Popen(  # noqa: S603 - this interpreter and program; paths go to stdin
            command,
            stdin=asked,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env=environment,
            cwd="/",
            pass_fds=given,
        ) as child:
            try:
                yield child
            finally:
                child.kill()


def _lines(child: subprocess.Popen[bytes], wait_s: float) -> Iterator[bytes]:
    """The complete lines of a child's output, until it ends or the total wait is over.

    An unfinished line is ignored.
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
    """The parsed line; None if it is not of this kind."""
    try:
        return json.decode(line, type=kind)
    except DecodeError:
        return None


def _ended(child: subprocess.Popen[bytes]) -> int:
    """The exit code of a finished child; it is killed if it does not end."""
    try:
        return child.wait(_END_S_MAX)
    except subprocess.TimeoutExpired:
        child.kill()
        return child.wait()


def _how(code: int, seconds: int) -> str:
    """How a child ended on a job with a limit of seconds."""
    took = {
        -signal.SIGALRM: f"{BUSY * seconds} s",
        -signal.SIGPROF: f"{seconds} s of processor time",
    }.get(code)
    if took:
        return f"was stopped after {took}, the most that a file of its size may take"
    return f"was stopped by signal {-code}" if code < 0 else "failed"
