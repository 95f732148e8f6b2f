"""The one step that creates objects: numbered SQL files, forward only, under one lock.

Only `migrate --apply` and the embedded server's start run it. Every other process checks that the
database has all migrations of its program. Workers never create objects: two that do at once fail
with "tuple concurrently updated".
"""

from __future__ import annotations

import hashlib
import time
from contextlib import contextmanager, suppress
from importlib.resources import files
from typing import TYPE_CHECKING, Any, LiteralString, NamedTuple

import psycopg
from psycopg import errors, sql

from infra.postgres.advisory_lock import advisory_lock
from ledger.errors import Refused, Unavailable

if TYPE_CHECKING:
    from collections.abc import Iterator

    from psycopg import Connection

OWNER, WRITER, READER = "ledger_owner", "ledger_writer", "ledger_reader"
PROJECTOR, DESK, DOORKEEPER = "ledger_projector", "ledger_desk", "ledger_doorkeeper"

ROLES = {
    OWNER: "Owns every object of the ledger; nobody's everyday role.",
    WRITER: "Appends facts through ledger.append, and can do nothing else.",
    READER: "Reads everything, changes nothing.",
    PROJECTOR: "Reads the record and writes rows of views; creates nothing.",
    DESK: "Decides (disputes, submissions): may append and read.",
    DOORKEEPER: "Knows who may sign in and which device may speak; sees no fact.",
}
"""The roles, none of which can log in: logins are granted them."""

_MEMBERSHIPS = ((READER, PROJECTOR), (READER, DESK), (WRITER, DESK))
_LOCK_KEY = 0x726F756E64  # "round"
_LOCK_S_MAX = 60
_TRIES = 20

DDL_LOCK_S_MAX = 2
"""How long a migration waits for a table, seconds: whoever appends waits behind it as long."""

DDL_TRIES = 40
"""How often it asks again before it gives up, with `DDL_PAUSE_S` between for those who waited."""

DDL_PAUSE_S = 1.0

_HAS_ROLE: LiteralString = "SELECT 1 WHERE pg_has_role(%s, %s, %s)"
_SET_OPTION_SINCE = 160_000
_SCHEMAS = {
    "ledger": "The record: what happened, as it was received.",
    "views": "What is read off the record; every table can be rebuilt from it.",
    "rebuilding": "Views on their way to taking the place of those in schema views.",
    "access": "Who may sign in, which device may speak, and what happened at the door.",
}


class Migration(NamedTuple):
    """One numbered file of `infra/postgres/sql`."""

    name: str
    text: str

    @property
    def digest(self) -> str:
        """SHA-256 of the file, kept with the migration so that a changed file is noticed."""
        return hashlib.sha256(self.text.encode()).hexdigest()


class AppliedMigration(NamedTuple):
    """One row of the list of migrations that the database keeps."""

    name: str
    digest: str
    applied_at_us: int  # by the database server's clock


def migrations() -> list[Migration]:
    """The migrations this program knows, in order."""
    found = [f for f in files("infra.postgres.sql").iterdir() if f.name.endswith(".sql")]
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
        with advisory_lock(connection, _LOCK_KEY, wait=True):
            todo = pending(connection)  # another process may have done it while we waited
            if todo:
                _prepare(connection)
            for migration in todo:
                _apply_between(connection, migration)
        return [migration.name for migration in todo]


def require_migrated(connection: Connection[Any]) -> None:
    """Raise `Unavailable` if the database lacks a migration of this program; changes nothing."""
    names = [each.name for each in pending(connection)]
    if names:
        raise Unavailable(
            f"The database lacks {len(names)} migrations of this program, {names[0]} first",
            where=f"database {connection.info.dbname}",
            hint="Run `round-ledger migrate --plan` to see them, and `round-ledger migrate --apply`"
            " to apply them. Back up first.",
        )


def pending(connection: Connection[Any]) -> list[Migration]:
    """The migrations that the database lacks, in order.

    Raises `Refused` if the database has other migrations than this program, or more.
    """
    known = migrations()
    applied = [(each.name, each.digest) for each in applied_migrations(connection)]
    for name, digest in applied:
        ours = next((m for m in known if m.name == name), None)
        if ours is None or ours.digest != digest:
            raise Refused(
                f"The database was migrated with another {name} than this program's",
                where=f"database {connection.info.dbname}",
                hint="Use the program's version that migrated it, or a newer one.",
            )
    return known[len(applied) :]


def applied_migrations(connection: Connection[Any]) -> list[AppliedMigration]:
    """The migrations that the database has had, in order; none in an empty one."""
    exists = connection.execute(
        "SELECT 1 FROM pg_catalog.pg_tables"
        " WHERE schemaname = 'ledger' AND tablename = 'migrations'"
    ).fetchone()
    if not exists:
        return []
    rows = connection.execute(
        "SELECT name, digest, (extract(epoch FROM applied_at) * 1000000)::bigint"
        " FROM ledger.migrations ORDER BY name"
    ).fetchall()
    return [AppliedMigration(*row) for row in rows]


def _prepare(connection: Connection[Any]) -> None:
    """Roles, schemas and the list of migrations: what the first file stands on."""
    encoding = connection.execute("SHOW server_encoding").fetchone()
    if encoding != ("UTF8",):
        raise Unavailable(
            f"The database is encoded in {encoding and encoding[0]}, not in UTF8",
            where=f"database {connection.info.dbname}",
            hint="Create it with CREATE DATABASE ... ENCODING 'UTF8' TEMPLATE template0.",
        )
    with _explained(connection):
        create_roles(connection)
        with connection.transaction():
            _create_schemas(connection)


def create_roles(connection: Connection[Any]) -> None:
    """The roles that objects are owned by and granted to, and the login's right to act as owner.

    They belong to the whole server, so another database's migration may be creating them now.
    """
    for role, purpose in ROLES.items():
        create = sql.SQL("CREATE ROLE {} NOLOGIN; COMMENT ON ROLE {} IS {}").format(
            sql.Identifier(role), sql.Identifier(role), sql.Literal(purpose)
        )
        _once(connection, "SELECT 1 FROM pg_roles WHERE rolname = %s", (role,), create)
    for granted, member in _MEMBERSHIPS:
        _grant(connection, granted, member)
    login = connection.info.user
    for role in ROLES:
        if not _may_act_as(connection, role):
            # The migration's login must be owner; it is more only where it is everybody's login.
            with suppress(*(() if role == OWNER else (errors.InsufficientPrivilege,))):
                _grant(connection, role, login)


def _grant(connection: Connection[Any], granted: str, member: str) -> None:
    grant = sql.SQL("GRANT {} TO {}").format(sql.Identifier(granted), sql.Identifier(member))
    _once(connection, _HAS_ROLE, (member, granted, _acting(connection)), grant)


def _once(
    connection: Connection[Any], found: LiteralString, about: tuple[str, ...], do: sql.Composed
) -> None:
    """Do it unless it is there; where somebody else is doing it at this moment, look again."""
    for _ in range(_TRIES):
        if connection.execute(found, about).fetchone():
            return
        with suppress(errors.DuplicateObject, errors.UniqueViolation, errors.InternalError_):
            connection.execute(do)
            return
        time.sleep(0.05)


@contextmanager
def _explained(connection: Connection[Any]) -> Iterator[None]:
    """Say what an administrator has to do where the login may not."""
    try:
        yield
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


def _may_act_as(connection: Connection[Any], role: str) -> bool:
    about = (connection.info.user, role, _acting(connection))
    return connection.execute(_HAS_ROLE, about).fetchone() is not None


def _acting(connection: Connection[Any]) -> str:
    """What SET ROLE asks for: since 16, who created a role is its member and may still not act."""
    return "SET" if connection.info.server_version >= _SET_OPTION_SINCE else "MEMBER"


def _create_schemas(connection: Connection[Any]) -> None:
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


def _apply_between(connection: Connection[Any], migration: Migration) -> None:
    """Apply while facts keep coming: never make them wait long for somebody who reads for long."""
    for _ in range(DDL_TRIES):
        with suppress(errors.LockNotAvailable, errors.DeadlockDetected):
            _apply(connection, migration)
            return
        time.sleep(DDL_PAUSE_S)
    raise Unavailable(
        f"Migration {migration.name} did not get the tables it changes in {DDL_TRIES} tries",
        where=f"database {connection.info.dbname}",
        hint="End what reads for long (pg_stat_activity names it: a backup, a query), then start"
        " this again; nothing was changed.",
    )


def _apply(connection: Connection[Any], migration: Migration) -> None:
    with connection.transaction():
        connection.execute(f"SET LOCAL lock_timeout = '{DDL_LOCK_S_MAX}s'")
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
COMMENT ON COLUMN ledger.migrations.name IS 'Name of its file; the number in it is the order.';
COMMENT ON COLUMN ledger.migrations.digest IS 'SHA-256 of the file: a changed one is noticed.';
COMMENT ON COLUMN ledger.migrations.applied_at IS 'When it was applied, by the server''s clock.';
GRANT USAGE ON SCHEMA ledger TO ledger_writer, ledger_reader;
GRANT USAGE ON SCHEMA views TO ledger_reader;
GRANT SELECT ON ledger.migrations TO ledger_writer, ledger_reader;
ALTER DEFAULT PRIVILEGES IN SCHEMA views GRANT SELECT ON TABLES TO ledger_reader;
ALTER DEFAULT PRIVILEGES IN SCHEMA views
    GRANT INSERT, UPDATE, DELETE ON TABLES TO ledger_projector;
"""
