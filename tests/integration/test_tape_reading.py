"""Reading the record: by position, by place, at one moment, and for ever."""

from __future__ import annotations

import itertools
import threading
from typing import TYPE_CHECKING

import psycopg
import pytest
from hypothesis import given
from hypothesis import strategies as st

from infra import queries
from ledger.errors import Unavailable
from ledger.tape import Head
from tests.fix_postgres import fact

if TYPE_CHECKING:
    from infra.postgres import Database
    from infra.tape import PostgresTape
    from ledger.tape import TapeRow

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
    merged = list(queries._merged(closed))
    wanted = {number for low, high in closed for number in range(low, high + 1)}
    assert {number for low, high in merged for number in range(low, high + 1)} == wanted
    edges = itertools.pairwise(merged)
    assert all(before[1] + 1 < after[0] for before, after in edges)


def test_heads_are_the_newest_row_of_every_place(filled: PostgresTape) -> None:
    newest: dict[str, TapeRow] = {row.tape: row for row in filled.read(0, 100)}
    expected = [Head(r.tape, r.table_seq, r.position, r.hash) for r in newest.values()]
    assert filled.heads() == sorted(expected)


def test_a_snapshot_stays_at_its_moment_while_facts_arrive(
    filled: PostgresTape, database: Database
) -> None:
    with database.snapshot() as moment:
        assert queries.counters(moment).appended == 40
        filled.append([fact(100)])
        assert len(queries.read(moment, 0, 100)) == 40
        assert queries.heads(moment) != filled.heads()
        with pytest.raises(psycopg.errors.ReadOnlySqlTransaction):
            moment.execute("CREATE TEMP TABLE mine (x int)")


def test_a_tailing_reader_is_woken_by_an_append_and_need_not_wait_for_its_poll(
    filled: PostgresTape,
) -> None:
    seen = filled.tail(39, poll_s=60)
    assert [row.position for row in next(seen)] == [40]
    threading.Timer(0.3, filled.append, [[fact(100)]]).start()
    assert [row.position for row in next(seen)] == [41]


def test_a_tailing_reader_stops_when_told(filled: PostgresTape) -> None:
    asked = iter([False, True])
    assert list(filled.tail(40, poll_s=0.01, stop=lambda: next(asked))) == []


def test_a_tailing_reader_whose_connection_is_cut_says_so_and_goes_on_where_it_was(
    filled: PostgresTape, database: Database
) -> None:
    seen = filled.tail(0, limit=10, poll_s=0.1)
    last = next(seen)[-1].position
    with psycopg.connect(database.url, autocommit=True) as superuser:
        superuser.execute(
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity"
            " WHERE datname = current_database() AND pid <> pg_backend_pid()"
        )
    with pytest.raises(Unavailable):
        next(seen)
    assert next(filled.tail(last, limit=10))[0].position == last + 1


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
