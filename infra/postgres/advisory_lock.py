"""Work for one process at a time: whoever comes second leaves it to the first, or waits for it."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING

from infra.postgres.connection import translated

if TYPE_CHECKING:
    from collections.abc import Iterator

    from infra.postgres.connection import Database

_AT_ONCE = "SELECT pg_try_advisory_lock(hashtext('round-ledger'), hashtext(%s))"
_WAITING = "SELECT true FROM pg_advisory_lock(hashtext('round-ledger'), hashtext(%s))"


@contextmanager
def alone(base: Database, work: str, *, wait: bool = False) -> Iterator[bool]:
    """Whether this process is the only one at this work, until the block ends.

    Held by a connection: a process that dies lets go of it. wait: for whoever is at it, so that it
    is always True. Raises `Unavailable` where that takes longer than the limit of locks.
    """
    how = _WAITING if wait else _AT_ONCE
    with base.connect("ledger_reader") as connection, translated(base):
        row = connection.execute(how, (work,)).fetchone()
        yield row == (True,)
