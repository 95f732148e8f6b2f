"""Verify the record: recompute every hash from bytes, and name every break.

Rows are read by position, in constant memory, and no stored hash is believed. A head kept elsewhere
also finds what an owner of the database could hide (ADR 0003). The first row that does not fit, and
those after it, show what was done: edited, moved, inserted or deleted. This is evidence for a
person, so it says only what is known. Knows no database: it verifies a copy just as well.
"""

from __future__ import annotations

import hashlib
import json
import struct
from functools import lru_cache
from itertools import chain, islice
from typing import TYPE_CHECKING, Literal, NamedTuple

from ledger.errors import Usage
from ledger.record.tape import (
    GENESIS,
    Head,
    TapeRow,
    chain_hash,
    frame,
    frame_attributes,
    unframe_attributes,
)
from ledger.values import parse_source, parse_time

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence

BreakKind = Literal[
    "edited payload",
    "edited header",
    "deleted",
    "inserted",
    "swapped",
    "truncated",
    "recomputed",
    "identity missing",
    "identity edited",
    "quarantine edited",
    "quarantine deleted",
    "quarantine inserted",
    "pseudonym edited",
    "pseudonym deleted",
]
"""The kinds of break, as far as the record itself can show."""

PROGRESS_ROWS = 5_000
"""The number of rows between two calls of the progress function."""

BREAKS_MAX = 10_000
"""A verification ends when it has named so many breaks."""

_HASH_OCTETS = 32
DIGEST_OCTETS = 8
_TYPE_PREFIX = "roundledger."
_length = struct.Struct(">Q").pack
_BOOT, _ID, _SEQUENCE, _TIME = (frame([name]) for name in (b"boot", b"id", b"sequence", b"time"))


class Known(NamedTuple):
    """The entry of a row in the list of identities."""

    position: int
    data_digest: bytes  # the first 8 bytes of SHA-256 of its data


class Acknowledgement(NamedTuple):
    """What two people said of a break: a fact on record."""

    position: int  # of that fact
    because: str
    by: str
    second: str


class RecordBreak(NamedTuple):
    """A difference from what was recorded."""

    kind: BreakKind
    tape: str | None  # None: no remaining row shows it
    table_seq: int | None
    position: int | None  # None: the break is in quarantine or among the pseudonyms
    says: str
    quarantine_id: int | None = None  # number of a row of the quarantine
    row_sha256: str | None = None  # of the row that stands there (`ledger.record.acknowledged`)
    acknowledged: Acknowledgement | None = None
    pseudonym: int | None = None  # number of a row of the pseudonyms


class TapePlace(NamedTuple):
    """The newest row of a tape read so far, and the hash before it."""

    table_seq: int
    position: int
    hash: bytes
    before: bytes


class Suspect(NamedTuple):
    """The first row that does not fit, and what belongs there."""

    row: TapeRow
    known: Known | None
    position: int
    table_seq: int
    previous: bytes  # the hash it should follow
    before: bytes  # the hash before that one
    listed: bool  # whether there is a list of identities

    @property
    def is_stranger(self) -> bool:
        """Whether there is a list of identities without this row's."""
        return self.listed and self.known is None


class BrokenAt(NamedTuple):
    """The first break of the chains, and the state before its row."""

    row: TapeRow
    known: Known | None
    broken: RecordBreak
    places: Mapping[str, TapePlace]
    position: int  # of the row before


class Expected(NamedTuple):
    """The record's own counts and heads, and heads kept elsewhere."""

    tip: int  # the newest position
    heads: Sequence[Head]  # the newest row of every tape, as stored beside the tapes
    identities: int | None = None  # number of identities in the list
    kept: Sequence[Head] = ()  # heads kept elsewhere: a print-out, a file, another machine


class Verified(NamedTuple):
    """The result of a verification. Compare the recomputed `heads` with those kept elsewhere."""

    rows: int
    heads: list[Head]
    broken: RecordBreak | None  # the first break
    aside: int = 0  # inputs in quarantine that were recomputed
    later: Sequence[RecordBreak] = ()  # the other breaks, up to `BREAKS_MAX`

    @property
    def breaks(self) -> list[RecordBreak]:
        """Every break, the first one first."""
        return [self.broken, *self.later] if self.broken else []

    @property
    def is_accepted(self) -> bool:
        """Whether there is no break, or each is acknowledged as it is now."""
        return all(each.acknowledged for each in self.breaks)

    def with_breaks(self, more: Iterable[RecordBreak]) -> Verified:
        """The same with more breaks after its own."""
        every = [*self.breaks, *islice(more, max(BREAKS_MAX - len(self.breaks), 0))]
        return self._replace(broken=every[0], later=every[1:]) if every else self


START = TapePlace(0, 0, GENESIS, GENESIS)
"""The state of a tape before its first row."""


def verify(
    rows: Iterable[tuple[TapeRow, Known | None]],
    expected: Expected,
    progress: Callable[[int, int], None] | None = None,
    *,
    identities_listed: bool = True,
    go_on: Callable[[BrokenAt], Iterable[RecordBreak]] | None = None,
) -> Verified:
    """Recompute every chain from `rows` (by position) and name the first break, or all.

    If a listed digest is not that of its row's data, it is never named first while anything else is
    broken. It may mean that the whole chain was recomputed, which a kept head shows better.
    `progress` gets the rows done and the tip. Use `identities_listed=False` for a copy without a
    list of identities. go_on: finds the breaks after the first (`ledger.record.later_breaks`).
    Without it only the first one is named.
    """
    stream = iter(rows)
    places: dict[str, TapePlace] = {}
    kept = {(head.tape, head.table_seq): head for head in expected.kept}
    position = 0
    odd: list[RecordBreak] = []
    for row, known in stream:
        place = places.get(row.tape, START)
        computed = chain_hash(place.hash, row)
        at = (position + 1, place.table_seq + 1)
        head = kept.get((row.tape, row.table_seq))
        broken = None
        if row.position > expected.tip and position == expected.tip:
            broken = beyond_the_tip(row, expected.tip)
        elif not fits(row, at, computed, known, listed=identities_listed):
            suspect = Suspect(row, known, *at, place.hash, place.before, identities_listed)
            broken = explain(suspect, computed, stream, places)
        elif head and (head.hash, head.position) != (computed, row.position):
            broken = recomputed(head, places)
        if broken:
            seen = Verified(position, heads_of(places), broken)
            at_break = BrokenAt(row, known, broken, places, position)
            return seen.with_breaks(chain(odd, go_on(at_break))) if go_on else seen
        wrong = identity_edited(row, known) if identities_listed else None
        if wrong and len(odd) < BREAKS_MAX:
            odd.append(wrong)
        position = row.position
        places[row.tape] = TapePlace(row.table_seq, row.position, computed, place.hash)
        if progress and position % PROGRESS_ROWS == 0:
            progress(position, expected.tip)
    if progress:
        progress(position, expected.tip)
    seen = Verified(position, heads_of(places), None)
    if missing := list(all_missing(position, places, expected)):
        return seen.with_breaks(missing + odd if go_on else missing[:1])
    return seen.with_breaks(odd if go_on else odd[:1])


def heads_to_json(heads: Iterable[Head]) -> Iterator[str]:
    """One JSON object for each head: `verify` prints them and `verify --head` reads them."""
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
    """Heads kept elsewhere, one JSON object a line. Empty lines and other members are ignored.

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
        raise Usage("Its hash is not 32 bytes long", where=where, hint="Give the whole line.")
    return head


def heads_of(places: Mapping[str, TapePlace]) -> list[Head]:
    """The last row of every tape, by tape."""
    return [
        Head(tape, place.table_seq, place.position, place.hash)
        for tape, place in sorted(places.items())
    ]


def fits(
    row: TapeRow, at: tuple[int, int], computed: bytes, known: Known | None, *, listed: bool
) -> bool:
    """Whether a row has this hash, stands at this position and sequence, and repeats itself."""
    return (
        computed == row.hash
        and (row.position, row.table_seq) == at
        and (not listed or (known is not None and known.position == row.position))
        and copies_agree(row)
    )


def missing_at_the_end(
    position: int, places: Mapping[str, TapePlace], expected: Expected
) -> RecordBreak | None:
    """A break at the end: rows that heads or counts show, but that are absent."""
    return next(all_missing(position, places, expected), None)


def all_missing(
    position: int,
    places: Mapping[str, TapePlace],
    expected: Expected,
    named: Collection[str] | None = None,
) -> Iterator[RecordBreak]:
    """Every break at the end, at most one a tape.

    named: the tapes with breaks before, if there were any. Their heads need not have the last
    row's hash, and counts may differ.
    """
    short: set[str] = set()
    for head in sorted(expected.heads, key=lambda head: head.position):
        place = places.get(head.tape, START)
        if head.table_seq > place.table_seq:
            short.add(head.tape)
            yield _truncated(head.tape, place, position, f"its head is sequence {head.table_seq}")
        elif head.tape not in (named or ()) and (head.table_seq, head.hash) != (
            place.table_seq,
            place.hash,
        ):
            short.add(head.tape)
            yield recomputed(head, places)
    if position < expected.tip and not short:
        short.add("")
        yield _truncated(None, START, position, f"the record counts {expected.tip}")
    for head in sorted(expected.kept, key=lambda head: head.position):
        place = places.get(head.tape, START)
        if head.table_seq > place.table_seq and head.tape not in short:
            short.add(head.tape)
            says = f"a head kept elsewhere is sequence {head.table_seq}"
            yield _truncated(head.tape, place, position, says)
    if expected.identities not in {None, position} and not short and named is None:
        short.add("")
        says = f"{expected.identities} identities are listed for {position} rows"
        yield _truncated(None, START, position, says)
    for tape in sorted(places.keys() - {head.tape for head in expected.heads}):
        yield _without_head(tape, places[tape])


def _truncated(tape: str | None, place: TapePlace, position: int, says: str) -> RecordBreak:
    at = place.table_seq + 1 if tape else None
    return RecordBreak(
        "truncated", tape, at, position + 1, f"The record ends before this, but {says}."
    )


def _without_head(tape: str, place: TapePlace) -> RecordBreak:
    says = "No head of this tape is listed, so no append could follow its newest row."
    return RecordBreak("deleted", tape, place.table_seq, place.position, says)


def recomputed(head: Head, places: Mapping[str, TapePlace]) -> RecordBreak:
    """A break: a consistent chain without a head that was kept."""
    place = places.get(head.tape, START)
    return RecordBreak(
        "recomputed",
        head.tape,
        head.table_seq,
        head.position,
        f"The chain is consistent, but its kept head is {head.hash.hex()[:16]}…; "
        f"something up to sequence {max(head.table_seq, place.table_seq)} was rewritten.",
    )


def explain(
    suspect: Suspect,
    computed: bytes,
    rest: Iterator[tuple[TapeRow, Known | None]],
    places: Mapping[str, TapePlace],
) -> RecordBreak:
    """What happened at the first row that does not fit. Later rows are read as evidence.

    `computed` is its recomputed hash. `places` are the tapes' states before it.
    """
    row = suspect.row
    if row.position > suspect.position:
        return _hole(suspect, rest, places)
    if computed == row.hash and row.table_seq > suspect.table_seq:
        return _deleted(row.tape, suspect.table_seq, suspect.position)
    if _was_one_earlier(suspect):
        return _inserted_before(suspect, places)
    if chain_hash(suspect.previous, row._replace(position=row.position + 1)) == row.hash:
        return _taken_from_another_tape(suspect, rest, places)
    return _told_by_later_rows(suspect, computed, rest, places) or _edited(suspect, computed)


def beyond_the_tip(row: TapeRow, tip: int) -> RecordBreak:
    """A break: a row beyond the newest position that the record counts."""
    return _break("inserted", row, f"the record counts {tip} positions")


def _edited(suspect: Suspect, computed: bytes) -> RecordBreak:
    """A break without a move: the row itself is not what was recorded."""
    row, known = suspect.row, suspect.known
    column = contradiction(row)
    kind: BreakKind = "edited header"
    if suspect.is_stranger and not column:
        kind = "identity missing" if computed == row.hash else "inserted"
        says = "it is not listed under its source and id"
    elif column:
        says = f"{column} differs from its attributes"
    elif computed == row.hash:
        says = f"its identity is listed at {known.position if known else 'another position'}"
    elif chain_hash(suspect.previous, row._replace(table_seq=suspect.table_seq)) == row.hash:
        says = f"its sequence was {suspect.table_seq}"
    elif known is None or known.data_digest != digest_of(row.data):
        kind, says = "edited payload", "its bytes are not those that were kept"
    else:
        says = "its data are as kept, but other parts of the row are not"
    return _break(kind, row, says)


def identity_edited(row: TapeRow, known: Known | None) -> RecordBreak | None:
    """A wrong digest listed with the identity of a row that is right in itself, or None."""
    if known is None or known.data_digest == digest_of(row.data):
        return None
    return _break(
        "identity edited", row, "the digest listed with its identity is not that of its data"
    )


def digest_of(data: bytes) -> bytes:
    """The digest of `data` in the list of identities."""
    return hashlib.sha256(data).digest()[:DIGEST_OCTETS]


def copies_agree(row: TapeRow) -> bool:
    """Whether the columns that repeat attributes equal them. Only the attributes are chained."""
    return _surely_agree(row) or _decoded_agree(row)


def _decoded_agree(row: TapeRow) -> bool:
    try:
        told = unframe_attributes(row.attributes)
    except ValueError:
        return False
    return (row.source, row.id, row.subject) == (
        told.get("source"),
        told.get("id"),
        told.get("subject"),
    )


def _surely_agree(row: TapeRow) -> bool:
    """Whether the frame is the usual one, with these copies; if not, decode it.

    The usual one has `boot`, `id`, `sequence`, `source`, `specversion`, `subject`, `time`, `type`
    in this order, some of them absent. Every length is checked, so no name is there twice.
    Plain ASCII only, which every reader decodes alike.
    """
    octets = row.attributes
    its_id = row.id.encode()
    boot, _, rest = octets.partition(_ID + _length(len(its_id)) + its_id)
    sequence, _, rest = rest.partition(_from_source_to_time(row.source, row.subject))
    time_end = 8 + int.from_bytes(rest[:8], "big")
    return (
        rest[time_end:] == _framed_type(row.type)
        and (not boot or _is_pair(_BOOT, boot))
        and (not sequence or _is_pair(_SEQUENCE, sequence))
        and octets.isascii()
    )


def _is_pair(name: bytes, octets: bytes) -> bool:
    """Whether these bytes are a framed name and one value, and nothing else."""
    start = len(name) + 8
    value = int.from_bytes(octets[len(name) : start], "big")
    return octets.startswith(name) and len(octets) == start + value


@lru_cache(maxsize=4096)
def _from_source_to_time(source: str, subject: str | None) -> bytes:
    """The part of the usual frame from `source` to the name `time`."""
    copies = {"source": source, "specversion": "1.0"}
    if subject is not None:
        copies["subject"] = subject
    return frame_attributes(copies) + _TIME


@lru_cache(maxsize=1024)
def _framed_type(type_: str) -> bytes:
    return frame_attributes({"type": _TYPE_PREFIX + type_})


def contradiction(row: TapeRow) -> str | None:
    """The column that differs from the received attributes, if any."""
    try:
        told = unframe_attributes(row.attributes)
        source = parse_source(told["source"])
        said: dict[str, object] = {
            "type": told["type"].removeprefix(_TYPE_PREFIX),
            "source": told["source"],
            "id": told["id"],
            "time_us": parse_time(told["time"]),
            "subject": told.get("subject"),
            "tape": source.tape if source else None,
        }
    except (ValueError, KeyError):
        return "the frame of attributes"
    return next((name for name, value in said.items() if getattr(row, name) != value), None)


def _was_one_earlier(suspect: Suspect) -> bool:
    """Whether the row fits one place earlier, so that the row before it was inserted."""
    row = suspect.row
    earlier = row._replace(position=row.position - 1)
    return row.hash in {
        chain_hash(suspect.previous, earlier),
        chain_hash(suspect.before, earlier._replace(table_seq=row.table_seq - 1)),
    }


def _told_by_later_rows(
    suspect: Suspect,
    computed: bytes,
    rest: Iterator[tuple[TapeRow, Known | None]],
    places: Mapping[str, TapePlace],
) -> RecordBreak | None:
    """A break shown by later rows: a row moved, inserted or deleted; None if none shows it."""
    row, known = suspect.row, suspect.known
    chained = {tape: place.hash for tape, place in places.items()}
    chained[row.tape] = row.hash
    nearest = True
    for later, later_known in rest:
        if _exchanged(suspect, later, later_known):
            says = f"it has changed places with position {later.position}"
            return _break("swapped", row, says)
        previous = chained.get(later.tape, GENESIS)
        shift = _shift(suspect, later, previous)
        if nearest and shift is None and known and later_known:
            shift = _listed_shift(known, row, later_known, later)
        if shift == -1:
            return _break("inserted", row, "everything after it is one place later than recorded")
        if shift == 1:
            return _deleted(row.tape, suspect.table_seq, suspect.position)
        chains = later.tape == row.tape and chain_hash(computed, later) == later.hash
        if chains and computed != row.hash:
            return _break("edited header", row, "its stored hash is not the original one")
        chained[later.tape] = later.hash
        nearest = False
    if known and known.position == row.position + 1:
        return _deleted(row.tape, suspect.table_seq, suspect.position)
    return None


def _exchanged(suspect: Suspect, later: TapeRow, later_known: Known | None) -> bool:
    row, known = suspect.row, suspect.known
    if known and later_known and known.position != row.position:
        return (known.position, later_known.position) == (later.position, row.position)
    if row.table_seq != suspect.table_seq:
        return later.tape == row.tape and later.table_seq == suspect.table_seq
    content = {
        name: getattr(later, name)
        for name in ("type", "source", "id", "time_us", "subject", "attributes", "data")
    }
    there = row._replace(**content)
    return row.hash in {
        chain_hash(suspect.previous, there),
        chain_hash(suspect.previous, there._replace(received_at_us=later.received_at_us)),
    }


def _shift(suspect: Suspect, later: TapeRow, previous: bytes) -> int | None:
    """How far `later` is from its recorded place: 0, -1 (row inserted), +1 (row deleted)."""
    if chain_hash(previous, later) == later.hash:
        return 0
    same = later.tape == suspect.row.tape
    skipping = suspect.previous if same else previous
    for shift, chained in ((-1, skipping), (1, previous)):
        moved = later._replace(
            position=later.position + shift, table_seq=later.table_seq + (shift if same else 0)
        )
        if chain_hash(chained, moved) == later.hash:
            return shift
    return None


def _listed_shift(known: Known, row: TapeRow, later_known: Known, later: TapeRow) -> int | None:
    """The same by the list of identities, for a chain too broken to show it."""
    shift = later_known.position - later.position
    if shift == -1 or (shift == 1 and known.position - row.position == 1):
        return shift
    return None


def _hole(
    suspect: Suspect,
    rest: Iterator[tuple[TapeRow, Known | None]],
    places: Mapping[str, TapePlace],
) -> RecordBreak:
    """A break at a missing position. Its tape is the one that lacks a sequence, if known."""
    reached = {tape: place.table_seq for tape, place in places.items()}
    row: TapeRow | None = suspect.row
    while row is not None:
        expected = reached.get(row.tape, 0) + 1
        if row.table_seq != expected:
            return _deleted(row.tape, expected, suspect.position)
        reached[row.tape] = row.table_seq
        row = next((later for later, _ in rest), None)
    return _deleted(None, None, suspect.position)


def _taken_from_another_tape(
    suspect: Suspect,
    rest: Iterator[tuple[TapeRow, Known | None]],
    places: Mapping[str, TapePlace],
) -> RecordBreak:
    """A break where all positions moved up by one. One tape changed more than that."""
    seen = {suspect.row.tape}
    for later, _ in rest:
        if later.tape in seen:
            continue
        seen.add(later.tape)
        previous = places[later.tape].hash if later.tape in places else GENESIS
        if chain_hash(previous, later._replace(position=later.position + 1)) != later.hash:
            return _deleted(later.tape, later.table_seq, suspect.position)
    return _deleted(None, None, suspect.position)


def _inserted_before(suspect: Suspect, places: Mapping[str, TapePlace]) -> RecordBreak:
    """A break at the row just before the suspect's position, on whichever tape."""
    position = suspect.position - 1
    tape = next((name for name, place in places.items() if place.position == position), None)
    seq = places[tape].table_seq if tape else None
    says = "Everything after it is one place later than recorded."
    return RecordBreak("inserted", tape, seq, position, says)


def _deleted(tape: str | None, table_seq: int | None, position: int) -> RecordBreak:
    return RecordBreak(
        "deleted", tape, table_seq, position, "A row that was recorded here is gone."
    )


def _break(kind: BreakKind, row: TapeRow, says: str) -> RecordBreak:
    return RecordBreak(kind, row.tape, row.table_seq, row.position, f"{says[0].upper()}{says[1:]}.")
