"""Backup and restore of the record; a restore ends with a verification.

A backup is one archive of pg_dump and a file of heads. The archive has the custom format: it is
compressed, checked, and restored in one transaction. Keep a copy of the heads elsewhere: they show
whether an archive was truncated or rewritten (ADR 0008).
"""

from __future__ import annotations

import os
import subprocess
from tempfile import NamedTemporaryFile
from typing import TYPE_CHECKING, NamedTuple

import psycopg
from psycopg import conninfo

from infra.files import replace_file
from infra.postgres import tape
from infra.postgres.connection import Database, create_database, translated
from infra.postgres.migrations import create_roles, migrate
from infra.postgres.server.embedded import binaries
from infra.postgres.tape import PostgresTape
from ledger.errors import NotFound, Refused, Unavailable
from ledger.record.verify import Verified, heads_from_json, heads_to_json

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from ledger.record.tape import Head

ARCHIVE, HEADS = "record.pgdump", "heads.jsonl"
_SERVICE = "record"
_NOT_IN_A_SERVICE = (b"service", b"servicefile")
PROGRAM_S_MAX = 24 * 3600
"""How long pg_dump or pg_restore may run, seconds."""


class Backup(NamedTuple):
    """The files of a backup."""

    archive: Path
    heads_file: Path
    heads: Sequence[Head]


def back_up(database: Database, folder: Path) -> Backup:
    """Write the record and its heads into `folder`, which must not hold a backup yet.

    Facts may be appended meanwhile. The heads are read first, so the archive holds at least them.
    Only this user may read the files, and a folder created for them. Raises `Refused`.
    """
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    archive, heads_file = folder / ARCHIVE, folder / HEADS
    if archive.exists() or heads_file.exists():
        raise Refused(
            "This folder holds a backup already", where=str(folder), hint="Name an empty folder."
        )
    with database.connect("ledger_reader") as connection:
        heads = tape.heads(connection)
    partial = archive.with_suffix(".partial")
    _run("pg_dump", database.owner_url, ["--format=custom", f"--file={partial}"])
    replace_file(heads_file, "".join(f"{line}\n" for line in heads_to_json(heads)).encode())
    partial.rename(archive)
    return Backup(archive, heads_file, heads)


def restore(
    folder: Path,
    server: Database,
    name: str,
    *,
    kept: Sequence[Head] = (),
    progress: Callable[[int, int], None] | None = None,
) -> tuple[Database, Verified]:
    """Restore the backup in `folder` into the new database `name`, and verify it.

    It is verified against the heads in the folder and those `kept` elsewhere. The caller checks
    `broken` before it uses the database. Raises `Refused` if `name` is not empty.
    """
    archive, heads_file = folder / ARCHIVE, folder / HEADS
    for path in (archive, heads_file):
        if not path.exists():
            raise NotFound(
                "A file of the backup is missing", where=str(path), hint="Name its folder."
            )
    heads = heads_from_json(heads_file.read_text().splitlines(), str(heads_file))
    create_database(server.owner_url, name)
    restored = Database(
        conninfo.make_conninfo(server.url, dbname=name),
        conninfo.make_conninfo(server.owner_url, dbname=name),
    )
    with psycopg.connect(restored.owner_url, autocommit=True) as connection:
        _refuse_what_is_there(connection, name)
        create_roles(connection)
    options = ["--exit-on-error", "--single-transaction", f"--dbname={name}", str(archive)]
    _run("pg_restore", restored.owner_url, options)
    migrate(restored.owner_url)
    with PostgresTape(restored) as tape:
        return restored, tape.verify([*heads, *kept], progress)


def _refuse_what_is_there(connection: psycopg.Connection[tuple[object, ...]], name: str) -> None:
    found = connection.execute("SELECT 1 FROM pg_namespace WHERE nspname = 'ledger'")
    if found.fetchone():
        raise Refused(
            f"Database {name} holds a record already",
            where=f"database {name}",
            hint="Restore into a new database, then set ROUND_LEDGER_DATABASE_URL to it.",
        )


def _run(program: str, url: str, options: Sequence[str]) -> None:
    """Run a PostgreSQL program with our connection; only this user may read its files."""
    given = _in_force(url)
    password = {"PGPASSWORD": given.pop("password")} if "password" in given else {}
    with NamedTemporaryFile("w", prefix="round-ledger-", suffix=".conf") as service:  # mode 0600
        service.write("\n".join([f"[{_SERVICE}]", *map("=".join, given.items()), ""]))
        service.flush()
        done = subprocess.run(  # noqa: S603 - the wheel's program, options of our own
            [binaries() / program, "--no-password", *options],
            env={
                "PATH": os.defpath,
                "LC_MESSAGES": "C",
                "PGSERVICEFILE": service.name,
                "PGSERVICE": _SERVICE,
                **password,
            },
            capture_output=True,
            text=True,
            check=False,
            timeout=PROGRAM_S_MAX,
            umask=0o077,
        )
    if done.returncode:
        raise Unavailable(
            f"{program} failed: {' '.join(done.stderr.split())}",
            where=f"database {given.get('dbname')}",
            hint="Nothing was replaced. Fix the cause and run the command again.",
        )


def _in_force(url: str) -> dict[str, str]:
    """All parameters of a connection that differ from libpq's defaults.

    They come from the URL, the environment or a service file. They are passed on in a file, so the
    list of processes shows none of them.
    """
    with translated(Database(url, url)), psycopg.connect(url) as connection:
        told = connection.pgconn.info
    return {
        each.keyword.decode(): each.val.decode()
        for each in told
        if each.val and each.val != each.compiled and each.keyword not in _NOT_IN_A_SERVICE
    }
