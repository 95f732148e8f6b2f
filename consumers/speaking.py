"""What views say on topics of their own, in the transaction that writes their rows.

A view names its tables whose rows are told, and how (`Derived`). The runner tells the rows that a
batch wrote; the relay publishes them (ADR 0076). They can all be had again from the view, and say
nothing that it does not hold.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from infra import outbox, views
from infra.outbox import Message
from infra.views import LIVE, Store

if TYPE_CHECKING:
    from collections.abc import Sequence

    from consumers.batches import Derived, Projection
    from infra.postgres import Database
    from infra.views import Row

_AT_ONCE = 2_000


def topics_of(projections: Sequence[Projection]) -> tuple[str, ...]:
    """The topics that views say something on."""
    return tuple(dict.fromkeys(each.topic for view in projections for each in view.tells))


def listen(store: Store, projection: Projection) -> None:
    """Note what a view's program writes from here on, where a relay asked for it. Live views."""
    asked = set()
    if projection.tells and store.schema == LIVE:
        asked = outbox.asked_for(store, [each.topic for each in projection.tells])
    store.heard = {each.table.name: {} for each in projection.tells if each.topic in asked}


def speak(store: Store, projection: Projection, position: int) -> None:
    """Leave a message for every row noted."""
    for each in projection.tells:
        keys = store.heard.get(each.table.name)
        if keys:
            rows = store.load(each.table, keys)
            outbox.leave(store, position, [_message(each, rows[key]) for key in sorted(rows)])
    store.heard = {}


def restate(
    base: Database, topics: Sequence[str], projections: Sequence[Projection]
) -> dict[str, int]:
    """Say everything again that live views hold for these topics; messages left, by topic.

    For a topic asked for the first time, and after a view was rebuilt to other rows.
    """
    left = dict.fromkeys(topics, 0)
    with views.writing(base, LIVE) as connection:
        store = Store(connection, LIVE)
        for view in projections:
            for each in (told for told in view.tells if told.topic in left):
                with connection.transaction():
                    live = views.hold(connection, view.name)
                    if live is not None:
                        left[each.topic] += _all(store, each, live.position)
    return left


def _all(store: Store, each: Derived, position: int) -> int:
    cells = ", ".join(column.read for column in each.table.columns)
    order = ", ".join(column.name for column in each.table.key)
    rows = store.query(f"SELECT {cells} FROM {{schema}}.{each.table.name} ORDER BY {order}")  # noqa: S608 - our own names
    for at in range(0, len(rows), _AT_ONCE):
        messages = [_message(each, row) for row in rows[at : at + _AT_ONCE]]
        outbox.leave(store, position, messages)
    return len(rows)


def _message(each: Derived, row: Row) -> Message:
    return Message(each.topic, each.key(row), each.body(row))
