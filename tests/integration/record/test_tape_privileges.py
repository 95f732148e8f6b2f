"""Nobody can do more to the record than they must, the owner of its tables included."""

from __future__ import annotations

from typing import TYPE_CHECKING

import psycopg
import pytest
from psycopg import conninfo, errors, sql

from infra.postgres.connection import Database, create_database
from infra.postgres.migrations import ROLES, migrate, pending
from infra.postgres.tape import PostgresTape
from ledger.errors import Refused, Unavailable
from tests.fixtures.postgres import fact, new_name, url_of

if TYPE_CHECKING:
    from infra.postgres.connection import Role

TABLES = ("tape", "identity", "heads", "record", "quarantine", "migrations")


def login(database: Database, role: str | None) -> Database:
    """A login of its own that was granted one role and nothing else."""
    name = new_name()
    with psycopg.connect(database.url, autocommit=True) as connection:
        connection.execute(sql.SQL("CREATE ROLE {} LOGIN").format(sql.Identifier(name)))
        if role:
            grant = sql.SQL("GRANT {} TO {}")
            connection.execute(grant.format(sql.Identifier(role), sql.Identifier(name)))
    url = conninfo.make_conninfo(database.url, user=name)
    return Database(url, database.owner_url)


ON_ANY_TABLE = (
    "INSERT INTO ledger.{} DEFAULT VALUES",
    "DELETE FROM ledger.{}",
    "TRUNCATE ledger.{}",
    "DO $$ BEGIN LOCK TABLE ledger.{} IN ACCESS EXCLUSIVE MODE; END $$",
    "ALTER TABLE ledger.{} DISABLE TRIGGER ALL",
    "ALTER TABLE ledger.{} ADD COLUMN x int",
    "DROP TABLE ledger.{}",
    "CREATE INDEX ON ledger.{} ((1))",
)
ANYWHERE = (
    "UPDATE ledger.tape SET state = '{}'",
    "UPDATE ledger.identity SET position = 1",
    "UPDATE ledger.heads SET hash = ''",
    "UPDATE ledger.record SET position = 7",
    "UPDATE ledger.quarantine SET octets = ''",
    "SELECT ledger.set_aside('quarantined', '', '', '', '', '', '', '', '', 0, 1, '{}')",
    "CREATE TABLE ledger.mine (x int)",
    "CREATE TABLE views.mine (x int)",
    "DROP FUNCTION ledger.append",
    "DROP FUNCTION ledger.append_from",
    "CREATE OR REPLACE FUNCTION ledger.refuse() RETURNS trigger LANGUAGE sql AS ''",
    "SET ROLE ledger_owner",
    "SET session_replication_role = replica",
    "DROP SCHEMA ledger CASCADE",
)
FORBIDDEN = tuple(s.format(table) for table in TABLES for s in ON_ANY_TABLE) + ANYWHERE


@pytest.mark.parametrize(
    "role", ["ledger_writer", "ledger_reader", "ledger_projector", "ledger_desk"]
)
def test_no_everyday_role_can_change_the_record(database: Database, role: Role) -> None:
    with PostgresTape(database) as tape:
        tape.append([fact(1)])
    with psycopg.connect(login(database, role).url, autocommit=True) as connection:
        for statement in FORBIDDEN:
            with pytest.raises(errors.InsufficientPrivilege):
                connection.execute(statement.encode())
    with PostgresTape(database) as tape:
        assert tape.verify().broken is None


@pytest.mark.parametrize("table", TABLES[:-1])
def test_the_writer_cannot_even_read(database: Database, table: str) -> None:
    with (
        psycopg.connect(login(database, "ledger_writer").url) as connection,
        pytest.raises(errors.InsufficientPrivilege),
    ):
        connection.execute(sql.SQL("SELECT * FROM ledger.{}").format(sql.Identifier(table)))


def test_the_writer_can_append_and_a_stranger_cannot(database: Database) -> None:
    """Control: the same login does what it is for."""
    with PostgresTape(login(database, "ledger_writer")) as tape:
        assert tape.append([fact(1)])[0].verdict == "appended"
    with (
        PostgresTape(login(database, None)) as tape,
        pytest.raises(Unavailable, match="permission denied"),
    ):
        tape.append([fact(2)])


@pytest.mark.parametrize(("function", "columns"), [("append", 15), ("append_from", 17)])
def test_a_reader_cannot_append(database: Database, function: str, columns: int) -> None:
    nothing = ", ".join(["'{}'"] * columns)
    with (
        database.connect("ledger_reader") as connection,
        pytest.raises(errors.InsufficientPrivilege),
    ):
        connection.execute(f"SELECT ledger.{function}({nothing})".encode())


@pytest.mark.parametrize(
    "statement",
    [
        *(
            s.format(t)
            for t in TABLES[:-1]
            for s in ("DELETE FROM ledger.{}", "TRUNCATE ledger.{}")
        ),
        "UPDATE ledger.tape SET state = '{}'",
        "UPDATE ledger.identity SET position = 2",
    ],
)
def test_the_owner_is_refused_by_trigger(database: Database, statement: str) -> None:
    with PostgresTape(database) as tape:
        tape.append([fact(1)])
    with (
        database.connect("ledger_owner") as connection,
        pytest.raises(errors.InsufficientPrivilege, match="only added to"),
    ):
        connection.execute(statement.encode())


def test_the_function_ignores_what_its_caller_puts_in_the_way(database: Database) -> None:
    """A temporary table named like ours must not be taken for it: the search path is pinned."""
    with database.connect("ledger_writer") as connection:
        connection.execute("CREATE TEMP TABLE record (position bigint)")
        connection.execute("SET search_path = pg_temp, ledger")
        connection.execute("SET synchronous_commit = off")
        row = connection.execute(
            "SELECT positions FROM ledger.append('{a/b}', '{x.v1}', '{/a/b/c}', '{1}', '{0}',"
            " '{NULL}', '{\"\"}', '{\"\"}', '{}', '{}', '{}', '{}', '{}', '{}', '{}')"
        ).fetchone()
        assert row == ([1],)


def test_every_table_and_column_says_what_it_is_for(database: Database) -> None:
    with database.connect("ledger_reader") as connection:
        silent = connection.execute(
            "SELECT c.relname, a.attname FROM pg_class c"
            " JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum >= 0 AND NOT a.attisdropped"
            " WHERE c.relnamespace = 'ledger'::regnamespace AND c.relkind = 'r'"
            " AND (col_description(c.oid, a.attnum) IS NULL OR obj_description(c.oid) IS NULL)"
        ).fetchall()
    assert silent == []


def test_a_login_that_may_not_create_is_told_what_an_administrator_must_run(
    database: Database, postgres_url: str
) -> None:
    name = new_name()
    create_database(postgres_url, name)
    plain = login(Database(url_of(postgres_url, name), url_of(postgres_url, name)), None)
    with pytest.raises(Unavailable, match="CREATE ROLE ledger_owner NOLOGIN") as caught:
        migrate(plain.url)
    assert all(role in caught.value.hint for role in ROLES)


def test_a_login_with_the_roles_granted_migrates_without_being_superuser(
    database: Database, postgres_url: str
) -> None:
    name = new_name()
    create_database(postgres_url, name)
    plain = login(Database(url_of(postgres_url, name), url_of(postgres_url, name)), None)
    user = conninfo.conninfo_to_dict(plain.url)["user"]
    with psycopg.connect(url_of(postgres_url, name), autocommit=True) as connection:
        for statement in (
            f"GRANT {', '.join(ROLES)} TO {user}",
            f"GRANT CREATE ON DATABASE {name} TO {user}",
        ):
            connection.execute(statement.encode())
    assert migrate(plain.url)
    assert migrate(plain.url) == []
    with PostgresTape(plain) as tape:
        assert tape.append([fact(1)])[0].verdict == "appended"


def test_a_database_migrated_by_another_program_is_refused(database: Database) -> None:
    with psycopg.connect(database.url, autocommit=True) as connection:
        connection.execute("UPDATE ledger.migrations SET digest = 'other' WHERE name LIKE '0001%'")
        with pytest.raises(Refused, match="a migration 0001"):
            pending(connection)
    with pytest.raises(Refused):
        migrate(database.url)
