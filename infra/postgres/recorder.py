"""The record as a recorder of the eventsourcing library, for aggregates that make decisions.

An aggregate's events are ordinary facts on the tape of their place, saved by the same append
function. An aggregate is named `<source>/<name>`. Its n-th event is the fact with that source and
the id `<name>/<n>`. An identity is unique in the record, which gives the optimistic lock (ADR
0006). The notification log is the whole record.
"""

from __future__ import annotations

import hashlib
import re
from dataclasses import dataclass, field
from functools import wraps
from typing import TYPE_CHECKING, Any, NamedTuple, ParamSpec, TypeVar

from eventsourcing.application import Application
from eventsourcing.persistence import (
    IntegrityError,
    InterfaceError,
    Mapper,
    Notification,
    OperationalError,
    StoredEvent,
)
from eventsourcing.postgres import PostgresApplicationRecorder, PostgresFactory
from psycopg.conninfo import conninfo_to_dict
from psycopg.errors import NoDataFound, ObjectNotInPrerequisiteState
from psycopg.rows import dict_row

from infra.postgres import arrays, tape
from infra.postgres.connection import IDLE_S_MAX
from infra.sender import current_sender
from ledger.errors import Usage
from ledger.record.tape import Received, TapeRow
from ledger.values import NAME, Source

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from uuid import UUID

    from eventsourcing.postgres import PostgresDatastore
    from eventsourcing.utils import Environment, EnvType

    from infra.postgres.connection import Database, Role

_CONNINFO = "LEDGER_CONNINFO"
_SOURCE_SLASHES = 3  # /<property>/<place>/<device>
_NAME = re.compile(NAME)

P = ParamSpec("P")
R = TypeVar("R")

POOL_S_MAX = 20
"""How long a decision waits for a connection, seconds; twice as long if the server is away."""


@dataclass(frozen=True)
class Decided:
    """A domain event: one fact, as the `originator_version`-th event of its aggregate."""

    originator_id: str  # "<source>/<name>"
    originator_version: int
    fact: Received
    position: int = field(default=0, compare=False)  # of the fact on record; 0: not read from it


class InputRelease(NamedTuple):
    """An input in quarantine, and the fact that is recorded in its place."""

    quarantine_id: int
    fact: Received


@dataclass(frozen=True)
class StoredFact(StoredEvent):
    """A stored event with its whole fact."""

    fact: Received
    position: int = 0


@dataclass(frozen=True)
class NotifiedFact(Notification):
    """A notification with its whole fact; its id is the position."""

    fact: Received

    @property
    def position(self) -> int:
        """Its position on the record."""
        return self.id


def identity(aggregate_id: str, version: int) -> tuple[str, str]:
    """Source and id of the fact that is the `version`-th event of an aggregate.

    Raises `Usage` if the id is not `<source>/<name>`.
    """
    source, _, name = aggregate_id.rpartition("/")
    if source.count("/") != _SOURCE_SLASHES or not source.startswith("/") or not name:
        raise Usage(
            f"{aggregate_id!r} does not name an aggregate",
            where="aggregate id",
            hint="Name it /<property>/<place>/<device>/<name>.",
        )
    return source, f"{name}/{version}"


def aggregate_id(source: Source, name: str) -> str:
    """The id of a source's aggregate; a name that cannot stand in an id is hashed."""
    if not _NAME.fullmatch(name):
        name = f"x-{hashlib.sha256(name.encode()).hexdigest()}"
    return f"/{'/'.join(source)}/{name}"


def version_of(aggregate_id: str, source: str, fact_id: str) -> int:
    """The version of the aggregate's event with this identity; 0 for any other fact."""
    version = _version(fact_id)
    return version if version and identity(aggregate_id, version) == (source, fact_id) else 0


def application_env(database: Database, role: Role = "ledger_desk") -> dict[str, str]:
    """The settings of an eventsourcing `Application` over the record.

    An application that only reads takes the role `ledger_reader`.
    """
    info = database.conninfo(role)
    given = conninfo_to_dict(info)
    return {
        "PERSISTENCE_MODULE": f"{__name__}:TapeFactory",
        "APPLICATION_RECORDER_TOPIC": f"{__name__}:TapeRecorder",
        "MAPPER_TOPIC": f"{__name__}:FactMapper",
        "ORIGINATOR_ID_TYPE": "text",
        "CREATE_TABLE": "n",
        "POSTGRES_SCHEMA": "ledger",
        "POSTGRES_DBNAME": str(given.get("dbname", "")),
        "POSTGRES_HOST": str(given.get("host", "")),
        "POSTGRES_PORT": str(given.get("port", "5432")),
        "POSTGRES_USER": str(given.get("user", "")),
        "POSTGRES_PASSWORD": str(given.get("password", "")),
        "POSTGRES_CONNECT_TIMEOUT": str(POOL_S_MAX),
        "POSTGRES_IDLE_IN_TRANSACTION_SESSION_TIMEOUT": str(IDLE_S_MAX),
        _CONNINFO: info,
    }


class FactMapper(Mapper[str]):
    """Maps `Decided` to stored facts and back, without a transcoder: a fact keeps its bytes."""

    def to_stored_event(self, domain_event: Any) -> StoredEvent:  # noqa: ANN401 - a Decided
        """The event as the recorder takes it."""
        event: Decided = domain_event
        return StoredFact(
            event.originator_id,
            event.originator_version,
            event.fact.type,
            event.fact.data,
            fact=event.fact,
        )

    def to_domain_event(self, stored_event: StoredEvent) -> Any:  # noqa: ANN401 - a Decided
        """The saved event. Only events read by this recorder can be mapped."""
        if not isinstance(stored_event, StoredFact | NotifiedFact):
            raise TypeError(f"not read from the record: {type(stored_event).__name__}")
        return Decided(
            str(stored_event.originator_id),
            stored_event.originator_version,
            stored_event.fact,
            stored_event.position,
        )


def _once_more(method: Callable[P, R]) -> Callable[P, R]:
    """The method, called a second time if the connection that the pool gave was lost.

    A server that was started again leaves a pool of lost connections. All are replaced first: the
    pool's own check replaces one, and then waits twice as long for the next.
    """

    @wraps(method)
    def run(*args: P.args, **kwargs: P.kwargs) -> R:
        try:
            return method(*args, **kwargs)
        except (InterfaceError, OperationalError):
            recorder: Any = args[0]
            recorder.datastore.pool.check()
            return method(*args, **kwargs)

    return run


class TapeRecorder(PostgresApplicationRecorder):
    """The library's recorder over the record; it creates no tables and runs no inserts itself."""

    def __init__(self, datastore: PostgresDatastore, *, events_table_name: str = "tape") -> None:
        del events_table_name  # named after the application; there is only one record
        super().__init__(datastore, events_table_name="tape")
        self.channel_name = tape.CHANNEL

    def create_table(self) -> None:
        """Do nothing: only `infra.postgres.migrations` creates objects."""

    @_once_more
    def insert_events(
        self,
        stored_events: Sequence[StoredEvent],
        *,
        release: InputRelease | None = None,
        **_: Any,  # noqa: ANN401 - the library's tracking; not stored
    ) -> Sequence[int] | None:
        """Append all events or none; returns their positions.

        release: an input that the events release from quarantine, in the same transaction. Raises
        `IntegrityError` if another fact has a version, or the version before is missing.
        After a lost answer the second call finds the same facts in the record and succeeds.
        """
        sender = current_sender()
        facts = [_checked(event)._replace(sender=sender) for event in stored_events]
        if not facts:
            return []
        with self.datastore.get_connection() as connection:
            arrays.register(connection)
            with connection.transaction():
                _refuse_holes(connection, stored_events)
                receipts = tape.append(connection, facts)
                verdicts = {receipt.verdict for receipt in receipts}
                if verdicts not in ({"appended"}, {"duplicate"}):
                    raise IntegrityError(f"another fact has this version: {receipts}")
                if release and verdicts == {"appended"}:
                    _release(connection, release, sender)
        return [receipt.position for receipt in receipts if receipt.position]

    @_once_more
    def select_events(
        self,
        originator_id: UUID | str,
        *,
        gt: int | None = None,
        lte: int | None = None,
        desc: bool = False,
        limit: int | None = None,
    ) -> Sequence[StoredEvent]:
        """The events of an aggregate, by version."""
        aggregate_id = str(originator_id)
        source, prefix = identity(aggregate_id, 0)
        with self.datastore.get_connection() as connection:
            arrays.register(connection)
            rows = tape.with_id_prefix(connection, source, prefix.removesuffix("0"))
        versions = {version_of(aggregate_id, row.source, row.id): row for row in rows}
        found = [
            StoredFact(aggregate_id, version, row.type, row.data, _received(row), row.position)
            for version, row in sorted(versions.items(), reverse=desc)
            if version > (gt or 0) and (lte is None or version <= lte)
        ]
        return found[:limit]

    @_once_more
    def select_notifications(
        self,
        start: int | None,
        limit: int,
        stop: int | None = None,
        topics: Sequence[str] = (),
        *,
        inclusive_of_start: bool = True,
    ) -> Sequence[Notification]:
        """The whole record from position `start` on, as notifications of the library.

        An aggregate's events have the aggregate's id and version. All other facts have their tape
        and `table_seq`.
        """
        after = (start or 1) - 1 if inclusive_of_start else (start or 0)
        with self.datastore.get_connection() as connection:
            rows = tape.read(connection, after, limit, stop=stop, types=list(topics))
        return [_notified(row) for row in rows]


class Record(Application[str]):
    """The record as an application of the library: its notification log is every fact.

    Its events are `Decided`. An aggregate's facts have the aggregate's id and version; all others
    have their tape and `table_seq`. Open it with `application_env`.
    """

    log_section_size = 1_000


class TapeFactory(PostgresFactory):
    """The library's factory, connecting with the whole URL and a role, as `Database.connect`."""

    application_recorder_class = TapeRecorder

    def __init__(self, env: Environment | EnvType | None) -> None:
        super().__init__(env)
        info = self.env.get(_CONNINFO) or ""
        self.datastore.pool.kwargs = {**conninfo_to_dict(info), "row_factory": dict_row}


def _release(connection: Any, released: InputRelease, sender: str | None) -> None:  # noqa: ANN401 - as below
    """Raise `IntegrityError` if the input was released before, or its fact is another's."""
    try:
        receipt = tape.release(
            connection, released.quarantine_id, released.fact._replace(sender=sender)
        )
    except (NoDataFound, ObjectNotInPrerequisiteState) as error:
        raise IntegrityError(f"{released.quarantine_id} in quarantine: {error}") from error
    if receipt.verdict == "equivocation":
        raise IntegrityError(f"another fact has this identity: {receipt}")


def _checked(event: StoredEvent) -> Received:
    if not isinstance(event, StoredFact):
        raise IntegrityError(f"not a fact: {type(event).__name__}")
    fact = event.fact
    expected = identity(str(event.originator_id), event.originator_version)
    if (fact.source, fact.id) != expected:
        raise IntegrityError(f"event {expected} carries the fact {(fact.source, fact.id)}")
    return fact


def _refuse_holes(connection: Any, events: Sequence[StoredEvent]) -> None:  # noqa: ANN401 - the pool's
    """Raise `IntegrityError` unless each version follows one in the record or in this call."""
    saved = {(event.originator_id, event.originator_version) for event in events}
    for event in events:
        before = event.originator_version - 1
        if before == 0 or (event.originator_id, before) in saved:
            continue
        if not tape.is_on_record(connection, *identity(str(event.originator_id), before)):
            raise IntegrityError(f"version {before} of {event.originator_id} is not recorded")


def _version(fact_id: str) -> int:
    """The version in the id of an aggregate's fact; 0 for any other fact."""
    text = fact_id.rpartition("/")[2]
    return int(text) if text.isascii() and text.isdecimal() and text[0] != "0" else 0


def _received(row: TapeRow) -> Received:
    return Received(
        row.tape, row.type, row.source, row.id, row.time_us, row.subject, row.attributes, row.data
    )


def event_of(row: TapeRow) -> Decided:
    """A row of the record as a domain event."""
    name, slash, _ = row.id.rpartition("/")
    version = _version(row.id) if slash else 0
    aggregate_id = f"{row.source}/{name}" if version else row.tape
    return Decided(aggregate_id, version or row.table_seq, _received(row), row.position)


def _notified(row: TapeRow) -> NotifiedFact:
    event = event_of(row)
    return NotifiedFact(
        event.originator_id,
        event.originator_version,
        row.type,
        row.data,
        id=row.position,
        fact=event.fact,
    )
