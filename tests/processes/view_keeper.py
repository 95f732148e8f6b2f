"""Views kept up from Kafka by a process that may be killed, while facts arrive and go out.

`begun_anew` is what every view should be then: as it is straight from the tape, read at once.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from consumers.registry import VIEWS
from consumers.runtime.lifecycle import catch_up
from infra.postgres.tape import PostgresTape
from infra.postgres.view_tables import tape_source
from ledger.errors import Unavailable
from tests.scenes.feed_faults import everything
from tests.until import until

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from infra.kafka.clients import Connection
    from infra.postgres.connection import Database
    from ledger.record.tape import Received
    from tests.fixtures.kafka import Relays

ROOT = Path(__file__).parents[2]


class Keeper:
    """The process, and what it has said so far, line by line; a traceback too."""

    def __init__(self, process: subprocess.Popen[str]) -> None:
        self.process = process
        self.said: list[str] = []
        self._hearing = threading.Thread(target=self._hear)
        self._hearing.start()

    def _hear(self) -> None:
        assert self.process.stdout
        self.said.extend(line.rstrip() for line in self.process.stdout)

    def count(self, word: str) -> int:
        """How many lines begin so."""
        return sum(1 for line in list(self.said) if line.startswith(word))

    def says(self, word: str, times: int = 1) -> None:
        """Return once it has said this so often."""
        until(lambda: self.count(word) >= times or not self._hearing.is_alive())
        assert self.count(word) >= times, self.said[-20:]

    def has_stopped(self) -> None:
        """Return once it has stopped itself by a signal."""
        asked = os.WSTOPPED | os.WEXITED | os.WNOWAIT | os.WNOHANG
        until(lambda: os.waitid(os.P_PID, self.process.pid, asked) is not None)
        told = os.waitid(os.P_PID, self.process.pid, asked)
        assert told
        assert told.si_code == os.CLD_STOPPED, self.said[-20:]

    def stop(self) -> str:
        """Ask it to end; the last it says."""
        self.process.terminate()
        self.process.wait(60)
        self._hearing.join()
        return self.said[-1]

    def end(self) -> None:
        """Kill it, whatever it does."""
        self.process.send_signal(signal.SIGCONT)
        self.process.kill()
        self.process.wait()
        self._hearing.join()


@contextmanager
def view_process(database: Database, kafka: Connection, mode: str = "right") -> Iterator[Keeper]:
    """A process that keeps every view up; see `tests.processes.feed_process` for its modes."""
    command = [sys.executable, "-m", "tests.processes.feed_process", database.url]
    with subprocess.Popen(
        [*command, kafka.bootstrap, kafka.topic_prefix, mode],
        cwd=ROOT,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    ) as process:
        running = Keeper(process)
        try:
            running.says("up")
            yield running
        finally:
            running.end()


@contextmanager
def arriving(database: Database, facts: Sequence[Received]) -> Iterator[None]:
    """Facts put on record little by little, and again where the database did not answer."""
    done = threading.Event()

    def append() -> None:
        with PostgresTape(database) as tape:
            at = 0
            while at < len(facts) and not done.wait(0.02):
                try:
                    tape.append(facts[at : at + 25])
                except Unavailable:
                    continue
                at += 25

    thread = threading.Thread(target=append)
    thread.start()
    try:
        yield
    finally:
        done.set()
        thread.join()


@contextmanager
def kept_up(commands: Relays) -> Iterator[list[int]]:
    """The relay's command, started again whenever it ends, as a supervisor does; how it ended."""
    ended: list[int] = []
    done = threading.Event()

    def run() -> None:
        while not done.is_set():
            with commands.start() as process:
                while process.poll() is None and not done.wait(0.05):
                    pass
                process.terminate()
                process.communicate(timeout=120)
                ended.append(process.returncode)

    thread = threading.Thread(target=run)
    thread.start()
    try:
        yield ended
    finally:
        done.set()
        thread.join()


def positions(database: Database) -> tuple[int, int]:
    """How far the last of all views is, and the first."""
    with database.connect("ledger_reader") as connection:
        row = connection.execute("SELECT min(position), max(position) FROM views.tracking")
        low, high = row.fetchone() or (0, 0)
    return low, high


def emptied(database: Database) -> None:
    """Leave every view as it was before the first fact."""
    with database.connect("ledger_owner") as connection:
        for each in VIEWS:
            for table in each.tables:
                connection.execute(f"TRUNCATE views.{table.name}".encode())
        connection.execute("UPDATE views.tracking SET position = 0")


def begun_anew(database: Database) -> dict[str, bytes]:
    """Every view straight from the tape, from the first fact on."""
    emptied(database)
    with tape_source(database) as source:
        catch_up(database, source, VIEWS)
    return everything(database)
