"""Comparing a live view with what the record gives: rows that were edited, deleted or inserted.

The view is built again beside the live one, which keeps answering. Once both have reached one
position they are compared; what writes the live view waits until that is done.
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Literal, NamedTuple

from consumers.runtime.lifecycle import SWAP_TRIES, Progress, alone, catch_up
from consumers.runtime.runner import REBUILD_ROWS, Runner, RunnerOptions
from infra.postgres import view_tables
from infra.postgres.view_tables import LIVE, SHADOW_SCHEMA, ViewStore
from ledger.errors import Refused, Unavailable

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from consumers.runtime.source import Projection, RecordSource
    from infra.postgres.connection import Database
    from infra.postgres.view_tables import Row, ViewTable

BREAKS_MAX = 100
"""Breaks of a view that are listed; any further ones are only counted."""

_PAGE_ROWS = 1_000


class ViewBreak(NamedTuple):
    """A row of a view that is not what the record gives."""

    table: str
    key: dict[str, object]
    what: Literal["edited", "deleted", "inserted"]


class ComparedView(NamedTuple):
    """A view beside the record up to a position."""

    view: str
    position: int
    rows: int  # of the view as the record gives it
    broken: int
    breaks: Sequence[ViewBreak]  # the first BREAKS_MAX


def compare(
    database: Database,
    source: RecordSource,
    projection: Projection,
    *,
    progress: Progress | None = None,
    stop: Callable[[], bool] = lambda: False,
) -> ComparedView | None:
    """Compare a live view with the record; None if stopped. Changes nothing.

    Raises `Refused` if the view is being rebuilt, was written by another version of its code, or
    withholds facts of parked tables. Raises `Unavailable` if its parts never are at one position.
    """
    name, tables = projection.name, projection.tables
    with (
        view_tables.writing(database, SHADOW_SCHEMA) as connection,
        alone(connection, name),
    ):
        _require_whole(ViewStore(connection, LIVE), name)
        store = ViewStore(connection, SHADOW_SCHEMA)
        store.discard(name, tables)
        store.create(name, projection.version, tables, SHADOW_SCHEMA)
        try:
            runner = Runner(store, source, [projection], RunnerOptions(progress, REBUILD_ROWS))
            for attempt in range(SWAP_TRIES):
                while not stop() and (runner.step() or not runner.at_end):
                    pass
                if stop():
                    return None
                catch_up(database, source, [projection])
                if found := _at_one_position(store, projection, runner):
                    return found
                runner.reload_checkpoint()
                time.sleep(min(1.0, 0.05 * (attempt + 1)))
        finally:
            store.discard(name, tables)
    raise Unavailable(
        f"View {name} is moved by several processes, which were never at one position",
        where=f"view {name}",
        hint="Compare it while fewer facts arrive, or stop `consume` meanwhile.",
    )


def _require_whole(live: ViewStore, name: str) -> None:
    if parked := sorted(live.parked(name)):
        raise Refused(
            f"View {name} withholds facts of {', '.join(parked)}",
            where=f"view {name}",
            hint=f"Resume it first: `unpark {parked[0]}`.",
        )


def _at_one_position(
    store: ViewStore, projection: Projection, runner: Runner
) -> ComparedView | None:
    """The result, if the live view and all its parts are where the built one is, or ahead."""
    with store.transaction():
        live = store.hold(projection.name)
        if live is None or len({live.position, *live.parts}) > 1:
            return None
        runner.catch_up_to(live.position)
        if runner.position != live.position:
            return None
        return _compared(store, projection, live.position)


def _compared(store: ViewStore, projection: Projection, position: int) -> ComparedView:
    rows = broken = 0
    breaks: list[ViewBreak] = []
    for table in projection.tables:
        ((count,),) = store.query(f"SELECT count(*) FROM {{schema}}.{table.name}")  # noqa: S608 - our own name
        rows += count
        for each in _breaks(store, table):
            broken += 1
            if len(breaks) < BREAKS_MAX:
                breaks.append(each)
    return ComparedView(projection.name, position, rows, broken, breaks)


def _breaks(store: ViewStore, table: ViewTable) -> Iterator[ViewBreak]:
    """The rows of the live table that are not those of the built one."""
    live = ViewStore(store.connection, LIVE)
    names = [column.name for column in table.key]
    for page in _pages(store.changed, table):
        there = {
            tuple(row[: table.keys]) for row in live.rows(table, [r[: table.keys] for r in page])
        }
        for row in page:
            key = row[: table.keys]
            what: Literal["edited", "deleted"] = "edited" if tuple(key) in there else "deleted"
            yield ViewBreak(table.name, dict(zip(names, key, strict=True)), what)
    for page in _pages(store.removed, table):
        for key in page:
            yield ViewBreak(table.name, dict(zip(names, key, strict=True)), "inserted")


def _pages(
    read: Callable[[ViewTable, Row | None, int], list[Row]], table: ViewTable
) -> Iterator[list[Row]]:
    after: Row | None = None
    while page := read(table, after, _PAGE_ROWS):
        yield page
        after = page[-1][: table.keys]
