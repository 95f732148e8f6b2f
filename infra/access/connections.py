"""Connections of the role at the door: who may sign in, which device may speak, what happened.

What `infra.access.users`, `infra.access.sessions` and `infra.access.keys` share. It sees no fact,
and nobody else sees what it does.
"""

from __future__ import annotations

import getpass
import queue
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, NamedTuple

import psycopg

from infra.postgres.connection import translated

if TYPE_CHECKING:
    from collections.abc import Iterator

    from infra.postgres.connection import AnyConnection, Database

KEPT = 4
"""Idle connections kept open."""

NOW = "(extract(epoch FROM clock_timestamp()) * 1000000)::bigint"
"""The database's clock, microseconds: every process that asks uses the same."""


class Actor(NamedTuple):
    """Who does something at the door, and from where."""

    name: str  # a user's name; os:<login> for a command on the machine; empty: not known yet
    address: str = ""


class Event(NamedTuple):
    """Something that happened at the door."""

    at_us: int
    what: str
    name: str
    actor: str
    address: str
    detail: str


class AccessDatabase:
    """The tables of schema access. May be used by several threads; closing it closes all."""

    def __init__(self, database: Database) -> None:
        self.database = database
        self._kept: queue.LifoQueue[AnyConnection] = queue.LifoQueue()

    @contextmanager
    def open(self) -> Iterator[AnyConnection]:
        """One transaction. Raises `Unavailable`."""
        with translated(self.database):
            connection = self._connection()
            try:
                with connection.transaction():
                    yield connection
            except BaseException:
                connection.close()
                raise
        if self._kept.qsize() < KEPT:
            self._kept.put(connection)
        else:
            connection.close()

    def close(self) -> None:
        """Close what is kept; it connects again when next used."""
        while True:
            try:
                self._kept.get_nowait().close()
            except queue.Empty:
                return

    def events(self, limit: int = 100) -> list[Event]:
        """What happened, the newest first."""
        with self.open() as connection:
            rows = connection.execute(
                "SELECT at_us, what, name, actor, address, detail FROM access.events"
                " ORDER BY number DESC LIMIT %s",
                (limit,),
            )
            return [Event._make(row) for row in rows.fetchall()]

    def _connection(self) -> AnyConnection:
        """A kept connection that still answers, else a new one."""
        while True:
            try:
                connection = self._kept.get_nowait()
            except queue.Empty:
                return self.database.connect("ledger_doorkeeper")
            with suppress(psycopg.OperationalError):
                connection.execute("SELECT 1")
                return connection
            connection.close()


def note(connection: AnyConnection, what: str, name: str, actor: Actor, detail: str = "") -> None:
    """Write down what happens, in the transaction that does it."""
    connection.execute(
        "INSERT INTO access.events (what, name, actor, address, detail)"
        " VALUES (%s, %s, %s, %s, %s)",
        (what, _storable(name), _storable(actor.name), actor.address, detail),
    )


def local_actor() -> Actor:
    """Whoever runs a command here."""
    return Actor(f"os:{getpass.getuser()}")


def _storable(text: str) -> str:
    """Of a name that somebody typed: what a column holds, and no more than tells."""
    return text.replace("\0", "\N{REPLACEMENT CHARACTER}")[:64]
