"""Reading the record: by position, by place, at one moment, and for ever."""

from __future__ import annotations

import itertools
import threading
import time
from typing import TYPE_CHECKING

import psycopg
import pytest
from hypothesis import given
from hypothesis import strategies as st

from infra.postgres import tape as record
from infra.postgres.view_tables import tape_source
from ledger.errors import NotFound, Unavailable, Usage
from ledger.facts import TableClosed
from ledger.record.tape import Head
from ledger.record.wire import encode
from tests.fixtures.postgres import fact
from tests.scenes.view_feeds import received

if TYPE_CHECKING:
    from infra.postgres.connection import Database
    from infra.postgres.tape import PostgresTape
    from ledger.record.tape import TapeRow

RANGES = st.lists(st.tuples(st.integers(1, 30), st.integers(0, 8)), max_size=6)


@pytest.fixture
def filled(tape: PostgresTape) -> PostgresTape:
    tape.append([fact(n, place=f"CC-{n % 2:02d}") for n in range(40)])
    return tape


def test_rows_come_in_order_of_position_and_no_more_than_asked(filled: PostgresTape) -> None:
    assert [row.position for row in filled.read(0, 3)] == [1, 2, 3]
    assert [row.position for row in filled.read(38, 10)] == [39, 40]
    assert filled.read(40, 10) == []


def test_rows_of_a_place_come_by_sequence_each_once(filled: PostgresTape) -> None:
    rows = filled.rows_of("hollywood/CC-01", [(5, 6), (1, 2), (2, 3), (19, 99)])
    assert [row.table_seq for row in rows] == [1, 2, 3, 5, 6, 19, 20]
    assert {row.tape for row in rows} == {"hollywood/CC-01"}
    assert filled.rows_of("hollywood/CC-01", []) == []
    assert filled.rows_of("hollywood/nowhere", [(1, 9)]) == []


@given(RANGES)
def test_merged_ranges_hold_the_same_numbers_and_never_touch(ranges: list[tuple[int, int]]) -> None:
    closed = [(low, low + size) for low, size in ranges]
    merged = list(record._merged(closed))
    wanted = {number for low, high in closed for number in range(low, high + 1)}
    assert {number for low, high in merged for number in range(low, high + 1)} == wanted
    edges = itertools.pairwise(merged)
    assert all(before[1] + 1 < after[0] for before, after in edges)


def test_rows_told_within_a_stretch_are_found_however_late_they_were_received(
    tape: PostgresTape,
) -> None:
    times = [3, 900_000, 4, 12, 5, 2, 400_000, 6, 11]  # days of seconds lie between some
    for number in times:  # one after the other, each received later than the one before
        tape.append([fact(number), fact(number, place="CC-08"), fact(number, place="cage")])
    wanted = ["hollywood/CC-07", "hollywood/cage"]
    stretch = (fact(3).time_us, fact(11).time_us)

    def found(after: int, limit: int) -> list[TapeRow]:
        return tape.told_between(wanted, stretch, after=after, limit=limit)

    every = [row for row in tape.read(0, 100) if row.tape in wanted]
    right = [row for row in every if stretch[0] <= row.time_us <= stretch[1]]
    assert len(right) == 2 * 5
    assert found(0, 100) == right
    assert found(0, 3) + found(right[2].position, 100) == right
    assert found(right[-1].position, 100) == []


def test_a_minute_of_a_long_record_is_found_by_the_index_of_what_was_told_when(
    database: Database,
) -> None:
    with psycopg.connect(database.owner_url, autocommit=True) as owner:
        owner.execute("SET enable_seqscan = off")  # of a small record the whole is read sooner
        told = owner.execute(
            "EXPLAIN " + record._TOLD_BETWEEN.replace("%b", "%s"), (0, 1, 0, ["p/A"], 5)
        ).fetchall()
    assert any("tape_told" in line for (line,) in told), told


def test_heads_are_the_newest_row_of_every_place(filled: PostgresTape) -> None:
    newest: dict[str, TapeRow] = {row.tape: row for row in filled.read(0, 100)}
    expected = [Head(r.tape, r.table_seq, r.position, r.hash) for r in newest.values()]
    assert filled.heads() == sorted(expected)


def test_a_snapshot_stays_at_its_moment_while_facts_arrive(
    filled: PostgresTape, database: Database
) -> None:
    with database.snapshot() as moment:
        assert record.counters(moment).appended == 40
        filled.append([fact(100)])
        assert len(record.read(moment, 0, 100)) == 40
        assert record.heads(moment) != filled.heads()
        with pytest.raises(psycopg.errors.ReadOnlySqlTransaction):
            moment.execute("CREATE TEMP TABLE mine (x int)")


def test_a_tailing_reader_is_woken_by_an_append_and_need_not_wait_for_its_poll(
    filled: PostgresTape, database: Database
) -> None:
    with tape_source(database) as source:
        assert [row.position for row in source.read(39, 10)] == [40]
        begun = time.monotonic()
        threading.Timer(0.3, filled.append, [[fact(100)]]).start()
        source.wait(40, 60)
        assert [row.position for row in source.read(40, 10)] == [41]
    assert time.monotonic() - begun < 30


def test_a_tailing_reader_whose_connection_is_cut_says_so_and_goes_on_where_it_was(
    filled: PostgresTape, database: Database
) -> None:
    with pytest.raises(Unavailable):
        read_and_cut(database)
    with tape_source(database) as source:
        assert source.read(10, 10)[0].position == 11


def read_and_cut(database: Database) -> None:
    with tape_source(database) as source:
        assert len(source.read(0, 10)) == 10
        cut(database)
        source.wait(10, 0.1)
        source.read(10, 10)


def cut(database: Database) -> None:
    """End every connection to it."""
    with psycopg.connect(database.url, autocommit=True) as superuser:
        superuser.execute(
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity"
            " WHERE datname = current_database() AND pid <> pg_backend_pid()"
        )


def test_a_reader_whose_kept_connection_died_reads_all_the_same(
    filled: PostgresTape, database: Database
) -> None:
    filled.read(0, 1)
    with psycopg.connect(database.url, autocommit=True) as superuser:
        superuser.execute(
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity"
            " WHERE datname = current_database() AND pid <> pg_backend_pid()"
        )
    assert len(filled.read(0, 100)) == 40


def test_the_only_property_needs_no_name_and_one_of_several_does(
    database: Database, tape: PostgresTape
) -> None:
    with pytest.raises(NotFound, match="No fact is on record"):
        record.one_property(database, None)
    tape.append([fact(1)])
    assert record.one_property(database, None) == "hollywood"
    tape.append([received(encode(TableClosed(), "/penn/CC-07/shoe", "1", 1_795_000_000_000_000))])
    with pytest.raises(Usage, match="hollywood and penn have facts on record"):
        record.one_property(database, None)
    assert record.one_property(database, "penn") == "penn"
