"""Reads what acknowledges the breaks of a record: facts of offices, and the rows at each break."""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING

from infra.postgres.connection import translated
from infra.postgres.patrons import vault
from infra.postgres.tape import COLUMNS, aside_to_verify, to_verify
from ledger.record.acknowledged import NO_ROW, aside_sha256, row_sha256, rows_sha256
from ledger.record.acknowledged import with_acknowledgements as matched
from ledger.record.tape import TapeRow
from ledger.record.wire import StoredFactError, fact_of
from ledger.roster.roster import OFFICE

if TYPE_CHECKING:
    from collections.abc import Iterator

    from infra.postgres.connection import AnyConnection, Database
    from ledger.record.verify import RecordBreak, Verified
    from ledger.record.wire import Fact

_LAST = 2**63 - 1
_ON_RECORD = f"""
SELECT {COLUMNS} FROM ledger.heads h JOIN ledger.tape t ON t.originator_id = h.tape
 WHERE split_part(h.tape, '/', 2) = %s AND t.topic = 'break_acknowledged.v1'
 ORDER BY t.notification_id
"""  # noqa: S608 - put together from constants

_HEAD = "SELECT h.tape, h.table_seq, h.position, h.hash FROM ledger.heads h WHERE h.tape = %s"
_UNUSED_IDENTITIES = """
SELECT i.source, i.fact_id, i.position, i.data_digest
  FROM ledger.identity i LEFT JOIN ledger.tape t ON t.notification_id = i.position
 WHERE (t.source, t.fact_id) IS DISTINCT FROM (i.source, i.fact_id)
 ORDER BY 1, 2 LIMIT 10000
"""


def with_acknowledgements(database: Database, seen: Verified) -> Verified:
    """The breaks of a verification with the acknowledgements on record. Reads nothing if none."""
    if seen.broken is None:
        return seen
    with database.connect("ledger_reader") as connection, translated(database):
        rows = connection.execute(_ON_RECORD, (OFFICE,), binary=True).fetchall()
        facts = [(row.position, fact) for row in map(TapeRow._make, rows) for fact in _read(row)]
        return matched(seen, lambda each: _row_sha256(connection, each), facts)


def _read(row: TapeRow) -> Iterator[Fact]:
    """The fact of a row, unless it was edited so that it is none."""
    with suppress(StoredFactError):
        yield fact_of(row)


def _row_sha256(connection: AnyConnection, broken: RecordBreak) -> str:
    """SHA-256 of the row at a break: the first one at its place or behind it.

    At a cut end it is that of the tape's head, or of identities that no row has.
    """
    if broken.kind == "truncated":
        found = (
            connection.execute(_HEAD, (broken.tape,), binary=True)
            if broken.tape
            else connection.execute(_UNUSED_IDENTITIES, binary=True)
        )
        return rows_sha256(found.fetchall())
    if broken.pseudonym is not None:
        return rows_sha256([vault.numbered(connection, broken.pseudonym)])
    if broken.position is None:
        number = broken.quarantine_id or 0
        aside = next(aside_to_verify(connection, _LAST, 1, after=number - 1), None)
        return NO_ROW if aside is None else aside_sha256(aside)
    row = next(to_verify(connection, broken.position - 1, _LAST, 1), None)
    return NO_ROW if row is None else row_sha256(*row)
