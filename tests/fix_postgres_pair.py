"""PostgreSQL servers of a test's own, from the wheel: a primary, and a standby streaming from it.

Each on a socket in its own folder. Root may not run PostgreSQL, so there it is the wheel's user.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING

import psycopg
import pytest

from infra.embedded import binaries
from infra.migrations import migrate
from infra.postgres import Database, create_database

if TYPE_CHECKING:
    from collections.abc import Iterator

USER = "pgserver" if os.geteuid() == 0 else None
NAME = "round_ledger"


class Postgres:
    """One server in a folder. `database` is the ledger in it."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.data = folder / "data"
        folder.mkdir(mode=0o755, exist_ok=True)
        if USER:
            shutil.chown(folder, USER)

    @property
    def url(self) -> str:
        return f"postgresql://postgres@/postgres?host={self.folder}"

    @property
    def database(self) -> Database:
        url = f"postgresql://postgres@/{NAME}?host={self.folder}"
        return Database(url, url)

    def make(self) -> None:
        self.program("initdb", "-D", self.data, "-U", "postgres", "--encoding=UTF8", "--no-sync")

    def start(self, **settings: str) -> None:
        told = " ".join(f"-c {name}={text}" for name, text in settings.items())
        options = f"-c listen_addresses='' -c unix_socket_directories={self.folder} {told}"
        log = self.folder / "log"
        self.program("pg_ctl", "start", "-D", self.data, "-l", log, "-w", "-o", options)

    def stop(self, mode: str = "fast") -> None:
        """Stop it if it runs; `immediate` is a crash."""
        self.program("pg_ctl", "stop", "-D", self.data, "-m", mode, "-w", check=False)

    def promote(self) -> None:
        self.program("pg_ctl", "promote", "-D", self.data, "-w")

    def copy_to(self, other: Postgres) -> None:
        """Make `other` a standby of this one, by pg_basebackup."""
        self.program("pg_basebackup", "-d", self.url, "-D", other.data, "-R", "-X", "stream", "-c",
                     "fast", "--no-sync")  # fmt: skip

    def ask(self, statement: str) -> object:
        with psycopg.connect(self.url, autocommit=True) as connection:
            cursor = connection.execute(statement.encode())
            return cursor.fetchall()[0][0] if cursor.description else None

    def program(self, name: str, *args: str | Path, check: bool = True) -> None:
        with tempfile.TemporaryFile() as out:  # a server started here would hold a pipe open
            done = subprocess.run(
                [binaries() / name, *args],
                user=USER,
                stdin=subprocess.DEVNULL,
                stdout=out,
                stderr=out,
                check=False,
                cwd=self.folder,
            )
            out.seek(0)
            assert not check or done.returncode == 0, out.read().decode()


@pytest.fixture
def servers() -> Iterator[list[Postgres]]:
    """Servers to be stopped at the end; their folders are short, since a socket's path must be."""
    root = Path(tempfile.mkdtemp(prefix="rl-pg-"))
    root.chmod(0o755)
    made = [Postgres(root / name) for name in ("one", "two")]
    try:
        yield made
    finally:
        for each in made:
            if each.data.exists():
                each.stop("immediate")
        shutil.rmtree(root, ignore_errors=True)


@pytest.fixture
def primary(servers: list[Postgres]) -> Postgres:
    """A server with an empty, migrated ledger."""
    server = servers[0]
    server.make()
    server.start()
    create_database(server.url, NAME)
    migrate(server.database.owner_url)
    return server


@pytest.fixture
def standby(servers: list[Postgres], primary: Postgres) -> Postgres:
    """Streams from the primary."""
    server = servers[1]
    primary.copy_to(server)
    server.start()
    return server


def wait_for(what: str, server: Postgres, expected: object, within_s: float = 20) -> None:
    until = time.monotonic() + within_s
    while (seen := server.ask(what)) != expected:
        assert time.monotonic() < until, (what, seen)
        time.sleep(0.05)
