"""Writing lost rows back to the end of the record, with their positions, times and hashes.

It serves one case: a standby or a backup took over, and the feed still holds later rows. It writes
as the owner, without `ledger.append`. So it checks each row: the recomputed hash must continue the
chain of the row before. All rows are written in one transaction.
"""

from __future__ import annotations

import hashlib
from contextlib import contextmanager
from typing import TYPE_CHECKING, NamedTuple, cast

from psycopg import errors

from infra.postgres import tape
from infra.postgres.connection import translated
from infra.postgres.tape import heads
from ledger.errors import Refused
from ledger.record.tape import GENESIS, chain_hash

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from infra.postgres.connection import AnyConnection, Database
    from ledger.record.tape import InQuarantine, Received, TapeRow

_TIP = "SELECT position FROM ledger.record FOR UPDATE"
_LAST_ASIDE = "SELECT coalesce(max(quarantine_id), 0) FROM ledger.quarantine"
_FACT = (
    "INSERT INTO ledger.tape (notification_id, originator_id, originator_version, topic, source,"
    " fact_id, time_us, subject, received_at_us, attributes, state, hash)"
    " VALUES (%s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s)"
)
_IDENTITY = (
    "INSERT INTO ledger.identity (position, source, fact_id, data_digest) VALUES (%s, %s, %s, %s)"
)
_HEAD = (
    "INSERT INTO ledger.heads AS h (tape, table_seq, position, hash) VALUES (%s, %s, %s, %s)"
    " ON CONFLICT (tape) DO UPDATE SET table_seq = excluded.table_seq,"
    " position = excluded.position, hash = excluded.hash"
)
_ASIDE = (
    "INSERT INTO ledger.quarantine (quarantine_id, verdict, reason, what, at_path, hint, source,"
    " fact_id, attributes, octets, times_received, received_at_us, last_received_at_us, digest)"
    " VALUES (%s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s)"
)
_COUNTED = (
    "UPDATE ledger.record SET position = position + %(facts)s,"
    " received = received + %(facts)s + %(malformed)s + %(equivocal)s,"
    " quarantined = quarantined + %(malformed)s, equivocation = equivocation + %(equivocal)s"
)


class _Head(NamedTuple):
    seq: int
    position: int
    hash: bytes


class Refilling:
    """The locked end of the record. Every method raises `Unavailable`."""

    def __init__(self, database: Database, connection: AnyConnection) -> None:
        self._database = database
        self._connection = connection
        self.tip = self._number(_TIP)  # locks the record: no other process can append
        self.last_aside = self._number(_LAST_ASIDE)
        self._heads = {
            head.tape: _Head(head.table_seq, head.position, head.hash) for head in heads(connection)
        }
        self._changed: set[str] = set()
        self._facts = self._malformed = self._equivocal = 0

    def append(self, rows: Sequence[TapeRow]) -> None:
        """Add rows with their own positions. Raises `Refused` for one that breaks the chain."""
        for row in rows:
            self._take(row)
        try:
            with self._connection.cursor() as cursor:
                cursor.executemany(_FACT, rows)
                cursor.executemany(_IDENTITY, [_identity(row) for row in rows])
        except errors.UniqueViolation as error:
            raise Refused(
                f"A fact of the feed has another position: {error.diag.message_detail}",
                where=self._database.where,
                hint="The record has diverged from the feed; see /docs/runbook/failover.html.",
            ) from error
        self._facts += len(rows)

    def set_aside(self, rows: Sequence[InQuarantine]) -> None:
        """Add quarantined inputs with their own numbers."""
        with self._connection.cursor() as cursor:
            cursor.executemany(_ASIDE, [_aside(row) for row in rows])
        for row in rows:
            self._malformed += row.verdict == "quarantined"
            self._equivocal += row.verdict == "equivocation"
        self.last_aside += len(rows)

    def append_anew(self, facts: Sequence[Received]) -> None:
        """Append facts at new positions, as if they were received now; nothing else may follow."""
        self.finish()
        tape.append(self._connection, facts)

    def holds(self, rows: Sequence[TapeRow]) -> list[bool]:
        """Whether each of these facts is on record, at whatever position."""
        found = self._connection.execute(
            "SELECT t.source, t.fact_id, t.attributes, t.state"
            " FROM unnest(%s::text[], %s::text[]) AS w (source, fact_id)"
            " JOIN ledger.identity e USING (source, fact_id)"
            " JOIN ledger.tape t ON t.notification_id = e.position",
            ([row.source for row in rows], [row.id for row in rows]),
        )
        there = set(found.fetchall())
        return [(row.source, row.id, row.attributes, row.data) in there for row in rows]

    def finish(self) -> None:
        """Update heads and counters for the rows added since."""
        heads = [(tape, *self._heads[tape]) for tape in sorted(self._changed)]
        counted = {"facts": self._facts, "malformed": self._malformed, "equivocal": self._equivocal}
        with self._connection.cursor() as cursor:
            cursor.executemany(_HEAD, heads)
            cursor.execute(_COUNTED, counted)
        self._changed.clear()
        self._facts = self._malformed = self._equivocal = 0

    def follows(self, row: TapeRow) -> bool:
        """Whether a row continues its tape as it is now."""
        head = self._heads.get(row.tape, _Head(0, 0, GENESIS))
        return row.table_seq == head.seq + 1 and row.hash == chain_hash(head.hash, row)

    def _take(self, row: TapeRow) -> None:
        if row.position != self.tip + 1 or not self.follows(row):
            raise Refused(
                f"Fact {row.table_seq:,} of {row.tape} does not continue the record",
                where=f"position {row.position:,}",
                hint="The record has diverged from the feed; see /docs/runbook/failover.html.",
            )
        self.tip = row.position
        self._heads[row.tape] = _Head(row.table_seq, row.position, row.hash)
        self._changed.add(row.tape)

    def _number(self, statement: str) -> int:
        row = self._connection.execute(statement.encode()).fetchone()
        return cast("tuple[int]", row)[0]


@contextmanager
def refilling(database: Database) -> Iterator[Refilling]:
    """Lock the record's end for a block; commit the added rows if the block succeeds."""
    with (
        database.connect("ledger_owner") as connection,
        translated(database),
        connection.transaction(),
    ):
        # This connection idles while a large topic is read. The server still ends it if this
        # process is gone.
        connection.execute("SET LOCAL idle_in_transaction_session_timeout = 0")
        filling = Refilling(database, connection)
        yield filling
        filling.finish()


def _identity(row: TapeRow) -> tuple[object, ...]:
    return row.position, row.source, row.id, hashlib.sha256(row.data).digest()[:8]


def _aside(row: InQuarantine) -> tuple[object, ...]:
    """The columns of a row, with the digest that `ledger.set_aside` computes."""
    length = -1 if row.attributes is None else len(row.attributes)
    octets = length.to_bytes(8, "big", signed=True) + (row.attributes or b"") + row.octets
    return (*row[:10], row.times_received, *row[11:13], hashlib.sha256(octets).digest())
