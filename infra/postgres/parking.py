"""Parked tapes and feed offsets of views, kept with their checkpoints.

Both change in the transaction that moves the checkpoint, under the lock of its row, so that a stale
writer changes neither. The runner decides which tapes to park.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import psycopg

from infra.postgres.connection import translated
from ledger.errors import Unavailable

if TYPE_CHECKING:
    from collections.abc import Sequence

    from infra.postgres.connection import Database


class Parked(NamedTuple):
    """A parked tape: a view applies no facts of it from `position` on."""

    tape: str
    position: int
    table_seq: int
    reason: str  # unreadable, edited, stranger, unappliable
    says: str
    place: str  # "<topic>/<partition>@<offset>"; empty if `apply` of a view failed


class PartitionOffset(NamedTuple):
    """The offset to resume a partition from."""

    topic: str
    partition: int
    next: int


class ParkedSummary(NamedTuple):
    """A parked tape as `consume --status` and alerts show it."""

    view: str
    tape: str
    position: int
    table_seq: int
    reason: str
    says: str
    place: str
    parked_at_us: int
    withheld: int  # facts of the tape that the view lacks


def places(database: Database, topic: str, views: Sequence[str]) -> dict[int, int]:
    """The lowest offset that any of these live views may need, by partition.

    Empty if one of them has none: the topic is then read from its beginning.
    """
    with database.connect("ledger_reader") as connection, translated(database):
        rows = connection.execute(
            "SELECT part, min(next_offset) FROM views.offsets WHERE topic = %s AND NOT rebuilding"
            " AND view = ANY(%s) GROUP BY part HAVING count(*) = %s",
            (topic, list(views), len(views)),
        )
        return dict(rows.fetchall())


def shown(database: Database) -> list[ParkedSummary]:
    """Every parked tape of live views, with the number of facts each view lacks."""
    with database.connect("ledger_reader") as connection, translated(database):
        rows = connection.execute(
            "SELECT p.view, p.tape, p.position, p.table_seq, p.reason, p.says, p.place,"
            " p.parked_at_us, coalesce(h.table_seq - p.table_seq + 1, 0)"
            " FROM views.parked p LEFT JOIN ledger.heads h ON h.tape = p.tape"
            " WHERE NOT p.rebuilding ORDER BY p.tape, p.view"
        )
        return [ParkedSummary._make(row) for row in rows.fetchall()]


def is_transient(error: Exception) -> bool:
    """Whether the server or the machine causes an error, not the facts applied.

    An error in decoding a stored fact comes from the fact, so it is not transient.
    """
    if isinstance(error, psycopg.Error):
        return not isinstance(error, psycopg.DataError | psycopg.IntegrityError)
    return isinstance(error, Unavailable | MemoryError)
