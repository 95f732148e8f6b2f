"""A real PostgreSQL for the tests: one server a session, one freshly migrated database a test.

The first there is of three: a server that TESTS_DATABASE_URL names (each process of tests makes
databases of its own on it, and drops them), Docker with the compose file's image, the wheel's own.
`database` is an empty and migrated ledger; `tape` the record in it; `fact(...)` and its kin make
what stands on it. A copy of a migrated template takes about 50 ms.
"""

from __future__ import annotations

import itertools
import os
import secrets
import shutil
import subprocess
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

import psycopg
import pytest
from psycopg import conninfo, sql
from testcontainers.community.postgres import PostgresContainer

from infra.embedded import binaries, embedded
from infra.migrations import migrate
from infra.postgres import Database, create_database
from infra.tape import PostgresTape
from ledger.tape import Received, frame_attributes
from ledger.values import format_time, parse_source
from tests.fix_docker import engine, pinned

if TYPE_CHECKING:
    from collections.abc import Iterator

IMAGE = "postgres"
RUN = f"test_{secrets.token_hex(4)}"
"""How the names of this process's databases begin: several may share a server."""

_numbers = itertools.count(1)


def postgres_version() -> str:
    """What the tests' PostgreSQL will be, for the header."""
    if named := os.environ.get("TESTS_DATABASE_URL"):
        return _named(named)
    if version := engine(pinned(IMAGE)):
        return f"{pinned(IMAGE)} in Docker {version}"
    program = binaries() / "postgres"
    return subprocess.run(
        [program, "--version"], capture_output=True, text=True, check=True
    ).stdout.strip()


def waits_for_a_lock(base: Database) -> bool:
    """Whether somebody in this database waits for what another transaction holds."""
    with base.connect("ledger_owner") as connection:
        row = connection.execute(
            "SELECT EXISTS (SELECT FROM pg_locks l JOIN pg_stat_activity a USING (pid)"
            " WHERE NOT l.granted AND a.datname = current_database())"
        ).fetchone()
    return row == (True,)


def _named(url: str) -> str:
    try:
        with psycopg.connect(url, connect_timeout=5) as connection:
            version = connection.info.parameter_status("server_version")
    except psycopg.OperationalError:
        return "PostgreSQL named in the environment, which does not answer"
    return f"PostgreSQL {version}, named in the environment"


@pytest.fixture(scope="session")
def postgres_url() -> Iterator[str]:
    """The superuser's URL of a server that lives as long as the session."""
    if named := os.environ.get("TESTS_DATABASE_URL"):
        yield named
        _drop_ours(named)
    elif engine(pinned(IMAGE)):
        made = PostgresContainer(pinned(IMAGE), driver=None)
        made.with_env("POSTGRES_HOST_AUTH_METHOD", "trust")  # as the wheel's: tests make logins
        with made as container:
            url = container.get_connection_url()
            _spare_the_disk(url)
            yield url
    else:
        yield from _embedded()


def _embedded() -> Iterator[str]:
    home = Path(tempfile.mkdtemp(prefix="round-ledger-tests-"))
    try:
        with embedded(home) as url:
            _spare_the_disk(url)
            yield url
    finally:
        shutil.rmtree(home, ignore_errors=True)


def _spare_the_disk(url: str) -> None:
    """No flush reaches the disk: only a power cut could tell, and no test pulls the plug.

    A killed process or server loses nothing by it, and dozens of small databases cost little.
    """
    with psycopg.connect(url, autocommit=True) as connection:
        for setting in ("fsync", "full_page_writes"):
            connection.execute(sql.SQL("ALTER SYSTEM SET {} = off").format(sql.Identifier(setting)))
        connection.execute("SELECT pg_reload_conf()")


def _drop_ours(url: str) -> None:
    with psycopg.connect(url, autocommit=True) as connection:
        found = connection.execute(
            "SELECT datname FROM pg_database WHERE starts_with(datname, %s)", (RUN,)
        )
        for (name,) in found.fetchall():
            drop = sql.SQL("DROP DATABASE {} WITH (FORCE)").format(sql.Identifier(name))
            connection.execute(drop)


def url_of(server_url: str, name: str) -> str:
    return conninfo.make_conninfo(server_url, dbname=name)


def new_name() -> str:
    """A database that is not there yet."""
    return f"{RUN}_{next(_numbers)}"


@pytest.fixture(scope="session")
def template(postgres_url: str) -> str:
    name = new_name()
    create_database(postgres_url, name)
    migrate(url_of(postgres_url, name))
    return name


@pytest.fixture
def database(postgres_url: str, template: str) -> Database:
    """An empty, migrated ledger of this test's own."""
    name = new_name()
    create_database(postgres_url, name, template=template)
    url = url_of(postgres_url, name)
    return Database(url, url)


@pytest.fixture
def tape(database: Database) -> Iterator[PostgresTape]:
    with PostgresTape(database) as record:
        yield record


def fact(
    number: int,
    *,
    place: str = "CC-07",
    device: str = "shoe",
    data: bytes | None = None,
    name: str = "cards_dealt",
    **more: str,
) -> Received:
    """The `number`-th fact of a device; equal arguments give equal octets."""
    source = f"/hollywood/{place}/{device}"
    time_us = 1_795_000_000_000_000 + number * 1_000_000
    attributes = {
        "specversion": "1.0",
        "type": f"roundledger.{name}.v1",
        "source": source,
        "id": f"run1-{number:08d}",
        "time": format_time(time_us),
        "subject": f"{place}/2026-11-20/{number // 40 + 1}",
        **more,
    }
    parsed = parse_source(source)
    assert parsed is not None
    return Received(
        tape=parsed.tape,
        type=f"{name}.v1",
        source=source,
        id=attributes["id"],
        time_us=time_us,
        subject=attributes["subject"],
        attributes=frame_attributes(attributes),
        data=data or b'{"to":"player","position":3,"cards":["As","Kd"],"number":%d}' % number,
    )
