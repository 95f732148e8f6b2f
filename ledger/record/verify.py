"""Whether the record is whole: every hash recomputed from bytes, and the first break named.

Reads rows in order of position, in constant memory, and believes no stored hash; a head kept
elsewhere also finds what somebody with every right on the database could hide (ADR 0003). Knows no
database: it verifies a copy just as well.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, NamedTuple

from ledger.errors import Usage
from ledger.record.tampering import (
    Break,
    Known,
    Place,
    Suspect,
    beyond_the_tip,
    copies_agree,
    explain,
    identity_edited,
)
from ledger.record.tape import GENESIS, Head, TapeRow, chain_hash

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

PROGRESS_ROWS = 5_000
"""How many rows pass between two calls of the progress function."""

_HASH_OCTETS = 32


class Expected(NamedTuple):
    """What the record says of itself, and what was kept elsewhere."""

    tip: int  # the newest position
    heads: Sequence[Head]  # the newest row of every tape, as stored beside the tapes
    identities: int | None = None  # how many identities are listed
    kept: Sequence[Head] = ()  # heads from outside: a print-out, a file, another machine


class Verified(NamedTuple):
    """What a verification saw. `heads` are recomputed; compare them with those kept elsewhere."""

    rows: int
    heads: list[Head]
    broken: Break | None
    aside: int = 0  # inputs in quarantine that were recomputed


_START = Place(0, 0, GENESIS, GENESIS)


def verify(
    rows: Iterable[tuple[TapeRow, Known | None]],
    expected: Expected,
    progress: Callable[[int, int], None] | None = None,
    *,
    identities_listed: bool = True,
) -> Verified:
    """Recompute every chain from `rows` (by position) and name the first break, if any.

    A digest listed with an identity that is not of its row's data is named where nothing else is
    broken: it may be the sign of a chain wholly recomputed, which a kept head names better.
    `progress` is told the rows done and the tip. A copy without its list of identities is verified
    with `identities_listed=False`.
    """
    stream = iter(rows)
    places: dict[str, Place] = {}
    kept = {(head.tape, head.table_seq): head for head in expected.kept}
    position = 0
    odd: Break | None = None
    for row, known in stream:
        place = places.get(row.tape, _START)
        if row.position > expected.tip and position == expected.tip:
            return Verified(position, _heads(places), beyond_the_tip(row, expected.tip))
        computed = chain_hash(place.hash, row)
        at = (position + 1, place.table_seq + 1)
        if not _fits(row, at, computed, known, listed=identities_listed):
            suspect = Suspect(row, known, *at, place.hash, place.before, identities_listed)
            broken = explain(suspect, computed, stream, places)
            return Verified(position, _heads(places), broken)
        head = kept.get((row.tape, row.table_seq))
        if head and (head.hash, head.position) != (computed, row.position):
            return Verified(position, _heads(places), _recomputed(head, places))
        odd = odd or (identity_edited(row, known) if identities_listed else None)
        position = row.position
        places[row.tape] = Place(row.table_seq, row.position, computed, place.hash)
        if progress and position % PROGRESS_ROWS == 0:
            progress(position, expected.tip)
    if progress:
        progress(position, expected.tip)
    missing = _missing_at_the_end(position, places, expected)
    return Verified(position, _heads(places), missing or odd)


def heads_to_json(heads: Iterable[Head]) -> Iterator[str]:
    """One JSON object a head: what `verify` prints and `verify --head` reads."""
    for head in heads:
        yield json.dumps(
            {
                "place": head.tape,
                "sequence": head.table_seq,
                "position": head.position,
                "hash": head.hash.hex(),
            }
        )


def heads_from_json(lines: Iterable[str], where: str = "the file of heads") -> list[Head]:
    """Heads kept elsewhere, one JSON object a line; empty lines and other members are ignored.

    Raises `Usage` for a line that is not a head.
    """
    return [
        _head_from_json(line, f"{where}, line {number}")
        for number, line in enumerate(lines, start=1)
        if line.strip()
    ]


def _head_from_json(line: str, where: str) -> Head:
    try:
        told = json.loads(line)
        head = Head(
            str(told["place"]),
            int(told["sequence"]),
            int(told["position"]),
            bytes.fromhex(told["hash"]),
        )
    except (ValueError, TypeError, KeyError) as error:
        raise Usage(
            f"This is not a head: {error}",
            where=where,
            hint="Give the lines that `round-ledger verify --json` printed.",
        ) from error
    if len(head.hash) != _HASH_OCTETS:
        raise Usage("Its hash is not 32 octets", where=where, hint="Give the whole line.")
    return head


def _heads(places: Mapping[str, Place]) -> list[Head]:
    return [
        Head(tape, place.table_seq, place.position, place.hash)
        for tape, place in sorted(places.items())
    ]


def _fits(
    row: TapeRow, at: tuple[int, int], computed: bytes, known: Known | None, *, listed: bool
) -> bool:
    return (
        computed == row.hash
        and (row.position, row.table_seq) == at
        and (not listed or (known is not None and known.position == row.position))
        and copies_agree(row)
    )


def _missing_at_the_end(
    position: int, places: Mapping[str, Place], expected: Expected
) -> Break | None:
    """What the heads and figures know of that the rows do not show."""
    for head in sorted(expected.heads, key=lambda head: head.position):
        place = places.get(head.tape, _START)
        if head.table_seq > place.table_seq:
            return _truncated(head.tape, place, position, f"its head is sequence {head.table_seq}")
        if (head.table_seq, head.hash) != (place.table_seq, place.hash):
            return _recomputed(head, places)
    if position < expected.tip:
        return _truncated(None, _START, position, f"the record counts {expected.tip}")
    for head in sorted(expected.kept, key=lambda head: head.position):
        place = places.get(head.tape, _START)
        if head.table_seq > place.table_seq:
            says = f"a head kept elsewhere is sequence {head.table_seq}"
            return _truncated(head.tape, place, position, says)
    if expected.identities is not None and expected.identities != position:
        says = f"{expected.identities} identities are listed for {position} rows"
        return _truncated(None, _START, position, says)
    lacking = sorted(places.keys() - {head.tape for head in expected.heads})
    return _without_head(lacking[0], places[lacking[0]]) if lacking else None


def _truncated(tape: str | None, place: Place, position: int, says: str) -> Break:
    at = place.table_seq + 1 if tape else None
    return Break("truncated", tape, at, position + 1, f"The record ends before this, but {says}.")


def _without_head(tape: str, place: Place) -> Break:
    says = "No head of this tape is listed, so that no append could go on from its newest row."
    return Break("deleted", tape, place.table_seq, place.position, says)


def _recomputed(head: Head, places: Mapping[str, Place]) -> Break:
    place = places.get(head.tape, _START)
    return Break(
        "recomputed",
        head.tape,
        head.table_seq,
        head.position,
        f"The chain holds together, but a head kept of it was {head.hash.hex()[:16]}…; "
        f"something up to sequence {max(head.table_seq, place.table_seq)} was written anew.",
    )
