"""Database connections for access control, and the log of access events.

`infra.access.users`, `infra.access.sessions` and `infra.access.keys` share them. Their role reads
no facts, and no other role reads schema `access`.
"""

from __future__ import annotations

from contextlib import contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

from infra.postgres.connection import translated
from infra.postgres.kept_connections import IdleConnections
from infra.sender import os_login

if TYPE_CHECKING:
    from collections.abc import Iterator

    from infra.postgres.connection import AnyConnection, Database

READ = "read"
"""What an access event says of a reading."""

NAME_MAX = 400
"""Characters of a name in the log: of a longer one its beginning is kept."""

NOW = "(extract(epoch FROM clock_timestamp()) * 1000000)::bigint"
"""SQL for the database's clock, microseconds, which all processes share."""


class Actor(NamedTuple):
    """The user or command that does something, and its address."""

    name: str  # a user's name; os:<login> for a local command; empty: not signed in yet
    address: str = ""


class Event(NamedTuple):
    """One access event, such as a sign-in or a new key."""

    at_us: int
    what: str
    name: str
    actor: str
    address: str
    detail: str


class AccessDatabase:
    """The tables of schema `access`, for several threads; `close` closes all connections."""

    def __init__(self, database: Database) -> None:
        self._idle = IdleConnections()
        self.database = replace(database, idle=self._idle)

    @contextmanager
    def open(self) -> Iterator[AnyConnection]:
        """A connection in one transaction. Raises `Unavailable`."""
        with (
            translated(self.database),
            self.database.connect("ledger_doorkeeper") as connection,
            connection.transaction(),
        ):
            yield connection

    def close(self) -> None:
        """Close the idle connections; the next use connects again."""
        self._idle.close()

    def events(self, limit: int = 100, *, read: bool = False, about: str = "") -> list[Event]:
        """The access events, newest first. read: the readings, which are left out otherwise.

        about: only those whose subject has this text.
        """
        with self.open() as connection:
            rows = connection.execute(
                "SELECT at_us, what, name, actor, address, detail FROM access.events"
                " WHERE (what = %s) = %s AND (%s = '' OR strpos(name, %s) > 0)"
                " ORDER BY number DESC LIMIT %s",
                (READ, read, about, about, limit),
            )
            return [Event._make(row) for row in rows.fetchall()]


def note(connection: AnyConnection, what: str, name: str, actor: Actor, detail: str = "") -> None:
    """Log an access event, in the transaction of the change."""
    connection.execute(
        "INSERT INTO access.events (what, name, actor, address, detail)"
        " VALUES (%s, %s, %s, %s, %s)",
        (what, _storable(name), _storable(actor.name), actor.address, detail),
    )


def local_actor() -> Actor:
    """The login that runs a command on this machine."""
    return Actor(os_login())


def _storable(text: str) -> str:
    """A typed name without NUL characters, truncated to `NAME_MAX` characters."""
    return text.replace("\0", "\N{REPLACEMENT CHARACTER}")[:NAME_MAX]
