"""Verify a record in parts, each a stretch of positions, which processes read side by side.

A part believes the hash that its first row of a tape follows, and says so. The parts fit if each
begins as those before it ended: then every hash was recomputed, as `verify` does. They find no
break. Whatever is unusual gives None, and `verify` has the answer.
"""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING, NamedTuple

from ledger.record.tape import GENESIS, chain_hash
from ledger.record.verify import (
    PROGRESS_ROWS,
    START,
    TapePlace,
    Verified,
    fits,
    heads_of,
    identity_edited,
    missing_at_the_end,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from ledger.record.tape import Head, TapeRow
    from ledger.record.verify import Expected, Known


class Stretch(NamedTuple):
    """The positions of a part."""

    after: int
    until: int


class VerifiedPart(NamedTuple):
    """A stretch whose rows all fit."""

    stretch: Stretch
    believed: dict[str, tuple[int, bytes]]  # by tape: sequence and hash before its first row here
    places: dict[str, TapePlace]  # by tape: its last row here


def stretches(tip: int, count: int) -> list[Stretch]:
    """All positions up to `tip` in so many parts, or fewer."""
    ends = sorted({tip * number // count for number in range(count + 1)})
    return [Stretch(after, until) for after, until in pairwise(ends)]


def verify_part(
    rows: Iterable[tuple[TapeRow, Known | None]],
    stretch: Stretch,
    hash_of: Callable[[str, int], bytes | None],
    kept: Sequence[Head] = (),
    progress: Callable[[int], None] = lambda _: None,
) -> VerifiedPart | None:
    """Recompute the hashes of a stretch; None if anything in it is unusual.

    hash_of: the stored hash of a tape's row by its sequence. progress: gets the rows done.
    """
    listed = {(head.tape, head.table_seq): head for head in kept}
    believed: dict[str, tuple[int, bytes]] = {}
    places: dict[str, TapePlace] = {}
    position = stretch.after
    for row, known in rows:
        place = places.get(row.tape)
        if place is None:
            before = GENESIS if row.table_seq == 1 else hash_of(row.tape, row.table_seq - 1)
            if before is None:
                return None
            believed[row.tape] = (row.table_seq - 1, before)
            place = TapePlace(row.table_seq - 1, 0, before, before)
        computed = chain_hash(place.hash, row)
        at = (position + 1, place.table_seq + 1)
        if not fits(row, at, computed, known, listed=True) or identity_edited(row, known):
            return None
        head = listed.get((row.tape, row.table_seq))
        if head and (head.hash, head.position) != (computed, row.position):
            return None
        position = row.position
        places[row.tape] = TapePlace(row.table_seq, position, computed, place.hash)
        if position % PROGRESS_ROWS == 0:
            progress(position - stretch.after)
    return VerifiedPart(stretch, believed, places) if position == stretch.until else None


def joined(parts: Sequence[VerifiedPart | None], expected: Expected) -> Verified | None:
    """The result that `verify` gives for a record whose parts these are; None if it may differ."""
    places: dict[str, TapePlace] = {}
    position = 0
    for part in parts:
        if part is None or part.stretch.after != position:
            return None
        for tape, begins in part.believed.items():
            place = places.get(tape, START)
            if (place.table_seq, place.hash) != begins:
                return None
        places |= part.places
        position = part.stretch.until
    if position != expected.tip or missing_at_the_end(position, places, expected):
        return None
    return Verified(position, heads_of(places), None)
