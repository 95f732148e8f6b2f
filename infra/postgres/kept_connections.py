"""Connections that stop waiting for an answer, and that a process keeps open for their next use.

A new connection costs the server a process, and the first query of each reads the catalogue again:
about ten times as much as a page's query.
"""

from __future__ import annotations

import os
import queue
from collections import defaultdict
from time import monotonic
from typing import TYPE_CHECKING, Any, TypeVar

import psycopg
from psycopg import pq

if TYPE_CHECKING:
    from collections.abc import Generator

T = TypeVar("T")

KEPT_MAX = 8
"""Idle connections kept open, of each role."""

_AS_NEW = (b"RESET ALL", b"CLOSE ALL", b"UNLISTEN *", b"SELECT pg_advisory_unlock_all()")
"""What leaves a connection as it was opened, but for prepared statements. Its role stays."""

PLANNED_AT_EACH_USE = {"plan_cache_mode": "force_custom_plan"}
"""The option with which a prepared statement is planned again at each use."""


class BoundedConnection(psycopg.Connection[tuple[Any, ...]]):
    """A connection that stops waiting for an answer after `answer_s_max` seconds.

    The server's own limits do not help if the network drops the answer.
    """

    answer_s_max: float = float("inf")
    idle: IdleConnections | None = None  # where it goes once it is closed
    role: str = ""

    def wait(self, gen: Generator[Any, Any, T], *args: Any, **kwargs: Any) -> T:  # noqa: ANN401 - passed on as given
        """Run one exchange with the server. Raises OperationalError after `answer_s_max`."""
        return super().wait(_until(gen, monotonic() + self.answer_s_max), *args, **kwargs)

    def close(self) -> None:
        """Close it, or keep it open for its next use."""
        if self.idle is None or not self.idle.keep(self):
            super().close()


def _until(gen: Generator[Any, Any, T], end: float) -> Generator[Any, Any, T]:
    """Forward the waits of `gen`; the driver resumes it about every 0.1 s without data."""
    ready = None
    while True:
        try:
            wanted = gen.send(ready)
        except StopIteration as done:
            return done.value  # type: ignore[no-any-return] # typed by the generator
        ready = yield wanted
        if not ready and monotonic() > end:
            raise psycopg.OperationalError("no answer from the server in time")


class IdleConnections:
    """The connections of one process and database that nobody uses now; for several threads."""

    def __init__(self) -> None:
        self._by_role: dict[str, queue.LifoQueue[BoundedConnection]] = defaultdict(
            lambda: queue.LifoQueue(KEPT_MAX)
        )
        self._process: int | None = os.getpid()  # None: closed

    def take(self, role: str) -> BoundedConnection | None:
        """One that still answers; None: open a new one."""
        while self._process == os.getpid():
            try:
                connection = self._by_role[role].get_nowait()
            except queue.Empty:
                break
            try:
                connection.execute("SELECT 1")
            except psycopg.Error:
                _end(connection)
            else:
                return connection
        return None

    def keep(self, connection: BoundedConnection) -> bool:
        """Take one that its user is done with, as new; False: close it."""
        if self._process != os.getpid() or connection.closed:
            return False
        if connection.info.transaction_status != pq.TransactionStatus.IDLE:
            return False
        try:
            connection.answer_s_max = float("inf")
            connection.autocommit, connection.read_only = True, None
            connection.isolation_level = None
            for statement in _AS_NEW:
                connection.execute(statement)
            self._by_role[connection.role].put_nowait(connection)
        except (psycopg.Error, queue.Full):
            return False
        return True

    def close(self) -> None:
        """Close all; one that is in use is closed once its user is done."""
        self._process = None
        for its in list(self._by_role.values()):
            while not its.empty():
                _end(its.get_nowait())


def _end(connection: BoundedConnection) -> None:
    connection.idle = None
    connection.close()
