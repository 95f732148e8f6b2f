"""A view read off the record: what one is, and the runner that keeps it, rebuilds it, prints it.

A batch's rows and the position they reach commit together, moved only from the position the runner
had seen, so that no fact is applied twice and a second runner is refused (ADR 0040). A view never
decides what is recorded, and holds nothing that the record does not give again.
"""

from __future__ import annotations

import signal
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

import msgspec

from infra import views
from infra.views import BESIDE, LIVE, ReadersInTheWayError, Store, Table, Tracking
from ledger import kinds
from ledger.errors import NotFound, Refused, Unavailable
from ledger.wire import Fact, fact_of

if TYPE_CHECKING:
    from infra.postgres import AnyConnection, Database
    from infra.views import Schema
    from ledger.tape import TapeRow

BATCH_ROWS = 2_000
"""Rows a transaction takes in: enough to share its flush, few enough to stop soon."""

POLL_S = 1.0
"""How long a runner waits for news before it looks, and looks whether to stop, seconds."""

SWAP_TRIES = 100
"""How often a swap asks readers to make way before it gives up."""

Progress = Callable[[str, int], None]
"""Told a view's name and the position it has reached, after each batch."""


class RecordSource(Protocol):
    """Where rows of the record come from: the tape itself, or a feed written from it."""

    def read(self, after: int, limit: int) -> Sequence[TapeRow]:
        """Rows with position > `after`, in order of position, at most `limit`."""

    def wait(self, after: int, timeout_s: float) -> None:
        """Return when there may be rows above `after`, at the latest after `timeout_s` seconds."""


class Batch:
    """Some rows of the record, in order. Facts are decoded where a view asks, and once."""

    def __init__(self, rows: Sequence[TapeRow], known: dict[int, Fact] | None = None) -> None:
        self.rows = rows
        self._known: dict[int, Fact] = {} if known is None else known

    @property
    def position(self) -> int:
        """The position of its last row."""
        return self.rows[-1].position

    def fact(self, row: TapeRow) -> Fact:
        """The typed fact of one of its rows."""
        fact = self._known.get(row.position)
        if fact is None:
            fact = self._known[row.position] = fact_of(row)
        return fact

    def body(self, row: TapeRow) -> Any:  # noqa: ANN401 - one of ledger.facts, by `row.type`
        """What one of its rows says, without its envelope: a third of the cost of `fact`."""
        fact = self._known.get(row.position)
        return kinds.body(kinds.KINDS[row.type], row.data) if fact is None else fact.body

    def facts(self, types: frozenset[str]) -> Iterator[tuple[TapeRow, Fact]]:
        """The rows of these types with their facts."""
        return ((row, self.fact(row)) for row in self.rows if row.type in types)

    def after(self, position: int) -> Batch:
        """What of it comes after a position."""
        if self.rows[0].position > position:
            return self
        return Batch([row for row in self.rows if row.position > position], self._known)


@dataclass(frozen=True)
class Projection:
    """A view: its tables, and how rows of the record change them.

    `apply` runs in the transaction that moves the tracking; what it leaves in the tables must
    depend on the facts alone, never on where one batch ended and the next began. Raise `version`
    whenever the same facts would give other rows: a view of another version must be rebuilt.
    """

    name: str
    version: int
    tables: tuple[Table, ...]
    apply: Callable[[Store, Batch], None]


class FencedError(Exception):
    """Another runner, or a rebuild, moved the view since this runner last looked."""


def install(base: Database, projections: Sequence[Projection]) -> list[str]:
    """Create, as the owner, the tables of views that do not exist yet; the names of those made."""
    with views.writing(base, BESIDE) as connection:
        return [
            each.name
            for each in projections
            if views.create(connection, each.name, each.version, each.tables, LIVE)
        ]


def catch_up(
    base: Database,
    source: RecordSource,
    projections: Sequence[Projection],
    *,
    progress: Progress | None = None,
    stop: Callable[[], bool] = lambda: False,
    batch_rows: int = BATCH_ROWS,
) -> int:
    """Bring live views to the end of the record; the position they all have reached.

    Raises `Refused` where a view was written by another version, `NotFound` where it is not there.
    """
    with views.writing(base, LIVE) as connection:
        runner = _Runner(connection, LIVE, source, projections, progress, batch_rows)
        while not stop() and runner.step():
            pass
        return runner.position


def follow(
    base: Database,
    source: RecordSource,
    projections: Sequence[Projection],
    *,
    progress: Progress | None = None,
    stop: Callable[[], bool],
    batch_rows: int = BATCH_ROWS,
) -> int:
    """Keep live views at the end of the record until `stop`; the position they have reached.

    Stops between two batches, within about `POLL_S`. Raises as `catch_up`, and `Unavailable`
    where a connection is lost: start again, nothing is applied twice.
    """
    with views.writing(base, LIVE) as connection:
        runner = _Runner(connection, LIVE, source, projections, progress, batch_rows)
        while not stop():
            if not runner.step():
                source.wait(runner.position, POLL_S)
        return runner.position


def rebuild(
    base: Database,
    source: RecordSource,
    projection: Projection,
    *,
    progress: Progress | None = None,
    stop: Callable[[], bool] = lambda: False,
) -> bool:
    """Build a view anew beside the live one, then put it in its place; False where stopped.

    Readers see the old view or the new one, whole. Raises `Refused` where a rebuild of the same
    view is running, `Unavailable` where readers never let the swap through.
    """
    with views.writing(base, BESIDE) as connection, _alone(connection, projection.name):
        views.discard(connection, projection.name, projection.tables)
        views.create(connection, projection.name, projection.version, projection.tables, LIVE)
        views.create(connection, projection.name, projection.version, projection.tables, BESIDE)
        runner = _Runner(connection, BESIDE, source, [projection], progress, BATCH_ROWS)
        for attempt in range(SWAP_TRIES):
            while not stop() and runner.step():
                pass
            if stop():
                views.discard(connection, projection.name, projection.tables)
                return False
            with suppress(ReadersInTheWayError):
                _swap(connection, projection, runner)
                views.analyze(connection, projection.tables)
                return True
            runner.look_again()
            time.sleep(min(1.0, 0.05 * (attempt + 1)))
        raise Unavailable(
            f"Readers of view {projection.name} did not make way in {SWAP_TRIES} tries",
            where=base.where,
            hint="End long reading transactions, then rebuild again; the live view is unchanged.",
        )


def dump(store: Store, projection: Projection) -> bytes:
    """A view as JSON lines: every row of every table in order of key. Equal views, equal bytes."""
    lines = []
    for table in sorted(projection.tables, key=lambda each: each.name):
        columns = [column for column in table.columns if column.dumped]
        cells = ", ".join(column.read for column in columns)
        order = ", ".join(column.name for column in table.key)
        statement = f"SELECT {cells} FROM {{schema}}.{table.name} ORDER BY {order}"  # noqa: S608 - our own names
        for row in store.query(statement):
            cell = {column.name: value for column, value in zip(columns, row, strict=True)}
            lines.append(msgspec.json.encode({"table": table.name} | cell))
    return b"".join(line + b"\n" for line in lines)


@contextmanager
def until_signalled() -> Iterator[Callable[[], bool]]:
    """A `stop` that becomes true at SIGTERM or SIGINT. Only in a process's main thread."""
    told = threading.Event()
    kept = {
        number: signal.signal(number, lambda *_: told.set())
        for number in (signal.SIGTERM, signal.SIGINT)
    }
    try:
        yield told.is_set
    finally:
        for number, handler in kept.items():
            signal.signal(number, handler)


class _Runner:
    """Views of one generation, and how far each has read."""

    def __init__(
        self,
        connection: AnyConnection,
        schema: Schema,
        source: RecordSource,
        projections: Sequence[Projection],
        progress: Progress | None,
        batch_rows: int,
    ) -> None:
        self._store = Store(connection, schema)
        self._source = source
        self._projections = projections
        self._progress = progress
        self._batch_rows = batch_rows
        self._seen: dict[str, Tracking] = {}
        self.look_again()

    @property
    def position(self) -> int:
        """What every view has reached."""
        return min(seen.position for seen in self._seen.values())

    def step(self) -> bool:
        """Apply the next rows to the views that lack them; False where there are none.

        A view that somebody else moved meanwhile is looked up again and continued from there.
        """
        rows = self._source.read(self.position, self._batch_rows)
        if not rows:
            return False
        batch = Batch(rows)
        for projection in self._projections:
            try:
                self.apply(projection, batch)
            except FencedError:
                self._seen[projection.name] = _seen(self._store, projection)
        return True

    def apply(self, projection: Projection, batch: Batch) -> None:
        """Rows and tracking of one view in one transaction. Raises FencedError, nothing applied."""
        seen = self._seen[projection.name]
        if batch.position <= seen.position:
            return
        with self._store.connection.transaction():
            if not views.advance(self._store, projection.name, seen, batch.position):
                raise FencedError(projection.name)
            lacking = batch.after(seen.position)
            try:
                projection.apply(self._store, lacking)
            except Exception as error:
                first, last = lacking.rows[0].position, lacking.position
                error.add_note(f"View {projection.name}, at positions {first:,} to {last:,}")
                raise
        self._seen[projection.name] = seen._replace(position=batch.position)
        if self._progress:
            self._progress(projection.name, batch.position)

    def look_again(self) -> None:
        """Take up the tracking as it is in the database."""
        self._seen = {each.name: _seen(self._store, each) for each in self._projections}

    def reach(self, position: int) -> None:
        """Apply what is missing up to a position, inside a transaction of the caller."""
        while self.position < position and self.step():
            pass


def _seen(store: Store, projection: Projection) -> Tracking:
    """Where a view stands. Raises where it is not this program's."""
    seen = store.tracking(projection.name)
    if seen is None:
        raise NotFound(
            f"There is no view {projection.name} in this database",
            where=f"schema {store.schema}",
            hint=f"Run `round-ledger rebuild {projection.name}`.",
        )
    if seen.version != projection.version:
        raise Refused(
            f"View {projection.name} was written by version {seen.version} of its program,"
            f" this is version {projection.version}",
            where=f"schema {store.schema}",
            hint=f"Run `round-ledger rebuild {projection.name}`; until then it stands still.",
        )
    return seen


def _swap(connection: AnyConnection, projection: Projection, runner: _Runner) -> None:
    """Hold the live view still, catch up with it, take its place."""
    with connection.transaction():
        live = views.hold(connection, projection.name)
        runner.reach(live.position if live else 0)
        views.swap(connection, projection.name, projection.tables)


@contextmanager
def _alone(connection: AnyConnection, view: str) -> Iterator[None]:
    """One rebuild of a view at a time; a process that dies lets go of it with its connection."""
    row = connection.execute(
        "SELECT pg_try_advisory_lock(hashtext(%s), hashtext('rebuild'))", (view,)
    ).fetchone()
    if row != (True,):
        raise Refused(
            f"View {view} is being rebuilt already",
            where=connection.info.dbname,
            hint="Wait for that rebuild, or end its process.",
        )
    yield
    connection.execute("SELECT pg_advisory_unlock(hashtext(%s), hashtext('rebuild'))", (view,))
