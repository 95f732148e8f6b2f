"""The supervisor: one process for each home that keeps PostgreSQL and Kafka running.

It holds a file lock, which the kernel releases however it ends. It restarts servers that die, with
growing pauses, and stops them at its own end. If it is killed, the next supervisor ends the servers
that it left running.
"""

from __future__ import annotations

import fcntl
import os
import signal
import time
from contextlib import contextmanager, suppress
from functools import partial
from typing import TYPE_CHECKING

import msgspec

from infra.files import replace_file
from infra.services import brokers
from infra.services.brokers import Nodes, Programs
from infra.services.restarts import Keeper
from ledger.errors import Refused, Unavailable

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from contextlib import AbstractContextManager
    from pathlib import Path

    from infra.postgres.connection import Database

LOOK_S = 0.5
"""How often the supervisor checks its nodes and `stop`, seconds."""

LOG = "services.log"
"""The supervisor's log; each server logs in its own folder."""

_STATE = "services.json"
_LOCK = "services.lock"
_LOCK_TRIES = 20


class Running(msgspec.Struct, frozen=True):
    """The running services, as the supervisor stores them."""

    pid: int  # of the supervisor
    postgres: str  # server and database, no user and no password
    kafka: Nodes
    kafka_version: str
    java: str  # its version


def running(home: Path) -> Running | None:
    """The running services of this home; None if no supervisor runs, or it is still starting."""
    pid = _holder(home)
    try:
        told = msgspec.json.decode((home / _STATE).read_bytes(), type=Running)
    except (OSError, msgspec.DecodeError):
        return None
    return told if told.pid == pid else None  # else it is the state of a killed supervisor


def local_kafka(home: Path) -> str | None:
    """The bootstrap address of this home's Kafka; None if none runs."""
    found = running(home)
    return found.kafka.bootstrap if found else None


def supervise(
    home: Path,
    database: AbstractContextManager[Database],
    programs: Programs,
    *,
    count: int,
    version: str,
    stop: Callable[[], bool],
) -> None:
    """Keep `count` nodes of Kafka running until `stop` returns true, within `lock_home`.

    `database` is entered while the nodes start: each waits for processors, and none for the other.
    It keeps the server running. Raises `Unavailable` if Kafka fails.
    """
    folder = home / "kafka"
    nodes = brokers.planned(folder, count)
    brokers.prepare(folder, nodes, programs)
    kept = [
        Keeper(f"node {node.id}", partial(brokers.start, node, programs)) for node in nodes.nodes
    ]
    try:
        with database as opened:
            started = [each.process for each in kept]
            brokers.wait_ready(nodes.connection, started, brokers=count, log=folder)
            state = Running(os.getpid(), opened.where, nodes, version, programs.java.version)
            with _stated(home / _STATE, state):
                while not stop():
                    for each in kept:
                        each.look()
                    time.sleep(LOOK_S)
    finally:
        brokers.stop([each.process for each in kept])


def end(home: Path) -> bool:
    """Stop this home's services and what a killed supervisor left; False if nothing ran.

    Raises `Unavailable` if the supervisor does not end.
    """
    pid = _holder(home)
    if pid:
        with suppress(ProcessLookupError):
            os.kill(pid, signal.SIGTERM)
        until = time.monotonic() + 2 * brokers.STOP_S_MAX
        while _holder(home) == pid:
            if time.monotonic() > until:
                raise Unavailable(
                    f"The supervisor, process {pid}, does not stop",
                    where=str(home / LOG),
                    hint="Read its log; if necessary, kill the process by its number.",
                )
            time.sleep(0.05)
    return _end_strays(home / "kafka") or pid is not None


def _end_strays(folder: Path) -> bool:
    kept = folder / "nodes.json"
    if not kept.exists():
        return False
    nodes = msgspec.json.decode(kept.read_bytes(), type=Nodes)
    return brokers.end_strays(nodes.nodes)


@contextmanager
def lock_home(home: Path) -> Iterator[None]:
    """Hold the lock of this home's supervisor. Raises `Refused` if another process holds it."""
    home.mkdir(parents=True, exist_ok=True)
    (home / _LOCK).touch()
    with (home / _LOCK).open("r+") as lock:
        for tried in range(_LOCK_TRIES):  # a process that only checks holds it for an instant
            with suppress(BlockingIOError):
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
                break
            time.sleep(0.01 * tried)
        else:
            raise Refused(
                "The services of this home are already running or starting",
                where=str(home),
                hint="See `round-ledger services status`; stop them with `services down`.",
            )
        lock.truncate(0)
        lock.write(str(os.getpid()))
        lock.flush()
        yield


def _holder(home: Path) -> int | None:
    """The process id of the living supervisor; the check takes the lock for an instant."""
    try:
        with (home / _LOCK).open("r") as lock:
            try:
                fcntl.flock(lock, fcntl.LOCK_SH | fcntl.LOCK_NB)
            except BlockingIOError:
                return int(lock.read() or 0) or None
    except (OSError, ValueError):
        return None
    return None


@contextmanager
def _stated(path: Path, state: Running) -> Iterator[None]:
    """Say in a file what runs, until the block ends."""
    replace_file(path, msgspec.json.encode(state))
    try:
        yield
    finally:
        path.unlink(missing_ok=True)
