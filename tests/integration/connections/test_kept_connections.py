"""Connections that are kept open: each use finds one as new, and none outlives its block."""

import os
from collections.abc import Iterator

import psycopg
import pytest

from infra.postgres.connection import AnyConnection, Database, keeping
from infra.postgres.kept_connections import KEPT_MAX


@pytest.fixture
def kept(database: Database) -> Iterator[Database]:
    with keeping(database) as its:
        yield its


def one(connection: AnyConnection, query: str) -> object:
    row = connection.execute(query.encode()).fetchone()
    assert row
    return row[0]


def pid(database: Database) -> object:
    with database.connect("ledger_reader") as connection:
        return one(connection, "SELECT pg_backend_pid()")


def test_the_next_use_has_the_connection_of_the_last(kept: Database, database: Database) -> None:
    assert pid(kept) == pid(kept)
    assert pid(database) != pid(database)


def test_what_one_use_sets_is_gone_at_the_next(kept: Database) -> None:
    with kept.connect("ledger_reader", autocommit=False, answer_s_max=50) as connection:
        before = one(connection, "SELECT pg_backend_pid()")
        connection.execute("SET statement_timeout = 7")
        connection.execute("SET work_mem = '1MB'")
        connection.execute("LISTEN somewhere")
        connection.execute("SELECT pg_advisory_lock(7)")
        connection.commit()
        connection.read_only = True
        connection.isolation_level = psycopg.IsolationLevel.SERIALIZABLE
    with kept.connect("ledger_reader") as connection:
        assert one(connection, "SELECT pg_backend_pid()") == before
        assert one(connection, "SELECT current_user::text") == "ledger_reader"
        assert one(connection, "SHOW statement_timeout") == "1min"
        assert one(connection, "SHOW work_mem") == "64MB"
        assert one(connection, "SELECT count(*) FROM pg_listening_channels()") == 0
        assert one(connection, "SELECT count(*) FROM pg_locks WHERE locktype = 'advisory'") == 0
        assert (connection.autocommit, connection.read_only) == (True, None)
        assert connection.isolation_level is None


def test_a_role_has_connections_of_its_own(kept: Database) -> None:
    pid(kept)
    with kept.connect("ledger_projector") as connection:
        assert one(connection, "SELECT current_user::text") == "ledger_projector"


def test_one_that_the_server_ended_is_replaced(kept: Database) -> None:
    ended = pid(kept)
    with psycopg.connect(kept.owner_url, autocommit=True) as owner:
        owner.execute("SELECT pg_terminate_backend(%s, 5000)", (ended,))
    assert pid(kept) != ended


def test_one_within_a_transaction_is_closed(kept: Database) -> None:
    connection = kept.connect("ledger_reader", autocommit=False)
    inside = one(connection, "SELECT pg_backend_pid()")
    connection.close()
    assert connection.closed
    assert pid(kept) != inside


def test_no_more_are_kept_than_a_few(kept: Database) -> None:
    used = [kept.connect("ledger_reader") for _ in range(KEPT_MAX + 2)]
    for connection in used:
        connection.close()
    assert sum(connection.closed for connection in used) == 2


def test_none_is_open_after_the_block_not_even_one_that_was_in_use(database: Database) -> None:
    with keeping(database) as kept:
        idle, used = kept.connect("ledger_reader"), kept.connect("ledger_reader")
        idle.close()
        assert not idle.closed
    assert idle.closed
    assert not used.closed
    used.close()
    assert used.closed


def test_another_process_takes_none(kept: Database, monkeypatch: pytest.MonkeyPatch) -> None:
    before = pid(kept)
    monkeypatch.setattr(os, "getpid", lambda: -1)
    assert pid(kept) != before
    monkeypatch.undo()
    assert pid(kept) == before
