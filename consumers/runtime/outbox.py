"""The transactional outbox of views: messages are enqueued in the transaction of their rows.

A view declares which tables are published, and how (`OutboxMapping`). The runner enqueues a message
for each row that a batch wrote; the relay publishes it (ADR 0076). All messages can be made again
from the view.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, NamedTuple

from infra.postgres import outbox, relay_progress, view_tables
from infra.postgres.outbox import Message
from infra.postgres.view_tables import LIVE, ViewStore
from ledger.errors import Refused, Unavailable

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Sequence

    from consumers.runtime.source import OutboxMapping, Projection
    from infra.postgres.connection import AnyConnection, Database
    from infra.postgres.view_tables import Row, ViewTable

PAGE_ROWS = 2_000
"""Rows of a view that are read and enqueued at once."""

REMOVED_ROWS = 20_000
"""Messages that one statement deletes."""


class StoppedError(Exception):
    """A restatement was stopped before its end; it must be started again later."""


def topics_of(projections: Sequence[Projection]) -> tuple[str, ...]:
    """The topics that these views publish."""
    return tuple(dict.fromkeys(each.topic for view in projections for each in view.tells))


def outdated(views: Database | ViewStore, projections: Sequence[Projection]) -> list[str]:
    """The views with messages whose live tables another version of their code wrote."""
    with view_tables.opened(views, LIVE) as store:
        live = {each.name: store.tracking(each.name) for each in projections if each.tells}
    return [
        each.name
        for each in projections
        if (found := live.get(each.name)) and found.version != each.version
    ]


def capture_changes(store: ViewStore, projection: Projection) -> Collection[str]:
    """Start capturing the keys that a live view writes; the topics that a relay publishes."""
    asked: Collection[str] = ()
    if projection.tells and store.schema == LIVE:
        asked = store.asked_for([each.topic for each in projection.tells])
    store.heard = {each.table.name: {} for each in projection.tells if each.topic in asked}
    return asked


def enqueue(
    store: ViewStore, projection: Projection, position: int, asked: Collection[str]
) -> None:
    """Enqueue a message for every captured row, to each asked topic of its table.

    A compacted topic gets a tombstone for a deleted row.
    """
    for each in projection.tells:
        keys = store.heard.get(each.table.name)
        if keys and each.topic in asked:
            rows = store.load(each.table, keys)
            _leave(store, each, position, [rows[key] for key in sorted(rows)])
            if each.compacted:
                standing = set(map(each.key_of, rows))  # as text: cells are written as text too
                gone = [key for key in keys if each.key_of(key) not in standing]
                _bury(store, each, position, sorted(gone, key=each.key_of))
    store.heard = {}


def enqueue_swap(store: ViewStore, projection: Projection, position: int) -> None:
    """Enqueue a message for every row that a swap changes; a rebuild captures no changes.

    Compacted topics also get a tombstone for every key that the swap removes (ADR 0149). All are
    enqueued in the transaction of the swap. Earlier messages might name rows that no live view
    ever holds. Later ones would be lost in a crash, since the differences are gone after the swap.
    """
    asked = store.asked_for([each.topic for each in projection.tells])
    for each in projection.tells:
        if each.topic in asked:
            _in_pages(each.table, partial(_changed, store, each, position))
            if each.compacted:
                _in_pages(each.table, partial(_removed, store, each, position))


def restate(
    views: Database | ViewStore,
    topics: Sequence[str],
    projections: Sequence[Projection],
    stop: Callable[[], bool] = lambda: False,
    page_rows: int = PAGE_ROWS,
) -> dict[str, int]:
    """Enqueue again all that live views hold for these topics; returns messages by topic.

    It serves topics published for the first time, and consumers that lost their state. Each page
    is read and enqueued in one transaction that locks its view. So no message comes after a newer
    one of its row. The view enqueues rows that change between two pages. `stop` is called before
    every page, and serves as a heartbeat. Raises `StoppedError`, and `Unavailable` for a view that
    another version of its code wrote.
    """
    left = dict.fromkeys(topics, 0)
    with view_tables.opened(views, LIVE) as store:
        for view in projections:
            for each in (told for told in view.tells if told.topic in left):
                told = partial(_standing, store, view, each, stop, page_rows)
                left[each.topic] += _in_pages(each.table, told)
    return left


def clear_outbox(database: Database, projections: Sequence[Projection]) -> dict[str, int]:
    """Stop views from enqueueing, and delete waiting messages; returns their number by topic.

    It serves an installation that gives up Kafka: the outbox stays empty until a relay runs again.
    Raises `Refused` if a relay leads, since it would request messages again. If it is stopped
    early, run it again.
    """
    topics = topics_of(projections)
    with relay_progress.lead(database, lambda: True) as relay_store:
        if relay_store is None:
            raise Refused(
                "A relay is running, so publishing cannot be stopped",
                where=database.where,
                hint="Stop every relay, then run this command again.",
            )
        with view_tables.writing(database, LIVE) as connection:
            with connection.transaction():
                for each in (view for view in projections if view.tells):
                    # Wait for a writer that checked before that messages are wanted.
                    ViewStore(connection, LIVE).hold(each.name)
                outbox.stop_publishing(connection, topics)
            return {topic: _removed_all(connection, topic) for topic in topics}


def _removed_all(connection: AnyConnection, topic: str) -> int:
    """Delete all messages of a topic in steps; a year of them is millions."""
    count = 0
    while gone := outbox.remove(connection, topic, REMOVED_ROWS):
        count += gone
    return count


class _Page(NamedTuple):
    """Rows that were enqueued at once, and in how many messages."""

    rows: Sequence[Row]
    messages: int


def _in_pages(table: ViewTable, told: Callable[[Row | None], _Page]) -> int:
    """Enqueue a table page by page, in order of key; returns the number of messages."""
    count, after = 0, None
    while (page := told(after)).rows:
        count += page.messages
        after = page.rows[-1][: table.keys]
    return count


def _changed(store: ViewStore, each: OutboxMapping, position: int, after: Row | None) -> _Page:
    rows = store.changed(each.table, after, 1 if each.several else PAGE_ROWS)
    return _leave(store, each, position, rows)


def _removed(store: ViewStore, each: OutboxMapping, position: int, after: Row | None) -> _Page:
    keys = store.removed(each.table, after, PAGE_ROWS)
    _bury(store, each, position, keys)
    return _Page(keys, len(keys))


def _bury(store: ViewStore, each: OutboxMapping, position: int, keys: Sequence[Row]) -> None:
    """Enqueue tombstones."""
    store.enqueue(position, [Message(each.topic, each.key_of(key), None) for key in keys])


def _standing(
    store: ViewStore,
    view: Projection,
    each: OutboxMapping,
    stop: Callable[[], bool],
    limit: int,
    after: Row | None,
) -> _Page:
    if stop():
        raise StoppedError(each.topic)
    with store.transaction():
        live = store.hold(view.name)
        if live is None:
            return _Page([], 0)
        if live.version != view.version:
            raise Unavailable(
                f"View {view.name} was written by version {live.version} of its code,"
                f" this is version {view.version}: its messages cannot be published again",
                where=each.topic,
                hint=f"Run `round-ledger rebuild {view.name}`, then try again.",
            )
        rows = store.page(each.table, after, 1 if each.several else limit)
        return _leave(store, each, live.position, rows)


def _leave(store: ViewStore, each: OutboxMapping, position: int, rows: Sequence[Row]) -> _Page:
    said = _said(store, each, rows)
    store.enqueue(position, said)
    return _Page(rows, len(said))


def _said(store: ViewStore, each: OutboxMapping, rows: Sequence[Row]) -> list[Message]:
    """The messages of whole rows, each of one or several."""
    if each.several is None:
        return messages(each, rows)
    named = map(each.table.row._make, rows)
    return [Message(each.topic, *told) for row in named for told in each.several(store, row)]


def messages(each: OutboxMapping, rows: Iterable[Row]) -> list[Message]:
    """The messages of whole rows."""
    return [
        Message(each.topic, each.key_of(row), each.value_of(row), each.attributes_of(row))
        for row in rows
    ]
