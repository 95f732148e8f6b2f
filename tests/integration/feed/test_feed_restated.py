"""What stands is said again a page at a time, and the last word of every key is the view's."""

from __future__ import annotations

import dataclasses
import datetime as dt
import threading
from typing import TYPE_CHECKING

import pytest

from consumers.runtime import outbox
from consumers.runtime.source import OutboxMapping, Projection
from infra.postgres import relay_progress
from infra.postgres.relay_progress import UNSAID
from infra.postgres.view_tables import (
    LIVE,
    SHADOW_SCHEMA,
    Column,
    ViewStore,
    ViewTable,
    reading,
    writing,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from infra.postgres.connection import AnyConnection, Database
    from infra.postgres.view_tables import Row, Schema

TOPIC = "ledger.table-state.v1"
TOLD = ViewTable(
    "told_again",
    "Of the test.",
    2,
    (
        Column("place", "text", "First of the key."),
        Column("day", "date", "Second of the key, of a type that is no text."),
        Column("says", "integer", "What is told."),
    ),
)
VIEW = Projection(
    "told_again",
    1,
    (TOLD,),
    lambda *_: None,
    tells=(
        OutboxMapping(
            TOPIC,
            TOLD,
            2,
            lambda row: f"{row[2]}",
            compacted=True,
        ),
    ),
)
NUMBER, POSITION = 2, 3
PLACES, DAYS = 6, 10
PAGE = 7
FIRST = dt.date(2026, 11, 1)


def key(number: int) -> tuple[str, str]:
    """The keys of the view, in order."""
    return f"place {number // DAYS}", str(FIRST + dt.timedelta(days=number % DAYS))


class Spied(ViewStore):
    """How many rows were loaded at once."""

    def __init__(self, connection: AnyConnection, schema: Schema) -> None:
        super().__init__(connection, schema)
        self.loaded: list[int] = []

    def page(self, table: ViewTable, after: Row | None, limit: int) -> list[Row]:
        rows = super().page(table, after, limit)
        self.loaded.append(len(rows))
        return rows

    def changed(self, table: ViewTable, after: Row | None, limit: int) -> list[Row]:
        rows = super().changed(table, after, limit)
        self.loaded.append(len(rows))
        return rows

    def removed(self, table: ViewTable, after: Row | None, limit: int) -> list[Row]:
        rows = super().removed(table, after, limit)
        self.loaded.append(len(rows))
        assert all(len(row) == table.keys for row in rows), "no cells beside the keys"
        return rows


def write(book: ViewStore, rows: Sequence[tuple[str, str, int]]) -> None:
    """Move the view by one position, as a runner does."""
    with book.transaction():
        seen = book.tracking(VIEW.name)
        assert seen
        assert book.advance(VIEW.name, seen, seen.position + 1)
        asked = outbox.capture_changes(book, VIEW)
        book.save(TOLD, rows)
        outbox.enqueue(book, VIEW, seen.position + 1, asked)


@pytest.fixture
def view(database: Database) -> Database:
    """A view of several pages, on which nothing was said yet and everything is to be said."""
    with writing(database, SHADOW_SCHEMA) as connection:
        ViewStore(connection, SHADOW_SCHEMA).create(VIEW.name, 1, [TOLD], LIVE)
    with writing(database, LIVE) as connection:
        every = [(*key(number), 0) for number in range(0, PLACES * DAYS, 2)]
        write(ViewStore(connection, LIVE), every)
    with relay_progress.lead(database, lambda: False) as relay_store:
        assert relay_store
        relay_store.move(TOPIC, 0, UNSAID)
    assert heard(database) == {}
    return database


def heard(database: Database, order: int = NUMBER) -> dict[str, str | None]:
    """The newest word of every key, by the order of messages or by position."""
    with database.connect("ledger_reader") as connection:
        rows = connection.execute(
            "SELECT key, body, number, position FROM views.outbox WHERE topic = %s ORDER BY number",
            (TOPIC,),
        )
        told = [(key_, body) for key_, body, *_ in sorted(rows, key=lambda row: row[order])]
        return dict(told)


def held(database: Database) -> dict[str, str]:
    """The rows of the live view, as it would publish them."""
    with reading(database, [TOLD.name]) as store:
        rows = store.page(TOLD, None, 10_000)
    [told] = VIEW.tells
    return {told.key_of(row): told.value_of(row) for row in rows}


def agrees(database: Database) -> bool:
    now = held(database)
    return heard(database) == now == heard(database, POSITION)


def busy(writer: ViewStore) -> Callable[[], bool]:
    """Asked between two pages: meanwhile rows change everywhere, and new ones come."""
    times = iter(range(1, 1_000))

    def asked() -> bool:
        at = next(times)
        numbers = {(at * step) % (PLACES * DAYS) for step in (1, 2, 7, 11, 29)} | {0, 59}
        write(writer, [(*key(number), at) for number in sorted(numbers)])
        return False

    return asked


def test_what_stands_is_said_again_page_by_page_while_the_view_moves_between(
    view: Database,
) -> None:
    with writing(view, LIVE) as connection, writing(view, LIVE) as other:
        book = Spied(connection, LIVE)
        asked = busy(ViewStore(other, LIVE))
        left = outbox.restate(book, [TOPIC], [VIEW], asked, PAGE)
    assert agrees(view)
    assert left == {TOPIC: sum(book.loaded)}
    assert max(book.loaded) == PAGE
    assert len(book.loaded) > PLACES * DAYS / 2 / PAGE


def test_left_after_the_view_may_have_moved_an_older_row_comes_last(
    view: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The control: the same pages, read before the transaction that leaves them."""

    def standing(
        book: ViewStore,
        view: Projection,
        each: OutboxMapping,
        asked: Callable[[], bool],
        limit: int,
        after: Row | None,
    ) -> outbox._Page:
        rows = book.page(each.table, after, limit)
        asked()
        with book.transaction():
            live = book.hold(view.name)
            assert live
            return outbox._leave(book, each, live.position, rows)

    monkeypatch.setattr(outbox, "_standing", standing)
    with writing(view, LIVE) as connection, writing(view, LIVE) as other:
        book, asked = ViewStore(connection, LIVE), busy(ViewStore(other, LIVE))
        outbox.restate(book, [TOPIC], [VIEW], asked, PAGE)
    assert not agrees(view)


@pytest.mark.long
def test_a_writer_that_never_rests_and_a_restating_leave_the_views_word_last(
    view: Database,
) -> None:
    done, moved = threading.Event(), threading.Event()

    def keep_writing() -> None:
        with writing(view, LIVE) as connection:
            asked = busy(ViewStore(connection, LIVE))
            while not done.is_set():
                asked()
                moved.set()

    thread = threading.Thread(target=keep_writing)
    thread.start()
    try:
        with writing(view, LIVE) as connection:
            for _ in range(5):
                moved.clear()
                assert moved.wait(60)
                book = ViewStore(connection, LIVE)
                outbox.restate(book, [TOPIC], [VIEW], lambda: False, 3)
    finally:
        done.set()
        thread.join()
    assert agrees(view)


def test_told_to_stop_between_pages_it_ends_and_says_so(view: Database) -> None:
    with writing(view, LIVE) as connection:
        book = Spied(connection, LIVE)
        with pytest.raises(outbox.StoppedError):
            outbox.restate(book, [TOPIC], [VIEW], lambda: len(book.loaded) == 2, PAGE)
    assert book.loaded == [PAGE, PAGE]
    assert len(heard(view)) == 2 * PAGE


def test_a_swap_tells_in_pages_what_it_changes_and_all_of_it_or_nothing(
    view: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(outbox, "PAGE_ROWS", 4)
    before = held(view)
    gone = [key(number) for number in (0, 2, 4, 6, 8, 10)]
    same = [(*key(number), 0) for number in range(12, 20, 2)]
    other = [(*key(number), 1) for number in range(20, PLACES * DAYS)]
    with writing(view, SHADOW_SCHEMA) as connection:
        book = Spied(connection, SHADOW_SCHEMA)
        book.create(VIEW.name, 1, [TOLD], SHADOW_SCHEMA)
        ViewStore(connection, SHADOW_SCHEMA).save(TOLD, [*same, *other])
        with book.transaction(force_rollback=True):
            outbox.enqueue_swap(book, VIEW, 1)
            book.swap(VIEW.name, [TOLD])
        assert (heard(view), held(view)) == ({}, before)
        with book.transaction():
            outbox.enqueue_swap(book, VIEW, 1)
            book.swap(VIEW.name, [TOLD])
    changed = {f"{place}/{day}": "1" for place, day, _ in other}
    taken_back = {f"{place}/{day}": None for place, day in gone}
    assert heard(view) == changed | taken_back
    assert held(view).keys() == {f"{place}/{day}" for place, day, _ in [*same, *other]}
    assert (max(book.loaded), sum(book.loaded)) == (4, 2 * (len(other) + len(gone)))


def test_what_a_log_told_of_a_row_that_is_no_more_stands(view: Database) -> None:
    """Only a compacted topic has a newest record of a key to take back."""
    (told,) = VIEW.tells
    log = dataclasses.replace(VIEW, tells=(dataclasses.replace(told, compacted=False),))
    swapped(view, log, [(*key(0), 0)])
    assert heard(view) == {}
    assert held(view) == {f"{key(0)[0]}/{key(0)[1]}": "0"}


def test_another_version_with_other_columns_tells_all_it_holds_and_takes_back_the_rest(
    view: Database,
) -> None:
    more = TOLD._replace(columns=(*TOLD.columns, Column("more", "integer", "Of the new version.")))
    (told,) = VIEW.tells
    newer = dataclasses.replace(
        VIEW, version=2, tables=(more,), tells=(dataclasses.replace(told, table=more),)
    )
    keys = [key(number) for number in range(4, PLACES * DAYS, 2)]
    swapped(view, newer, [(*each, 0, 5) for each in keys])
    stays = {f"{place}/{day}": "0" for place, day in keys}
    assert heard(view) == stays | {f"{p}/{day}": None for p, day in (key(0), key(2))}


def test_a_table_that_the_live_view_lacks_is_told_whole(view: Database) -> None:
    with view.connect("ledger_owner") as connection:
        connection.execute("DROP TABLE views.told_again")
    swapped(view, VIEW, [(*key(0), 3)])
    assert heard(view) == {f"{key(0)[0]}/{key(0)[1]}": "3"}


def swapped(database: Database, newer: Projection, rows: Sequence[tuple[object, ...]]) -> None:
    """Have a rebuilt view with these rows take the live one's place."""
    (table,) = newer.tables
    with writing(database, SHADOW_SCHEMA) as connection:
        book = ViewStore(connection, SHADOW_SCHEMA)
        book.create(newer.name, newer.version, newer.tables, SHADOW_SCHEMA)
        book.save(table, rows)  # type: ignore[arg-type] # cells
        with book.transaction():
            outbox.enqueue_swap(book, newer, 1)
            book.swap(newer.name, newer.tables)
