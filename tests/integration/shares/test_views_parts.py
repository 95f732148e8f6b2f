"""A rebuild shared out over processes gives the same bytes, or changes nothing."""

from __future__ import annotations

import dataclasses
import os
import signal
from multiprocessing import active_children
from typing import TYPE_CHECKING

import pytest

from consumers.parallel_rebuild import Work, fill, take
from consumers.registry import VIEWS, install, view
from consumers.runtime.lifecycle import Projection, catch_up, dump, rebuild
from consumers.runtime.source import Batch, Share
from infra.kafka.feed_source import feed_source
from infra.postgres.view_tables import LIVE, SHADOW_SCHEMA, ViewStore, tape_source, writing
from ledger.errors import Unavailable
from ledger.record.wire import StoredFactError
from tests.scenes.feeding import once
from tests.scenes.view_feeds import Prefix, as_type, day, disturbed, dumped, of_finance, record

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from infra.kafka.clients import Connection
    from infra.postgres.connection import AnyConnection, Database
    from ledger.record.tape import TapeRow
    from tests.fixtures.postgres import Scenes

SHARED = [each for each in VIEWS if each.is_shared]


def side_by_side(
    database: Database,
    projection: Projection,
    until: int,
    workers: int,
    stop: Callable[[], bool] = lambda: False,
    progress: Callable[[str, int], None] = lambda *_: None,
    kafka: Connection | None = None,
) -> bool:
    work = Work(database, kafka, projection.name, Share(of=workers), until)

    def first(connection: AnyConnection) -> bool:
        return fill(connection, work, progress=progress, stop=stop)

    with feed_source(database, kafka, []) if kafka else tape_source(database) as source:
        return rebuild(database, source, projection, stop=stop, first=first)


def test_every_view_but_those_of_finance_can_be_divided() -> None:
    assert [each.name for each in VIEWS if not each.is_shared] == [
        "finance",
        "coupons_and_checks",
        "meters",
    ]
    undivided = Projection("undivided", 1, (), lambda *_: None)
    with pytest.raises(ValueError, match="undivided"):
        undivided.of_share(None, Batch([]), Share(0, 2))  # type: ignore[arg-type] # not reached


@pytest.mark.long
def test_a_fact_that_only_a_newer_program_reads_ends_them_whichever_part_it_is_of(
    database: Database,
) -> None:
    """An unknown fact has no known part: each process looks at every one."""
    facts = day(2)
    at = next(at for at, each in enumerate(facts) if each.type == "table_opened.v1")
    rows = record(database, [*facts[:at], as_type(facts[at], "table_opened.v9"), *facts[at + 1 :]])
    install(database)
    for name in ("openings", "table_board"):
        with pytest.raises(StoredFactError, match=r"table_opened\.v9"):
            side_by_side(database, view(name), len(rows), workers=2)
    assert side_by_side(database, view("payouts"), len(rows), workers=2), "it reads no such fact"


def arrived(database: Database) -> tuple[TapeRow, ...]:
    """A scene: a few minutes and closed days, in another order, on the tape alone."""
    rows = record(database, disturbed([*day(6, planted=1), *of_finance()], 5))
    install(database)
    return tuple(rows)


def arrived_in_views(database: Database) -> tuple[TapeRow, ...]:
    """A scene: the same in every view, by one process."""
    rows = arrived(database)
    catch_up(database, Prefix(rows, len(rows)), VIEWS)
    return rows


@pytest.mark.parametrize("projection", SHARED, ids=[each.name for each in SHARED])
def test_the_parts_of_a_view_one_after_the_other_are_the_whole_of_it(
    scenes: Scenes, projection: Projection
) -> None:
    """As several processes make it, without the processes."""
    whole, _ = scenes.read(arrived_in_views)
    database, rows = scenes.copy(arrived)
    assert dumped(database, projection) != dumped(whole, projection)
    for number in range(3):
        with writing(database, LIVE) as connection:
            store = ViewStore(connection, LIVE)
            take(store, projection, Prefix(rows, len(rows)), rows, Share(number, 3))
    assert dumped(database, projection) == dumped(whole, projection)


@pytest.mark.long
@pytest.mark.parametrize(
    "projection",
    [
        pytest.param(each, id=each.name, marks=[pytest.mark.long] if number else [])
        for number, each in enumerate(SHARED)
    ],
)
def test_several_processes_make_the_same_view(scenes: Scenes, projection: Projection) -> None:
    """Each process takes about a second to begin: the parts of every view are tested above."""
    database, rows = scenes.copy(arrived_in_views)
    expected = dumped(database, projection)
    assert side_by_side(database, projection, len(rows) - 40, workers=2)  # the rest by one
    assert dumped(database, projection) == expected


@pytest.mark.parametrize("projection", SHARED, ids=[each.name for each in SHARED])
def test_no_two_processes_ever_write_one_row_but_of_a_log(
    scenes: Scenes, projection: Projection
) -> None:
    database, rows = scenes.copy(arrived)
    touched = written(database, projection, [Share(number, 4) for number in range(4)], rows)
    logs = {table.name for table in projection.tables if table.is_log}
    own = [{key for key in its if key[0] not in logs} for its in touched]
    assert sum(map(len, own)) == len(set().union(*own)) > 0
    assert sum(1 for each in own if each) > 1


def test_facts_shared_out_without_regard_to_tables_would_meet(scenes: Scenes) -> None:
    """The control: every other fact to the other process."""
    database, rows = scenes.copy(arrived)
    board = dataclasses.replace(view("table_board"), part_of=lambda row: str(row.position))
    touched = written(database, board, [Share(0, 2), Share(1, 2)], rows)
    assert touched[0] & touched[1]


def written(
    database: Database, projection: Projection, shares: list[Share], rows: Sequence[TapeRow]
) -> list[set[tuple[str, tuple[object, ...]]]]:
    """The keys of rows that each share writes, alone."""
    found = []
    for share in shares:
        with writing(database, "views") as connection, connection.transaction(force_rollback=True):
            store = ViewStore(connection, "views")
            store.heard = {table.name: {} for table in projection.tables}
            batch = projection.of_share(store, Batch(rows), share)
            if batch:
                projection.apply(store, batch)
            found.append({(name, key) for name, keys in store.heard.items() for key in keys})
    return found


@pytest.mark.long
def test_a_rebuild_that_is_stopped_leaves_the_view_as_it_was(database: Database) -> None:
    rows = record(database, day(6))
    install(database)
    projection = view("rounds")
    catch_up(database, Prefix(rows, len(rows)), [projection])
    before = dumped(database, projection)
    assert not side_by_side(database, projection, len(rows), workers=2, stop=lambda: True)
    assert dumped(database, projection) == before
    with database.connect("ledger_reader") as connection:
        assert ViewStore(connection, SHADOW_SCHEMA).tracking("rounds") is None


@pytest.mark.long
def test_a_process_that_dies_is_told_and_nothing_is_swapped(database: Database) -> None:
    rows = record(database, day(6))
    install(database)
    projection = view("rounds")
    before = dumped(database, projection)

    def kill(*_: object) -> None:
        for each in active_children()[:1]:
            each.kill()

    with pytest.raises(Unavailable, match="ended unexpectedly"):
        side_by_side(database, projection, len(rows), workers=2, progress=kill)
    assert dumped(database, projection) == before
    assert side_by_side(database, projection, len(rows), workers=2)
    rebuilt = dumped(database, projection)
    assert rebuild(database, Prefix(rows, len(rows)), projection)
    assert dumped(database, projection) == rebuilt != before


@pytest.mark.long
def test_from_kafka_a_process_killed_amidst_changes_nothing_and_the_next_run_gives_the_tapes_view(
    database: Database, kafka: Connection
) -> None:
    rows = record(database, disturbed(day(6, planted=1), 3))
    once(database, kafka)
    install(database)
    projection = view("payouts")
    catch_up(database, Prefix(rows, len(rows) // 2), [projection])
    before = dumped(database, projection)
    met: list[bytes] = []

    def amidst(*_: object) -> None:
        """One process of three is held; what the others have written stands there; it is killed."""
        held = [each for each in active_children() if each.name == "rebuild payouts 0"]
        for each in held:
            os.kill(each.pid or 0, signal.SIGSTOP)
        with database.connect("ledger_owner") as connection:
            written = dump(ViewStore(connection, SHADOW_SCHEMA), projection)
        if written:
            met.append(dumped(database, projection))
            for each in held:
                each.kill()

    with pytest.raises(Unavailable, match="ended unexpectedly"):
        side_by_side(database, projection, len(rows), 3, progress=amidst, kafka=kafka)
    assert set(met) == {before} == {dumped(database, projection)}
    assert side_by_side(database, projection, len(rows), 3, kafka=kafka)
    rebuilt = dumped(database, projection)
    assert rebuild(database, Prefix(rows, len(rows)), projection)
    assert dumped(database, projection) == rebuilt != before
