"""The workers of a server: started, started again when one ends, and stopped with the server.

A thread for each worker reads what it sends. The end of its channel is the end of the worker.
"""

from __future__ import annotations

import queue
import socket
import subprocess
import sys
import threading
import time
from contextlib import closing, suppress
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple, Self

import msgspec

import replay
from replay.shell.logs import LOG
from replay.web.access.quotas import QUOTA, Quota
from replay.web.workers.channel import ASK, CONNECTION, FIGURES, TASK, Channel, ChannelMessage, pair
from replay.web.workers.task import Task

if TYPE_CHECKING:
    from collections.abc import Callable

    from infra.postgres.connection import Database

    Handed = Callable[[socket.socket, bytes], None]

PROCESSES_MAX = 16
"""The most processes of one server."""

PAUSE_S_MIN, PAUSE_S_MAX = 0.5, 30.0
"""The first and the longest pause before a worker is started again; each doubles the last."""

WELL_S = 60.0
"""How long a worker must run before its pauses start at the first again, seconds."""

END_S_MAX = 50.0
"""Seconds that a stopped worker may take to end: its requests, then its last commit."""

FIGURES_S_MAX = 2.0
"""Seconds that a worker may take to send its metrics; they are left out after that."""

_PROGRAM = """
import sys
root, *files = sys.argv[1:]
sys.path.insert(0, root)
from replay.web.workers.worker import main
main(*map(int, files))
"""


def _closed(connection: socket.socket, octets: bytes) -> None:
    """Close a connection that nobody answers."""
    del octets
    connection.close()


class Place(NamedTuple):
    """What all workers of a server share."""

    database: Database
    hosts: list[str]
    listener: socket.socket
    quota: Quota = QUOTA
    secure: bool = False  # clients reach the server over TLS


class Workers:
    """The workers of a server. Leaving the block ends them."""

    def __init__(self, count: int, place: Place) -> None:
        self._all = [_Worker(number, place) for number in range(1, count + 1)]
        self._asking = threading.Lock()

    def start(self, handed: Handed) -> None:
        """Start every worker. handed: takes a connection that one hands over."""
        for each in self._all:
            each.start(handed)

    def stop(self) -> None:
        """Let every worker finish what it has; returns at once."""
        for each in self._all:
            each.stop()

    @property
    def running(self) -> int:
        """How many run now."""
        return sum(each.runs for each in self._all)

    @property
    def restarts(self) -> int:
        """How often one was started again."""
        return sum(each.restarts for each in self._all)

    def pages(self) -> dict[int, bytes]:
        """The metrics of each worker by its number; none of one that does not answer."""
        with self._asking:
            asked = [each for each in self._all if each.ask()]
            told = ((each.number, each.figures()) for each in asked)
            return {number: page for number, page in told if page is not None}

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()
        until = time.monotonic() + END_S_MAX
        for each in self._all:
            each.await_end(until)


class _Worker:
    """One worker, kept running by a thread."""

    def __init__(self, number: int, place: Place) -> None:
        self.number = number
        self.restarts = 0
        self._place = place
        self._stopping = threading.Event()
        self._changing = threading.Lock()  # the process and its channel, which come and go together
        self._process: subprocess.Popen[bytes] | None = None
        self._channel: Channel | None = None
        self._pages: queue.SimpleQueue[bytes] = queue.SimpleQueue()
        self._owes = False  # metrics it was asked for
        self._thread = threading.Thread(target=self._keep, name=f"worker {number}", daemon=True)
        self._handed: Handed = _closed

    @property
    def runs(self) -> bool:
        """Whether it runs now."""
        return self._channel is not None

    def start(self, handed: Handed) -> None:
        self._handed = handed
        self._thread.start()

    def stop(self) -> None:
        """Ask it to finish, and do not start it again."""
        with self._changing:
            self._stopping.set()
            if self._channel is not None:
                with suppress(OSError):  # it has just ended
                    self._channel.finish()

    def await_end(self, until: float) -> None:
        """Return when it has ended; at this time it is killed."""
        if not self._thread.is_alive():
            return
        self._thread.join(max(until - time.monotonic(), 0))
        if self._thread.is_alive() and self._process is not None:
            self._process.kill()
            self._thread.join()

    def ask(self) -> bool:
        """Ask for its metrics, unless an answer is still due; whether it runs."""
        while not self._pages.empty():  # an answer that came too late
            self._pages.get()
        with self._changing, suppress(OSError):
            if self._channel is not None:
                if not self._owes:
                    self._owes = True
                    self._channel.send(ASK)
                return True
        return False

    def figures(self) -> bytes | None:
        """The metrics it was asked for; None if they do not come."""
        with suppress(queue.Empty):
            return self._pages.get(timeout=FIGURES_S_MAX)
        return None

    def _keep(self) -> None:
        """Run it, and again after a pause when it ends, until it is stopped."""
        pause_s = 0.0
        while not self._stopping.is_set():
            began = time.monotonic()
            code = self._run()
            if self._stopping.is_set():
                return
            well = time.monotonic() - began >= WELL_S
            pause_s = min(max(0.0 if well else 2 * pause_s, PAUSE_S_MIN), PAUSE_S_MAX)
            figures = {"worker": self.number, "code": code, "again_in_s": pause_s}
            LOG.error("a worker ended", extra={"figures": figures})
            if not self._stopping.wait(pause_s):
                self.restarts += 1

    def _run(self) -> int | None:
        """Run it to its end; returns its exit code, None if it cannot be started."""
        ours, theirs = pair()
        with closing(ours):
            try:
                process = self._process = self._started(theirs)
            except (OSError, ValueError):  # no process is left, or the server has just stopped
                return None
            finally:
                theirs.close()
            self._opened(ours)
            try:
                while (message := ours.receive()) is not None:
                    self._take(message)
            finally:
                self._opened(None)
            return process.wait()

    def _started(self, channel: Channel) -> subprocess.Popen[bytes]:
        files = (self._place.listener.fileno(), channel.fileno())
        root = Path(replay.__file__).parents[1]
        return subprocess.Popen(  # noqa: S603 - this program with fixed arguments
            [sys.executable, "-P", "-c", _PROGRAM, str(root), *map(str, files)],
            stdin=subprocess.DEVNULL,
            pass_fds=files,
        )

    def _opened(self, channel: Channel | None) -> None:
        """Send its task over its new channel; None: it has ended."""
        with self._changing:
            self._channel, self._owes = channel, False
            if channel is None:
                return
            place = self._place
            urls = place.database.url, place.database.owner_url
            task = Task(self.number, *urls, place.hosts, place.quota, place.secure)
            with suppress(OSError):  # it has ended already
                channel.send(TASK, msgspec.json.encode(task))
                if self._stopping.is_set():
                    channel.finish()

    def _take(self, message: ChannelMessage) -> None:
        """A connection goes to the server, metrics to the thread that asked."""
        if message.kind == CONNECTION and message.fd is not None:
            self._handed(socket.socket(fileno=message.fd), message.octets)
        elif message.kind == FIGURES:
            self._pages.put(message.octets)
            self._owes = False
