"""What views say on topics of their own, in the transaction that writes their rows.

A view names its tables whose rows are told, and how (`Derived`). The runner tells the rows that a
batch wrote; the relay publishes them (ADR 0076). They can all be had again from the view, and say
nothing that it does not hold.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from infra import views
from infra.book import PostgresBook
from infra.outbox import Message
from infra.views import LIVE

if TYPE_CHECKING:
    from collections.abc import Sequence

    from consumers.batches import Derived, Projection
    from infra.book import Book
    from infra.postgres import Database
    from infra.views import Row

_AT_ONCE = 2_000


def topics_of(projections: Sequence[Projection]) -> tuple[str, ...]:
    """The topics that views say something on."""
    return tuple(dict.fromkeys(each.topic for view in projections for each in view.tells))


def listen(book: Book, projection: Projection) -> None:
    """Note what a view's program writes from here on, where a relay asked for it. Live views."""
    asked = set()
    if projection.tells and book.schema == LIVE:
        asked = book.asked_for([each.topic for each in projection.tells])
    book.store.heard = {each.table.name: {} for each in projection.tells if each.topic in asked}


def speak(book: Book, projection: Projection, position: int) -> None:
    """Leave a message for every row noted."""
    store = book.store
    for each in projection.tells:
        keys = store.heard.get(each.table.name)
        if keys:
            rows = store.load(each.table, keys)
            book.leave(position, [_message(each, rows[key]) for key in sorted(rows)])
    store.heard = {}


def speak_of_swap(book: Book, projection: Projection, position: int) -> None:
    """Leave a message for every row that a swap changes: the rebuilt view was not listened to."""
    asked = book.asked_for([each.topic for each in projection.tells])
    for each in projection.tells:
        if each.topic in asked:
            _leave(book, each, position, book.changed(each.table))


def restate(
    base: Database, topics: Sequence[str], projections: Sequence[Projection]
) -> dict[str, int]:
    """Say everything again that live views hold for these topics; messages left, by topic.

    For a topic asked for the first time, and for readers that lost what they had.
    """
    with views.writing(base, LIVE) as connection:
        return restate_in(PostgresBook(connection, LIVE), topics, projections)


def restate_in(
    book: Book, topics: Sequence[str], projections: Sequence[Projection]
) -> dict[str, int]:
    """As `restate`, on a connection of the caller."""
    left = dict.fromkeys(topics, 0)
    for view in projections:
        for each in (told for told in view.tells if told.topic in left):
            with book.transaction():
                live = book.hold(view.name)
                if live is not None:
                    left[each.topic] += _all(book, each, live.position)
    return left


def _all(book: Book, each: Derived, position: int) -> int:
    rows = book.store.every(each.table)
    _leave(book, each, position, rows)
    return len(rows)


def _leave(book: Book, each: Derived, position: int, rows: Sequence[Row]) -> None:
    for at in range(0, len(rows), _AT_ONCE):
        book.leave(position, [_message(each, row) for row in rows[at : at + _AT_ONCE]])


def _message(each: Derived, row: Row) -> Message:
    return Message(each.topic, each.key(row), each.body(row))
