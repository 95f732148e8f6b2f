"""Breaks after the first: each chain is taken up again behind a break, and read to the end.

A break moves what follows it. Rows one place later or earlier than recorded, or chained to a row
that is gone, are consequences: they are read as they were recorded, and not named again. A row
whose predecessor is gone can only be compared with its attributes and the list of identities.
"""

from __future__ import annotations

from itertools import islice, product
from typing import TYPE_CHECKING, NamedTuple

from ledger.record.tape import chain_hash
from ledger.record.verify import (
    START,
    RecordBreak,
    Suspect,
    TapePlace,
    all_missing,
    beyond_the_tip,
    copies_agree,
    explain,
    fits,
    identity_edited,
    recomputed,
    verify,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from ledger.record.tape import TapeRow
    from ledger.record.verify import BrokenAt, Expected, Known, Verified

    RowsAfter = Callable[[int], Iterable[tuple[TapeRow, Known | None]]]

EVIDENCE_ROWS = 200
"""The number of later rows that are read as evidence of a break after the first."""

EXPLAINED_MAX = 1_000
"""Later breaks beyond this number are named by their own row alone."""

_SHIFTS = sorted(product((0, -1, 1), repeat=2), key=lambda shift: abs(shift[0]) + abs(shift[1]))


def verify_every(
    again: RowsAfter,
    expected: Expected,
    progress: Callable[[int, int], None] | None = None,
    *,
    identities_listed: bool = True,
) -> Verified:
    """As `verify`, and go on behind each break. again: gives the rows after a position."""

    def go_on(first: BrokenAt) -> Iterator[RecordBreak]:
        return _Continuation(first, expected, again, listed=identities_listed).breaks()

    listed = identities_listed
    return verify(again(0), expected, progress, identities_listed=listed, go_on=go_on)


class _TakenUp(NamedTuple):
    """How a row fits its chain: places by which it moved, and the hash that it follows."""

    positions: int
    sequences: int
    previous: bytes


class _Continuation:
    """The state of the chains behind a break. Positions and sequences are those recorded."""

    def __init__(
        self, first: BrokenAt, expected: Expected, again: RowsAfter, *, listed: bool
    ) -> None:
        self.places = dict(first.places)
        self.position = first.position
        self._first = first
        self._expected = expected
        self._again = again
        self._listed = listed
        self._kept = {(head.tape, head.table_seq): head for head in expected.kept}
        self._moved = 0  # added to a stored position, it is the recorded one
        self._moved_seqs: dict[str, int] = {}
        self._others: dict[str, set[bytes]] = {}  # hashes that the next row of a tape may follow
        self._gone: set[str] = set()  # tapes that lack rows before their next one
        self._broken: set[str] = set()  # tapes with a break
        self._may_move = False
        self._may_move_seqs: set[str] = set()
        self._explained = 0

    def breaks(self) -> Iterator[RecordBreak]:
        """Every break after the first."""
        row, known, broken, *_ = self._first
        self._broken |= {row.tape, broken.tape or row.tape}
        if row.position <= self._expected.tip:
            self._take(row, known, broken)
        for later, later_known in self._again(row.position):
            for each in self._read(later, later_known):
                self._broken |= {later.tape, each.tape or later.tape}
                yield each
        for each in all_missing(self.position, self.places, self._expected, self._broken):
            if each != broken:
                yield each

    def _read(self, stored: TapeRow, known: Known | None) -> Iterator[RecordBreak]:
        row, listed = self._as_recorded(stored, known)
        if row.position > self._expected.tip:
            yield beyond_the_tip(stored, self._expected.tip)
            return
        place = self.places.get(row.tape, START)
        at = (self.position + 1, place.table_seq + 1)
        computed = chain_hash(place.hash, row)
        if fits(row, at, computed, listed, listed=self._listed):
            odd = identity_edited(stored, known) if self._listed else None
            self._place(row, computed, place.hash)
        else:
            odd = self._take(stored, known, None)
        if odd:
            yield odd
        yield from self._against_kept(row)

    def _against_kept(self, row: TapeRow) -> Iterator[RecordBreak]:
        head = self._kept.get((row.tape, row.table_seq))
        if head and head.hash != row.hash and row.tape not in self._broken:
            yield recomputed(head, self.places)

    def _as_recorded(
        self, stored: TapeRow, known: Known | None, positions: int = 0, sequences: int = 0
    ) -> tuple[TapeRow, Known | None]:
        position = stored.position + self._moved + positions
        table_seq = stored.table_seq + self._moved_seqs.get(stored.tape, 0) + sequences
        if known and known.position == stored.position:
            known = known._replace(position=position)
        return stored._replace(position=position, table_seq=table_seq), known

    def _take(
        self, stored: TapeRow, known: Known | None, broken: RecordBreak | None
    ) -> RecordBreak | None:
        """Take up a chain at a row that does not fit; its break, unless it is a consequence."""
        place = self.places.get(stored.tape, START)
        row_seq = self._as_recorded(stored, known)[0].table_seq
        found = self._taken_up(stored, place)
        named = broken
        if broken is None and not self._follows(stored, known, place, found):
            named = broken = self._explained_break(stored, known, place)
        if broken and broken.kind in {"inserted", "deleted"}:
            self._may_move = True
            self._may_move_seqs |= {broken.tape or stored.tape, stored.tape}
            here = broken.tape == stored.tape and row_seq > place.table_seq + 1
            if broken.kind == "deleted" and broken.tape and not here:
                self._gone.add(broken.tape)
        renumbered = stored.tape in self._gone and row_seq == place.table_seq + 1
        positions, sequences, _ = found or (0, int(renumbered), b"")
        if positions:
            self._may_move = False
        if sequences:
            self._may_move_seqs.discard(stored.tape)
        self._moved += positions
        self._moved_seqs[stored.tape] = self._moved_seqs.get(stored.tape, 0) + sequences
        row, _ = self._as_recorded(stored, known)
        self._place(row, row.hash, place.hash)
        if found is None:
            self._gone.discard(row.tape)
            self._others[row.tape] = {chain_hash(place.hash, row), place.hash}
        return named

    def _place(self, row: TapeRow, row_hash: bytes, before: bytes) -> None:
        self.position = row.position
        self.places[row.tape] = TapePlace(row.table_seq, row.position, row_hash, before)
        self._others.pop(row.tape, None)

    def _taken_up(self, stored: TapeRow, place: TapePlace) -> _TakenUp | None:
        for previous in (place.hash, place.before, *self._others.get(stored.tape, ())):
            for positions, sequences in _SHIFTS:
                row, _ = self._as_recorded(stored, None, positions, sequences)
                if chain_hash(previous, row) == row.hash:
                    return _TakenUp(positions, sequences, previous)
        return None

    def _follows(
        self, stored: TapeRow, known: Known | None, place: TapePlace, found: _TakenUp | None
    ) -> bool:
        """Whether a row that does not fit is only the consequence of a break named before."""
        if not copies_agree(stored) or (self._listed and known is None):
            return False
        if self._listed and identity_edited(stored, known):
            return False
        if found is None:
            return stored.tape in self._gone
        row, listed = self._as_recorded(stored, known, found.positions, found.sequences)
        unsettled = stored.tape in self._others or found.sequences != 0
        return (
            row.position == self.position + 1 + found.positions
            and (found.positions == 0 or self._may_move)
            and (found.sequences == 0 or stored.tape in self._may_move_seqs)
            and (row.table_seq == place.table_seq + 1 or unsettled)
            and (found.previous == place.hash or unsettled)
            and (not self._listed or (listed is not None and listed.position == row.position))
        )

    def _explained_break(
        self, stored: TapeRow, known: Known | None, place: TapePlace
    ) -> RecordBreak:
        row, listed = self._as_recorded(stored, known)
        at = (self.position + 1, place.table_seq + 1)
        in_place = row._replace(table_seq=at[1])
        if row.table_seq > at[1] and chain_hash(place.hash, in_place) != row.hash:
            says = f"Rows of this tape are gone: sequence {at[1]} to {row.table_seq - 1}."
            return RecordBreak("deleted", row.tape, at[1], stored.position, says)
        rest = (
            self._as_recorded(*each)
            for each in islice(self._again(stored.position), EVIDENCE_ROWS)
            if self._explained < EXPLAINED_MAX
        )
        self._explained += 1
        suspect = Suspect(row, listed, *at, place.hash, place.before, self._listed)
        broken = explain(suspect, chain_hash(place.hash, row), rest, self.places)
        return self._as_stored(broken)

    def _as_stored(self, broken: RecordBreak) -> RecordBreak:
        moved = self._moved_seqs.get(broken.tape or "", 0)
        return broken._replace(
            position=None if broken.position is None else broken.position - self._moved,
            table_seq=None if broken.table_seq is None else broken.table_seq - moved,
        )
