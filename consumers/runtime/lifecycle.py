"""The lifecycle of views: install, catch up, follow, rebuild, dump.

A batch's rows and the checkpoint commit together. The checkpoint moves only from the position that
the runner had read. So no fact is applied twice, and a second runner is refused (ADR 0040). A view
never decides what is recorded, and the record can rebuild all of it.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING

import msgspec

from consumers.runtime import outbox
from consumers.runtime.runner import BATCH_ROWS, REBUILD_ROWS, Runner, RunnerOptions
from consumers.runtime.source import Batch, Feed, FencedError, Projection, RecordSource
from infra.postgres import view_tables
from infra.postgres.advisory_lock import advisory_lock, holder
from infra.postgres.connection import translated
from infra.postgres.view_tables import LIVE, SHADOW_SCHEMA, ReadersInTheWayError, ViewStore
from ledger.errors import Refused, Unavailable

if TYPE_CHECKING:
    from infra.postgres.connection import AnyConnection, Database

__all__ = ["BATCH_ROWS", "Batch", "Feed", "FencedError", "Progress", "Projection", "RunnerOptions"]
__all__ += ["RecordSource", "Runner", "catch_up", "dump", "follow", "install", "rebuild"]
__all__ += ["up_to_date"]

POLL_S = 1.0
"""How long a runner waits for new rows before it polls and checks `stop`, seconds."""

SWAP_TRIES = 100
"""How often a swap tries to lock the live tables before it gives up."""

_LOCK = "rebuild"

Progress = Callable[[str, int], None]
"""Called with a view's name and the position it has reached, after each batch."""


def install(database: Database, projections: Sequence[Projection]) -> list[str]:
    """Create missing tables of views, as the owner; returns the names of the views created.

    A login without the owner's rights may call it once all views exist, as after `migrate --apply`.
    """
    with database.connect("ledger_reader") as connection, translated(database):
        installed = ViewStore(connection, LIVE).tracked()
    missing = [each for each in projections if each.name not in installed]
    if not missing:
        return []
    with view_tables.writing(database, SHADOW_SCHEMA) as connection:
        return [
            each.name
            for each in missing
            if ViewStore(connection, SHADOW_SCHEMA).create(
                each.name, each.version, each.tables, LIVE
            )
        ]


def catch_up(
    views: Database | ViewStore,
    source: RecordSource,
    projections: Sequence[Projection],
    *,
    progress: Progress | None = None,
    stop: Callable[[], bool] = lambda: False,
    batch_rows: int = BATCH_ROWS,
    options: RunnerOptions | None = None,
) -> int:
    """Catch live views up to the end of the record; returns the position all have reached.

    Raises `Refused` if a view was written by another version, `NotFound` if it does not exist.
    """
    options = options or RunnerOptions(progress, batch_rows)
    with view_tables.opened(views, LIVE) as store:
        runner = Runner(store, source, projections, options)
        while not stop() and (runner.step() or not runner.at_end):
            pass
        return runner.position


def up_to_date(database: Database, projections: Sequence[Projection]) -> None:
    """Catch live views up to the end of the record, from the tape. Raises as `catch_up`."""
    with view_tables.tape_source(database) as source:
        catch_up(database, source, projections)


def follow(
    views: Database | ViewStore,
    source: RecordSource,
    projections: Sequence[Projection],
    *,
    progress: Progress | None = None,
    stop: Callable[[], bool],
    batch_rows: int = BATCH_ROWS,
    options: RunnerOptions | None = None,
) -> int:
    """Keep live views at the end of the record until `stop`; returns the position reached.

    It stops between two batches, within about `POLL_S`. Raises as `catch_up`. Raises `Unavailable`
    if a connection is lost: call it again, no fact is applied twice.
    """
    options = options or RunnerOptions(progress, batch_rows)
    with view_tables.opened(views, LIVE) as store:
        runner = Runner(store, source, projections, options)
        while not stop():
            if not runner.step():
                source.wait(runner.position, POLL_S)
        return runner.position


def rebuild(
    database: Database,
    source: RecordSource,
    projection: Projection,
    *,
    progress: Progress | None = None,
    stop: Callable[[], bool] = lambda: False,
    options: RunnerOptions | None = None,
    first: Callable[[AnyConnection], bool] = lambda _: True,
) -> bool:
    """Rebuild a view in the shadow schema, then swap it with the live one; False if stopped.

    `first` may fill the new tables by other means (`consumers.parallel_rebuild`). It returns False
    if it was stopped.

    Readers see either the old view or the new one, never a mix. Raises `Refused` if another
    rebuild of the view is running, `Unavailable` if readers block the swap in all its tries.
    """
    options = options or RunnerOptions(progress, REBUILD_ROWS)
    with (
        view_tables.writing(database, SHADOW_SCHEMA) as connection,
        alone(connection, projection.name),
    ):
        store = ViewStore(connection, SHADOW_SCHEMA)
        return rebuild_in(store, source, projection, stop, options, lambda: first(connection))


def rebuild_in(
    store: ViewStore,
    source: RecordSource,
    projection: Projection,
    stop: Callable[[], bool],
    options: RunnerOptions,
    first: Callable[[], bool] = lambda: True,
    pause: Callable[[float], None] = time.sleep,
) -> bool:
    """As `rebuild`, on the caller's connection; the caller prevents a second rebuild."""
    name, version, tables = projection.name, projection.version, projection.tables
    store.discard(name, tables)
    store.create(name, version, tables, LIVE)
    store.create(name, version, tables, SHADOW_SCHEMA)
    if not first():
        store.discard(name, tables)
        return False
    runner = Runner(store, source, [projection], options)
    for attempt in range(SWAP_TRIES):
        while not stop() and (runner.step() or not runner.at_end):
            pass
        if stop():
            store.discard(name, tables)
            return False
        with suppress(ReadersInTheWayError):
            if _swap(store, projection, runner):
                store.analyze(tables)
                return True
        runner.reload_checkpoint()
        pause(min(1.0, 0.05 * (attempt + 1)))
    raise Unavailable(
        f"View {name} could not be swapped in {SWAP_TRIES} tries: readers kept its tables locked,"
        " or its source is behind the live view",
        where=f"view {name}",
        hint="The live view is unchanged. End long reading transactions, check that a relay runs,"
        " then rebuild again.",
    )


def dump(store: ViewStore, projection: Projection) -> bytes:
    """A view as JSON lines: all rows by table and key. Equal views give equal bytes."""
    lines = []
    for table in sorted(projection.tables, key=lambda each: each.name):
        cells = ", ".join(column.read for column in table.columns)
        order = ", ".join(column.name for column in table.key)
        statement = f"SELECT {cells} FROM {{schema}}.{table.name} ORDER BY {order}"  # noqa: S608 - our own names
        for row in store.query(statement):
            cell = {column.name: value for column, value in zip(table.columns, row, strict=True)}
            lines.append(msgspec.json.encode({"table": table.name} | cell))
    return b"".join(line + b"\n" for line in lines)


def _swap(store: ViewStore, projection: Projection, runner: Runner) -> bool:
    """Lock the live view, catch the shadow up with it, and swap them.

    False if the source ends before the live view: a topic may be missing its end for a while.
    """
    with store.transaction():
        live = store.hold(projection.name)
        reached = max((live.position, *live.parts)) if live else 0
        runner.catch_up_to(reached)
        if runner.position < reached:
            return False
        outbox.enqueue_swap(store, projection, runner.position)
        store.swap(projection.name, projection.tables)
        return True


def require_rebuild(store: ViewStore, projection: Projection, by: int) -> None:
    """Raise `FencedError` unless the server process `by` still holds the rebuild's lock.

    It also locks the tables until the transaction ends. So a rebuild that begins meanwhile waits
    before it creates them again, and nothing of this transaction gets into its tables.
    """
    store.lock_rows(projection.tables)
    if holder(store.connection, projection.name, _LOCK) != by:
        raise FencedError(projection.name)


@contextmanager
def alone(connection: AnyConnection, view: str) -> Iterator[None]:
    """Hold the lock that allows one rebuild of a view at a time."""
    with advisory_lock(connection, view, _LOCK) as alone:
        if not alone:
            raise Refused(
                f"View {view} is being rebuilt already",
                where=connection.info.dbname,
                hint="Wait for that rebuild, or end its process.",
            )
        yield
