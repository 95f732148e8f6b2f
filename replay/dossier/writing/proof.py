"""The place of each fact of a dossier in the hash chain of its tape, and facts as lines."""

from __future__ import annotations

from base64 import b64encode
from typing import TYPE_CHECKING

from msgspec import Struct

from ledger.record.tape import payload_hash
from ledger.record.wire import structured
from replay.dossier.writing.evidence import rows_by_file

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ledger.record.tape import TapeRow
    from replay.dossier.writing.evidence import Evidence

_BLANKS = bytes.maketrans(b"\r\n", b"  ")


class Proof(Struct, frozen=True, kw_only=True):
    """A line of proof.jsonl. Hashes in hexadecimal, times in microseconds since the epoch."""

    tape: str
    table_seq: int
    position: int
    type: str
    time_us: int  # the device's clock
    received_at_us: int  # the ledger's clock
    payload: str  # SHA-256 over the framed attributes and data
    previous: str  # the hash of the row before it on its tape
    hash: str
    source: str | None = None  # this and all below: absent if only the hash of the row is shown
    id: str | None = None
    file: str | None = None  # the file with the fact
    line: int | None = None
    data_base64: str | None = None  # the bytes of `data`, if the file puts them on one line


def proofs(evidence: Evidence) -> Iterator[Proof]:
    """A line for each row, by tape and sequence."""
    shown = {
        (row.tape, row.table_seq): (name, number)
        for name, rows in rows_by_file(evidence).items()
        for number, row in enumerate(rows, 1)
    }
    rows = {row for rows in rows_by_file(evidence).values() for row in rows}
    for row in sorted(rows | set(evidence.hidden), key=lambda each: (each.tape, each.table_seq)):
        yield _proof(evidence, row, shown.get((row.tape, row.table_seq)))


def on_one_line(row: TapeRow) -> bytes:
    """The fact as a line of a feed. JSON has line breaks only between values, so they can go."""
    return structured(row._replace(data=row.data.translate(_BLANKS)))


def _proof(evidence: Evidence, row: TapeRow, shown: tuple[str, int] | None) -> Proof:
    broken = b"\n" in row.data or b"\r" in row.data
    return Proof(
        tape=row.tape,
        table_seq=row.table_seq,
        position=row.position,
        type=row.type,
        time_us=row.time_us,
        received_at_us=row.received_at_us,
        payload=payload_hash(row.attributes, row.data).hex(),
        previous=evidence.previous[row.tape, row.table_seq].hex(),
        hash=row.hash.hex(),
        source=row.source if shown else None,
        id=row.id if shown else None,
        file=shown[0] if shown else None,
        line=shown[1] if shown else None,
        data_base64=b64encode(row.data).decode() if shown and broken else None,
    )
