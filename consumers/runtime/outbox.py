"""What views say on topics of their own, in the transaction that writes their rows.

A view names its tables whose rows are told, and how (`OutboxMapping`). The runner tells the rows
that a batch wrote; the relay publishes them (ADR 0076). They can all be had again from the view,
and say nothing that it does not hold.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from infra.postgres import outbox, relay_progress, view_tables
from infra.postgres.outbox import Message
from infra.postgres.view_tables import LIVE, ViewStore
from ledger.errors import Refused

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from consumers.runtime.source import OutboxMapping, Projection
    from infra.postgres.connection import AnyConnection, Database
    from infra.postgres.view_tables import Row, ViewTable

PAGE_ROWS = 2_000
"""Rows of a view that are read, and told, at once."""


REMOVED_ROWS = 20_000
"""Messages that are removed in one statement."""


class StoppedError(Exception):
    """Told to stop before all was said again that stands: say it all again, later."""


def topics_of(projections: Sequence[Projection]) -> tuple[str, ...]:
    """The topics that views say something on."""
    return tuple(dict.fromkeys(each.topic for view in projections for each in view.tells))


def capture_changes(store: ViewStore, projection: Projection) -> None:
    """Note what a view's program writes from here on, where a relay asked for it. Live views."""
    asked = set()
    if projection.tells and store.schema == LIVE:
        asked = store.asked_for([each.topic for each in projection.tells])
    store.heard = {each.table.name: {} for each in projection.tells if each.topic in asked}


def enqueue(store: ViewStore, projection: Projection, position: int) -> None:
    """Leave a message for every row noted."""
    for each in projection.tells:
        keys = store.heard.get(each.table.name)
        if keys:
            rows = store.load(each.table, keys)
            store.enqueue(position, [_message(each, rows[key]) for key in sorted(rows)])
    store.heard = {}


def enqueue_swap(store: ViewStore, projection: Projection, position: int) -> None:
    """Leave a message for every row that a swap changes: the rebuilt view was not listened to.

    On compacted topics a tombstone, too, for every key that is no more (ADR 0149).
    In the transaction of the swap, however many they are: said before it, they might tell rows that
    no view comes to hold; said after it, a crash would leave them unsaid for ever, since nothing
    tells any more what was changed.
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
    """Say everything again that live views hold for these topics; messages left, by topic.

    For a topic asked for the first time, and for readers that lost what they had. A page is read
    and left in one transaction that holds its view still, so that no message of it comes after a
    newer one; what changes between two pages, the view tells itself. `stop` is asked before every
    page, which is a sign of life. Raises `StoppedError`.
    """
    left = dict.fromkeys(topics, 0)
    with view_tables.opened(views, LIVE) as store:
        for view in projections:
            for each in (told for told in view.tells if told.topic in left):
                told = partial(_standing, store, view.name, each, stop, page_rows)
                left[each.topic] += _in_pages(each.table, told)
    return left


def clear_outbox(database: Database, projections: Sequence[Projection]) -> dict[str, int]:
    """Have views say nothing more, and remove what waits; messages removed, by topic.

    For whoever gives Kafka up: until a relay asks again nothing piles up any more. Raises `Refused`
    where a relay leads, which would ask at once. Stopped before its end, run it again.
    """
    topics = topics_of(projections)
    with relay_progress.lead(database, lambda: True) as relay_store:
        if relay_store is None:
            raise Refused(
                "A relay leads",
                where=database.where,
                hint="Stop every relay first: one that runs has views speak again.",
            )
        with view_tables.writing(database, LIVE) as connection:
            with connection.transaction():
                for each in (view for view in projections if view.tells):
                    ViewStore(connection, LIVE).hold(
                        each.name
                    )  # whoever writes it has asked before
                outbox.stop_publishing(connection, topics)
            return {topic: _removed_all(connection, topic) for topic in topics}


def _removed_all(connection: AnyConnection, topic: str) -> int:
    """Piece by piece: of a year there are millions."""
    count = 0
    while gone := outbox.remove(connection, topic, REMOVED_ROWS):
        count += gone
    return count


def _in_pages(table: ViewTable, told: Callable[[Row | None], list[Row]]) -> int:
    """Have page after page told, each after the last key of the one before; how many rows."""
    count, after = 0, None
    while rows := told(after):
        count += len(rows)
        after = rows[-1][: table.keys]
    return count


def _changed(store: ViewStore, each: OutboxMapping, position: int, after: Row | None) -> list[Row]:
    rows = store.changed(each.table, after, PAGE_ROWS)
    _leave(store, each, position, rows)
    return rows


def _removed(store: ViewStore, each: OutboxMapping, position: int, after: Row | None) -> list[Row]:
    keys = store.removed(each.table, after, PAGE_ROWS)
    store.enqueue(position, [Message(each.topic, each.key_of(key), None) for key in keys])
    return keys


def _standing(
    store: ViewStore,
    view: str,
    each: OutboxMapping,
    stop: Callable[[], bool],
    limit: int,
    after: Row | None,
) -> list[Row]:
    if stop():
        raise StoppedError(each.topic)
    with store.transaction():
        live = store.hold(view)
        if live is None:
            return []
        rows = store.page(each.table, after, limit)
        _leave(store, each, live.position, rows)
        return rows


def _leave(store: ViewStore, each: OutboxMapping, position: int, rows: Sequence[Row]) -> None:
    store.enqueue(position, [_message(each, row) for row in rows])


def _message(each: OutboxMapping, row: Row) -> Message:
    return Message(each.topic, each.key_of(row), each.value_of(row))
