"""`migrate`: a named server is migrated on request only, so that running processes can go on."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import psycopg
import pytest
from psycopg import conninfo, sql

from infra.postgres.connection import create_database
from infra.postgres.migrations import migrations
from tests.fixtures.cli import Cli, environ
from tests.fixtures.postgres import new_name, url_of

if TYPE_CHECKING:
    from pathlib import Path

    from infra.postgres.connection import Database

NAMES = [each.name for each in migrations()]


@pytest.fixture
def empty(postgres_url: str) -> str:
    """An empty database without any migration."""
    name = new_name()
    create_database(postgres_url, name)
    return url_of(postgres_url, name)


@pytest.fixture
def cli_on_empty(empty: str, tmp_path: Path) -> Cli:
    return Cli(environ(tmp_path / "home", ROUND_LEDGER_DATABASE_URL=empty))


def states(cli: Cli) -> list[str]:
    return [each["state"] for each in cli("migrate", "--plan", "--json").json]


@pytest.mark.parametrize(
    "command", [("rounds",), ("verify",), ("users", "list"), ("consume", "all"), ("serve",)]
)
def test_no_command_migrates_a_named_server(
    command: tuple[str, ...], empty: str, cli_on_empty: Cli
) -> None:
    ran = cli_on_empty(*command)
    assert ran.code == 3, ran.err
    assert f"lacks {len(NAMES)} migrations" in ran.err
    assert "round-ledger migrate --plan" in ran.err
    with psycopg.connect(empty) as connection:
        schemas = connection.execute("SELECT 1 FROM pg_namespace WHERE nspname = 'ledger'")
        assert schemas.fetchone() is None


@pytest.mark.long
def test_the_plan_is_listed_and_applied_once(cli_on_empty: Cli) -> None:
    plan = cli_on_empty("migrate", "--plan", "--json")
    assert plan.code == 1
    assert [each["migration"] for each in plan.json] == NAMES
    assert {each["state"] for each in plan.json} == {"pending"}
    assert cli_on_empty("rounds").code == 3, "a plan changes nothing"

    applied = cli_on_empty("migrate", "--apply", "--json")
    assert (applied.code, {each["now"] for each in applied.json}) == (0, {True})
    assert all(each["applied_at"].endswith("Z") for each in applied.json)
    again = cli_on_empty("migrate", "--apply", "--json")
    assert (again.code, {each["now"] for each in again.json}) == (0, {False})
    assert cli_on_empty("rounds").code == 0


def test_one_pending_migration_is_named(cli: Cli, database: Database) -> None:
    with psycopg.connect(database.url) as connection:
        connection.execute("DELETE FROM ledger.migrations WHERE name = %s", (NAMES[-1],))
    ran = cli("rounds")
    assert ran.code == 3
    assert NAMES[-1] in ran.err
    assert states(cli) == ["applied"] * (len(NAMES) - 1) + ["pending"]


def test_a_database_newer_than_the_program_is_refused(cli: Cli, database: Database) -> None:
    with psycopg.connect(database.url) as connection:
        connection.execute("INSERT INTO ledger.migrations VALUES ('9999_later.sql', 'x')")
    for command in (("rounds",), ("migrate", "--plan"), ("migrate", "--apply")):
        ran = cli(*command)
        assert (ran.code, "9999_later.sql" in ran.err) == (2, True)


def test_an_everyday_login_without_inherited_rights_reads_the_plan(
    database: Database, tmp_path: Path
) -> None:
    login = sql.Identifier(f"everyday_{os.getpid()}")
    with psycopg.connect(database.url, autocommit=True) as connection:
        connection.execute(sql.SQL("CREATE ROLE {} LOGIN NOINHERIT").format(login))
        connection.execute(sql.SQL("GRANT ledger_reader TO {}").format(login))
    try:
        url = conninfo.make_conninfo(database.url, user=f"everyday_{os.getpid()}")
        cli = Cli(environ(tmp_path / "home", ROUND_LEDGER_DATABASE_URL=url))
        assert set(states(cli)) == {"applied"}
    finally:
        with psycopg.connect(database.url, autocommit=True) as connection:
            connection.execute(sql.SQL("DROP ROLE {}").format(login))


@pytest.mark.parametrize("given", [(), ("--plan", "--apply")])
def test_plan_or_apply_must_be_chosen(given: tuple[str, ...], plain_cli: Cli) -> None:
    ran = plain_cli("migrate", *given)
    assert (ran.code, "--plan and --apply" in ran.err) == (2, True)


@pytest.mark.long  # starts the embedded server
def test_the_embedded_server_is_migrated_by_any_command(tmp_path: Path) -> None:
    cli = Cli(environ(tmp_path / "home"))
    assert set(states(cli)) == {"pending"}
    assert cli("rounds").code == 0
    assert set(states(cli)) == {"applied"}
