"""A migration of the busiest table while facts are appended and somebody reads for long."""

from __future__ import annotations

import threading
import time
from contextlib import contextmanager
from typing import TYPE_CHECKING

import pytest

from infra.postgres import migrations
from infra.postgres.migrations import Migration, migrate
from infra.postgres.tape import PostgresTape
from ledger.errors import Unavailable
from tests.fixtures.postgres import fact

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from infra.postgres.connection import Database

READ_S = 12.0
NEXT = Migration(
    "9999_wider.sql",
    'ALTER TABLE ledger.tape ADD COLUMN wider text COLLATE "C"; '
    "COMMENT ON COLUMN ledger.tape.wider IS 'Of a test.';",
)


@pytest.fixture
def next_version(monkeypatch: pytest.MonkeyPatch) -> None:
    """The program one migration later."""
    known = migrations.migrations()
    monkeypatch.setattr(migrations, "migrations", lambda: [*known, NEXT])


@contextmanager
def appending(database: Database) -> Iterator[tuple[list[int], list[float]]]:
    """Facts appended all the while: how many, and how long each append took, seconds."""
    count, took = [0], []
    done = threading.Event()

    def append() -> None:
        with PostgresTape(database) as tape:
            while not done.is_set():
                began = time.monotonic()
                tape.append([fact(n) for n in range(count[0], count[0] + 5)])
                took.append(time.monotonic() - began)
                count[0] += 5

    thread = threading.Thread(target=append)
    thread.start()
    try:
        yield count, took
    finally:
        done.set()
        thread.join()


@contextmanager
def reading(database: Database, seconds: float) -> Iterator[None]:
    """Somebody who holds the tape in one long transaction, as a backup does, or until the end."""
    begun, done = threading.Event(), threading.Event()

    def read() -> None:
        with database.connect("ledger_reader") as connection, connection.transaction():
            connection.execute("SELECT count(*) FROM ledger.tape")
            begun.set()
            done.wait(seconds)

    thread = threading.Thread(target=read)
    thread.start()
    assert begun.wait(60)
    try:
        yield
    finally:
        done.set()
        thread.join()


def longest(database: Database) -> float:
    """The longest append while the migration waits for a reader; seconds."""
    with appending(database) as (count, took):
        time.sleep(0.5)
        with reading(database, READ_S):
            assert migrate(database.owner_url) == [NEXT.name]
        time.sleep(0.5)
    with PostgresTape(database) as tape:
        assert tape.counters().appended == count[0]
        assert tape.verify().broken is None
    return max(took)


@pytest.mark.long
def test_facts_wait_for_a_migration_no_longer_than_its_bound(
    database: Database, next_version: None
) -> None:
    assert longest(database) < READ_S / 2


@pytest.mark.long
def test_a_migration_that_waits_as_long_as_it_takes_holds_facts_up_for_all_of_it(
    database: Database, next_version: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(migrations, "DDL_LOCK_S_MAX", 60)
    assert longest(database) > READ_S - 2


@pytest.mark.long
def test_a_migration_that_never_gets_its_table_says_who_to_look_for_and_changes_nothing(
    database: Database, next_version: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(migrations, "DDL_LOCK_S_MAX", 1)
    monkeypatch.setattr(migrations, "DDL_TRIES", 2)
    monkeypatch.setattr(migrations, "DDL_PAUSE_S", 0.0)
    with reading(database, 60), pytest.raises(Unavailable, match="could not lock its tables"):
        migrate(database.owner_url)
    assert migrate(database.owner_url) == [NEXT.name]


def test_several_programs_that_migrate_at_once_do_it_once(
    database: Database, next_version: None
) -> None:
    done: list[list[str]] = []
    run: Callable[[], None] = lambda: done.append(migrate(database.owner_url))  # noqa: E731
    threads = [threading.Thread(target=run) for _ in range(4)]
    with appending(database):
        for each in threads:
            each.start()
        for each in threads:
            each.join()
    assert sorted(done) == [[], [], [], [NEXT.name]]
