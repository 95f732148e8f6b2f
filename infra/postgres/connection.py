"""Connections to the record's database: the server of the settings, or the embedded one.

All code connects through `Database.connect`, under a role with the least rights, and with a limit
on every wait. Only `infra` imports the driver.
"""

from __future__ import annotations

from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, TypeAlias

import psycopg
from psycopg import conninfo, errors, sql

from infra.postgres import arrays
from infra.postgres.kept_connections import PLANNED_AT_EACH_USE, BoundedConnection, IdleConnections
from infra.postgres.migrations import (
    AppliedMigration,
    applied_migrations,
    migrate,
    missing,
    pending,
    require_migrated,
)
from infra.postgres.server.embedded import embedded, running
from infra.postgres.server.embedded import kept_running as embedded_kept_running
from ledger.errors import Denied, Refused, Unavailable, Usage

if TYPE_CHECKING:
    from collections.abc import Iterator

    from infra.settings import Settings

AnyConnection: TypeAlias = psycopg.Connection[tuple[Any, ...]]
"""A connection whose rows are plain tuples."""

Role = Literal[
    "ledger_owner",
    "ledger_writer",
    "ledger_reader",
    "ledger_projector",
    "ledger_desk",
    "ledger_doorkeeper",
    "ledger_sealer",
]
"""The role of a connection; see `infra.postgres.migrations.ROLES`."""

CONNECT_S_MAX = 10
"""How long connecting may take, seconds."""

_MEMORY: dict[Role, str] = {"ledger_reader": "64MB"}
"""What a query may sort and group in memory, or more if server, login or URL say so. With less, the
server sorts the rounds of a day of 200 tables to sum them, and that takes twice as long."""

_RAISE_MEMORY = """
SELECT set_config('work_mem', %(least)s, false)
 WHERE pg_size_bytes(current_setting('work_mem')) < pg_size_bytes(%(least)s)
"""

STATEMENT_S_MAX: dict[Role, int] = {
    "ledger_owner": 3600,  # rebuilds and index builds
    "ledger_writer": 15,
    "ledger_reader": 60,
    "ledger_projector": 60,
    "ledger_desk": 30,
    "ledger_doorkeeper": 10,
    "ledger_sealer": 60,
}
"""How long a statement may run on the server, seconds."""

LOCK_S_MAX = 20
"""How long a statement waits for a lock, seconds."""

IDLE_S_MAX = 120
"""How long a transaction may sit idle before the server ends it, seconds."""

NAME = "round_ledger"
"""The record's database on the embedded server."""

_KEEPALIVE = {
    "keepalives_idle": 10,
    "keepalives_interval": 5,
    "keepalives_count": 3,
    "tcp_user_timeout": 20_000,
}
_SERVERS_KEEPALIVE = {
    "tcp_keepalives_idle": 10,
    "tcp_keepalives_interval": 5,
    "tcp_keepalives_count": 3,
    "tcp_user_timeout": 20_000,
}
"""The same for the server, which else keeps a dead client's connection for hours.

It would keep the locks too, such as the lead of a relay. On a Unix socket they have no effect.
"""


class PlannedMigration(NamedTuple):
    """A migration of this program, and whether the database has it."""

    name: str
    applied_at_us: int | None  # by the database server's clock; None: pending


@dataclass(frozen=True)
class Database:
    """A migrated database, and how to connect to it. The URLs may hold passwords."""

    url: str = field(repr=False)  # the everyday login
    owner_url: str = field(repr=False)  # the login that may create objects
    idle: IdleConnections | None = field(default=None, repr=False, compare=False)

    @property
    def where(self) -> str:
        """Server and database without user or password, for messages."""
        return _where(self.url)

    def conninfo(self, role: Role) -> str:
        """The libpq connection string of a role, with all time limits."""
        url = self.owner_url if role == "ledger_owner" else self.url
        given = str(conninfo.conninfo_to_dict(url).get("options") or "")
        ours = " ".join(
            f"-c {name}={value}"
            for name, value in {
                "role": role,
                "statement_timeout": f"{STATEMENT_S_MAX[role]}s",
                "lock_timeout": f"{LOCK_S_MAX}s",
                "idle_in_transaction_session_timeout": f"{IDLE_S_MAX}s",
                **_SERVERS_KEEPALIVE,
                **(PLANNED_AT_EACH_USE if self.idle else {}),
            }.items()
        )
        return conninfo.make_conninfo(
            url,
            options=f"{given} {ours}".strip(),
            connect_timeout=CONNECT_S_MAX,
            application_name=f"round-ledger {role}",
            **_KEEPALIVE,
        )

    def connect(
        self, role: Role, *, autocommit: bool = True, answer_s_max: float = float("inf")
    ) -> AnyConnection:
        """A connection acting as `role`; the caller closes it. Raises `Unavailable`.

        A new one, or one that was kept open since its last use and is as new.
        """
        connection = self.idle.take(role) if self.idle else None
        if connection is None:
            connection = _connect(self.conninfo(role), autocommit=True)
            connection.idle, connection.role = self.idle, role
            arrays.register(connection)
        if role in _MEMORY:
            connection.execute(_RAISE_MEMORY, {"least": _MEMORY[role]})
        connection.autocommit = autocommit
        connection.answer_s_max = answer_s_max
        return connection

    @contextmanager
    def snapshot(self, role: Role = "ledger_reader") -> Iterator[AnyConnection]:
        """A connection with a snapshot of the record; later appends are not visible.

        It is one REPEATABLE READ READ ONLY transaction; keep it short. Read with the functions of
        `infra.postgres.tape`.
        """
        with self.connect(role) as connection, translated(self):
            connection.isolation_level = psycopg.IsolationLevel.REPEATABLE_READ
            connection.read_only = True
            with connection.transaction():
                yield connection


@contextmanager
def keeping(database: Database) -> Iterator[Database]:
    """The database for a block in which connections are kept open for their next use."""
    idle = IdleConnections()
    try:
        yield replace(database, idle=idle)
    finally:
        idle.close()


@contextmanager
def open_database(settings: Settings) -> Iterator[Database]:
    """The record's database, reachable and with every migration, until the block is left.

    The server named by ROUND_LEDGER_DATABASE_URL, or the embedded one. Only the embedded one is
    migrated here. Raises `Unavailable` if the server does not answer, if it lacks a migration, or
    if the login lacks a right.
    """
    if settings.database_url:
        database = _named(settings, settings.database_url)
        _require_migrated(database)
        yield database
        return
    with running(settings.home, _record, settings.postgres_stays_s) as (database, applied):
        if missing(applied, NAME):
            migrate_database(database)
        yield database


@contextmanager
def open_unmigrated(settings: Settings) -> Iterator[Database]:
    """The record's database as it is, which `migrate` plans and applies migrations for."""
    if settings.database_url:
        yield _named(settings, settings.database_url)
        return
    with running(settings.home, _record, settings.postgres_stays_s) as (database, _):
        yield database


def _record(server_url: str) -> tuple[Database, list[AppliedMigration]]:
    """The record's database on the embedded server, created if necessary, and its migrations.

    Raises the driver's error if the server does not answer.
    """
    url = conninfo.make_conninfo(server_url, dbname=NAME)
    try:
        connection = psycopg.connect(url, autocommit=True, connect_timeout=CONNECT_S_MAX)
    except psycopg.OperationalError:  # of a server that is new, or does not answer
        with psycopg.connect(server_url, autocommit=True, connect_timeout=CONNECT_S_MAX) as any_:
            _create_database(any_, NAME)
        connection = psycopg.connect(url, autocommit=True, connect_timeout=CONNECT_S_MAX)
    with connection:
        return Database(url, url), applied_migrations(connection)


@contextmanager
def kept_running(settings: Settings) -> Iterator[None]:
    """For a block with an open database: restart the embedded server whenever it dies."""
    if settings.database_url:
        yield
        return
    with embedded_kept_running(settings.home):
        yield


@contextmanager
def server(settings: Settings) -> Iterator[Database]:
    """The server of the settings as it is: nothing is created or migrated. For `restore`."""
    if settings.database_url:
        yield _named(settings, settings.database_url)
        return
    with embedded(settings.home) as server_url:
        yield Database(server_url, server_url)


def _named(settings: Settings, url: str) -> Database:
    """The server named in the settings. Raises `Usage` for an invalid URL."""
    owner_url = settings.migration_url or url
    _refuse_unreadable("ROUND_LEDGER_DATABASE_URL", url)
    _refuse_unreadable("ROUND_LEDGER_MIGRATION_URL", owner_url)
    return Database(url, owner_url)


def _refuse_unreadable(setting: str, url: str) -> None:
    """Raise `Usage` for an invalid URL; unlike the driver's error, it hides the password."""
    try:
        given = conninfo.conninfo_to_dict(url)
    except psycopg.ProgrammingError:
        readable = False
    else:  # a password with `@` or `/` leaks into the parts after it
        ports = str(given.get("port") or "5432").split(",")
        readable = all(port.isdecimal() for port in ports) and not any(
            "@" in str(given.get(part, "")) for part in ("host", "dbname")
        )
    if not readable:
        raise Usage(
            "This is not the URL of a PostgreSQL server",
            where=setting,
            hint="Write postgresql://user:password@host:port/name, and `@`, `/`, `:`, `%` within"
            " the password as %40, %2F, %3A, %25.",
        ) from None


def create_database(server_url: str, name: str) -> None:
    """Create a database unless it exists; several processes may do so at once."""
    with _connect(server_url, autocommit=True) as connection:
        _create_database(connection, name)


def _create_database(connection: AnyConnection, name: str) -> None:
    found = connection.execute("SELECT 1 FROM pg_database WHERE datname = %s", (name,))
    if found.fetchone():
        return
    with suppress(errors.DuplicateDatabase, errors.UniqueViolation):  # another process was first
        connection.execute(sql.SQL("CREATE DATABASE {}").format(sql.Identifier(name)))


def begin_anew(settings: Settings, name: str, mark: str) -> Settings:
    """The settings with the new database `name` on the server they name, migrated and empty.

    A database of that name is dropped first if its comment is `mark`, or if it has neither comment
    nor table: a killed command leaves that. Raises `Refused` for any other, or if a client is
    connected to it. No other database is touched.
    """
    with server(settings) as database:
        owner_url = database.owner_url
    with _connect(owner_url, autocommit=True) as connection:
        found = connection.execute(
            "SELECT shobj_description(oid, 'pg_database') FROM pg_database WHERE datname = %s",
            (name,),
        ).fetchone()
        if found and found[0] != mark and (found[0] or not _is_empty(owner_url, name)):
            raise Refused(
                f"Database {name} exists, but this command did not create it",
                where=_where(owner_url),
                hint=f"Rename it, or unset ROUND_LEDGER_DATABASE_URL: {name} would be dropped.",
            )
        identifier = sql.Identifier(name)
        try:
            if found:
                connection.execute(sql.SQL("DROP DATABASE {}").format(identifier))
            connection.execute(sql.SQL("CREATE DATABASE {}").format(identifier))
        except errors.ObjectInUse as error:
            raise Refused(
                f"A client is connected to database {name}",
                where=_where(owner_url),
                hint="End that connection, then run this command again.",
            ) from error
        except errors.InsufficientPrivilege as error:
            raise Unavailable(
                f"The login may not create or drop database {name}",
                where=_where(owner_url),
                hint="Name a login with these rights in ROUND_LEDGER_MIGRATION_URL, or unset "
                "ROUND_LEDGER_DATABASE_URL.",
            ) from error
        connection.execute(
            sql.SQL("COMMENT ON DATABASE {} IS {}").format(identifier, sql.Literal(mark))
        )
    url = conninfo.make_conninfo(settings.database_url or owner_url, dbname=name)
    migration_url = conninfo.make_conninfo(owner_url, dbname=name)
    migrate_database(Database(url, migration_url))
    return replace(settings, database_url=url, migration_url=migration_url)


def _is_empty(url: str, name: str) -> bool:
    """Whether a database of the server has no table or other relation."""
    with _connect(conninfo.make_conninfo(url, dbname=name), autocommit=True) as connection:
        found = connection.execute(
            "SELECT FROM pg_class JOIN pg_namespace n ON n.oid = relnamespace"
            " WHERE nspname NOT IN ('pg_catalog', 'pg_toast', 'information_schema') LIMIT 1"
        )
        return found.fetchone() is None


def migrate_database(database: Database) -> list[str]:
    """Apply missing migrations, as `migrate`; returns the names of those applied."""
    try:
        return migrate(database.owner_url)
    except psycopg.OperationalError as error:
        raise _unavailable(database.owner_url, error) from error


def planned_migrations(database: Database) -> list[PlannedMigration]:
    """Each migration of this program, and when it was applied. Changes nothing.

    Raises `Refused` if the database has other migrations than this program, or more.
    """
    with _reading_migrations(database) as connection:
        missing = [PlannedMigration(each.name, None) for each in pending(connection)]
        applied = applied_migrations(connection)
    return [*(PlannedMigration(each.name, each.applied_at_us) for each in applied), *missing]


def _require_migrated(database: Database) -> None:
    with _reading_migrations(database) as connection:
        require_migrated(connection)


@contextmanager
def _reading_migrations(database: Database) -> Iterator[AnyConnection]:
    """A connection that may read the list of migrations; an empty server has no role for it."""
    with _connect(database.url, autocommit=True) as connection:
        with suppress(errors.InvalidParameterValue, errors.InsufficientPrivilege):
            connection.execute("SET ROLE ledger_reader")
        with translated(database):
            yield connection


@contextmanager
def translated(database: Database) -> Iterator[None]:
    """Raise driver errors of a server that does not answer as `Unavailable`.

    This includes errors that may pass: lack of disk, memory or connections, or a lock. A login that
    lacks a right is `Denied`. Other errors that will not pass, such as a defect of ours, are raised
    unchanged.
    """
    try:
        yield
    except errors.InsufficientPrivilege as error:
        raise _denied(database.url, str(error.diag.message_primary or error)) from error
    except (psycopg.OperationalError, psycopg.InterfaceError) as error:
        if error.sqlstate and error.sqlstate[:2] not in _MAY_PASS:
            raise
        raise _unavailable(database.url, error) from error


_MAY_PASS = frozenset(("08", "25", "40", "53", "55", "57", "58"))


def _connect(url: str, *, autocommit: bool) -> BoundedConnection:
    try:
        return BoundedConnection.connect(url, autocommit=autocommit)
    except psycopg.OperationalError as error:
        raise _unavailable(url, error) from error


def _unavailable(url: str, error: psycopg.Error) -> Unavailable:
    text = " ".join(str(error).split())
    if "permission denied to set role" in text or "permission denied for database" in text:
        return _denied(url, text)
    return Unavailable(
        f"PostgreSQL does not answer: {text}",
        where=_where(url),
        hint="Check that the server runs, and that ROUND_LEDGER_DATABASE_URL names it and a login.",
    )


def _denied(url: str, text: str) -> Denied:
    everyday = ", ".join(role for role in STATEMENT_S_MAX if role != "ledger_owner")
    return Denied(
        f"The login lacks a right: {text}",
        where=_where(url),
        hint="Use the login that is meant for this process. Or run, as the login that migrates: "
        f"GRANT {everyday} TO <the everyday login>.",
    )


def _where(url: str) -> str:
    parts = conninfo.conninfo_to_dict(url)
    return f"{parts.get('host', 'local')}:{parts.get('port', 5432)}/{parts.get('dbname', '')}"
