"""What the witnessed log seals, each kind in the order in which it came."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from psycopg import sql
from psycopg.rows import tuple_row

from infra.postgres import tape
from ledger.record.tape import InQuarantine, TapeRow
from ledger.witnessed_log.entries import AccessEvent

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from infra.postgres.connection import AnyConnection

_HASHES = 20_000  # read at a time
_ACCESS = """
SELECT number, at_us, what, name, actor, address, detail FROM access.events
 WHERE number > %b ORDER BY number LIMIT %b
"""
_RELEASED = """
SELECT quarantine_id, verdict, reason, what, at_path, hint, source, fact_id, attributes, octets,
       times_received, received_at_us, last_received_at_us, released_at_us, released_position,
       senders
  FROM ledger.quarantine WHERE released_at_us IS NOT NULL AND quarantine_id <> ALL(%s)
 ORDER BY released_at_us, quarantine_id
"""
_OF_TYPE = f"""
SELECT {tape.COLUMNS} FROM ledger.heads h JOIN ledger.tape t ON t.originator_id = h.tape
 WHERE split_part(h.tape, '/', 2) = %b AND t.topic = %b ORDER BY t.notification_id
"""  # noqa: S608 - put together from constants
_DAY_SEALED = """
SELECT EXISTS (SELECT FROM ledger.tape WHERE notification_id > %b AND topic LIKE 'day_sealed.%%')
"""


def access_events(connection: AnyConnection, after: int, limit: int) -> list[AccessEvent]:
    """Events of sign-ins, users and keys above a number, in order."""
    return [AccessEvent._make(row) for row in _rows(connection, _ACCESS, (after, limit))]


def released(connection: AnyConnection, known: Sequence[int]) -> list[InQuarantine]:
    """Every released input but those of these numbers, the first release first."""
    return [InQuarantine._make(row) for row in _rows(connection, _RELEASED, (list(known),))]


def facts_since(connection: AnyConnection, position: int) -> tuple[int, bool]:
    """How many facts are above a position, and whether a gaming day was closed by one of them."""
    ((closed,),) = _rows(connection, _DAY_SEALED, (position,))
    return tape.counters(connection).appended - position, closed


def at_places(connection: AnyConnection, place: str, stored_name: str) -> list[TapeRow]:
    """All facts of one type on tapes of places of this name, in order of position."""
    return [TapeRow._make(row) for row in _rows(connection, _OF_TYPE, (place, stored_name))]


def row_hashes(connection: AnyConnection, table: str) -> Iterator[bytes]:
    """SHA-256 of the text of each row of a live view's table, sorted: no collation matters.

    Read within a transaction, in batches.
    """
    rows = sql.SQL("SELECT sha256(convert_to(t::text, 'UTF8')) FROM views.{} t ORDER BY 1")
    with connection.cursor("row_hashes", row_factory=tuple_row) as cursor:
        cursor.itersize = _HASHES
        for (hashed,) in cursor.execute(rows.format(sql.Identifier(table)), binary=True):
            yield hashed


def wait(connection: AnyConnection, timeout_s: float) -> None:
    """Return after so many seconds; the connection stays in use, so that a lost one is seen."""
    for _ in connection.notifies(timeout=timeout_s):
        pass


def _rows(
    connection: AnyConnection, statement: str, parameters: Sequence[object]
) -> list[tuple[Any, ...]]:
    cursor = connection.cursor(row_factory=tuple_row, binary=True)
    return cursor.execute(statement.encode(), parameters, prepare=True).fetchall()
