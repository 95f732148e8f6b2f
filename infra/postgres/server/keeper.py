"""The keeper: a process that stops a server which stayed unused for long enough (ADR 0182).

The last command that leaves a server starts it (`infra.postgres.server.embedded`). There is one for
each home: it holds a lock from before its start to its end. It imports little, because it stays.
"""

from __future__ import annotations

import fcntl
import os
import signal
import sys
import time
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from infra.postgres.server.process import (
    FOLDER,
    STOP_S_MAX,
    Server,
    end,
    holding,
    is_used,
    lives,
    living,
    opened_start_lock,
    opened_users,
)
from ledger.errors import Unavailable

if TYPE_CHECKING:
    from typing import IO

FILE = "postgres.keeper"
"""Its lock, in the home. The content is how long the server stays after the last command, seconds.

The time of its last change is the end of that command.
"""

LOOK_S = 1.0
"""How often the keeper looks at its home, seconds."""


class Files(NamedTuple):
    """The keeper's files, open from before its start: they stay those of its home if that moves."""

    lock: IO[str]  # of `FILE`, held
    start_lock: IO[str]
    users: IO[str]

    def close(self) -> None:
        """Close all; the keeper's lock is released."""
        for file in self:
            file.close()


class ServerKeeper:
    """What the keeper of one home knows."""

    def __init__(self, home: Path, files: Files, server: Server | None) -> None:
        self.home = home
        self.files = files
        self.server = server
        self.asked = False  # by a signal, to end
        self._changed_ns = -1
        self._until = 0.0

    def ask(self, *_: object) -> None:
        """End at the next look: the handler of signals."""
        self.asked = True

    def look(self) -> bool:
        """Do what is due; True once there is nothing left to keep, and the lock is released."""
        here = living(self.home / FOLDER)
        if self._is_home() and self._keeps(here) and not self._is_due():
            return False
        with suppress(Unavailable), holding(self.files.start_lock):
            if self._settle():
                self.files.lock.close()  # a command that leaves now starts the next keeper
                return True
        return False

    def _settle(self) -> bool:
        """Under the start lock: end what nobody uses and is due; True if no server is left here.

        A server whose home was moved or replaced is killed. Its last checkpoint, and the removal of
        its socket, would go to the path of the home, so into the files of a new one.
        """
        if is_used(self.files.users):
            return self.asked
        here = living(self.home / FOLDER)
        here = here if self._is_home() else None  # asked last: a server of a new home is not ours
        if self.server and not self._keeps(here) and lives(self.server):
            end(self.server, signal.SIGKILL, STOP_S_MAX)
        self.server = here
        if here and self._is_due():
            end(here, signal.SIGINT, STOP_S_MAX)
            here = None
        return here is None

    def _keeps(self, server: Server | None) -> bool:
        """Whether it is the server that this keeper knows."""
        known = self.server
        return bool(known and server and (known.pid, known.started) == (server.pid, server.started))

    def _is_home(self) -> bool:
        """Whether the path of the home still names the home that this keeper is for."""
        with suppress(OSError):
            ours, named = os.fstat(self.files.lock.fileno()), (self.home / FILE).stat()
            return os.path.samestat(ours, named)
        return False

    def _is_due(self) -> bool:
        """Whether the server has stayed for long enough since the last command's end."""
        changed_ns = os.fstat(self.files.lock.fileno()).st_mtime_ns
        if changed_ns != self._changed_ns:  # a clock that is set later changes nothing
            self._changed_ns = changed_ns
            self._until = time.monotonic() + stays_s(self.files.lock)
        return self.asked or time.monotonic() >= self._until


def stays_s(lock: IO[str]) -> int:
    """The seconds in the keeper's file; 0 if there are none."""
    with suppress(ValueError):
        return int(os.pread(lock.fileno(), 32, 0))
    return 0


def stays_until_us(lock: IO[str]) -> int:
    """Until when the server stays, microseconds since the epoch by this machine's clock."""
    ended_us = os.fstat(lock.fileno()).st_mtime_ns // 1000
    return ended_us + stays_s(lock) * 1_000_000


def let_stay(lock: IO[str], seconds: int) -> None:
    """Write the seconds, which counts as the end of the last command."""
    os.pwrite(lock.fileno(), f"{seconds:<10}\n".encode(), 0)


def opened_files(home: Path) -> Files:
    """The keeper's files, opened again, so that no lock of this process is on them."""
    return Files(opened_keeper_file(home), opened_start_lock(home), opened_users(home))


def opened_keeper_file(home: Path) -> IO[str]:
    """The keeper's file, opened to lock, read and write."""
    (home / FILE).touch()
    return (home / FILE).open("r+")


def is_kept(lock: IO[str]) -> bool:
    """Whether a keeper runs; else this process holds the keeper's lock now."""
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    return False


def arguments(home: Path, server: Server, files: Files) -> list[str]:
    """The arguments of the keeper's process, which inherits the files."""
    return [str(home), str(server.pid), server.started, *(str(each.fileno()) for each in files)]


def main(look_s: float = LOOK_S) -> None:
    """Keep the server of a home, until none is left. The arguments are those of `arguments`."""
    home, pid, started, *opened = sys.argv[1:]
    files = Files(*(os.fdopen(int(number), "r+") for number in opened))
    server = Server(int(pid), started, port="", socket_folder="", ready=True)
    keeper = ServerKeeper(Path(home), files, server)
    signal.signal(signal.SIGTERM, keeper.ask)
    signal.signal(signal.SIGINT, keeper.ask)
    while not keeper.look():
        time.sleep(look_s)
