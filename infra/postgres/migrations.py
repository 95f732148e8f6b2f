"""Migrations: numbered SQL files, forward only, applied under one lock.

Only `migrate --apply` and the start of the embedded server apply them. Every other process checks
that the database has all migrations of its program. Only migrations create objects: two processes
that do so at once fail with "tuple concurrently updated".
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
from ledger.values import quantity

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from psycopg import Connection

OWNER, WRITER, READER = "ledger_owner", "ledger_writer", "ledger_reader"
PROJECTOR, DESK, DOORKEEPER = "ledger_projector", "ledger_desk", "ledger_doorkeeper"
SEALER = "ledger_sealer"

ROLES = {
    OWNER: "Owns every object of the ledger; for migrations and rebuilds only.",
    WRITER: "Appends facts through ledger.append_from; has no other right.",
    READER: "Reads everything, changes nothing.",
    PROJECTOR: "Reads the record and writes rows of views; creates nothing.",
    DESK: "Records decisions (disputes, submissions): may append and read.",
    DOORKEEPER: "Keeps users, sessions and keys; sees no fact.",
    SEALER: "Reads what the witnessed log seals; changes nothing.",
}
"""The roles; none can log in. Logins are granted them."""

_MEMBERSHIPS = ((READER, PROJECTOR), (READER, DESK), (WRITER, DESK))
_LOCK_KEY = 0x726F756E64  # "round"
_LOCK_S_MAX = 60
_TRIES = 20

DDL_LOCK_S_MAX = 2
"""How long a migration waits for a table lock, seconds; appends wait behind it as long."""

DDL_TRIES = 40
"""Tries of a migration before it gives up, with pauses of `DDL_PAUSE_S` for waiting appends."""

DDL_PAUSE_S = 1.0

_HAS_ROLE: LiteralString = "SELECT 1 WHERE pg_has_role(%s, %s, %s)"
_SET_OPTION_SINCE = 160_000
_SCHEMAS = {
    "ledger": "The record: what happened, as it was received.",
    "views": "Views of the record; every table can be rebuilt from it.",
    "rebuilding": "Rebuilt views until they are swapped into schema views.",
    "access": "Users, sessions, keys, and the log of access events.",
}


class Migration(NamedTuple):
    """One numbered file of `infra/postgres/sql`."""

    name: str
    text: str

    @property
    def digest(self) -> str:
        """SHA-256 of the file, stored in the database to detect a changed file."""
        return hashlib.sha256(self.text.encode()).hexdigest()


class AppliedMigration(NamedTuple):
    """One row of the database's list of migrations."""

    name: str
    digest: str
    applied_at_us: int  # by the database server's clock


def migrations() -> list[Migration]:
    """The migrations of this program, in order."""
    found = [f for f in files("infra.postgres.sql").iterdir() if f.name.endswith(".sql")]
    return [Migration(f.name, f.read_text()) for f in sorted(found, key=lambda f: f.name)]


def migrate(owner_url: str) -> list[str]:
    """Apply all missing migrations to the database of `owner_url`; returns their names.

    Many processes may do so at once. Raises `Unavailable` if the login lacks a right, `Refused` if
    the database is newer than the program or differs from it.
    """
    with psycopg.connect(owner_url, autocommit=True, connect_timeout=10) as connection:
        if not pending(connection):
            return []
        connection.execute(f"SET lock_timeout = '{_LOCK_S_MAX}s'")
        with advisory_lock(connection, _LOCK_KEY, wait=True):
            todo = pending(connection)  # another process may have applied them meanwhile
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
            f"The database lacks {quantity(len(names), 'migration')} of this program,"
            f" {names[0]} first",
            where=f"database {connection.info.dbname}",
            hint="Run `round-ledger migrate --plan` to see them, and `round-ledger migrate --apply`"
            " to apply them. Back up first.",
        )


def pending(connection: Connection[Any]) -> list[Migration]:
    """The migrations that the database lacks, in order. Raises as `missing`."""
    return missing(applied_migrations(connection), connection.info.dbname)


def missing(applied: Sequence[AppliedMigration], database: str) -> list[Migration]:
    """The migrations of this program that are not among those applied to a database, in order.

    Raises `Refused` if the database has other migrations than this program, or more.
    """
    known = migrations()
    digests = {each.name: each.digest for each in known}
    for each in applied:
        if digests.get(each.name) != each.digest:
            raise Refused(
                f"The database has a migration {each.name} that differs from this program's",
                where=f"database {database}",
                hint="Use the version of the program that migrated the database, or a newer one.",
            )
    return known[len(applied) :]


def applied_migrations(connection: Connection[Any]) -> list[AppliedMigration]:
    """The migrations applied to the database, in order; none in an empty one.

    It is one query, outside a transaction, because every command makes it.
    """
    try:
        rows = connection.execute(
            "SELECT name, digest, (extract(epoch FROM applied_at) * 1000000)::bigint"
            " FROM ledger.migrations ORDER BY name"
        ).fetchall()
    except errors.UndefinedTable:
        return []
    return [AppliedMigration(*row) for row in rows]


def _prepare(connection: Connection[Any]) -> None:
    """Create roles, schemas and the list of migrations, which the first file needs."""
    encoding = connection.execute("SHOW server_encoding").fetchone()
    if encoding != ("UTF8",):
        raise Unavailable(
            f"The database has the encoding {encoding and encoding[0]}, not UTF8",
            where=f"database {connection.info.dbname}",
            hint="Create it with CREATE DATABASE ... ENCODING 'UTF8' TEMPLATE template0.",
        )
    with _explained(connection):
        create_roles(connection)
        with connection.transaction():
            _create_schemas(connection)


def create_roles(connection: Connection[Any]) -> None:
    """Create the roles, and grant the login the right to act as owner.

    Roles belong to the whole server, so a migration of another database may create them now.
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
            # The migration's login must be owner; other roles matter only if it is the sole login.
            with suppress(*(() if role == OWNER else (errors.InsufficientPrivilege,))):
                _grant(connection, role, login)


def _grant(connection: Connection[Any], granted: str, member: str) -> None:
    grant = sql.SQL("GRANT {} TO {}").format(sql.Identifier(granted), sql.Identifier(member))
    _once(connection, _HAS_ROLE, (member, granted, _acting(connection)), grant)


def _once(
    connection: Connection[Any], found: LiteralString, about: tuple[str, ...], do: sql.Composed
) -> None:
    """Run a statement unless its object exists; check again if another process creates it now."""
    for _ in range(_TRIES):
        if connection.execute(found, about).fetchone():
            return
        with suppress(errors.DuplicateObject, errors.UniqueViolation, errors.InternalError_):
            connection.execute(do)
            return
        time.sleep(0.05)


@contextmanager
def _explained(connection: Connection[Any]) -> Iterator[None]:
    """Raise a lack of rights as `Unavailable`, with the statements that an administrator runs."""
    try:
        yield
    except errors.InsufficientPrivilege as error:
        login = connection.info.user
        statements = "; ".join(f"CREATE ROLE {role} NOLOGIN" for role in ROLES)
        raise Unavailable(
            f"Login {login} lacks a right to migrate: {error.diag.message_primary}",
            where=f"database {connection.info.dbname}",
            hint="Set ROUND_LEDGER_MIGRATION_URL to a login that may, or let an administrator run: "
            f"{statements}; GRANT {', '.join(ROLES)} TO {login}; "
            f"GRANT CREATE ON DATABASE {connection.info.dbname} TO {login}.",
        ) from error


def _may_act_as(connection: Connection[Any], role: str) -> bool:
    about = (connection.info.user, role, _acting(connection))
    return connection.execute(_HAS_ROLE, about).fetchone() is not None


def _acting(connection: Connection[Any]) -> str:
    """The right that SET ROLE needs. Since 16 the creator of a role is a member without it."""
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
    """Apply one migration with short lock waits, so that a long reader does not block appends."""
    for _ in range(DDL_TRIES):
        with suppress(errors.LockNotAvailable, errors.DeadlockDetected):
            _apply(connection, migration)
            return
        time.sleep(DDL_PAUSE_S)
    raise Unavailable(
        f"Migration {migration.name} could not lock its tables in {DDL_TRIES} tries",
        where=f"database {connection.info.dbname}",
        hint="It changed nothing. End long reads, such as a backup (see pg_stat_activity), then run"
        " this command again.",
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
COMMENT ON TABLE ledger.migrations IS 'The numbered SQL files applied to this database.';
COMMENT ON COLUMN ledger.migrations.name IS 'Name of its file; the number in it is the order.';
COMMENT ON COLUMN ledger.migrations.digest IS 'SHA-256 of the file, to detect a changed one.';
COMMENT ON COLUMN ledger.migrations.applied_at IS 'When it was applied, by the server''s clock.';
GRANT USAGE ON SCHEMA ledger TO ledger_writer, ledger_reader;
GRANT USAGE ON SCHEMA views TO ledger_reader;
GRANT SELECT ON ledger.migrations TO ledger_writer, ledger_reader;
ALTER DEFAULT PRIVILEGES IN SCHEMA views GRANT SELECT ON TABLES TO ledger_reader;
ALTER DEFAULT PRIVILEGES IN SCHEMA views
    GRANT INSERT, UPDATE, DELETE ON TABLES TO ledger_projector;
"""
