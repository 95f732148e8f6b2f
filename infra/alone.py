"""Work that one process at a time should do: whoever comes second leaves it to the first."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING

from infra.postgres import translated

if TYPE_CHECKING:
    from collections.abc import Iterator

    from infra.postgres import Database


@contextmanager
def alone(base: Database, work: str) -> Iterator[bool]:
    """Whether this process is the only one at this work, until the block ends.

    Held by a connection: a process that dies lets go of it.
    """
    with base.connect("ledger_reader") as connection, translated(base):
        row = connection.execute(
            "SELECT pg_try_advisory_lock(hashtext('round-ledger'), hashtext(%s))", (work,)
        ).fetchone()
        yield row == (True,)
