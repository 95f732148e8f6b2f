"""The logins of the services: none is superuser or owner, and each does its own work."""

from __future__ import annotations

import os
import re
import subprocess
from pathlib import Path
from typing import TYPE_CHECKING, NoReturn

import psycopg
import pytest
from psycopg import conninfo, errors, sql

from consumers.registry import VIEWS
from consumers.runtime.following import follow_on
from infra.postgres.connection import Database, create_database
from infra.postgres.server.embedded import binaries
from infra.postgres.tape import PostgresTape
from ledger.errors import Denied, Unavailable
from tests.fixtures.cli import Cli, environ, lines
from tests.fixtures.postgres import fact, new_name, url_of

if TYPE_CHECKING:
    from collections.abc import Iterator

FOLDER = Path(__file__).parents[3] / "infra" / "docker"
NOBODY = "nobody"
"""A login that exists and was granted no role."""

ROLES = dict(re.findall(r"^login (\w+) (\S+)", (FOLDER / "logins.sh").read_text(), re.MULTILINE))


@pytest.fixture
def server(postgres_url: str, tmp_path: Path) -> Iterator[str]:
    """A database that `migrate --apply` made ready, with every login beside it."""
    name = new_name()
    create_database(postgres_url, name)
    url = url_of(postgres_url, name)
    assert Cli(environ(tmp_path, ROUND_LEDGER_DATABASE_URL=url))("migrate", "--apply").code == 0
    try:
        for login, roles in ROLES.items():
            created(url, login, roles)
        with psycopg.connect(url, autocommit=True) as connection:
            connection.execute(
                sql.SQL("CREATE ROLE {} LOGIN").format(sql.Identifier(named(NOBODY)))
            )
        yield url
    finally:
        with psycopg.connect(url, autocommit=True) as connection:
            for login in (*ROLES, NOBODY):
                connection.execute(sql.SQL("DROP ROLE {}").format(sql.Identifier(named(login))))


def named(login: str) -> str:
    """A name of this process's own: logins belong to the whole server."""
    return f"{login}_{os.getpid()}"


def created(url: str, login: str, roles: str) -> None:
    given = ["-v", f"login={named(login)}", "-v", f"roles={roles}", "-f", FOLDER / "login.sql"]
    subprocess.run(
        [binaries() / "psql", "--quiet", "--no-psqlrc", url, *given],
        env={"LOGIN_PASSWORD": 'it\'s a "secret"'},
        check=True,
    )


def acting(server: str, login: str, home: Path) -> Cli:
    url = conninfo.make_conninfo(server, user=named(login))
    return Cli(environ(home, ROUND_LEDGER_DATABASE_URL=url))


@pytest.mark.long
def test_each_login_does_its_own_work_and_creates_nothing(server: str, tmp_path: Path) -> None:
    facts = tmp_path / "facts.jsonl"
    facts.write_bytes(b"\n".join(lines(20)))
    for login, *command in (
        ("ingest", "ingest", facts),
        ("web", "ingest", facts),
        ("web", "rounds"),
        ("web", "users", "list"),
        ("views", "consume", "all", "--from", "tape"),
        ("backup", "backup", tmp_path / "backup"),
        ("report", "verify"),
    ):
        ran = acting(server, login, tmp_path)(*command)
        assert ran.code == 0, (login, command, ran.err)
    for login in ROLES:
        with psycopg.connect(server, user=named(login), autocommit=True) as connection:
            for statement in ("SET ROLE ledger_owner", "CREATE TABLE views.mine (x int)"):
                with pytest.raises(errors.InsufficientPrivilege):
                    connection.execute(statement)


def test_a_login_does_no_other_ones_work(server: str, tmp_path: Path) -> None:
    assert acting(server, "ingest", tmp_path)("users", "list").code == 3
    for login in ("report", "backup"):
        url = conninfo.make_conninfo(server, user=named(login))
        with PostgresTape(Database(url, url)) as tape, pytest.raises(Denied) as raised:
            tape.append([fact(1)])
        assert 'permission denied to set role "ledger_writer"' in raised.value.what


def test_a_role_that_lost_a_right_is_denied_as_a_login_without_the_role(server: str) -> None:
    with psycopg.connect(server, autocommit=True) as connection:
        connection.execute("REVOKE USAGE ON SCHEMA ledger FROM ledger_writer")
    with PostgresTape(Database(server, server)) as tape, pytest.raises(Denied) as raised:
        tape.append([fact(1)])
    assert "permission denied for schema ledger" in raised.value.what


def test_views_are_not_followed_by_a_login_that_may_not_write_them(server: str) -> None:
    url = conninfo.make_conninfo(server, user=named("report"))
    lost: list[Unavailable] = []

    def without_kafka() -> NoReturn:
        raise Unavailable("Kafka does not answer", where="here", hint="Wait.")

    for opened in (None, without_kafka):
        with pytest.raises(Denied):
            follow_on(
                Database(url, url),
                VIEWS[:1],
                progress=lambda *_: None,
                stop=lambda: bool(lost),
                lost=lambda error, _: lost.append(error),
                opened=opened,
            )
    assert not lost


def test_a_command_says_at_once_that_its_login_lacks_a_right(server: str, tmp_path: Path) -> None:
    facts = tmp_path / "facts.jsonl"
    facts.write_bytes(b"\n".join(lines(1)) + b"\n")
    for login, *command in (
        ("report", "ingest", facts),
        ("backup", "ingest", facts),
        ("report", "ingest", facts, "--follow"),
        ("report", "consume", "all", "--from", "tape", "--follow"),
        ("ingest", "consume", "all", "--from", "tape"),
        ("report", "rebuild", "rulings"),
        ("report", "users", "list"),
        ("report", "serve", "--port", "0"),
        ("report", "serve", "--no-views", "--port", "0"),
        ("ingest", "serve", "--no-views", "--port", "0"),
        (NOBODY, "ingest", facts),
        (NOBODY, "serve", "--port", "0"),
        (NOBODY, "consume", "all", "--from", "tape"),
        (NOBODY, "relay", "restate"),
        (NOBODY, "migrate", "--plan"),
        (NOBODY, "rounds"),
    ):
        ran = acting(server, login, tmp_path)(*command)
        assert ran.code == 3, (login, command)
        assert "The login lacks a right" in ran.err, (login, command, ran.err)


def test_a_login_keeps_no_role_that_it_is_not_given_again(server: str) -> None:
    created(server, "web", "ledger_reader")
    with psycopg.connect(server) as connection:
        found = connection.execute(
            "SELECT r.rolname FROM pg_auth_members m JOIN pg_roles r ON r.oid = m.roleid"
            " JOIN pg_roles w ON w.oid = m.member WHERE w.rolname = %s",
            (named("web"),),
        ).fetchall()
    assert found == [("ledger_reader",)]
