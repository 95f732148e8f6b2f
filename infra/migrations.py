"""The one step that creates objects: numbered SQL files, forward only, under one lock.

Run by whoever starts first with a login that may create things; everybody else only checks that
the database stands where the program does. Workers never create objects (two that do at once die
of "tuple concurrently updated").
"""

from __future__ import annotations

import hashlib
from importlib.resources import files
from typing import TYPE_CHECKING, NamedTuple, cast

import psycopg
from psycopg import errors, sql

from ledger.errors import Refused, Unavailable

if TYPE_CHECKING:
    from psycopg import Connection

OWNER, WRITER, READER = "ledger_owner", "ledger_writer", "ledger_reader"
PROJECTOR, DESK = "ledger_projector", "ledger_desk"

ROLES = {
    OWNER: "Owns every object of the ledger; nobody's everyday role.",
    WRITER: "Appends facts through ledger.append, and can do nothing else.",
    READER: "Reads everything, changes nothing.",
    PROJECTOR: "Reads the record and writes rows of views; creates nothing.",
    DESK: "Decides (disputes, submissions): may append and read.",
}
"""The roles, none of which can log in: logins are granted them."""

_MEMBERSHIPS = ((READER, PROJECTOR), (READER, DESK), (WRITER, DESK))
_LOCK_KEY = 0x726F756E64  # "round"
_LOCK_S_MAX = 60
_SCHEMAS = {
    "ledger": "The record: what happened, as it was received.",
    "views": "What is read off the record; every table can be rebuilt from it.",
    "rebuilding": "Views on their way to taking the place of those in schema views.",
}


class Migration(NamedTuple):
    """One numbered file of `infra/sql`."""

    name: str
    text: str

    @property
    def digest(self) -> str:
        """SHA-256 of the file, kept with the migration so that a changed file is noticed."""
        return hashlib.sha256(self.text.encode()).hexdigest()


def migrations() -> list[Migration]:
    """The migrations this program knows, in order."""
    found = [f for f in files("infra.sql").iterdir() if f.name.endswith(".sql")]
    return [Migration(f.name, f.read_text()) for f in sorted(found, key=lambda f: f.name)]


def migrate(owner_url: str) -> list[str]:
    """Bring the database of `owner_url` to where this program stands; the names newly applied.

    Safe when many processes do it at once. Raises `Unavailable` where the login may not do what
    is missing, `Refused` where the database is newer than the program or differs from it.
    """
    with psycopg.connect(owner_url, autocommit=True, connect_timeout=5) as connection:
        if not pending(connection):
            return []
        connection.execute(f"SET lock_timeout = '{_LOCK_S_MAX}s'")
        connection.execute("SELECT pg_advisory_lock(%s)", (_LOCK_KEY,))
        todo = pending(connection)  # another process may have done it while we waited
        if todo:
            _prepare(connection)
        for migration in todo:
            _apply(connection, migration)
        return [migration.name for migration in todo]


def pending(connection: Connection[tuple[object, ...]]) -> list[Migration]:
    """What the database lacks. Raises `Refused` where it has something else or more."""
    known = migrations()
    applied = _applied(connection)
    for name, digest in applied:
        ours = next((m for m in known if m.name == name), None)
        if ours is None or ours.digest != digest:
            raise Refused(
                f"The database was migrated with another {name} than this program's",
                where=f"database {connection.info.dbname}",
                hint="Use the program's version that migrated it, or a newer one.",
            )
    return known[len(applied) :]


def _applied(connection: Connection[tuple[object, ...]]) -> list[tuple[str, str]]:
    exists = connection.execute(
        "SELECT 1 FROM pg_catalog.pg_tables"
        " WHERE schemaname = 'ledger' AND tablename = 'migrations'"
    ).fetchone()
    if not exists:
        return []
    rows = connection.execute("SELECT name, digest FROM ledger.migrations ORDER BY name").fetchall()
    return cast("list[tuple[str, str]]", rows)


def _prepare(connection: Connection[tuple[object, ...]]) -> None:
    """Roles, schemas and the list of migrations: what the first file stands on."""
    encoding = connection.execute("SHOW server_encoding").fetchone()
    if encoding != ("UTF8",):
        raise Unavailable(
            f"The database is encoded in {encoding and encoding[0]}, not in UTF8",
            where=f"database {connection.info.dbname}",
            hint="Create it with CREATE DATABASE ... ENCODING 'UTF8' TEMPLATE template0.",
        )
    try:
        for role, purpose in ROLES.items():
            _create_role(connection, role, purpose)
        for granted, member in _MEMBERSHIPS:
            _grant(connection, granted, member)
        if not _may_act_as(connection, OWNER):
            _grant(connection, OWNER, connection.info.user)
        with connection.transaction():
            _create_schemas(connection)
    except errors.InsufficientPrivilege as error:
        login = connection.info.user
        statements = "; ".join(f"CREATE ROLE {role} NOLOGIN" for role in ROLES)
        raise Unavailable(
            f"Login {login} may not create what the ledger needs: {error.diag.message_primary}",
            where=f"database {connection.info.dbname}",
            hint="Name one that may in ROUND_LEDGER_MIGRATION_URL, or let an administrator run: "
            f"{statements}; GRANT {', '.join(ROLES)} TO {login}; "
            f"GRANT CREATE ON DATABASE {connection.info.dbname} TO {login}.",
        ) from error


def _create_role(connection: Connection[tuple[object, ...]], role: str, purpose: str) -> None:
    """Roles belong to the whole server, so another database's migration may be creating them."""
    if connection.execute("SELECT 1 FROM pg_roles WHERE rolname = %s", (role,)).fetchone():
        return
    try:
        connection.execute(sql.SQL("CREATE ROLE {} NOLOGIN").format(sql.Identifier(role)))
        connection.execute(
            sql.SQL("COMMENT ON ROLE {} IS {}").format(sql.Identifier(role), sql.Literal(purpose))
        )
    except (errors.DuplicateObject, errors.UniqueViolation, errors.InternalError_):
        return  # the other one was first


def _grant(connection: Connection[tuple[object, ...]], granted: str, member: str) -> None:
    if connection.execute("SELECT pg_has_role(%s, %s, 'MEMBER')", (member, granted)).fetchone() == (
        True,
    ):
        return
    try:
        connection.execute(
            sql.SQL("GRANT {} TO {}").format(sql.Identifier(granted), sql.Identifier(member))
        )
    except (errors.UniqueViolation, errors.InternalError_):
        return  # another database's migration granted it at this moment


def _may_act_as(connection: Connection[tuple[object, ...]], role: str) -> bool:
    row = connection.execute("SELECT pg_has_role(current_user, %s, 'MEMBER')", (role,)).fetchone()
    return row == (True,)


def _create_schemas(connection: Connection[tuple[object, ...]]) -> None:
    owner = sql.Identifier(OWNER)
    for name, purpose in _SCHEMAS.items():
        schema = sql.Identifier(name)
        connection.execute(
            sql.SQL("CREATE SCHEMA IF NOT EXISTS {} AUTHORIZATION {}").format(schema, owner)
        )
        connection.execute(
            sql.SQL("COMMENT ON SCHEMA {} IS {}").format(schema, sql.Literal(purpose))
        )
    connection.execute(sql.SQL("SET LOCAL ROLE {}").format(owner))
    connection.execute(_BASE)


def _apply(connection: Connection[tuple[object, ...]], migration: Migration) -> None:
    with connection.transaction():
        connection.execute(sql.SQL("SET LOCAL ROLE {}").format(sql.Identifier(OWNER)))
        connection.execute(migration.text)
        connection.execute(
            "INSERT INTO ledger.migrations (name, digest) VALUES (%s, %s)",
            (migration.name, migration.digest),
        )


_BASE = """
CREATE TABLE IF NOT EXISTS ledger.migrations (
    name       text PRIMARY KEY,
    digest     text NOT NULL,
    applied_at timestamptz NOT NULL DEFAULT now()
);
COMMENT ON TABLE ledger.migrations IS 'Which numbered SQL files this database has had.';
COMMENT ON COLUMN ledger.migrations.name IS 'File name in infra/sql; its number is the order.';
COMMENT ON COLUMN ledger.migrations.digest IS 'SHA-256 of the file: a changed one is noticed.';
COMMENT ON COLUMN ledger.migrations.applied_at IS 'When it was applied, by the server''s clock.';
GRANT USAGE ON SCHEMA ledger TO ledger_writer, ledger_reader;
GRANT USAGE ON SCHEMA views TO ledger_reader;
GRANT SELECT ON ledger.migrations TO ledger_writer, ledger_reader;
ALTER DEFAULT PRIVILEGES IN SCHEMA views GRANT SELECT ON TABLES TO ledger_reader;
ALTER DEFAULT PRIVILEGES IN SCHEMA views
    GRANT INSERT, UPDATE, DELETE ON TABLES TO ledger_projector;
"""
