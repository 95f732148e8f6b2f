"""A view rebuilt and swapped under readers and a writer: no reader sees it empty, mixed or older.

Each check is also run against the naive way, which it must catch.
"""

from __future__ import annotations

import threading
import time
from contextlib import contextmanager
from typing import TYPE_CHECKING, Self

import psycopg
import pytest

from consumers.registry import install
from consumers.rounds.index import ROUND_INDEX, ROUNDS, TAPES, WAGERS
from consumers.runtime import lifecycle
from consumers.runtime.lifecycle import catch_up, follow, rebuild
from infra.postgres import view_tables
from infra.postgres.tape import PostgresTape
from infra.postgres.view_tables import (
    LIVE,
    ViewStore,
    reading,
    reading_beside,
    tape_source,
    writing,
)
from ledger.errors import Refused, Unavailable
from tests.scenes.view_feeds import Prefix, day, dumped, record
from tests.until import until

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from contextlib import AbstractContextManager

    from infra.postgres.connection import Database
    from infra.postgres.view_tables import ViewTable
    from ledger.record.tape import Received, TapeRow

NAMES = [ROUNDS.name, WAGERS.name, TAPES.name]
READERS = 3


class Watch:
    """Readers that look at the view all the time, and what they saw that cannot be."""

    def __init__(
        self,
        database: Database,
        facts: list[Received],
        read: Callable[[Database], AbstractContextManager[ViewStore]],
    ) -> None:
        told = 0
        self.told_by = [0, *((told := told + of_a_round(fact)) for fact in facts)]
        self.wrong: list[str] = []
        self.reads = 0
        self._stop = threading.Event()
        self._database, self._read = database, read
        self._threads = [threading.Thread(target=self._look) for _ in range(READERS)]

    def __enter__(self) -> Self:
        for thread in self._threads:
            thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._stop.set()
        for thread in self._threads:
            thread.join()

    def _look(self) -> None:
        newest = 0
        while not self._stop.is_set():
            try:
                with self._read(self._database) as store:
                    newest = max(newest, self._check(store, newest))
            except (psycopg.errors.UndefinedTable, Unavailable) as error:
                self.wrong.append(f"no answer: {error}")
            self.reads += 1

    def _check(self, store: ViewStore, newest: int) -> int:
        """The index must hold what the record had up to the position it claims."""
        seen = store.tracking("rounds")
        position = seen.position if seen else 0
        facts = store.query("SELECT coalesce(sum(facts), 0)::int FROM {schema}.rounds")[0][0]
        time.sleep(0.002)
        placed = store.query(
            "SELECT coalesce(sum(upper(r) - lower(r)), 0)::int"
            " FROM {schema}.round_tapes, unnest(seqs) AS r"
        )[0][0]
        told = self.told_by[position]
        if not facts == placed == told:
            self.wrong.append(f"at {position}: {facts} and {placed} facts, {told} were told")
        if position < newest:
            self.wrong.append(f"position {position} after {newest}")
        return position


def of_a_round(fact: Received | TapeRow) -> bool:
    return fact.subject is not None and "/" in fact.subject


def whole(database: Database) -> AbstractContextManager[ViewStore]:
    """How a view is read: one transaction, its tables held before the snapshot."""
    return reading(database, NAMES)


def in_order_of_arrival(facts: list[Received]) -> list[Received]:
    """Each fact once, so that positions are places in the list."""
    return list({(fact.source, fact.id): fact for fact in facts}.values())


def keep_writing(database: Database, facts: list[Received], stop: threading.Event) -> None:
    """Append a little at a time, as a floor does, until all is appended."""
    with PostgresTape(database) as tape:
        for at in range(0, len(facts), 20):
            tape.append(facts[at : at + 20])
            if stop.wait(0.01):
                return


@contextmanager
def kept_up(database: Database) -> Iterator[None]:
    """A runner that keeps the view up in a thread."""
    stop = threading.Event()

    def run() -> None:
        with tape_source(database) as source:
            follow(database, source, [ROUND_INDEX], stop=stop.is_set, batch_rows=150)

    thread = threading.Thread(target=run)
    thread.start()
    try:
        yield
    finally:
        stop.set()
        thread.join()


@pytest.fixture
def floor(database: Database) -> Iterator[tuple[Database, list[Received]]]:
    """A record that is being added to while the test runs, and a view of its first half."""
    facts = in_order_of_arrival(day(15))
    half = len(facts) // 2
    record(database, facts[:half])
    install(database)
    with tape_source(database) as source:
        catch_up(database, source, [ROUND_INDEX])
    stop = threading.Event()
    thread = threading.Thread(target=keep_writing, args=(database, facts[half:], stop))
    thread.start()
    yield database, facts
    stop.set()
    thread.join()


@pytest.mark.long
def test_readers_of_a_view_that_is_rebuilt_and_swapped_see_one_whole_view(
    floor: tuple[Database, list[Received]],
) -> None:
    database, facts = floor
    with kept_up(database), Watch(database, facts, whole) as watch, tape_source(database) as source:
        rebuilt = 0
        while rebuilt < 4 or watch.reads <= 50:
            assert rebuild(database, source, ROUND_INDEX)
            rebuilt += 1
    assert watch.wrong == []
    with whole(database) as store:
        seen = store.tracking("rounds")
    assert seen is not None
    assert seen.generation == rebuilt + 1


def test_the_naive_way_to_rebuild_is_caught(floor: tuple[Database, list[Received]]) -> None:
    """The control: empty the live tables, then fill them again."""
    database, facts = floor
    with Watch(database, facts, whole) as watch, tape_source(database) as source:
        with database.connect("ledger_owner") as connection, connection.transaction():
            for table in NAMES:
                connection.execute(f"DELETE FROM views.{table}".encode())  # noqa: S608 - our own names  # noqa: S608 - our own names
        with database.connect("ledger_owner") as connection:
            connection.execute("UPDATE views.tracking SET position = 0, generation = 2")
        until(lambda: watch.wrong)
        catch_up(database, source, [ROUND_INDEX], batch_rows=100)


def test_a_swap_in_two_transactions_is_caught(floor: tuple[Database, list[Received]]) -> None:
    """The control: move the tables one by one."""
    database, facts = floor
    with Watch(database, facts, whole) as watch, tape_source(database) as source:
        with writing(database, view_tables.SHADOW_SCHEMA) as connection:
            ViewStore(connection, view_tables.SHADOW_SCHEMA).create(
                "rounds", 1, ROUND_INDEX.tables, view_tables.SHADOW_SCHEMA
            )
        runner_rows = source.read(0, 300)
        with writing(database, view_tables.SHADOW_SCHEMA) as connection, connection.transaction():
            ROUND_INDEX.apply(
                ViewStore(connection, view_tables.SHADOW_SCHEMA), lifecycle.Batch(runner_rows)
            )
        with database.connect("ledger_owner") as connection:
            for table in NAMES:
                connection.execute(f"DROP TABLE views.{table}".encode())
                until(lambda: watch.wrong)
                connection.execute(f"ALTER TABLE rebuilding.{table} SET SCHEMA views".encode())


def test_without_holding_the_tables_an_old_snapshot_would_see_a_half_filled_view(
    database: Database,
) -> None:
    """Why a reader holds the tables first: the new ones hold nothing that its snapshot may see."""
    rows = record(database, in_order_of_arrival(day(6)))
    install(database)
    source = Prefix(rows, len(rows))
    catch_up(database, source, [ROUND_INDEX])
    count = "SELECT count(*) FROM views.rounds"
    with database.connect("ledger_reader") as connection:
        connection.isolation_level = psycopg.IsolationLevel.REPEATABLE_READ
        with connection.transaction():
            connection.execute("SELECT count(*) FROM ledger.tape")  # takes the snapshot
            assert rebuild(database, source, ROUND_INDEX)
            assert connection.execute(count).fetchone() == (0,)
    with whole(database) as store:
        assert store.query(count)[0][0] > 0


@pytest.mark.long
def test_a_second_store_sees_the_moment_of_the_first(database: Database) -> None:
    """The control reads afterwards. A store that sees no one moment has no second."""
    rows = record(database, day(1))
    install(database)
    catch_up(database, Prefix(rows, len(rows) // 2), [ROUND_INDEX])
    with reading(database, NAMES) as store:
        before = len(store.page(TAPES, None, 9_999))
        catch_up(database, Prefix(rows, len(rows)), [ROUND_INDEX])
        with reading_beside(store) as other:
            assert len(other.page(TAPES, None, 9_999)) == before
    with reading(database, NAMES) as later:
        assert len(later.page(TAPES, None, 9_999)) > before
    with (
        pytest.raises(ValueError, match="no one moment"),
        reading_beside(ViewStore(later.connection, LIVE)),
    ):
        pass


def test_a_swap_waits_for_readers_and_lets_them_finish(
    database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    rows = record(database, day(4))
    install(database)
    source = Prefix(rows, len(rows))
    catch_up(database, source, [ROUND_INDEX])
    before = dumped(database, ROUND_INDEX)
    tried: list[int] = []
    swap = ViewStore.swap

    def counted(self: ViewStore, view: str, tables: Sequence[ViewTable]) -> None:
        tried.append(1)
        swap(self, view, tables)

    monkeypatch.setattr(ViewStore, "swap", counted)
    done: list[bool] = []
    worker = threading.Thread(target=lambda: done.append(rebuild(database, source, ROUND_INDEX)))
    with whole(database) as store:
        worker.start()
        until(lambda: len(tried) >= 2)
        assert store.query("SELECT count(*) FROM {schema}.rounds")[0][0] > 0
        assert not done
        with whole(database) as other:  # nor are new readers kept out
            assert other.query("SELECT count(*) FROM {schema}.rounds")[0][0] > 0
    worker.join()
    assert done == [True]
    assert dumped(database, ROUND_INDEX) == before


def test_a_swap_waits_while_the_server_analyzes_a_new_table(
    database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The server does so by itself, and gives way to a swap after a second only."""
    rows = record(database, day(2))
    install(database)
    swap = ViewStore.swap
    tried: list[int] = []
    with database.connect("ledger_owner") as server:

        def beside(self: ViewStore, view: str, tables: Sequence[ViewTable]) -> None:
            tried.append(1)
            if len(tried) == 1:
                server.execute("BEGIN; LOCK rebuilding.rounds IN SHARE UPDATE EXCLUSIVE MODE")
            else:
                server.execute("ROLLBACK")
            swap(self, view, tables)

        monkeypatch.setattr(ViewStore, "swap", beside)
        assert rebuild(database, Prefix(rows, len(rows)), ROUND_INDEX)
    assert len(tried) == 2
    assert dumped(database, ROUND_INDEX)


def test_two_rebuilds_of_a_view_at_once_are_refused(database: Database) -> None:
    rows = record(database, day(3))
    install(database)
    source = Prefix(rows, len(rows))
    with (
        writing(database, view_tables.SHADOW_SCHEMA) as connection,
        lifecycle.alone(connection, "rounds"),
        pytest.raises(Refused, match="being rebuilt already"),
    ):
        rebuild(database, source, ROUND_INDEX)
    assert rebuild(database, source, ROUND_INDEX)


def test_a_rebuild_that_was_stopped_or_died_leaves_the_live_view_and_can_begin_again(
    database: Database,
) -> None:
    rows = record(database, day(6))
    install(database)
    source = Prefix(rows, len(rows))
    catch_up(database, source, [ROUND_INDEX])
    before = dumped(database, ROUND_INDEX)
    assert not rebuild(database, source, ROUND_INDEX, stop=lambda: True)
    assert dumped(database, ROUND_INDEX) == before
    with writing(
        database, view_tables.SHADOW_SCHEMA
    ) as connection:  # as one that died halfway leaves it
        ViewStore(connection, view_tables.SHADOW_SCHEMA).create(
            "rounds", 1, ROUND_INDEX.tables, view_tables.SHADOW_SCHEMA
        )
    assert rebuild(database, source, ROUND_INDEX)
    assert dumped(database, ROUND_INDEX) == before


def test_a_runner_goes_on_after_a_swap_without_being_started_again(database: Database) -> None:
    rows = record(database, day(6))
    install(database)
    half = len(rows) // 2
    with writing(database, LIVE) as connection:
        runner = lifecycle.Runner(ViewStore(connection, LIVE), Prefix(rows, half), [ROUND_INDEX])
        assert runner.step()
        rebuild(database, Prefix(rows, len(rows) - 5), ROUND_INDEX)
        runner._source = Prefix(rows, len(rows))
        while runner.step():
            pass
        assert runner.position == len(rows)
    with whole(database) as store:
        facts = store.query("SELECT sum(facts)::int FROM {schema}.rounds")[0][0]
    assert facts == sum(of_a_round(row) for row in rows)
