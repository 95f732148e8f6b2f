"""What a runner keeps of views in one database: rows, tracking, parked tapes, offsets, messages.

`Book` is the port: whatever moves a view asks for nothing else, so that the same program runs
against PostgreSQL and in the simulation of faults. The adapter adds nothing to what it calls.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

from infra.postgres import outbox, paging, parking, view_tables
from infra.postgres.view_tables import Store

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from contextlib import AbstractContextManager

    from infra.postgres.connection import AnyConnection
    from infra.postgres.outbox import Message
    from infra.postgres.parking import Parked, Place
    from infra.postgres.view_tables import Row, Schema, Table, Tracking


class Book(Protocol):
    """Views of one generation, on one connection. Everything may raise where that is lost."""

    schema: Schema
    store: Store

    def transaction(self, *, force_rollback: bool = False) -> AbstractContextManager[object]:
        """All of the block or nothing; a block within another is undone by itself."""

    def tracking(self, view: str) -> Tracking | None:
        """How far this generation has read; None where it does not exist."""

    def parked(self, view: str) -> dict[str, Parked]:
        """What this generation withholds, by tape."""

    def advance(self, view: str, seen: Tracking, to: int) -> bool:
        """Move tracking from what its writer had seen; False where another writer moved it.

        Of two writers one waits until the other's transaction has ended.
        """

    def park(self, view: str, tapes: Iterable[Parked]) -> None:
        """Withhold tapes from here on."""

    def release(self, view: str, tape: str) -> None:
        """Withhold a tape no more. A writer that still did is refused at its next move."""

    def keep_places(self, view: str, places: Sequence[Place]) -> None:
        """Note where a view reads on."""

    def asked_for(self, topics: Sequence[str]) -> set[str]:
        """Which of these topics a relay has asked for."""

    def leave(self, position: int, messages: Sequence[Message]) -> None:
        """Leave messages for the relay, in this order."""

    def page(self, table: Table, after: Row | None, limit: int) -> list[Row]:
        """Rows with a key above `after`, at most `limit`, in order of key; None: from the first."""

    def changed(self, table: Table, after: Row | None, limit: int) -> list[Row]:
        """As `page`, of a rebuilt table: the rows that the live one does not hold so."""

    def removed(self, table: Table, after: Row | None, limit: int) -> list[Row]:
        """As `page`, of the live table: the keys, and no more, that the rebuilt one has not."""

    def create(self, view: str, version: int, tables: Iterable[Table], schema: Schema) -> bool:
        """Create a generation's empty tables; False where it is there."""

    def discard(self, view: str, tables: Iterable[Table]) -> None:
        """Remove what an earlier rebuild left unfinished."""

    def hold(self, view: str) -> Tracking | None:
        """The live view's tracking, held still until the transaction ends."""

    def swap(self, view: str, tables: Sequence[Table]) -> None:
        """Put the rebuilt view in the live one's place, in the caller's transaction.

        Raises `ReadersInTheWayError`: roll back, and try again later.
        """

    def analyze(self, tables: Iterable[Table]) -> None:
        """Let the planner know what has just taken its place."""


class PostgresBook:
    """`Book` in PostgreSQL."""

    def __init__(self, connection: AnyConnection, schema: Schema) -> None:
        self.schema = schema
        self.store = Store(connection, schema)
        self._connection = connection

    def transaction(self, *, force_rollback: bool = False) -> AbstractContextManager[object]:
        """As `Book`."""
        return self._connection.transaction(force_rollback=force_rollback)

    def tracking(self, view: str) -> Tracking | None:
        """As `Book`."""
        return self.store.tracking(view)

    def parked(self, view: str) -> dict[str, Parked]:
        """As `Book`."""
        return parking.parked(self.store, view)

    def advance(self, view: str, seen: Tracking, to: int) -> bool:
        """As `Book`."""
        return view_tables.advance(self.store, view, seen, to)

    def park(self, view: str, tapes: Iterable[Parked]) -> None:
        """As `Book`."""
        parking.park(self.store, view, tapes)

    def release(self, view: str, tape: str) -> None:
        """As `Book`."""
        parking.release(self._connection, view, tape)

    def keep_places(self, view: str, places: Sequence[Place]) -> None:
        """As `Book`."""
        parking.keep_places(self.store, view, places)

    def asked_for(self, topics: Sequence[str]) -> set[str]:
        """As `Book`."""
        return outbox.asked_for(self.store, topics)

    def leave(self, position: int, messages: Sequence[Message]) -> None:
        """As `Book`."""
        outbox.leave(self.store, position, messages)

    def page(self, table: Table, after: Row | None, limit: int) -> list[Row]:
        """As `Book`."""
        return paging.page(self.store, table, after, limit)

    def changed(self, table: Table, after: Row | None, limit: int) -> list[Row]:
        """As `Book`."""
        return paging.changed(self.store, table, after, limit)

    def removed(self, table: Table, after: Row | None, limit: int) -> list[Row]:
        """As `Book`."""
        return paging.removed(self.store, table, after, limit)

    def create(self, view: str, version: int, tables: Iterable[Table], schema: Schema) -> bool:
        """As `Book`."""
        return view_tables.create(self._connection, view, version, tables, schema)

    def discard(self, view: str, tables: Iterable[Table]) -> None:
        """As `Book`."""
        view_tables.discard(self._connection, view, tables)
        parking.discard(self._connection, view)

    def hold(self, view: str) -> Tracking | None:
        """As `Book`."""
        return view_tables.hold(self._connection, view)

    def swap(self, view: str, tables: Sequence[Table]) -> None:
        """As `Book`."""
        view_tables.swap(self._connection, view, tables)
        parking.swap(self._connection, view)

    def analyze(self, tables: Iterable[Table]) -> None:
        """As `Book`."""
        view_tables.analyze(self._connection, tables)
