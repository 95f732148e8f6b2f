"""What stands beside a view's tracking: which tapes it withholds, and where it reads the feed on.

Both are moved in the transaction that moves the view, under the lock of its tracking row, so that a
writer that was overtaken changes neither. What is withheld, and why, is the runner's business.
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
    """A tape of which a view takes nothing from `position` on."""

    tape: str
    position: int
    table_seq: int
    reason: str  # unreadable, edited, stranger, unappliable
    says: str
    place: str  # "<topic>/<partition>@<offset>"; empty where a program failed


class PartitionOffset(NamedTuple):
    """Where to read a partition on."""

    topic: str
    partition: int
    next: int


class ParkedSummary(NamedTuple):
    """A parked tape as a person is told of it."""

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
    """The lowest offset that any of these live views may lack, by partition.

    Empty where one of them has none: then the topic is read from its beginning.
    """
    with database.connect("ledger_reader") as connection, translated(database):
        rows = connection.execute(
            "SELECT part, min(next_offset) FROM views.offsets WHERE topic = %s AND NOT rebuilding"
            " AND view = ANY(%s) GROUP BY part HAVING count(*) = %s",
            (topic, list(views), len(views)),
        )
        return dict(rows.fetchall())


def shown(database: Database) -> list[ParkedSummary]:
    """Every parked tape of live views, with how much of it each lacks."""
    with database.connect("ledger_reader") as connection, translated(database):
        rows = connection.execute(
            "SELECT p.view, p.tape, p.position, p.table_seq, p.reason, p.says, p.place,"
            " p.parked_at_us, coalesce(h.table_seq - p.table_seq + 1, 0)"
            " FROM views.parked p LEFT JOIN ledger.heads h ON h.tape = p.tape"
            " WHERE NOT p.rebuilding ORDER BY p.tape, p.view"
        )
        return [ParkedSummary._make(row) for row in rows.fetchall()]


def is_transient(error: Exception) -> bool:
    """Whether an error speaks of the server or the machine, not of the facts applied.

    A stored fact that does not decode speaks of the fact, however it is told to people.
    """
    if isinstance(error, psycopg.Error):
        return not isinstance(error, psycopg.DataError | psycopg.IntegrityError)
    return isinstance(error, Unavailable | MemoryError)
