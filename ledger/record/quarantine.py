"""Verify the quarantine: recompute every digest from bytes, and account for every number.

Its rows are not chained. If bytes and digest are both replaced, it is not found here. A break names
its row, or the rows it lies between. Knows no database.
"""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING, NamedTuple

from ledger.record.tape import InQuarantine, unframe_attributes
from ledger.record.verify import BreakKind, RecordBreak

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator


class QuarantineRow(NamedTuple):
    """A row of the quarantine as it is stored."""

    row: InQuarantine
    digest: bytes  # SHA-256, see `digest_of`
    released_is_there: bool  # whether its released fact is on record


class QuarantineCounts(NamedTuple):
    """The counts of the record and of the quarantine at one moment."""

    last: int  # the highest number
    quarantined: int  # inputs with that verdict, counted by the record
    equivocation: int
    quarantined_here: int  # the same, counted over the rows
    equivocation_here: int


def digest_of(attributes: bytes | None, octets: bytes) -> bytes:
    """SHA-256 over the length of the attributes (8 bytes; -1: none), they and the input's bytes."""
    size = -1 if attributes is None else len(attributes)
    return hashlib.sha256(
        size.to_bytes(8, "big", signed=True) + (attributes or b"") + octets
    ).digest()


def verify_quarantine(
    rows: Iterable[QuarantineRow], counted: QuarantineCounts
) -> Iterator[RecordBreak]:
    """Every row of the quarantine that is not as kept; wrong counts if nothing else is broken.

    `rows` come by number, up to `last`.
    """
    number = 0
    whole = True
    for aside in rows:
        for gone in range(number + 1, aside.row.quarantine_id):
            whole = False
            yield _break("quarantine deleted", gone, "an input that was kept here is gone")
        number = aside.row.quarantine_id
        if odd := _contradiction(aside):
            whole = False
            yield _break("quarantine edited", number, odd)
    if number < counted.last:
        whole = False
        yield _break("quarantine deleted", number + 1, "an input that was kept here is gone")
    uncounted = _uncounted(counted)
    if whole and uncounted:
        yield uncounted


def _contradiction(aside: QuarantineRow) -> str | None:
    """A difference between a row and its bytes or the record, in words, or None."""
    row = aside.row
    if digest_of(row.attributes, row.octets) != aside.digest:
        return "its bytes are not those that were kept"
    if row.released_position is not None and not aside.released_is_there:
        return f"it was released as position {row.released_position}, which is not on record"
    if row.attributes is None:
        return None
    try:
        told = unframe_attributes(row.attributes)
    except ValueError:
        return "the frame of attributes cannot be read"
    if (row.source, row.id) != (told.get("source"), told.get("id")):
        return "its source and id differ from its attributes"
    return None


def _uncounted(counted: QuarantineCounts) -> RecordBreak | None:
    """Rows deleted, inserted or counted wrongly, as shown by the record's own counts."""
    for verdict, here, ever in (
        ("quarantined", counted.quarantined_here, counted.quarantined),
        ("equivocation", counted.equivocation_here, counted.equivocation),
    ):
        if here != ever:
            says = f"its rows count {here} inputs as {verdict}, the record counted {ever}"
            if here < ever:
                return _break("quarantine deleted", counted.last + 1, says)
            return _break("quarantine inserted", counted.last, says)
    return None


def _break(kind: BreakKind, number: int, says: str) -> RecordBreak:
    return RecordBreak(kind, None, None, None, f"{says[0].upper()}{says[1:]}.", number)
