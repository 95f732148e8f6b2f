"""The one process a home that keeps PostgreSQL and Kafka running, and what it tells of itself.

It holds a file lock that the kernel lets go of however it ends, starts again what dies, ever later
where it keeps dying, and stops both when it is told to. What it leaves behind when it is killed the
next one finds and ends.
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

from infra.services import brokers
from infra.services.brokers import Nodes, Programs
from infra.services.restarts import Keeper
from ledger.errors import Refused, Unavailable

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from infra.postgres.connection import Database

LOOK_S = 0.5
"""How often the supervisor looks after its nodes, and whether to stop, seconds."""

LOG = "services.log"
"""What the supervisor says, beside what every server logs in its own folder."""

_STATE = "services.json"
_LOCK = "services.lock"
_LOCK_TRIES = 20


class Running(msgspec.Struct, frozen=True):
    """What runs where."""

    pid: int  # of the supervisor
    postgres: str  # server and database, no user and no password
    kafka: Nodes
    kafka_version: str
    java: str  # its version


def running(home: Path) -> Running | None:
    """What the supervisor of this home keeps running; None where there is none, or not yet."""
    pid = _holder(home)
    try:
        told = msgspec.json.decode((home / _STATE).read_bytes(), type=Running)
    except (OSError, msgspec.DecodeError):
        return None
    return told if told.pid == pid else None  # another one's: that of a killed supervisor


def local_kafka(home: Path) -> str | None:
    """The bootstrap address of the Kafka that runs under this home, if one does."""
    found = running(home)
    return found.kafka.bootstrap if found else None


def supervise(
    home: Path,
    database: Database,
    programs: Programs,
    *,
    count: int,
    version: str,
    stop: Callable[[], bool],
) -> None:
    """Keep `count` nodes of Kafka running until told to stop, within `lock_home`.

    The database is the caller's. Raises `Unavailable` where Kafka fails.
    """
    folder = home / "kafka"
    nodes = brokers.planned(folder, count)
    brokers.prepare(folder, nodes, programs)
    kept = [
        Keeper(f"node {node.id}", partial(brokers.start, node, programs)) for node in nodes.nodes
    ]
    try:
        started = [each.process for each in kept]
        brokers.wait_ready(nodes.connection, started, brokers=count, log=folder)
        state = Running(os.getpid(), database.where, nodes, version, programs.java.version)
        _write(home / _STATE, msgspec.json.encode(state))
        while not stop():
            for each in kept:
                each.look()
            time.sleep(LOOK_S)
    finally:
        (home / _STATE).unlink(missing_ok=True)
        brokers.stop([each.process for each in kept])


def end(home: Path) -> bool:
    """Stop what runs under this home, and what a killed supervisor left; False: nothing did.

    Raises `Unavailable` where it does not end.
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
                    hint="Read its log; end the process by its number if need be.",
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
    """Be the supervisor of this home. Raises `Refused` where there is one."""
    home.mkdir(parents=True, exist_ok=True)
    (home / _LOCK).touch()
    with (home / _LOCK).open("r+") as lock:
        for tried in range(_LOCK_TRIES):  # somebody who only looks holds it for an instant
            with suppress(BlockingIOError):
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
                break
            time.sleep(0.01 * tried)
        else:
            raise Refused(
                "The services of this home run already, or are starting",
                where=str(home),
                hint="See `round-ledger services status`.",
            )
        lock.truncate(0)
        lock.write(str(os.getpid()))
        lock.flush()
        yield


def _holder(home: Path) -> int | None:
    """The process of the living supervisor; looking takes the lock for an instant."""
    try:
        with (home / _LOCK).open("r") as lock:
            try:
                fcntl.flock(lock, fcntl.LOCK_SH | fcntl.LOCK_NB)
            except BlockingIOError:
                return int(lock.read() or 0) or None
    except (OSError, ValueError):
        return None
    return None


def _write(path: Path, octets: bytes) -> None:
    beside = path.with_suffix(".new")
    beside.write_bytes(octets)
    beside.replace(path)
