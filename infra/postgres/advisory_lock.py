"""Advisory locks: work for one process at a time. A second process skips it, or waits for it.

A lock belongs to a connection, and the server releases it with the connection, however it ends.
"""

from __future__ import annotations

from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any

import psycopg

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

_HOLDER = b"""
SELECT pid FROM pg_locks
 WHERE locktype = 'advisory' AND objsubid = 2 AND granted
   AND database = (SELECT oid FROM pg_database WHERE datname = current_database())
   AND classid::bigint = hashtext(%s)::bigint & 4294967295
   AND objid::bigint = hashtext(%s)::bigint & 4294967295
"""
"""pg_locks shows the two numbers of a lock without their signs."""


@contextmanager
def advisory_lock(
    connection: psycopg.Connection[Any],
    *key: str | int,
    wait: bool = False,
    again: Callable[[], bool] = lambda: False,
) -> Iterator[bool]:
    """Whether this connection alone holds the lock of this key, until the block ends.

    The key is one number, or one or two texts.
    wait: block until the lock is free, so the result is True; `lock_timeout` limits the wait.
    again: called while another connection holds the lock; False gives up.
    """
    how = "true FROM pg_advisory_lock" if wait else "pg_try_advisory_lock"
    while not (taken := _run(connection, how, key)) and again():
        pass
    yield taken
    if taken:
        with suppress(psycopg.Error):  # the lock is released with a lost connection
            _run(connection, "pg_advisory_unlock", key)


def lock_transaction(connection: psycopg.Connection[Any], *key: str | int) -> None:
    """Wait for the lock of this key, and hold it until the current transaction ends."""
    _run(connection, "true FROM pg_advisory_xact_lock", key)


def share_transaction(connection: psycopg.Connection[Any], *key: str | int) -> None:
    """Wait until nobody holds the lock of this key alone; others may share it meanwhile.

    Held until the current transaction ends. Waiting processes take turns in the order they came.
    """
    _run(connection, "true FROM pg_advisory_xact_lock_shared", key)


def holder(connection: psycopg.Connection[Any], *key: str) -> int | None:
    """The server process whose connection holds the lock of two texts in this database; or None."""
    row = connection.execute(_HOLDER, key).fetchone()
    return row[0] if row else None


def _run(connection: psycopg.Connection[Any], how: str, key: tuple[str | int, ...]) -> bool:
    parts = ", ".join("%s::bigint" if isinstance(part, int) else "hashtext(%s)" for part in key)
    row = connection.execute(f"SELECT {how}({parts})".encode(), key).fetchone()
    return row is not None and row[0] is True
