"""Tables of views in PostgreSQL: created from declared columns, written in batches, swapped whole.

A view declares its tables as data. This module generates the SQL, so a table always matches the
program that writes it.
"""

from __future__ import annotations

import json
from collections import namedtuple
from contextlib import contextmanager
from functools import cache
from typing import TYPE_CHECKING, Any, Literal, LiteralString, NamedTuple, TypeAlias

import psycopg
from psycopg import errors, sql

from infra.postgres import arrays
from infra.postgres.advisory_lock import lock_transaction, share_transaction
from infra.postgres.connection import translated
from infra.postgres.parking import Parked
from infra.postgres.tape import CHANNEL, COLUMNS, Others, read, read_without
from ledger.record.tape import TapeRow

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence
    from contextlib import AbstractContextManager

    from infra.postgres.connection import AnyConnection, Database, Role
    from infra.postgres.outbox import Message
    from infra.postgres.parking import PartitionOffset

Schema = Literal["views", "rebuilding"]
LIVE: Schema = "views"
SHADOW_SCHEMA: Schema = "rebuilding"

SWAP_LOCK_MS = 200
"""How long a swap waits for readers before it rolls back and tries again, milliseconds.

It is less than the server's deadlock_timeout (1 s), so that no reader is ever ended as a deadlock.
"""

Value = str | int | bool | None
"""A value to write into a cell; arrays, JSON and ranges as PostgreSQL's text of them."""

Row = tuple[Any, ...]
NamedRow: TypeAlias = Any
"""A row with a field for each column of its table: a `ViewTable.row`."""

# OFFSET 0 keeps the planner from joining the whole tape; it finds each range by key.
_LOOKED_UP = f"""
AS r (tape, low, high) CROSS JOIN LATERAL (
    SELECT {COLUMNS} FROM ledger.tape t
     WHERE t.originator_id = r.tape
       AND t.originator_version BETWEEN r.low::bigint AND r.high::bigint OFFSET 0) AS t
"""  # noqa: S608 - put together from constants
_ROWS_AT = f"SELECT t.* FROM unnest(%b, %b, %b) {_LOOKED_UP}".encode()  # noqa: S608 - as above


_SWAP: tuple[LiteralString, ...] = (
    (
        "UPDATE views.tracking l SET position = b.position, version = b.version,"
        " generation = l.generation + 1 FROM views.tracking b"
        " WHERE l.view = %(view)s AND NOT l.rebuilding AND b.view = l.view AND b.rebuilding"
    ),
    "DELETE FROM views.tracking WHERE view = %(view)s AND rebuilding",
    "DELETE FROM views.parked WHERE view = %(view)s AND NOT rebuilding",
    (
        "DELETE FROM views.offsets WHERE view = %(view)s AND NOT rebuilding"
        " AND EXISTS (SELECT FROM views.offsets WHERE view = %(view)s AND rebuilding)"
    ),
    "UPDATE views.parked SET rebuilding = false WHERE view = %(view)s",
    "UPDATE views.offsets SET rebuilding = false WHERE view = %(view)s",
)
"""Replace the live view's checkpoint, parked tapes and offsets by the rebuilt view's."""

_TRACKED = """
SELECT position, version, generation,
       ARRAY(SELECT p.position FROM views.parts p
              WHERE NOT t.rebuilding AND p.view = t.view AND p.generation = t.generation
              ORDER BY p.number),
       (SELECT greatest(1, count(*)) FROM views.parts p WHERE NOT t.rebuilding AND p.view = t.view)
  FROM views.tracking t WHERE view = %s AND rebuilding = %s
"""

_PARTS = "parts"
"""The lock that writers of a view's parts share, and `hold` has alone."""

_PLANS = """
SET jit = off; SET enable_seqscan = off; SET enable_hashjoin = off; SET enable_mergejoin = off
"""
"""Off for writers. A plan cached for a tiny table would scan it for ever, and JIT compilation
costs more than the statement."""


class Column(NamedTuple):
    """One column: its name, SQL type and meaning, with the unit."""

    name: str
    type: str
    comment: str
    null: bool = False  # NULL: not recorded
    merge: str = "excluded.{name}"  # new value if the row exists; `old` is that row

    @property
    def read(self) -> str:
        """The expression that selects it: JSON and ranges as PostgreSQL's text."""
        return f"{self.name}::text" if self.type in ("json", "int8multirange") else self.name


class ViewTable(NamedTuple):
    """A table of a view. The first `keys` columns are its primary key."""

    name: str
    comment: str
    keys: int
    columns: tuple[Column, ...]
    indexes: tuple[str, ...] = ()  # the rest of `CREATE INDEX ON <table>`
    is_log: bool = False  # rows never change: several writers may save the same ones

    @property
    def key(self) -> tuple[Column, ...]:
        """The columns of the primary key."""
        return self.columns[: self.keys]

    @property
    def row(self) -> Any:  # noqa: ANN401 - a type whose fields are known as the program runs
        """The type of its rows: a named tuple with a field for each column."""
        return _row(self)


class Tracking(NamedTuple):
    """A view's checkpoint: its position, with the version and generation that wrote it."""

    position: int  # of a divided view: that of its last part
    version: int
    generation: int
    parts: tuple[int, ...] = ()  # the position of each part; empty if the view is whole
    asked: int = 1  # the parts it was last divided into: a rebuild makes it whole meanwhile


class ReadersInTheWayError(Exception):
    """Others kept the tables locked for longer than a swap waits."""


class ViewStore:
    """Views of one schema on one connection: rows, checkpoints, parked tapes, offsets, messages.

    The runner uses no other interface, so it also runs in the fault simulation with a fake store.
    Every method may raise if the connection is lost.
    """

    def __init__(
        self, connection: AnyConnection, schema: Schema, database: Database | None = None
    ) -> None:
        """database: of a store that `reading` gives."""
        self.connection = connection
        self.schema = schema
        self.database = database
        self.heard: dict[str, dict[Row, None]] = {}  # keys written, by captured table
        arrays.register(connection)

    def transaction(self, *, force_rollback: bool = False) -> AbstractContextManager[object]:
        """A transaction for a block; a nested block is a savepoint."""
        return self.connection.transaction(force_rollback=force_rollback)

    def load(self, table: ViewTable, keys: Iterable[Row]) -> dict[Row, Any]:
        """The rows with these keys, by key; each a `ViewTable.row`."""
        return {row[: table.keys]: row for row in self.rows(table, keys)}

    def rows(self, table: ViewTable, keys: Iterable[Sequence[Value]]) -> list[Any]:
        """The rows whose keys start with these cells, in no order; each a `ViewTable.row`."""
        wanted = list(keys)
        if not wanted:
            return []
        statement = _load(table, len(wanted[0]), self.schema)
        found = self.connection.execute(statement, _columns(wanted), prepare=True, binary=True)
        return list(map(table.row._make, found.fetchall()))

    def save(self, table: ViewTable, rows: Iterable[Sequence[Value]]) -> None:
        """Write rows, each key at most once; an existing row is merged column by column."""
        written = list(rows)
        if table.is_log:  # in order, so that two writers of the same rows never end as a deadlock
            written.sort(key=lambda row: [str(cell) for cell in row[: table.keys]])
        if written:
            self.connection.execute(_save(table, self.schema), _columns(written), prepare=True)
            if table.name in self.heard:
                self.heard[table.name] |= {tuple(row[: table.keys]): None for row in written}

    def delete(self, table: ViewTable, keys: Iterable[Sequence[Value]]) -> None:
        """Delete the rows whose keys start with these cells."""
        gone = list(keys)
        if gone:
            statement = _delete(table, len(gone[0]), self.schema)
            self.connection.execute(statement, _columns(gone), prepare=True)
            if table.name in self.heard and len(gone[0]) == table.keys:
                self.heard[table.name] |= {tuple(key): None for key in gone}

    def query(self, statement: str, parameters: Mapping[str, object] | None = None) -> list[Row]:
        """Rows of a query; it names tables `{schema}.<table>` and parameters `%(name)s`."""
        text = statement.replace("{schema}", self.schema)
        rows = self.connection.execute(text.encode(), parameters or {}, binary=True)
        return rows.fetchall()

    def rows_at(self, places: Iterable[tuple[str, int, int]]) -> list[TapeRow]:
        """Rows of the record by tape and closed range of `table_seq`, in order of position."""
        wanted = list(places)
        if not wanted:
            return []
        found = self.connection.execute(_ROWS_AT, _columns(wanted), prepare=True, binary=True)
        return sorted(TapeRow._make(row) for row in found.fetchall())

    def rows_named(self, places: str, parameters: Mapping[str, object]) -> list[TapeRow]:
        """Rows of the record at the places (tape, low, high) that a query names, each once."""
        text = f"SELECT t.* FROM ({places.replace('{schema}', self.schema)}) {_LOOKED_UP}"  # noqa: S608 - values are parameters
        found = self.connection.execute(text.encode(), parameters, prepare=True, binary=True)
        return [TapeRow._make(row) for row in sorted({row[0]: row for row in found}.values())]

    def rows_of(self, tape: str, seqs: Iterable[tuple[int, int]]) -> list[TapeRow]:
        """Rows of one tape within closed ranges of `table_seq`, in order."""
        return self.rows_at((tape, low, high) for low, high in seqs)

    def page(self, table: ViewTable, after: Row | None, limit: int) -> list[Row]:
        """Rows with a key above `after`, at most `limit`, in order of key; None: from the first."""
        return self._page(table, table.columns, self.schema, after, limit)

    def changed(self, table: ViewTable, after: Row | None, limit: int) -> list[Row]:
        """As `page`, of a rebuilt table: the rows that differ from the live table's.

        If the live table has other columns, by another version of the view, these are all rows.
        """
        if not self._alike(table, table.columns):
            return self._page(table, table.columns, SHADOW_SCHEMA, after, limit)
        live, beside = (", ".join(f"{side}.{c.read}" for c in table.columns) for side in ("l", "t"))
        same = f"ROW({live}) IS NOT DISTINCT FROM ROW({beside})"
        return self._page(
            table, table.columns, SHADOW_SCHEMA, after, limit, _lacking(table, LIVE, same)
        )

    def removed(self, table: ViewTable, after: Row | None, limit: int) -> list[Row]:
        """As `page`, of the live table: the keys that the rebuilt table lacks.

        Empty if the tables have different keys, since they cannot be compared then.
        """
        if not self._alike(table, table.key):
            return []
        return self._page(
            table, table.key, LIVE, after, limit, _lacking(table, SHADOW_SCHEMA, "true")
        )

    def tracking(self, view: str) -> Tracking | None:
        """The checkpoint of a view in this schema; None if it does not exist."""
        return self._tracking(view, self.schema)

    def tracked(self) -> set[str]:
        """The names of the views that exist in this schema."""
        rows = self.connection.execute(
            "SELECT view FROM views.tracking WHERE rebuilding = %s", (self._beside,)
        )
        return {name for (name,) in rows.fetchall()}

    def hold(self, view: str) -> Tracking | None:
        """The live view's checkpoint, locked with those of its parts until the transaction ends."""
        lock_transaction(self.connection, view, _PARTS)
        return self._tracking(view, LIVE, " FOR UPDATE")

    def advance(self, view: str, seen: Tracking, to: int) -> bool:
        """Move the checkpoint from what its writer had read; False if another writer moved it.

        It locks the row until the transaction ends. So one of two writers waits, and then gets
        False.
        """
        moved = self.connection.execute(
            "UPDATE views.tracking SET position = %s WHERE view = %s AND rebuilding = %s"
            " AND position = %s AND version = %s AND generation = %s",
            (to, view, self._beside, seen.position, seen.version, seen.generation),
            prepare=True,
        )
        return moved.rowcount == 1

    def advance_part(self, view: str, number: int, seen: Tracking, to: int) -> bool:
        """As `advance`, of one part of a divided live view: others may move theirs meanwhile.

        `settle` must follow before the transaction ends.
        """
        share_transaction(self.connection, view, _PARTS)
        moved = self.connection.execute(
            "UPDATE views.parts p SET position = %s FROM views.tracking t"
            " WHERE p.view = %s AND p.number = %s AND p.position = %s AND p.generation = %s"
            " AND t.view = p.view AND NOT t.rebuilding AND t.version = %s"
            " AND t.generation = p.generation",
            (to, view, number, seen.position, seen.generation, seen.version),
            prepare=True,
        )
        return moved.rowcount == 1

    def settle(self, view: str) -> int:
        """Move a divided view's checkpoint to that of its last part; returns it.

        It locks the row until the transaction ends, so that the messages which follow are numbered
        in the order in which the parts commit.
        """
        self.connection.execute(
            "SELECT FROM views.tracking WHERE view = %s AND NOT rebuilding FOR NO KEY UPDATE",
            (view,),
            prepare=True,
        )
        row = self.connection.execute(
            "UPDATE views.tracking t SET position = (SELECT min(p.position) FROM views.parts p"
            " WHERE p.view = t.view) WHERE view = %s AND NOT rebuilding RETURNING position",
            (view,),
            prepare=True,
        ).fetchone()
        return row[0] if row else 0

    def divide(self, view: str, of: int) -> None:
        """Divide a held view, all of which is at its checkpoint; 1 makes it whole.

        A writer that has read its checkpoint before is refused at its next move.
        """
        self.connection.execute("DELETE FROM views.parts WHERE view = %s", (view,))
        self._new_generation(view)
        if of > 1:
            self.connection.execute(
                "INSERT INTO views.parts (view, number, position, generation)"
                " SELECT view, number, position, generation FROM views.tracking,"
                " generate_series(0, %s - 1) AS number WHERE view = %s AND NOT rebuilding",
                (of, view),
            )

    def refuse_parts(self, view: str) -> None:
        """Let every writer of a divided view read its checkpoint, and its parked tapes, again."""
        self._new_generation(view)
        self.connection.execute(
            "UPDATE views.parts SET generation = generation + 1 WHERE view = %s", (view,)
        )

    def record(self, after: int, limit: int) -> list[TapeRow]:
        """Rows of the record with position > `after`, in order, at most `limit`."""
        return read(self.connection, after, limit)

    def parked(self, view: str) -> dict[str, Parked]:
        """The parked tapes of a view in this schema, by tape."""
        rows = self.connection.execute(
            "SELECT tape, position, table_seq, reason, says, place FROM views.parked"
            " WHERE view = %s AND rebuilding = %s",
            (view, self._beside),
        )
        return {each.tape: each for each in map(Parked._make, rows.fetchall())}

    def park(self, view: str, tapes: Iterable[Parked]) -> None:
        """Park tapes, inside the transaction that moves the view."""
        for each in tapes:
            self.connection.execute(
                "INSERT INTO views.parked (view, rebuilding, tape, position, table_seq, reason,"
                " says, place, parked_at_us) VALUES (%s, %s, %s, %s, %s, %s, %s, %s,"
                " (extract(epoch FROM clock_timestamp()) * 1000000)::bigint)"
                " ON CONFLICT DO NOTHING",
                (view, self._beside, *each),
            )

    def release(self, view: str, tape: str) -> None:
        """Release a parked tape. A writer that still withholds it is refused at its next move."""
        self.connection.execute(
            "DELETE FROM views.parked WHERE view = %s AND NOT rebuilding AND tape = %s",
            (view, tape),
        )
        self._new_generation(view)

    def keep_places(self, view: str, places: Sequence[PartitionOffset]) -> None:
        """Store the feed offsets of a view, inside the transaction that moves it."""
        if not places:
            return
        self.connection.execute(
            "INSERT INTO views.offsets AS o (view, rebuilding, topic, part, next_offset)"
            " SELECT %b, %b, t, p::integer, n FROM unnest(%b, %b, %b) AS u (t, p, n)"
            " ON CONFLICT (view, rebuilding, topic, part) DO UPDATE SET next_offset ="
            " excluded.next_offset WHERE o.next_offset <> excluded.next_offset",
            (
                view,
                self._beside,
                arrays.texts([each.topic for each in places]),
                arrays.bigints([each.partition for each in places]),
                arrays.bigints([each.next for each in places]),
            ),
            prepare=True,
        )

    def asked_for(self, topics: Sequence[str]) -> set[str]:
        """Those of these topics that a relay has requested."""
        if not topics:
            return set()
        rows = self.connection.execute(
            "SELECT topic FROM views.relayed WHERE topic = ANY(%s)", (list(topics),)
        )
        return {topic for (topic,) in rows.fetchall()}

    def enqueue(self, position: int, messages: Sequence[Message]) -> None:
        """Enqueue messages, in this order, inside the transaction that moves their view."""
        if not messages:
            return
        self.connection.execute(
            "INSERT INTO views.outbox (position, topic, key, body, attributes)"
            " SELECT %b, t, k, b, a::json"
            " FROM unnest(%b, %b, %b, %b) WITH ORDINALITY AS u (t, k, b, a, n) ORDER BY n",
            (
                position,
                arrays.texts([each.topic for each in messages]),
                arrays.texts([each.key for each in messages]),
                arrays.texts([each.body for each in messages]),
                arrays.texts([_json(each.attributes) for each in messages]),
            ),
            prepare=True,
        )

    def create(self, view: str, version: int, tables: Iterable[ViewTable], schema: Schema) -> bool:
        """Create a view's empty tables in a schema, to be filled from the first fact on.

        False if they exist.
        """
        with self.transaction():
            added = self.connection.execute(
                "INSERT INTO views.tracking (view, rebuilding, version, generation)"
                " VALUES (%s, %s, %s, 1) ON CONFLICT DO NOTHING",
                (view, schema == SHADOW_SCHEMA, version),
            )
            if added.rowcount == 0:
                return False
            for table in tables:
                for statement in ddl(table, schema):
                    self.connection.execute(statement.encode())
        return True

    def discard(self, view: str, tables: Iterable[ViewTable]) -> None:
        """Remove the shadow tables and state of an unfinished rebuild of a view."""
        with self.transaction():
            for name in ("tracking", "parked", "offsets"):
                self._forget(name, view)
            self._drop(SHADOW_SCHEMA, tables)

    def swap(self, view: str, tables: Sequence[ViewTable]) -> None:
        """Replace the live view by the rebuilt one, inside the caller's transaction.

        The caller has caught the rebuilt view up with the live one, under `hold`. Raises
        `ReadersInTheWayError` if readers lock the live tables, or the server analyzes the new ones;
        the caller then rolls back and tries again later. A view rebuilt from the tape has no
        offsets; it keeps the live view's, which are low enough.
        """
        try:
            self._lock_out(tables)
            self._drop(LIVE, tables)
            for table in tables:
                move = sql.SQL("ALTER TABLE {} SET SCHEMA {}")
                moved = sql.Identifier(SHADOW_SCHEMA, table.name), sql.Identifier(LIVE)
                self.connection.execute(move.format(*moved))
        except errors.LockNotAvailable as error:
            raise ReadersInTheWayError(view) from error
        named = {"view": view}
        for statement in _SWAP:
            self.connection.execute(statement, named)

    def lock_rows(self, tables: Sequence[ViewTable]) -> None:
        """Keep others from dropping the tables until the caller's transaction ends."""
        names = sql.SQL(", ").join(sql.Identifier(self.schema, each.name) for each in tables)
        lock = sql.SQL("LOCK TABLE {} IN ROW EXCLUSIVE MODE")
        self.connection.execute(lock.format(names))

    def analyze(self, tables: Iterable[ViewTable]) -> None:
        """Update the planner's statistics of tables that were just swapped in."""
        for table in tables:
            name = sql.Identifier(LIVE, table.name)
            self.connection.execute(sql.SQL("ANALYZE {}").format(name))

    @property
    def _beside(self) -> bool:
        return self.schema == SHADOW_SCHEMA

    def _page(
        self,
        table: ViewTable,
        columns: Iterable[Column],
        schema: Schema,
        after: Row | None,
        limit: int,
        lacking: str = "true",
    ) -> list[Row]:
        """Read a page by comparing whole keys, so that the index finds its start."""
        cells = ", ".join(f"t.{column.read}" for column in columns)
        order = ", ".join(f"t.{column.name}" for column in table.key)
        above = "true"
        if after is not None:
            keys = ", ".join(f"%(key{n})s::{column.type}" for n, column in enumerate(table.key))
            above = f"({order}) > ({keys})"
        asked = {f"key{n}": str(cell) for n, cell in enumerate(after or ())}
        return self.query(
            f"SELECT {cells} FROM {schema}.{table.name} t WHERE {above} AND {lacking}"  # noqa: S608 - our own names
            f" ORDER BY {order} LIMIT %(limit)s",
            {"limit": limit, **asked},
        )

    def _alike(self, table: ViewTable, columns: Iterable[Column]) -> bool:
        """Whether the live table exists and has these columns with the same types."""
        rows = self.query(
            "SELECT b.attname::text FROM pg_attribute b"
            " JOIN pg_attribute l USING (attname, atttypid)"
            " WHERE b.attrelid = to_regclass(%(beside)s) AND l.attrelid = to_regclass(%(live)s)"
            " AND NOT b.attisdropped AND NOT l.attisdropped",
            {"beside": f"{SHADOW_SCHEMA}.{table.name}", "live": f"{LIVE}.{table.name}"},
        )
        return {column.name for column in columns} <= {name for (name,) in rows}

    def _tracking(self, view: str, schema: Schema, lock: str = "") -> Tracking | None:
        row = self.connection.execute(
            f"{_TRACKED}{lock}".encode(), (view, schema == SHADOW_SCHEMA)
        ).fetchone()
        return Tracking(row[0], row[1], row[2], tuple(row[3]), row[4]) if row else None

    def _new_generation(self, view: str) -> None:
        self.connection.execute(
            "UPDATE views.tracking SET generation = generation + 1"
            " WHERE view = %s AND NOT rebuilding",
            (view,),
        )

    def _forget(self, name: str, view: str) -> None:
        self.connection.execute(
            f"DELETE FROM views.{name} WHERE view = %s AND rebuilding".encode(),  # noqa: S608 - our own names
            (view,),
        )

    def _lock_out(self, tables: Iterable[ViewTable]) -> None:
        """Lock the live tables that exist; no statement waits for a lock for long from now on."""
        live = [each.name for each in sorted(tables) if self._exists(each)]
        self.connection.execute(f"SET LOCAL lock_timeout = '{SWAP_LOCK_MS}ms'")
        if live:
            names = sql.SQL(", ").join(sql.Identifier(LIVE, name) for name in live)
            lock = sql.SQL("LOCK TABLE {} IN ACCESS EXCLUSIVE MODE")
            self.connection.execute(lock.format(names))

    def _exists(self, table: ViewTable) -> bool:
        asked = "SELECT to_regclass(%s) IS NOT NULL", (f"{LIVE}.{table.name}",)
        return self.connection.execute(*asked).fetchone() == (True,)

    def _drop(self, schema: Schema, tables: Iterable[ViewTable]) -> None:
        for table in tables:
            name = sql.Identifier(schema, table.name)
            self.connection.execute(sql.SQL("DROP TABLE IF EXISTS {}").format(name))


class TapeSource:
    """The tape as a `RecordSource` of views, on one connection."""

    def __init__(self, connection: AnyConnection) -> None:
        self._connection = connection
        connection.execute(f"LISTEN {CHANNEL}")

    def read(self, after: int, limit: int) -> list[TapeRow]:
        """Rows with position > `after`, in order of position, at most `limit`."""
        return read(self._connection, after, limit)

    def read_without(
        self, after: int, limit: int, types: Sequence[str], others: Others | None = None
    ) -> tuple[list[TapeRow], int]:
        """As `read`, without rows of these types, and the position up to which it has read.

        others: tapes of which nearly all rows are left out.
        """
        return read_without(self._connection, after, limit, types, others)

    def wait(self, after: int, timeout_s: float) -> None:
        """Return at the next append, or after `timeout_s` seconds."""
        del after  # notifications are queued since the LISTEN, so none is missed
        for _ in self._connection.notifies(timeout=timeout_s, stop_after=1):
            pass


@contextmanager
def tape_source(database: Database) -> Iterator[TapeSource]:
    """The tape of a database as a source of rows."""
    with database.connect("ledger_reader") as connection, translated(database):
        yield TapeSource(connection)


@contextmanager
def reading(database: Database, tables: Iterable[str]) -> Iterator[ViewStore]:
    """A consistent read of live views: all queries in the block see one moment, despite swaps.

    The tables are locked, against a swap only, before the snapshot is taken. Without the lock, a
    swap after the snapshot would show the new table as it was while it was being filled.
    """
    names = sql.SQL(", ").join(sql.Identifier(LIVE, name) for name in sorted(set(tables)))
    with _read_only(database) as connection:
        connection.execute(sql.SQL("LOCK TABLE {} IN ACCESS SHARE MODE").format(names))
        yield ViewStore(connection, LIVE, database)


@contextmanager
def reading_beside(store: ViewStore) -> Iterator[ViewStore]:
    """A second store for another thread, which sees the moment that a store of `reading` sees."""
    if store.database is None:
        raise ValueError("the store sees no one moment: it is none of `reading`")
    [(moment,)] = store.query("SELECT pg_export_snapshot()")
    with _read_only(store.database) as connection:
        connection.execute(sql.SQL("SET TRANSACTION SNAPSHOT {}").format(sql.Literal(moment)))
        yield ViewStore(connection, LIVE, store.database)


@contextmanager
def _read_only(database: Database) -> Iterator[AnyConnection]:
    """A connection within a transaction that sees one moment."""
    with database.connect("ledger_reader") as connection, translated(database):
        connection.isolation_level = psycopg.IsolationLevel.REPEATABLE_READ
        connection.read_only = True
        with connection.transaction():
            yield connection


@contextmanager
def writing(database: Database, schema: Schema) -> Iterator[AnyConnection]:
    """A connection for a writer of views; a rebuild acts as the owner, who may create tables."""
    role: Role = "ledger_projector" if schema == LIVE else "ledger_owner"
    with database.connect(role) as connection, translated(database):
        connection.execute(_PLANS)
        yield connection


@contextmanager
def opened(views: Database | ViewStore, schema: Schema) -> Iterator[ViewStore]:
    """A store for writing views: a given store, or a new one on a database."""
    if isinstance(views, ViewStore):
        yield views
        return
    with writing(views, schema) as connection:
        yield ViewStore(connection, schema)


def ddl(table: ViewTable, schema: Schema) -> Iterator[str]:
    """The statements that create a table, its indexes and its comments."""
    name = f"{schema}.{table.name}"
    lines = [
        f"    {c.name} {c.type}{_collation(c)}{'' if c.null else ' NOT NULL'}"
        for c in table.columns
    ]
    key = ", ".join(column.name for column in table.key)
    lines.append(f"    CONSTRAINT {table.name}_pk PRIMARY KEY ({key})")
    yield f"CREATE TABLE {name} (\n" + ",\n".join(lines) + "\n) WITH (fillfactor = 80)"
    yield f"COMMENT ON TABLE {name} IS {_quoted(table.comment)}"
    for c in table.columns:
        yield f"COMMENT ON COLUMN {name}.{c.name} IS {_quoted(c.comment)}"
    for index in table.indexes:
        yield f"CREATE INDEX ON {name} {index}"


def _columns(rows: Sequence[Sequence[Value]]) -> list[arrays.TextArray]:
    """Cells as one text array a column; the statement casts them to their types."""
    return [
        arrays.texts([cell if cell is None else str(cell) for cell in column])
        for column in zip(*rows, strict=True)
    ]


def _given(columns: Sequence[Column]) -> str:
    """SQL for rows from one array a column, cast to the columns' types."""
    names = ", ".join(f"c{number}" for number in range(len(columns)))
    cells = ", ".join(f"c{number}::{c.type} AS {c.name}" for number, c in enumerate(columns))
    given = ", ".join(["%b"] * len(columns))
    return f"SELECT {cells} FROM unnest({given}) AS u ({names})"  # noqa: S608 - our own names


@cache
def _row(table: ViewTable) -> Any:  # noqa: ANN401 - as `Table.row`
    return namedtuple(table.name, [column.name for column in table.columns])  # noqa: PYI024 - made as the program runs


@cache
def _load(table: ViewTable, keys: int, schema: Schema) -> bytes:
    cells = ", ".join(f"t.{c.read}" for c in table.columns)
    given = _given(table.columns[:keys])
    return (
        f"SELECT {cells} FROM ({given}) AS g"  # noqa: S608 - our own names
        f" JOIN {schema}.{table.name} AS t ON {_same(table, keys)}"
    ).encode()


@cache
def _save(table: ViewTable, schema: Schema) -> bytes:
    names = ", ".join(c.name for c in table.columns)
    key = ", ".join(c.name for c in table.key)
    changes = ", ".join(
        f"{c.name} = {c.merge.format(name=c.name)}" for c in table.columns[table.keys :]
    )
    merged = f"UPDATE SET {changes}" if changes and not table.is_log else "NOTHING"
    return (
        f"INSERT INTO {schema}.{table.name} AS old ({names}) {_given(table.columns)}"
        f" ON CONFLICT ({key}) DO {merged}"
    ).encode()


@cache
def _delete(table: ViewTable, keys: int, schema: Schema) -> bytes:
    given = _given(table.columns[:keys])
    return (
        f"DELETE FROM {schema}.{table.name} AS t USING ({given}) AS g WHERE {_same(table, keys)}"  # noqa: S608 - our own names
    ).encode()


def _same(table: ViewTable, keys: int) -> str:
    """SQL: rows t and g have the same first cells."""
    return " AND ".join(f"t.{column.name} = g.{column.name}" for column in table.columns[:keys])


def _lacking(table: ViewTable, schema: Schema, same: str) -> str:
    """SQL: the table in that schema has no row `l` with the key of `t` that matches `same`."""
    keys = " AND ".join(f"l.{column.name} = t.{column.name}" for column in table.key)
    return f"NOT EXISTS (SELECT FROM {schema}.{table.name} l WHERE {keys} AND {same})"


def _collation(column: Column) -> str:
    return ' COLLATE "C"' if column.type in ("text", "text[]") else ""


def _quoted(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"


def _json(attributes: Mapping[str, str]) -> str | None:
    return json.dumps(dict(attributes)) if attributes else None
