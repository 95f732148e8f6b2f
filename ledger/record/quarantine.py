"""Whether the quarantine is whole: every digest recomputed from octets, every number accounted for.

Its rows are not chained: somebody who writes octets and digest anew together is not found here.
What is found says which row, or between which. Knows no database.
"""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING, NamedTuple

from ledger.record.tape import InQuarantine, unframe_attributes
from ledger.record.verify import BreakKind, RecordBreak

if TYPE_CHECKING:
    from collections.abc import Iterable


class QuarantineRow(NamedTuple):
    """A row of the quarantine as it is stored."""

    row: InQuarantine
    digest: bytes  # SHA-256, see `digest_of`
    released_is_there: bool  # what it was released as stands on the record


class QuarantineCounts(NamedTuple):
    """What the record and the quarantine say at one moment."""

    last: int  # the highest number
    quarantined: int  # inputs with that verdict, as the record counts them
    equivocation: int
    quarantined_here: int  # the same, as the rows count them
    equivocation_here: int


def digest_of(attributes: bytes | None, octets: bytes) -> bytes:
    """SHA-256 over the length of the attributes (8 octets; -1: none), them, and the octets."""
    size = -1 if attributes is None else len(attributes)
    return hashlib.sha256(
        size.to_bytes(8, "big", signed=True) + (attributes or b"") + octets
    ).digest()


def verify_quarantine(
    rows: Iterable[QuarantineRow], counted: QuarantineCounts
) -> RecordBreak | None:
    """The first thing in quarantine that is not as it was kept; `rows` by number, up to `last`."""
    number = 0
    for aside in rows:
        number += 1
        if aside.row.quarantine_id != number:
            return _break("quarantine deleted", number, "an input that was kept here is gone")
        if odd := _contradiction(aside):
            return _break("quarantine edited", number, odd)
    if number < counted.last:
        return _break("quarantine deleted", number + 1, "an input that was kept here is gone")
    return _uncounted(counted)


def _contradiction(aside: QuarantineRow) -> str | None:
    """What of a row is not what its octets, or the record, say."""
    row = aside.row
    if digest_of(row.attributes, row.octets) != aside.digest:
        return "its octets are not those that were kept"
    if row.released_position is not None and not aside.released_is_there:
        return f"it was released as position {row.released_position}, which is not on record"
    if row.attributes is None:
        return None
    try:
        told = unframe_attributes(row.attributes)
    except ValueError:
        return "the frame of attributes cannot be read"
    if (row.source, row.id) != (told.get("source"), told.get("id")):
        return "its source and id are not what its attributes say"
    return None


def _uncounted(counted: QuarantineCounts) -> RecordBreak | None:
    """Rows taken off the end, put in, or counted otherwise: the record's own figures tell."""
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
