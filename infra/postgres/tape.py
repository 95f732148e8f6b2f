"""The record in PostgreSQL: `ledger.record.tape.Tape`, plus the quarantine and the counters.

Appends call the SQL function `ledger.append_from` in one round trip and one transaction. Reads are
plain binary queries. `PostgresTape` uses its own connections, and several threads may share it. The
functions use the caller's connection, in its transaction and snapshot.
"""

from __future__ import annotations

import queue
import re
import threading
from contextlib import contextmanager
from itertools import chain
from typing import TYPE_CHECKING, Any, NamedTuple, Self, TypeVar, cast

import psycopg
from psycopg.rows import tuple_row

from infra.postgres import arrays
from infra.postgres.connection import Database, translated
from infra.postgres.patrons import vault
from infra.postgres.patrons.vault import append_pseudonymised
from ledger.errors import NotFound, Refused, Usage
from ledger.record.later_breaks import verify_every
from ledger.record.quarantine import QuarantineCounts, QuarantineRow, verify_quarantine
from ledger.record.tape import (
    IDENTITY_OCTETS_MAX,
    Counters,
    Head,
    InQuarantine,
    Quarantined,
    Receipt,
    Received,
    TapeRow,
    Verdict,
)
from ledger.record.verify import Expected, Known, Verified

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from infra.postgres.connection import AnyConnection

T = TypeVar("T")

ANSWER_S_MAX = 20.0
"""How long an append waits for its answer before its connection is dropped, seconds.

It is longer than the server's own limits, so it is reached only if the network is down.
"""

READERS_KEPT = 8
"""Idle reading connections kept open."""

SPAN_ROWS = 50_000
"""Positions that one read with types left out looks at."""

_POSITION_MAX = 2**63 - 1

CHANNEL = "ledger_tape"
"""The channel on which an append notifies, with the newest position as text."""

COLUMNS = (
    "t.notification_id, t.originator_id, t.originator_version, t.topic, t.source, t.fact_id,"
    " t.time_us, t.subject, t.received_at_us, t.attributes, t.state, t.hash"
)
"""The columns of ledger.tape (as `t`) in the order of a `TapeRow`."""

_APPEND = f"SELECT * FROM ledger.append_from({', '.join(['%b'] * 17)})"  # noqa: S608 - as below
_RELEASE = "SELECT * FROM ledger.release_by(%s, %s, %s, %s, %s, %s, %s, %s, %s, %s)"
_OF_TYPES = f"""
SELECT {COLUMNS} FROM ledger.tape t
 WHERE t.originator_id = %b AND t.originator_version > %b AND t.originator_version <= %b
   AND t.topic = ANY(%b) ORDER BY t.originator_version
"""  # noqa: S608 - as below
_HEAD_SEQ = "SELECT h.table_seq FROM ledger.heads h WHERE h.tape = %b"
_REFUSALS = """
SELECT split_part(coalesce(senders[1], ''), ' ', 1), reason, sum(times_received)::bigint,
       max(last_received_at_us), min(quarantine_id)
  FROM ledger.quarantine
 WHERE last_received_at_us >= %b AND released_at_us IS NULL AND reason = ANY(%b)
 GROUP BY 1, 2 ORDER BY 5
"""
_SENDER = "SELECT t.sender FROM ledger.tape t WHERE t.notification_id = %b"
_READ = f"""
SELECT {COLUMNS} FROM ledger.tape t
 WHERE t.notification_id > %b ORDER BY t.notification_id LIMIT %b
"""  # noqa: S608 - put together from constants
_READ_SOME = f"""
SELECT {COLUMNS} FROM ledger.tape t
 WHERE t.notification_id > %b AND t.notification_id <= %b AND (%b OR t.topic = ANY(%b))
 ORDER BY t.notification_id LIMIT %b
"""  # noqa: S608 - as above
_READ_WITHOUT = f"""
SELECT {COLUMNS} FROM ledger.tape t
 WHERE t.notification_id > %b AND t.notification_id <= %b AND t.topic <> ALL(%b)
 ORDER BY t.notification_id LIMIT %b
"""  # noqa: S608 - as above
_READ_OWN = f"""
SELECT {COLUMNS} FROM ledger.tape t
 WHERE t.notification_id > %b AND t.notification_id <= %b AND t.topic <> ALL(%b)
   AND NOT (t.originator_id = ANY(%b) AND t.topic = ANY(%b) AND t.source <> ALL(%b)
        AND coalesce(split_part(t.subject, '/', 1) = split_part(t.originator_id, '/', 2), true)
        AND NOT (t.topic = ANY(%b) AND t.state LIKE ANY(%b)))
 ORDER BY t.notification_id LIMIT %b
"""  # noqa: S608 - as above
_LAST = "SELECT coalesce(max(t.notification_id), 0) FROM ledger.tape t"
_WITH_IDS = f"""
SELECT {COLUMNS} FROM ledger.identity e
  JOIN ledger.tape t ON t.notification_id = e.position
 WHERE e.source = %b AND e.fact_id >= %b AND e.fact_id < %b
"""  # noqa: S608 - as above
_TOLD_BETWEEN = f"""
  WITH told AS MATERIALIZED (
       SELECT b.notification_id AS position, b.originator_id AS tape FROM ledger.tape b
        WHERE b.time_us BETWEEN %b AND %b)
SELECT {COLUMNS} FROM told JOIN ledger.tape t ON t.notification_id = told.position
 WHERE told.position > %b AND told.tape = ANY(%b)
 ORDER BY told.position LIMIT %b
"""  # noqa: S608 - as above
_TO_VERIFY = f"""
SELECT {COLUMNS}, e.position, e.data_digest
  FROM (SELECT * FROM ledger.tape v
         WHERE v.notification_id > %b AND v.notification_id <= %b
         ORDER BY v.notification_id LIMIT %b) t
  LEFT JOIN LATERAL (
       SELECT i.position, i.data_digest FROM ledger.identity i
        WHERE i.source = t.source AND i.fact_id = t.fact_id LIMIT 1) e ON true
 ORDER BY t.notification_id
"""  # noqa: S608 - as above
_BEYOND = f"""
SELECT {COLUMNS}, e.position, e.data_digest
  FROM ledger.tape t
  LEFT JOIN ledger.identity e ON e.source = t.source AND e.fact_id = t.fact_id
 WHERE t.notification_id > (SELECT r.position FROM ledger.record r) AND t.notification_id > %b
 ORDER BY t.notification_id LIMIT 1
"""  # noqa: S608 - as above
_NEWEST = """
SELECT split_part(h.tape, '/', 1), n.of_table, n.attributes FROM ledger.heads h
 CROSS JOIN LATERAL (
       SELECT split_part(t.subject, '/', 1) = split_part(h.tape, '/', 2) AS of_table, t.attributes,
              t.notification_id AS position
         FROM ledger.tape t WHERE t.originator_id = h.tape
        ORDER BY t.originator_version DESC LIMIT %b) n
 ORDER BY n.position DESC
"""
_EXPECTED = """
SELECT r.position,
       (SELECT count(*) FROM ledger.identity i WHERE i.position <= r.position),
       h.tape, h.table_seq, h.position, h.hash
  FROM ledger.record r LEFT JOIN ledger.heads h ON true
"""
_ROWS_OF = f"""
SELECT {COLUMNS} FROM unnest(%b, %b) AS r (low, high)
  JOIN ledger.tape t ON t.originator_id = %b AND t.originator_version BETWEEN r.low AND r.high
 ORDER BY t.originator_version
"""  # noqa: S608 - as above
_WAITING = """
SELECT q.source, q.fact_id FROM ledger.quarantine q JOIN unnest(%b, %b) AS s (source, fact_id)
    ON q.source = s.source AND q.fact_id = s.fact_id
 WHERE q.released_at_us IS NULL AND q.verdict = 'quarantined'
"""
_QUARANTINED = """
SELECT quarantine_id, verdict, reason, what, at_path, hint, source, fact_id, attributes, octets,
       times_received, received_at_us, last_received_at_us, released_at_us, released_position,
       senders
  FROM ledger.quarantine
 WHERE quarantine_id > %b AND (%b OR released_at_us IS NULL)
 ORDER BY quarantine_id LIMIT %b
"""
_ASIDE = """
SELECT quarantine_id, verdict, reason, what, at_path, hint, source, fact_id, attributes, octets,
       times_received, received_at_us, last_received_at_us, released_at_us, released_position,
       senders, digest,
       EXISTS (SELECT FROM ledger.tape t WHERE t.notification_id = released_position)
  FROM ledger.quarantine
 WHERE quarantine_id > %b AND quarantine_id <= %b ORDER BY quarantine_id LIMIT %b
"""
_COUNTED = """
SELECT coalesce(max(q.quarantine_id), 0), r.quarantined, r.equivocation,
       coalesce(sum(q.times_received) FILTER (WHERE q.verdict = 'quarantined'), 0)::bigint,
       coalesce(sum(q.times_received) FILTER (WHERE q.verdict = 'equivocation'), 0)::bigint
  FROM ledger.record r LEFT JOIN ledger.quarantine q ON true GROUP BY r.one
"""
_LAGS = """
SELECT v.view, r.position - v.position,
       coalesce((extract(epoch FROM clock_timestamp()) * 1000000)::bigint - t.received_at_us, 0)
  FROM views.tracking v CROSS JOIN ledger.record r
  LEFT JOIN ledger.tape t ON t.notification_id = v.position + 1
 WHERE NOT v.rebuilding ORDER BY v.view
"""
_PART_LAGS = """
SELECT p.view, p.number + 1, count(*) OVER (PARTITION BY p.view)::integer, p.position,
       r.position - p.position,
       coalesce((extract(epoch FROM clock_timestamp()) * 1000000)::bigint - t.received_at_us, 0)
  FROM views.parts p JOIN views.tracking v USING (view, generation) CROSS JOIN ledger.record r
  LEFT JOIN ledger.tape t ON t.notification_id = p.position + 1
 WHERE NOT v.rebuilding ORDER BY p.view, p.number
"""

_REASONS = {"equivocation": "equivocation"}
"""The reason for a verdict on a well-formed fact, if it has one."""


class Others(NamedTuple):
    """Tapes of other readers: a fact on them is read only if it may concern more than its place.

    It may if its subject names another place, if it is not of a `plain` type, or is of `sources`.
    """

    tapes: Sequence[str]
    plain: Sequence[str]
    worded: Sequence[str] = ()  # those of the plain types that may, if their data has a word
    words: Sequence[bytes] = ()
    sources: Sequence[str] = ()


class Lag(NamedTuple):
    """The consumer lag of a live view."""

    view: str
    facts: int
    behind_us: int  # since the oldest of them was received, by the server's clock; 0 if none


class PartLag(NamedTuple):
    """The consumer lag of one part of a live view that is followed in parts."""

    view: str
    part: int  # its number, from 1
    parts: int  # how many there are
    position: int  # of the last fact that is in it
    behind_facts: int
    behind_us: int  # as of a view


class DoorRefusal(NamedTuple):
    """The facts of one sender that were refused for one reason, and not released."""

    sender: str  # the first word of `Received.sender`; empty if nobody is known
    reason: str
    times: int
    last_at_us: int
    first_id: int  # the lowest number in quarantine


class _Answer(NamedTuple):
    """The result of `ledger.append_from`: five parallel arrays, facts first."""

    verdicts: list[Verdict]
    positions: list[int | None]
    table_seqs: list[int | None]
    hashes: list[bytes | None]
    quarantine_ids: list[int | None]


class PostgresTape:
    """The record. `close` closes its connections; the next use connects again."""

    def __init__(self, database: Database, *, answer_s_max: float = ANSWER_S_MAX) -> None:
        self.database = database
        self._answer_s_max = answer_s_max
        self._writer: AnyConnection | None = None
        self._writing = threading.Lock()
        self._readers: queue.LifoQueue[AnyConnection] = queue.LifoQueue()

    def append(self, facts: Sequence[Received | Quarantined]) -> list[Receipt]:
        """Append all inputs in one transaction; one receipt each, in order.

        Raises `Unavailable` if no answer came: the outcome is unknown, and a retry is safe.
        Raises `Refused`, with nothing appended, for a fact the record cannot hold (see `_check`).
        """
        if not facts:
            return []
        with self._write() as connection:
            return append(connection, facts)

    def release(self, quarantine_id: int, fact: Received) -> Receipt:
        """Append the fact that a quarantined input turned out to be, and mark the input released.

        Returns the fact's receipt. If the verdict is `equivocation`, the input stays in quarantine.
        Raises `NotFound` for an unknown number, `Refused` if it was released before.
        """
        with self._write() as connection:
            try:
                return release(connection, quarantine_id, fact)
            except psycopg.errors.NoDataFound as error:
                raise self._no_such(quarantine_id) from error
            except psycopg.errors.ObjectNotInPrerequisiteState as error:
                raise Refused(
                    f"Quarantined input {quarantine_id} was released before",
                    where=self.database.where,
                    hint="`round-ledger quarantine show` names the position of its fact.",
                ) from error

    def text_pseudonymised(self, octets: bytes, source: str | None) -> bytes:
        """A fact as text, with pseudonyms in place of patrons' tokens (`ledger.record`)."""
        with self._write() as connection:
            return vault.text_pseudonymised(connection, octets, source)

    def read(self, after: int, limit: int) -> list[TapeRow]:
        """Rows with position > `after`, in order of position."""
        return self._read(lambda c: read(c, after, limit))

    def rows_of(self, tape: str, seqs: Iterable[tuple[int, int]]) -> list[TapeRow]:
        """Rows of one tape within the given closed ranges of `table_seq`, in order, each once."""
        ranges = list(seqs)
        return self._read(lambda c: rows_of(c, tape, ranges))

    def is_on_record(self, source: str, fact_id: str) -> bool:
        """Whether the record has a fact with this identity."""
        return self._read(lambda c: is_on_record(c, source, fact_id))

    def waiting(self, identities: Sequence[tuple[str, str]]) -> set[tuple[str, str]]:
        """Those sources and ids that an input in quarantine names which nobody released."""
        columns = [arrays.texts([each[part] for each in identities]) for part in (0, 1)]
        return set(self._read(lambda c: _run(c, _WAITING, columns).fetchall()))

    def told_by(self, source: str, prefix: str) -> list[TapeRow]:
        """Every row of a source whose id starts with `prefix` (not empty), in no order."""
        return self._read(lambda c: with_id_prefix(c, source, prefix))

    def told_from(self, source: str, first: str, end: str) -> list[TapeRow]:
        """Every row of a source whose id is `first` or sorts after it, and before `end`."""
        return self._read(lambda c: with_id_from(c, source, first, end))

    def told_between(
        self, tapes: Sequence[str], times_us: tuple[int, int], *, after: int, limit: int
    ) -> list[TapeRow]:
        """Rows above position `after` with a time in a closed range, in order of position.

        The time is that of the source's clock, not of receipt. The query filters by time first. A
        plan that walks positions or tapes would read years of the record to find one minute.
        """
        given = (*times_us, after, list(tapes), limit)
        rows = self._read(lambda c: _run(c, _TOLD_BETWEEN, given).fetchall())
        return [TapeRow._make(row) for row in rows]

    def of_types(
        self, tape: str, after_seq: int, types: Sequence[str]
    ) -> tuple[list[TapeRow], int]:
        """Rows of some types on a tape after a sequence number, in order, and the newest number."""
        return self._read(lambda c: of_types(c, tape, after_seq, types))

    def sender_of(self, position: int) -> str | None:
        """Who brought the fact at a position, as `Received.sender`; None if it is not known."""
        row = self._read(lambda c: _run(c, _SENDER, (position,)).fetchone())
        return row[0] if row else None

    def door_refusals(self, reasons: Sequence[str], since_us: int) -> list[DoorRefusal]:
        """What was quarantined for these reasons since a time, by the ledger's clock."""
        given = (since_us, list(reasons))
        rows = self._read(lambda c: _run(c, _REFUSALS, given).fetchall())
        return [DoorRefusal._make(row) for row in rows]

    def heads(self) -> list[Head]:
        """The head of every tape, by tape."""
        return self._read(heads)

    def newest(self, of_each: int) -> list[NewestFact]:
        """The newest facts of every tape, at most `of_each` of one; the newest first."""
        return self._read(lambda connection: newest(connection, of_each))

    def counters(self) -> Counters:
        """The counters of all inputs ever received, by verdict."""
        return self._read(counters)

    def view_lags(self) -> list[Lag]:
        """The consumer lag of each live view, by name."""
        return [Lag._make(row) for row in self._read(lambda c: _run(c, _LAGS).fetchall())]

    def part_lags(self) -> list[PartLag]:
        """The consumer lag of each part of the live views that are divided, by view and number."""
        return [PartLag._make(row) for row in self._read(lambda c: _run(c, _PART_LAGS).fetchall())]

    def quarantined(
        self, *, after: int = 0, limit: int = 100, released: bool = False
    ) -> list[InQuarantine]:
        """Quarantine rows numbered above `after`, in order; with `released` also released ones."""
        return self._read(lambda c: quarantined(c, after, limit, released=released))

    def in_quarantine(self, quarantine_id: int) -> InQuarantine:
        """One row of the quarantine. Raises `NotFound`."""
        found = self.quarantined(after=quarantine_id - 1, limit=1, released=True)
        if not found or found[0].quarantine_id != quarantine_id:
            raise self._no_such(quarantine_id)
        return found[0]

    def verify(
        self,
        kept: Sequence[Head] = (),
        progress: Callable[[int, int], None] | None = None,
        first: Callable[[Expected], Verified | None] = lambda _: None,
    ) -> Verified:
        """Recompute every hash chain from bytes; `kept` are heads stored elsewhere.

        Then recompute every digest of the quarantine (`ledger.record.quarantine`), and every
        pseudonym (`ledger.record.pseudonyms`).
        Facts may be appended meanwhile; later ones are not verified. first: verifies the chains in
        another way; if it returns None, they are read here.
        """
        with self.database.connect("ledger_reader") as connection, translated(self.database):
            expected = _expected(connection, kept)

            def again(after: int) -> Iterator[tuple[TapeRow, Known | None]]:
                return chain(to_verify(connection, after, expected.tip), beyond(connection, after))

            seen = first(expected) or verify_every(again, expected, progress)
            counted = _counted_aside(connection)
            breaks = verify_quarantine(aside_to_verify(connection, counted.last), counted)
            seen = seen._replace(aside=counted.last).with_breaks(breaks)
        with self.database.snapshot() as connection:
            return seen.with_breaks(vault.breaks(connection))

    def close(self) -> None:
        """Close every connection."""
        with self._writing:
            self._drop_writer()
        while not self._readers.empty():
            self._readers.get_nowait().close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _no_such(self, quarantine_id: int) -> NotFound:
        return NotFound(
            f"The quarantine has no input {quarantine_id}",
            where=self.database.where,
            hint="List the inputs with `round-ledger quarantine list`.",
        )

    @contextmanager
    def _write(self) -> Iterator[AnyConnection]:
        """The writing connection; it is dropped after any error that leaves its state unknown."""
        with self._writing, translated(self.database):
            if self._writer is None:
                self._writer = self.database.connect(
                    "ledger_writer", answer_s_max=self._answer_s_max
                )
            try:
                yield self._writer
            except (psycopg.OperationalError, psycopg.InterfaceError):
                self._drop_writer()
                raise

    def _drop_writer(self) -> None:
        if self._writer is not None:
            self._writer.close()
            self._writer = None

    def _read(self, query: Callable[[AnyConnection], T]) -> T:
        """Run a reading query; retry once on a new connection if a kept one was dead."""
        with translated(self.database):
            try:
                kept = self._readers.get_nowait()
            except queue.Empty:
                return self._read_with(self.database.connect("ledger_reader"), query)
            try:
                return self._read_with(kept, query)
            except psycopg.OperationalError:
                return self._read_with(self.database.connect("ledger_reader"), query)

    def _read_with(self, connection: AnyConnection, query: Callable[[AnyConnection], T]) -> T:
        try:
            answer = query(connection)
        except BaseException:
            connection.close()
            raise
        if self._readers.qsize() < READERS_KEPT:
            self._readers.put(connection)
        else:
            connection.close()
        return answer


def _run(
    connection: psycopg.Connection[Any], statement: str, parameters: Sequence[object] = ()
) -> psycopg.Cursor[tuple[Any, ...]]:
    """Run a statement binary and prepared, with plain tuples, for any connection."""
    cursor = connection.cursor(row_factory=tuple_row, binary=True)
    return cursor.execute(statement, parameters, prepare=True)


def append(
    connection: psycopg.Connection[Any], facts: Sequence[Received | Quarantined]
) -> list[Receipt]:
    """Judge and append inputs in one call; one receipt each, in order.

    Tokens of patrons are kept apart (`ledger.record.pseudonyms`), which takes a transaction.
    Raises `Refused`, with nothing appended, for a fact the record cannot hold.
    """
    return append_pseudonymised(connection, facts, lambda given: _append(connection, given))


def _append(
    connection: psycopg.Connection[Any], facts: Sequence[Received | Quarantined]
) -> list[Receipt]:
    received = [fact for fact in facts if isinstance(fact, Received)]
    aside = [fact for fact in facts if isinstance(fact, Quarantined)]
    row = _run(connection, _APPEND, (*_fact_columns(received), *_aside_columns(aside))).fetchone()
    return _receipts(facts, _Answer(*cast("tuple[Any, ...]", row)))


def release(connection: psycopg.Connection[Any], quarantine_id: int, fact: Received) -> Receipt:
    """As `PostgresTape.release`, inside a transaction of the caller. Raises what psycopg does."""
    _check(fact)

    def released(facts: Sequence[Received | Quarantined]) -> list[Receipt]:
        row = _run(connection, _RELEASE, (quarantine_id, *facts[0])).fetchone()
        return _receipts(facts, _Answer(*cast("tuple[Any, ...]", row)))

    return append_pseudonymised(connection, [fact], released)[0]


def read(
    connection: psycopg.Connection[Any],
    after: int,
    limit: int,
    *,
    stop: int | None = None,
    types: Sequence[str] = (),
) -> list[TapeRow]:
    """Rows with position > `after`, in order of position; none after `stop`, only of `types`."""
    if stop is None and not types:
        rows = _run(connection, _READ, (after, limit))
    else:
        last = _POSITION_MAX if stop is None else stop
        rows = _run(connection, _READ_SOME, (after, last, not types, list(types), limit))
    return [TapeRow._make(row) for row in rows.fetchall()]


def read_without(
    connection: psycopg.Connection[Any],
    after: int,
    limit: int,
    types: Sequence[str],
    others: Others | None = None,
) -> tuple[list[TapeRow], int]:
    """As `read`, without rows of these types, and the position up to which it has read.

    One call looks at `SPAN_ROWS` positions at most, however few rows it finds there.
    others: tapes of which nearly all rows are left out.
    """
    ((end,),) = _run(connection, _LAST, ()).fetchall()
    last = min(after + SPAN_ROWS, end)
    if others is None:
        rows = _run(connection, _READ_WITHOUT, (after, last, list(types), limit)).fetchall()
    else:
        rows = _read_own(connection, (after, last, arrays.texts(types)), others, limit)
    found = [TapeRow._make(row) for row in rows]
    return found, found[-1].position if len(found) == limit else max(after, last)


def _read_own(
    connection: psycopg.Connection[Any], of: tuple[Any, ...], others: Others, limit: int
) -> list[tuple[Any, ...]]:
    """It is planned each time, since only then the server looks values up in a hash table."""
    patterns = [b"%" + re.sub(rb"[\\%_]", rb"\\\g<0>", word) + b"%" for word in others.words]
    lists = (others.tapes, others.plain, others.sources, others.worded)
    parameters = (*of, *map(arrays.texts, lists), arrays.byteas(patterns), limit)
    cursor = connection.cursor(row_factory=tuple_row, binary=True)
    return cursor.execute(_READ_OWN, parameters, prepare=False).fetchall()


def with_id_prefix(connection: psycopg.Connection[Any], source: str, prefix: str) -> list[TapeRow]:
    """Every row of a source whose id starts with `prefix` (not empty), in no order."""
    return with_id_from(connection, source, prefix, prefix[:-1] + chr(ord(prefix[-1]) + 1))


def with_id_from(
    connection: psycopg.Connection[Any], source: str, first: str, end: str
) -> list[TapeRow]:
    """Every row of a source whose id is `first` or sorts after it, and before `end`; unordered."""
    rows = _run(connection, _WITH_IDS, (source, first, end))
    return [TapeRow._make(row) for row in rows.fetchall()]


def is_on_record(connection: psycopg.Connection[Any], source: str, fact_id: str) -> bool:
    """Whether the record has a fact with this identity."""
    found = "SELECT 1 FROM ledger.identity WHERE source = %b AND fact_id = %b"
    return _run(connection, found, (source, fact_id)).fetchone() is not None


def rows_of(
    connection: psycopg.Connection[Any], tape: str, seqs: Sequence[tuple[int, int]]
) -> list[TapeRow]:
    """Rows of one tape within the given closed ranges of `table_seq`, in order, each once."""
    merged = list(_merged(seqs))
    parameters = (
        arrays.bigints([low for low, _ in merged]),
        arrays.bigints([high for _, high in merged]),
        tape,
    )
    rows = _run(connection, _ROWS_OF, parameters)
    return [TapeRow._make(row) for row in rows.fetchall()]


def heads(connection: psycopg.Connection[Any]) -> list[Head]:
    """The head of every tape, by tape."""
    rows = _run(
        connection, "SELECT tape, table_seq, position, hash FROM ledger.heads ORDER BY tape"
    )
    return [Head._make(row) for row in rows.fetchall()]


def properties(database: Database) -> set[str]:
    """The properties that facts on record are of."""
    with database.connect("ledger_reader") as connection, translated(database):
        return {head.tape.partition("/")[0] for head in heads(connection)}


def one_property(database: Database, property_: str | None) -> str:
    """The property asked for, or the only one on record.

    Raises `NotFound` for none, `Usage` for several.
    """
    if property_ is not None:
        return property_
    known = sorted(properties(database))
    if not known:
        raise NotFound("No fact is on record", where="record", hint="Record facts: see `ingest`.")
    if len(known) > 1:
        raise Usage(
            f"{' and '.join(known)} have facts on record",
            where="--property",
            hint=f"Give --property {known[0]}.",
        )
    return known[0]


def require_property(database: Database, property_: str | None) -> None:
    """Raise `NotFound` if no fact on record is of a property. None is any property."""
    if property_ is None:
        return
    known = sorted(properties(database))
    if property_ not in known:
        raise NotFound(
            f"No fact on record is of casino {property_}",
            where="property",
            hint=f"Casinos on record are {', '.join(known)}." if known else "The record is empty.",
        )


def of_types(
    connection: psycopg.Connection[Any], tape: str, after_seq: int, types: Sequence[str]
) -> tuple[list[TapeRow], int]:
    """Rows of some types on a tape after a sequence number, in order, and the newest number."""
    head = _run(connection, _HEAD_SEQ, (tape,)).fetchone()
    newest_seq = head[0] if head else 0
    if newest_seq <= after_seq:
        return [], after_seq
    rows = _run(connection, _OF_TYPES, (tape, after_seq, newest_seq, list(types))).fetchall()
    return [TapeRow._make(row) for row in rows], newest_seq


class NewestFact(NamedTuple):
    """One of the newest facts of a tape."""

    property: str
    of_table: bool  # a fact of the table itself: not of an office, a recorder or this program
    attributes: bytes  # as `TapeRow.attributes`


def newest(connection: psycopg.Connection[Any], of_each: int) -> list[NewestFact]:
    """The newest facts of every tape, at most `of_each` of one; the newest first."""
    rows = _run(connection, _NEWEST, (of_each,)).fetchall()
    return [NewestFact(name, bool(of_table), told) for name, of_table, told in rows]


def _expected(connection: psycopg.Connection[Any], kept: Sequence[Head] = ()) -> Expected:
    """The tip, heads and counts of the record at one moment, for `ledger.record.verify`."""
    rows = _run(connection, _EXPECTED).fetchall()
    tip, identities, *_ = rows[0]
    stored = [Head(tape, *head) for _, _, tape, *head in rows if tape is not None]
    return Expected(tip, stored, identities, kept)


def to_verify(
    connection: psycopg.Connection[Any], after: int, until: int, batch: int = 2_000
) -> Iterator[tuple[TapeRow, Known | None]]:
    """Every row after one position and up to another, with its entry in the identities.

    It reads in short statements, since a long snapshot would keep vacuum from the busiest rows.
    Rows do not change once they are written.
    """
    while rows := _run(connection, _TO_VERIFY, (after, until, batch)).fetchall():
        yield from map(_beside_known, rows)
        after = rows[-1][0]


def beyond(
    connection: psycopg.Connection[Any], after: int = 0
) -> Iterator[tuple[TapeRow, Known | None]]:
    """Every row beyond the newest position that the record counts, if there is any."""
    while rows := _run(connection, _BEYOND, (after,)).fetchall():
        yield from map(_beside_known, rows)
        after = rows[-1][0]


def _counted_aside(connection: psycopg.Connection[Any]) -> QuarantineCounts:
    """The number of quarantined inputs, by the record's counters and by rows, at one moment."""
    row = _run(connection, _COUNTED).fetchone()
    return QuarantineCounts._make(cast("tuple[int, ...]", row))


def aside_to_verify(
    connection: psycopg.Connection[Any], last: int, batch: int = 200, *, after: int = 0
) -> Iterator[QuarantineRow]:
    """Every row of the quarantine up to number `last`, in order, in short statements."""
    while rows := _run(connection, _ASIDE, (after, last, batch)).fetchall():
        for *row, digest, released_is_there in rows:
            yield QuarantineRow(InQuarantine._make(row), digest, released_is_there)
        after = rows[-1][0]


def _beside_known(told: tuple[Any, ...]) -> tuple[TapeRow, Known | None]:
    *row, position, digest = told
    return TapeRow._make(row), None if position is None else Known(position, digest)


def counters(connection: psycopg.Connection[Any]) -> Counters:
    """The counters of all inputs ever received, by verdict."""
    row = _run(
        connection,
        "SELECT received, position, duplicate, equivocation, quarantined FROM ledger.record",
    ).fetchone()
    return Counters._make(cast("tuple[int, ...]", row))


def quarantined(
    connection: psycopg.Connection[Any], after: int, limit: int, *, released: bool
) -> list[InQuarantine]:
    """Quarantine rows numbered above `after`, in order; with `released` also released ones."""
    rows = _run(connection, _QUARANTINED, (after, released, limit))
    return [InQuarantine._make(row) for row in rows.fetchall()]


def _check(fact: Received) -> None:
    """Raise `Refused` for a fact that no index can hold; callers quarantine such input before."""
    size = len(fact.source) + len(fact.id)
    if size > IDENTITY_OCTETS_MAX // 4:  # a character has at most four bytes
        size = len(fact.source.encode()) + len(fact.id.encode())
    if size > IDENTITY_OCTETS_MAX or "\0" in fact.id:
        raise Refused(
            f"Source and id have {size} bytes, or the id has a NUL character",
            where=f"fact {fact.source} {fact.id[:40]!r}",
            hint=f"Quarantine it: source and id may have at most {IDENTITY_OCTETS_MAX} bytes.",
        )


def _fact_columns(facts: Sequence[Received]) -> Iterator[arrays.Array]:
    for fact in facts:
        _check(fact)
    columns = tuple(zip(*facts, strict=True)) or ((),) * len(Received._fields)
    tapes, types, sources, ids, times_us, subjects, attributes, datas, senders = columns
    yield from (arrays.texts(column) for column in (tapes, types, sources, ids))
    yield arrays.bigints(times_us)
    yield arrays.texts(subjects)
    yield from (arrays.byteas(column) for column in (attributes, datas))
    yield arrays.texts(senders)


def _aside_columns(aside: Sequence[Quarantined]) -> Iterator[arrays.Array]:
    columns = tuple(zip(*aside, strict=True)) or ((),) * len(Quarantined._fields)
    yield arrays.byteas(columns[0])
    yield from (arrays.texts([_storable(text) for text in column]) for column in columns[1:])


def _storable(text: str | None) -> str | None:
    """A description without characters that a text column rejects; the input's bytes are kept."""
    if text is None:
        return None
    return text.replace("\0", "\N{REPLACEMENT CHARACTER}").encode("utf-8", "replace").decode()


def _receipts(facts: Sequence[Received | Quarantined], answer: _Answer) -> list[Receipt]:
    """One receipt each, in the given order; the SQL function returns the two kinds apart."""
    received = [fact for fact in facts if isinstance(fact, Received)]
    told = zip(*answer, strict=True)
    receipts = [
        Receipt(verdict, fact.source, fact.id, position, seq, digest, _REASONS.get(verdict), aside)
        for fact, (verdict, position, seq, digest, aside) in zip(received, told, strict=False)
    ]
    if len(received) == len(facts):
        return receipts
    of_facts = iter(receipts)
    return [
        next(of_facts) if isinstance(fact, Received) else _set_aside(fact, *next(told))
        for fact in facts
    ]


def _set_aside(fact: Quarantined, verdict: Verdict, *places: Any) -> Receipt:  # noqa: ANN401 - a row
    return Receipt(verdict, fact.source, fact.id, None, None, None, fact.reason, places[-1])


def _merged(ranges: Sequence[tuple[int, int]]) -> Iterator[tuple[int, int]]:
    """The same numbers as ascending ranges that neither overlap nor touch."""
    low: int | None = None
    high = 0
    for next_low, next_high in sorted(ranges):
        if low is None:
            low, high = next_low, next_high
        elif next_low <= high + 1:
            high = max(high, next_high)
        else:
            yield low, high
            low, high = next_low, next_high
    if low is not None:
        yield low, high
