"""Breaks that two people acknowledged on record, and the row that each one pins.

An acknowledgement holds for one break: its kind, its place, and the row that stands there with all
its columns. A row that changes afterwards is a break that nobody has acknowledged (ADR 0246).
"""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING, NamedTuple

from ledger.facts import BreakAcknowledged
from ledger.record.tape import frame
from ledger.record.verify import Acknowledgement

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from ledger.record.quarantine import QuarantineRow
    from ledger.record.tape import TapeRow
    from ledger.record.verify import Known, RecordBreak, Verified
    from ledger.record.wire import Fact

NO_ROW = hashlib.sha256().hexdigest()
"""The SHA-256 of a break behind which no row stands."""


class _Pin(NamedTuple):
    kind: str
    tape: str | None
    sequence: int | None
    position: int | None
    quarantine: int | None
    row_sha256: str


def row_sha256(row: TapeRow, known: Known | None) -> str:
    """SHA-256 over all columns of a row and its entry in the list of identities."""
    return _digest((*row, *(known or (None,))))


def aside_sha256(aside: QuarantineRow) -> str:
    """SHA-256 over a row of the quarantine.

    It leaves out how often and by whom the input was sent: that may grow.
    """
    row = aside.row
    return _digest((*row[:10], row.received_at_us, row.released_position, aside.digest))


def rows_sha256(rows: Iterable[Iterable[object]]) -> str:
    """SHA-256 over some other rows, `NO_ROW` if there are none."""
    every = [column for row in rows for column in row]
    return _digest(every) if every else NO_ROW


def acknowledgement(broken: RecordBreak, because: str, by: str, second: str) -> BreakAcknowledged:
    """The fact that acknowledges a break whose row is known."""
    return BreakAcknowledged(**_pin(broken)._asdict(), because=because, by=by, second=second)


def with_acknowledgements(
    seen: Verified, rows: Callable[[RecordBreak], str], facts: Iterable[tuple[int, Fact]]
) -> Verified:
    """The same breaks, each with its row's SHA-256 and the first acknowledgement that fits it.

    rows: gives the SHA-256 of the row of a break. facts: by position.
    """
    known: dict[_Pin, Acknowledgement] = {}
    for position, fact in facts:
        if isinstance(fact.body, BreakAcknowledged):
            known.setdefault(*_of_fact(position, fact.body))
    breaks = [each._replace(row_sha256=rows(each)) for each in seen.breaks]
    told = [each._replace(acknowledged=known.get(_pin(each))) for each in breaks]
    return seen._replace(broken=told[0], later=told[1:]) if told else seen


def _of_fact(position: int, of: BreakAcknowledged) -> tuple[_Pin, Acknowledgement]:
    pin = _Pin(of.kind, of.tape, of.sequence, of.position, of.quarantine, of.row_sha256)
    return pin, Acknowledgement(position, of.because, of.by, of.second)


def _pin(of: RecordBreak) -> _Pin:
    """A cut end is pinned by its head, since its position moves with each fact behind it."""
    kind, row = of.kind.replace(" ", "_"), of.row_sha256 or NO_ROW
    position = None if of.kind == "truncated" and row != NO_ROW else of.position
    return _Pin(kind, of.tape, of.table_seq, position, of.quarantine_id, row)


def _digest(columns: Iterable[object]) -> str:
    return hashlib.sha256(frame(map(_octets, columns))).hexdigest()


def _octets(column: object) -> bytes:
    """A value as bytes, with its kind before it."""
    if column is None:
        return b""
    return b"b" + column if isinstance(column, bytes) else b"=" + str(column).encode()
