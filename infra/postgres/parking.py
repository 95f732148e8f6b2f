"""What stands beside a view's tracking: which tapes it withholds, and where it reads the feed on.

Both are moved in the transaction that moves the view, under the lock of its tracking row, so that a
writer that was overtaken changes neither. What is withheld, and why, is the runner's business.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import psycopg

from infra.postgres import arrays
from infra.postgres.connection import translated
from infra.postgres.view_tables import BESIDE
from ledger.errors import Unavailable

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from infra.postgres.connection import AnyConnection, Database
    from infra.postgres.view_tables import Store


class Parked(NamedTuple):
    """A tape of which a view takes nothing from `position` on."""

    tape: str
    position: int
    table_seq: int
    reason: str  # unreadable, edited, stranger, unappliable
    says: str
    place: str  # "<topic>/<partition>@<offset>"; empty where a program failed


class Place(NamedTuple):
    """Where to read a partition on."""

    topic: str
    partition: int
    next: int


class Shown(NamedTuple):
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


def parked(store: Store, view: str) -> dict[str, Parked]:
    """What a view of this generation withholds, by tape."""
    rows = store.connection.execute(
        "SELECT tape, position, table_seq, reason, says, place FROM views.parked"
        " WHERE view = %s AND rebuilding = %s",
        (view, store.schema == BESIDE),
    )
    return {row[0]: Parked._make(row) for row in rows.fetchall()}


def park(store: Store, view: str, tapes: Iterable[Parked]) -> None:
    """Withhold tapes from here on, inside the transaction that moves the view."""
    for each in tapes:
        store.connection.execute(
            "INSERT INTO views.parked (view, rebuilding, tape, position, table_seq, reason, says,"
            " place, parked_at_us) VALUES (%s, %s, %s, %s, %s, %s, %s, %s,"
            " (extract(epoch FROM clock_timestamp()) * 1000000)::bigint) ON CONFLICT DO NOTHING",
            (view, store.schema == BESIDE, *each),
        )


def release(connection: AnyConnection, view: str, tape: str) -> None:
    """Withhold a tape no more. A writer that still did is refused at its next move."""
    connection.execute(
        "DELETE FROM views.parked WHERE view = %s AND NOT rebuilding AND tape = %s", (view, tape)
    )
    connection.execute(
        "UPDATE views.tracking SET generation = generation + 1 WHERE view = %s AND NOT rebuilding",
        (view,),
    )


def discard(connection: AnyConnection, view: str) -> None:
    """Forget what an earlier rebuild withheld and where it read."""
    for table in ("parked", "offsets"):
        connection.execute(
            f"DELETE FROM views.{table} WHERE view = %s AND rebuilding".encode(),  # noqa: S608 - our own names
            (view,),
        )


def swap(connection: AnyConnection, view: str) -> None:
    """What the rebuilt view withholds, and where it reads on, take the live one's place.

    A view rebuilt from the tape has no offsets; the live one's are low enough for it.
    """
    connection.execute("DELETE FROM views.parked WHERE view = %s AND NOT rebuilding", (view,))
    connection.execute(
        "DELETE FROM views.offsets WHERE view = %(view)s AND NOT rebuilding"
        " AND EXISTS (SELECT FROM views.offsets WHERE view = %(view)s AND rebuilding)",
        {"view": view},
    )
    for table in ("parked", "offsets"):
        connection.execute(
            f"UPDATE views.{table} SET rebuilding = false WHERE view = %s".encode(),  # noqa: S608 - as above
            (view,),
        )


def keep_places(store: Store, view: str, places: Sequence[Place]) -> None:
    """Note where a view reads on, inside the transaction that moves it."""
    if not places:
        return
    store.connection.execute(
        "INSERT INTO views.offsets AS o (view, rebuilding, topic, part, next_offset)"
        " SELECT %b, %b, t, p::integer, n FROM unnest(%b, %b, %b) AS u (t, p, n)"
        " ON CONFLICT (view, rebuilding, topic, part) DO UPDATE SET next_offset ="
        " excluded.next_offset WHERE o.next_offset <> excluded.next_offset",
        (
            view,
            store.schema == BESIDE,
            arrays.texts([each.topic for each in places]),
            arrays.bigints([each.partition for each in places]),
            arrays.bigints([each.next for each in places]),
        ),
        prepare=True,
    )


def places(base: Database, topic: str, views: Sequence[str]) -> dict[int, int]:
    """The lowest offset that any of these live views may lack, by partition.

    Empty where one of them has none: then the topic is read from its beginning.
    """
    with base.connect("ledger_reader") as connection, translated(base):
        rows = connection.execute(
            "SELECT part, min(next_offset) FROM views.offsets WHERE topic = %s AND NOT rebuilding"
            " AND view = ANY(%s) GROUP BY part HAVING count(*) = %s",
            (topic, list(views), len(views)),
        )
        return dict(rows.fetchall())


def shown(base: Database) -> list[Shown]:
    """Every parked tape of live views, with how much of it each lacks."""
    with base.connect("ledger_reader") as connection, translated(base):
        rows = connection.execute(
            "SELECT p.view, p.tape, p.position, p.table_seq, p.reason, p.says, p.place,"
            " p.parked_at_us, coalesce(h.table_seq - p.table_seq + 1, 0)"
            " FROM views.parked p LEFT JOIN ledger.heads h ON h.tape = p.tape"
            " WHERE NOT p.rebuilding ORDER BY p.tape, p.view"
        )
        return [Shown._make(row) for row in rows.fetchall()]


def is_passing(error: Exception) -> bool:
    """Whether an error speaks of the server or the machine, not of the facts applied.

    A stored fact that does not decode speaks of the fact, however it is told to people.
    """
    if isinstance(error, psycopg.Error):
        return not isinstance(error, psycopg.DataError | psycopg.IntegrityError)
    return isinstance(error, Unavailable | MemoryError)
