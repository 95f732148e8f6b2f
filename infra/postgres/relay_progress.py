"""The relay's state in PostgreSQL: the lead, and the checkpoint of each topic.

Both use one connection. A relay that loses it loses the lead, and cannot move checkpoints either.
"""

from __future__ import annotations

import logging
import time
from contextlib import ExitStack, contextmanager
from types import MappingProxyType
from typing import TYPE_CHECKING, NamedTuple, Protocol

from infra.postgres import arrays, outbox
from infra.postgres.advisory_lock import advisory_lock
from infra.postgres.connection import translated
from infra.postgres.tape import CHANNEL, heads, quarantined, read, rows_of
from ledger.errors import Refused
from ledger.record.tape import GENESIS

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from infra.postgres.connection import AnyConnection, Database, Role
    from infra.postgres.outbox import QueuedMessage
    from ledger.record.tape import InQuarantine, TapeRow

LOG = logging.getLogger("round_ledger.relay")

UNSAID = -1
"""The checkpoint of a topic while its views enqueue all they hold for the first time."""

WAIT_S = 1.0
"""How often a waiting relay asks for the lead, seconds."""

FORGET_S_MAX = 30
"""How long a relay may prune the outbox before it continues with other work, seconds."""

_LEAD = "round-ledger", "relay"


NO_OFFSET = -1
"""The offset in a `Mark` of a partition that holds no record of the relay."""


class Mark(NamedTuple):
    """The last record of a partition that brokers acknowledged to the relay."""

    offset: int  # or NO_OFFSET
    digest: bytes  # as `infra.kafka.records.digest`
    known: int  # the first offset that neither the relay wrote nor anybody looked at


NO_MARKS: Mapping[int, Mark] = MappingProxyType({})


class StrayCount(NamedTuple):
    """Records in one partition of a topic of the relay that the relay did not write."""

    times: int
    last_offset: int
    says: str  # why the newest is not of the relay


class RelayStore(Protocol):
    """The relay's access to the record. Every method raises `Unavailable`."""

    def tracked(self, topic: str) -> int:
        """The checkpoint of a topic: all records up to it are acknowledged."""

    def is_known(self, topic: str) -> bool:
        """Whether a topic was ever published, with all that its views held at first."""

    def move(
        self, topic: str, seen: int, to: int, marks: Mapping[int, Mark] | None = NO_MARKS
    ) -> None:
        """Move a checkpoint from `seen`. Raises `Refused` if another relay moved it.

        marks: of partitions that got records, kept in the same transaction. None: not known. Then
        `marks` returns nothing until all of them are kept.
        """

    def marks(self, topic: str) -> dict[int, Mark]:
        """The marks kept with the checkpoint; none if it was moved without them."""

    def keep_marks(self, topic: str, marks: Mapping[int, Mark]) -> None:
        """Keep the marks of all partitions, in place of those before."""

    def note_copies(self, topic: str, copies: Mapping[int, tuple[int, int]]) -> None:
        """Copies published on demand: by partition, from an offset up to, not including, one.

        Nothing changes for a partition in which they do not follow what is known.
        """

    def note_strays(self, topic: str, strays: Mapping[int, StrayCount]) -> None:
        """Count records of other programs, by partition."""

    def note_refusal(self, topic: str, says: str) -> None:
        """Note that a topic contradicts the record, so that nothing is published on it."""

    def note_in_order(self, topic: str) -> None:
        """Note that a topic does not contradict the record, or not any longer."""

    def rows(self, after: int, limit: int) -> list[TapeRow]:
        """Rows of the record above a position."""

    def row(self, position: int) -> TapeRow | None:
        """The row at a position; None beyond the end of the record."""

    def hashes(self, positions: Sequence[int]) -> dict[int, bytes]:
        """The stored hashes at these positions; missing positions are left out."""

    def hash_before(self, row: TapeRow) -> bytes:
        """The stored hash of the row before this one on its tape."""

    def quarantined(self, after: int, limit: int) -> list[InQuarantine]:
        """Quarantine rows numbered above `after`, the released ones too."""

    def heads(self) -> dict[str, int]:
        """The newest position of every tape."""

    def newest(self, tape: str, until: int) -> TapeRow | None:
        """The newest row of a tape at or below a position."""

    def at(self, tape: str, seqs: Sequence[int]) -> list[TapeRow]:
        """The rows of a tape with these numbers; missing ones are left out."""

    def first_of(self, tapes: Sequence[str], after: int, until: int) -> int | None:
        """The first position in (`after`, `until`] that is on one of the tapes."""

    def outbox(self, topic: str, after: int, limit: int, octets: int) -> list[QueuedMessage]:
        """Outbox messages of a topic, numbered above `after`.

        At most `limit`, with at most `octets` bytes in total, but at least one.
        """

    def outbox_keys(self, topic: str, after: int, limit: int) -> list[tuple[int, str]]:
        """Number and key of those messages, without their bodies."""

    def prune(self, topic: str, acknowledged: int) -> None:
        """Delete old acknowledged messages."""

    def wait(self, timeout_s: float) -> None:
        """Return when facts were appended, or after `timeout_s` seconds."""


class PostgresRelayStore:
    """`RelayStore` on one connection."""

    def __init__(self, database: Database, connection: AnyConnection) -> None:
        self._database = database
        self._connection = connection

    def tracked(self, topic: str) -> int:
        """As `RelayStore`."""
        row = self._one("SELECT position FROM views.relayed WHERE topic = %s", topic)
        return row[0] if row else 0

    def is_known(self, topic: str) -> bool:
        """As `RelayStore`."""
        row = self._one("SELECT position FROM views.relayed WHERE topic = %s", topic)
        return row is not None and row[0] != UNSAID

    def move(
        self, topic: str, seen: int, to: int, marks: Mapping[int, Mark] | None = NO_MARKS
    ) -> None:
        """As `RelayStore`."""
        about = (topic, to, None if marks is None else to, seen)
        with translated(self._database):
            row = self._connection.execute(
                _MOVE, (*about, topic, *_columns(marks or {})), prepare=True
            ).fetchone()
        if row is None:
            raise Refused(
                f"Another relay has moved the checkpoint of {topic} from {seen:,}",
                where=self._database.where,
                hint="Nothing is lost. Start this relay again: it then waits for the lead.",
            )

    def marks(self, topic: str) -> dict[int, Mark]:
        """As `RelayStore`."""
        with translated(self._database):
            rows = self._connection.execute(
                "SELECT e.partition, e.record_offset, e.digest, e.known_until"
                " FROM views.relayed_ends e JOIN views.relayed r USING (topic)"
                " WHERE e.topic = %s AND r.marked = r.position",
                (topic,),
            )
            return {partition: Mark(*mark) for partition, *mark in rows.fetchall()}

    def keep_marks(self, topic: str, marks: Mapping[int, Mark]) -> None:
        """As `RelayStore`."""
        with translated(self._database):
            self._connection.execute(_KEEP_MARKS, (topic, topic, *_columns(marks)))

    def note_copies(self, topic: str, copies: Mapping[int, tuple[int, int]]) -> None:
        """As `RelayStore`."""
        spans = [(end, topic, number, begin) for number, (begin, end) in copies.items()]
        with translated(self._database), self._connection.cursor() as cursor:
            cursor.executemany(_NOTE_COPIES, spans)

    def note_strays(self, topic: str, strays: Mapping[int, StrayCount]) -> None:
        """As `RelayStore`."""
        rows = [(topic, number, *each) for number, each in strays.items()]
        with translated(self._database), self._connection.cursor() as cursor:
            cursor.executemany(_NOTE_STRAYS, rows)

    def note_refusal(self, topic: str, says: str) -> None:
        """As `RelayStore`."""
        with translated(self._database):
            self._connection.execute(_NOTE_REFUSAL, (topic, says))

    def note_in_order(self, topic: str) -> None:
        """As `RelayStore`."""
        with translated(self._database):
            self._connection.execute(
                "DELETE FROM views.relay_refusals WHERE topic = %s", (topic,), prepare=True
            )

    def rows(self, after: int, limit: int) -> list[TapeRow]:
        """As `RelayStore`."""
        with translated(self._database):
            return read(self._connection, after, limit)

    def row(self, position: int) -> TapeRow | None:
        """As `RelayStore`."""
        found = self.rows(position - 1, 1)
        return found[0] if found and found[0].position == position else None

    def hashes(self, positions: Sequence[int]) -> dict[int, bytes]:
        """As `RelayStore`."""
        with translated(self._database):
            rows = self._connection.execute(
                b"SELECT t.notification_id, t.hash FROM unnest(%b) AS w (position)"
                b" JOIN ledger.tape t ON t.notification_id = w.position",
                (arrays.bigints(positions),),
                prepare=True,
            )
            return dict(rows.fetchall())

    def hash_before(self, row: TapeRow) -> bytes:
        """As `RelayStore`."""
        if row.table_seq == 1:
            return GENESIS
        with translated(self._database):
            before = row.table_seq - 1
            return rows_of(self._connection, row.tape, [(before, before)])[0].hash

    def quarantined(self, after: int, limit: int) -> list[InQuarantine]:
        """As `RelayStore`."""
        with translated(self._database):
            return quarantined(self._connection, after, limit, released=True)

    def heads(self) -> dict[str, int]:
        """As `RelayStore`."""
        with translated(self._database):
            return {head.tape: head.position for head in heads(self._connection)}

    def newest(self, tape: str, until: int) -> TapeRow | None:
        """As `RelayStore`."""
        row = self._one(
            "SELECT t.originator_version FROM ledger.tape t WHERE t.originator_id = %s"
            " AND t.notification_id <= %s ORDER BY t.originator_version DESC LIMIT 1",
            tape,
            until,
        )
        return self.at(tape, [row[0]])[0] if row else None

    def at(self, tape: str, seqs: Sequence[int]) -> list[TapeRow]:
        """As `RelayStore`."""
        with translated(self._database):
            return rows_of(self._connection, tape, [(seq, seq) for seq in seqs])

    def first_of(self, tapes: Sequence[str], after: int, until: int) -> int | None:
        """As `RelayStore`."""
        row = self._one(
            "SELECT t.notification_id FROM ledger.tape t"
            " WHERE t.notification_id > %s AND t.notification_id <= %s"
            " AND t.originator_id = ANY(%s) ORDER BY t.notification_id LIMIT 1",
            after,
            until,
            list(tapes),
        )
        return row[0] if row else None

    def outbox(self, topic: str, after: int, limit: int, octets: int) -> list[QueuedMessage]:
        """As `RelayStore`."""
        with translated(self._database):
            return outbox.after(self._connection, topic, after, limit, octets)

    def outbox_keys(self, topic: str, after: int, limit: int) -> list[tuple[int, str]]:
        """As `RelayStore`."""
        with translated(self._database):
            return outbox.keys_after(self._connection, topic, after, limit)

    def prune(self, topic: str, acknowledged: int) -> None:
        """As `RelayStore`."""
        end = time.monotonic() + FORGET_S_MAX
        with translated(self._database):
            while outbox.prune(self._connection, topic, acknowledged) == outbox.FORGOTTEN_MAX:
                if time.monotonic() > end:
                    return

    def wait(self, timeout_s: float) -> None:
        """As `RelayStore`."""
        with translated(self._database):
            for _ in self._connection.notifies(timeout=timeout_s, stop_after=1):
                pass

    def _one(self, statement: str, *parameters: object) -> tuple[int, ...] | None:
        with translated(self._database):
            return self._connection.execute(statement.encode(), parameters).fetchone()


_MOVE = (
    b"WITH moved AS (INSERT INTO views.relayed AS r (topic, position, marked)"
    b" VALUES (%s, %s, %s) ON CONFLICT (topic) DO UPDATE SET position = excluded.position,"
    b" marked = CASE WHEN r.marked = r.position THEN excluded.marked END"
    b" WHERE r.position = %s RETURNING topic),"
    b" kept AS (INSERT INTO views.relayed_ends AS e"
    b" (topic, partition, record_offset, digest, known_until)"
    b" SELECT %s, p, o, d, k FROM unnest(%b, %b, %b, %b) AS u (p, o, d, k), moved"
    b" ON CONFLICT (topic, partition) DO UPDATE SET record_offset = excluded.record_offset,"
    b" digest = excluded.digest, known_until = greatest(e.known_until, excluded.known_until))"
    b" SELECT 1 FROM moved"
)
_KEEP_MARKS = (
    b"WITH marked AS (INSERT INTO views.relayed AS r (topic, position, marked) VALUES (%s, 0, 0)"
    b" ON CONFLICT (topic) DO UPDATE SET marked = r.position)"
    b" INSERT INTO views.relayed_ends"
    b" (topic, partition, record_offset, digest, known_until)"
    b" SELECT %s, p, o, d, k FROM unnest(%b, %b, %b, %b) AS u (p, o, d, k)"
    b" ON CONFLICT (topic, partition) DO UPDATE SET record_offset = excluded.record_offset,"
    b" digest = excluded.digest, known_until = excluded.known_until"
)
_NOTE_COPIES = (
    "UPDATE views.relayed_ends SET known_until = %s"
    " WHERE topic = %s AND partition = %s AND known_until = %s"
)
_NOTE_STRAYS = (
    "INSERT INTO views.feed_strays AS s (topic, partition, count, last_offset, last_at_us, says)"
    " VALUES (%s, %s, %s, %s, (extract(epoch FROM clock_timestamp()) * 1000000)::bigint, %s)"
    " ON CONFLICT (topic, partition) DO UPDATE SET count = s.count + excluded.count,"
    " last_offset = excluded.last_offset, last_at_us = excluded.last_at_us, says = excluded.says"
)
_NOTE_REFUSAL = (
    "WITH n (us) AS (SELECT (extract(epoch FROM clock_timestamp()) * 1000000)::bigint)"
    " INSERT INTO views.relay_refusals AS r (topic, count, since_us, last_at_us, says)"
    " SELECT %s, 1, us, us, %s FROM n"
    " ON CONFLICT (topic) DO UPDATE SET count = r.count + 1,"
    " last_at_us = excluded.last_at_us, says = excluded.says"
)


def _columns(marks: Mapping[int, Mark]) -> tuple[object, ...]:
    """Partitions, offsets, digests and known offsets, each an array."""
    return (
        arrays.bigints([*marks]),
        arrays.bigints([each.offset for each in marks.values()]),
        arrays.byteas([each.digest for each in marks.values()]),
        arrays.bigints([each.known for each in marks.values()]),
    )


class Relayed(NamedTuple):
    """A topic's checkpoint."""

    topic: str
    position: int


@contextmanager
def lead(
    database: Database,
    stop: Callable[[], bool],
    waiting: Callable[[], None] = lambda: None,
    prefix: str | None = None,
) -> Iterator[RelayStore | None]:
    """Wait for the lead; None if `stop` returns true before.

    The server releases the lead with the connection, however this process ends. `waiting` is
    called once if another relay leads.
    prefix: the prefix of topics; checkpoints of topics with another prefix are deleted.
    """
    told = iter((waiting,))

    def again() -> bool:
        if stop():
            return False
        next(told, lambda: None)()
        time.sleep(WAIT_S)
        return True

    with database.connect("ledger_projector") as connection, ExitStack() as held:
        arrays.register(connection)
        with translated(database):
            leads = held.enter_context(advisory_lock(connection, *_LEAD, again=again))
            connection.execute(f"LISTEN {CHANNEL}")
            if leads and prefix is not None:
                _begin_feed(connection, prefix)
        yield PostgresRelayStore(database, connection) if leads else None


def _begin_feed(connection: AnyConnection, prefix: str) -> None:
    """Delete all checkpoints if the topic prefix changed, so that everything is published again.

    Views then enqueue all that they hold. With the same prefix as before nothing happens.
    """
    with connection.transaction():
        row = connection.execute("SELECT prefix FROM views.feed").fetchone()
        if prefix == (row[0] if row else ""):
            return
        connection.execute("DELETE FROM views.relayed")
        connection.execute("DELETE FROM views.relay_refusals")
        connection.execute(
            "INSERT INTO views.feed (prefix) VALUES (%s)"
            " ON CONFLICT (one) DO UPDATE SET prefix = excluded.prefix",
            (prefix,),
        )
    figures = {"is": prefix}
    LOG.warning("topics have another prefix: everything is sent again", extra={"figures": figures})


@contextmanager
def relay_store(database: Database, role: Role = "ledger_reader") -> Iterator[RelayStore]:
    """A `RelayStore` without the lead, to read; with a role that writes, also to note copies."""
    with database.connect(role) as connection:
        arrays.register(connection)
        yield PostgresRelayStore(database, connection)


def tracked(database: Database) -> list[Relayed]:
    """The checkpoints of all topics."""
    with database.connect("ledger_reader") as connection, translated(database):
        rows = connection.execute("SELECT topic, position FROM views.relayed ORDER BY topic")
        return [Relayed._make(row) for row in rows.fetchall()]


class Strays(NamedTuple):
    """Records of other programs in one partition of a topic of the relay."""

    topic: str
    partition: int
    times: int  # ever
    last_offset: int
    last_at_us: int  # by the database's clock
    says: str  # why the newest is not of the relay


def strays(database: Database) -> list[Strays]:
    """Every partition in which a relay met records of other programs."""
    with database.connect("ledger_reader") as connection, translated(database):
        rows = connection.execute(
            "SELECT topic, partition, count, last_offset, last_at_us, says"
            " FROM views.feed_strays ORDER BY topic, partition"
        )
        return [Strays._make(row) for row in rows.fetchall()]


class Refusal(NamedTuple):
    """A topic that contradicts the record: relays refuse it, and publish nothing."""

    topic: str
    times: int  # how many relays in a row
    since_us: int  # by the database's clock
    last_at_us: int
    says: str


def refusals(database: Database) -> list[Refusal]:
    """Every topic that the last relay refused."""
    with database.connect("ledger_reader") as connection, translated(database):
        rows = connection.execute(
            "SELECT topic, count, since_us, last_at_us, says FROM views.relay_refusals"
            " ORDER BY topic"
        )
        return [Refusal._make(row) for row in rows.fetchall()]


class Failure(NamedTuple):
    """An error that relays ended with, and how often."""

    error: str
    times: int
    last_at_us: int  # by the database's clock


def failed(database: Database, error: str) -> None:
    """Count that a relay ended with this error."""
    with database.connect("ledger_projector") as connection, translated(database):
        connection.execute(
            "INSERT INTO views.relay_failures AS f (count, last_at_us, error) VALUES"
            " (1, (extract(epoch FROM clock_timestamp()) * 1000000)::bigint, %s)"
            " ON CONFLICT (error) DO UPDATE"
            " SET count = f.count + 1, last_at_us = excluded.last_at_us",
            (error,),
        )


def failures(database: Database) -> list[Failure]:
    """All errors that relays have ever ended with."""
    with database.connect("ledger_reader") as connection, translated(database):
        rows = connection.execute(
            "SELECT error, count, last_at_us FROM views.relay_failures ORDER BY error"
        )
        return [Failure._make(row) for row in rows.fetchall()]


class Waiting(NamedTuple):
    """The publishing backlog of a topic: records that no broker has acknowledged yet."""

    topic: str
    records: int
    since_us: int = 0  # how long the first of them has waited, by the database's clock
    began: bool = True  # False: no relay has ever published it


def waiting(database: Database) -> list[Waiting]:
    """The publishing backlog of every topic; facts and quarantined inputs count from the first one.

    Views enqueue nothing for a topic before a relay requests it, so such a topic has no backlog.
    """
    with database.connect("ledger_reader") as connection, translated(database):
        rows = connection.execute(
            "WITH r (topic, position, began) AS (SELECT topic, position, true FROM views.relayed"
            " UNION ALL SELECT c, 0, false FROM unnest(ARRAY['ledger.table-events.v1',"
            "  'ledger.quarantine.v1']) c WHERE c NOT IN (SELECT topic FROM views.relayed))"
            " SELECT r.topic, CASE WHEN EXISTS (SELECT FROM views.outbox o WHERE o.topic = r.topic)"
            " THEN (SELECT count(*) FROM views.outbox o"
            "  WHERE o.topic = r.topic AND o.number > r.position)"
            " WHEN r.topic = 'ledger.quarantine.v1' THEN"
            "  (SELECT count(*) FROM ledger.quarantine q WHERE q.quarantine_id > r.position)"
            " WHEN r.topic = 'ledger.table-events.v1' THEN"
            "  (SELECT l.position - r.position FROM ledger.record l)"
            " ELSE 0 END, coalesce((extract(epoch FROM clock_timestamp()) * 1000000)::bigint"
            "  - CASE r.topic WHEN 'ledger.quarantine.v1' THEN"
            "  (SELECT q.received_at_us FROM ledger.quarantine q"
            "   WHERE q.quarantine_id = r.position + 1)"
            " WHEN 'ledger.table-events.v1' THEN"
            "  (SELECT t.received_at_us FROM ledger.tape t"
            "   WHERE t.notification_id = r.position + 1)"
            " ELSE (SELECT o.made_at_us FROM views.outbox o"
            "   WHERE o.topic = r.topic AND o.number > r.position ORDER BY o.number LIMIT 1)"
            " END, 0), r.began FROM r ORDER BY r.topic"
        )
        return [Waiting._make(row) for row in rows.fetchall()]
