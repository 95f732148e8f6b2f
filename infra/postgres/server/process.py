"""The embedded server as a process: its pid file, its users, its locks, its stop.

Commands and the keeper share it. The keeper stays in memory, so this file imports nothing but the
standard library and our errors.
"""

from __future__ import annotations

import fcntl
import os
import signal
import time
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from ledger.errors import Unavailable

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from typing import IO

FOLDER = "postgres"
"""The server's data folder, in the home."""

START_S_MAX = 60.0
"""How long a start may take, including the wait for another process that starts or stops it."""

STOP_S_MAX = 30.0
"""How long a stop may take, seconds."""

_USERS = "postgres.users"  # each process that uses the server holds a shared lock on it
_LOCK = "postgres.lock"
_READY_LINES = 8
_POLL_S = 0.01


class Server(NamedTuple):
    """A living server, as its `postmaster.pid` describes it."""

    pid: int
    started: str  # in the kernel's words: a later process of the same number has another start
    port: str
    socket_folder: str
    ready: bool


def living(folder: Path) -> Server | None:
    """The living server of this data folder; None if its pid file names none."""
    try:
        lines = [line.strip() for line in (folder / "postmaster.pid").read_text().splitlines()]
        pid = int(lines[0])
    except (OSError, IndexError, ValueError):
        return None
    started = _start_of(pid)
    if started is None or not _works_in(pid, folder):
        return None
    port, socket_folder = (*lines[3:5], "", "")[:2]
    ready = len(lines) == _READY_LINES and lines[-1] == "ready"
    return Server(pid, started, port, socket_folder, ready)


def lives(server: Server) -> bool:
    """Whether this very process still lives, with or without a pid file."""
    return _start_of(server.pid) == server.started


def forget_dead_server(folder: Path) -> None:
    """Remove `postmaster.pid` if its process is not the living server of this folder.

    After a power cut, or in a restarted container, another process often has that number. The
    server would then count as running for ever.
    """
    path = folder / "postmaster.pid"
    with suppress(OSError, IndexError, ValueError):
        told = path.read_text().splitlines()
        if int(told[0]) and living(folder) is None:
            _forget_its_socket(told)
            path.unlink()


def _forget_its_socket(told: Sequence[str]) -> None:
    """Remove the socket lock named in a dead server's `postmaster.pid`.

    PostgreSQL takes a zombie process for a living holder of the lock.
    """
    with suppress(OSError, IndexError):
        lock = Path(told[4], f".s.PGSQL.{told[3]}.lock")
        if lock.read_text().split()[0] == told[0]:
            lock.unlink()


def _start_of(pid: int) -> str | None:
    """When a living PostgreSQL process started, in the kernel's words; None if it is not one."""
    if not Path("/proc/self/stat").exists():
        return _start_by_ps(pid)
    try:
        name, _, rest = Path(f"/proc/{pid}/stat").read_text().rpartition(") ")
    except OSError:
        return None
    fields = rest.split()  # the third field of the line is the first here
    return fields[19] if name.endswith("(postgres") and fields[0] not in "ZX" else None


def _start_by_ps(pid: int) -> str | None:
    import subprocess  # noqa: PLC0415 - needed without /proc only, and large

    told = subprocess.run(  # noqa: S603 - fixed program, a number as argument
        ["/bin/ps", "-o", "stat=,lstart=,comm=", "-p", str(pid)],
        capture_output=True,
        text=True,
        check=False,
    ).stdout.strip()
    return told.partition(" ")[2] if "postgres" in told and not told.startswith("Z") else None


def _works_in(pid: int, folder: Path) -> bool:
    """Whether the process works in this folder, as a server does in its data folder.

    A stale pid file may name the server of another home. True if the system does not say.
    """
    try:
        return Path(f"/proc/{pid}/cwd").samefile(folder)
    except OSError:
        return True


def stop(folder: Path, within_s: float = STOP_S_MAX) -> bool:
    """Stop the living server of this folder; whether none runs then.

    It ends open connections, writes everything to disk and ends, as `pg_ctl stop -m fast`.
    """
    forget_dead_server(folder)
    server = living(folder)
    return server is None or end(server, signal.SIGINT, within_s)


def end(server: Server, number: signal.Signals, within_s: float) -> bool:
    """Send the server a signal, and wait for its end; False if it does not end in time."""
    until = time.monotonic() + within_s
    with suppress(ProcessLookupError, PermissionError):
        if lives(server):
            os.kill(server.pid, number)
    while lives(server):
        if time.monotonic() > until:
            return False
        time.sleep(_POLL_S)
    return True


def is_used(users: IO[str]) -> bool:
    """Whether a process other than this one uses the server. Ask it under the start lock only."""
    try:
        fcntl.flock(users, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    fcntl.flock(users, fcntl.LOCK_UN)
    return False


def opened_users(home: Path) -> IO[str]:
    """The file of the users' lock."""
    return (home / _USERS).open("a")


def opened_start_lock(home: Path) -> IO[str]:
    """The file of the start lock, for `holding`."""
    return (home / _LOCK).open("a")


@contextmanager
def holding(start_lock: IO[str]) -> Iterator[None]:
    """Hold the lock under which one process at a time starts or stops the server.

    Raises `Unavailable` if another process keeps it.
    """
    until = time.monotonic() + START_S_MAX
    while True:
        with suppress(BlockingIOError):
            fcntl.flock(start_lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            break
        if time.monotonic() > until:
            raise Unavailable(
                f"Another process has started or stopped PostgreSQL for {START_S_MAX:.0f} s",
                where=start_lock.name,
                hint="End that process, then try again.",
            )
        time.sleep(_POLL_S)
    try:
        yield
    finally:
        fcntl.flock(start_lock, fcntl.LOCK_UN)
