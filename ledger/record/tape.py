"""The port of the record: stored rows, receipts, and the framing of the hash chain. No driver.

Each place has one tape. A row holds the fact as received: attributes as strings and the bytes of
`data`, framed with length prefixes. The record adds its position, its sequence on the tape, the
time received, and the hash that ties it to the row before (ADR 0003).
"""

from __future__ import annotations

import hashlib
import struct
from functools import lru_cache
from typing import TYPE_CHECKING, Literal, NamedTuple, Protocol

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

Verdict = Literal["appended", "duplicate", "equivocation", "quarantined"]
"""The verdict on one input. The four counts always add up to all inputs received."""

GENESIS = bytes(32)
"""The previous hash for the first row of a tape."""

IDENTITY_OCTETS_MAX = 1_000
"""The most bytes of `source` and `id` together, which are the key of an index."""

_NUMBERS = struct.Struct(">4q")
_size = struct.Struct(">Q").pack
_CHAIN_VERSION = b"\x02"


class Received(NamedTuple):
    """A well-formed fact as received: exactly what is stored, hashed and sent on.

    `attributes` frames the attributes as received strings, sorted by name. `data` and the
    transport's own (`datacontenttype` of JSON) are not among them. `data` is the bytes of `data` as
    received. The named fields repeat attributes that are needed as columns. `sender` stands beside
    the fact and is no part of it.
    """

    tape: str  # "<property>/<place>"
    type: str  # "wager_placed.v1"
    source: str
    id: str
    time_us: int  # `time`, microseconds since the epoch
    subject: str | None
    attributes: bytes
    data: bytes
    sender: str | None = None  # who brought it: `key:0f3a9c1b22d4`, `os:anna`


class TapeRow(NamedTuple):
    """One row of the record."""

    position: int  # gapless over all tapes, from 1, in commit order
    tape: str
    table_seq: int  # gapless on its tape, from 1
    type: str
    source: str
    id: str
    time_us: int
    subject: str | None
    received_at_us: int  # the ledger's clock
    attributes: bytes
    data: bytes
    hash: bytes  # 32 bytes


class Receipt(NamedTuple):
    """The answer to one input. A duplicate gets the receipt of the original."""

    verdict: Verdict
    source: str | None
    id: str | None
    position: int | None
    table_seq: int | None
    hash: bytes | None
    reason: str | None = None
    quarantine_id: int | None = None  # for an equivocation or a quarantined input


class Head(NamedTuple):
    """The newest row of a tape. It is compared with a copy kept elsewhere."""

    tape: str
    table_seq: int
    position: int
    hash: bytes


class Quarantined(NamedTuple):
    """An input that is not a well-formed fact, with its bytes and the reason."""

    octets: bytes
    reason: str  # a code: `not_json`, `duplicate_key`, ...
    what: str  # a sentence: what is wrong
    where: str  # where in the bytes, e.g. `$.data.amount`
    hint: str  # what to do now
    source: str | None = None
    id: str | None = None
    sender: str | None = None  # as of a `Received`


class InQuarantine(NamedTuple):
    """One row of the quarantine: the input, and what happened to it."""

    quarantine_id: int
    verdict: Verdict  # "quarantined" or "equivocation"
    reason: str
    what: str
    where: str
    hint: str
    source: str | None
    id: str | None
    attributes: bytes | None  # for an equivocation, its framed attributes; `octets` is its data
    octets: bytes
    times_received: int
    received_at_us: int
    last_received_at_us: int
    released_at_us: int | None
    released_position: int | None
    senders: Sequence[str] = ()  # everyone who brought these bytes, each as `Received.sender`


class Counters(NamedTuple):
    """Counts of all inputs by verdict. A released input counts as received again."""

    received: int
    appended: int
    duplicate: int
    equivocation: int
    quarantined: int

    @property
    def nothing_lost(self) -> bool:
        """Whether every input has a verdict."""
        return self.received == sum(self[1:])


class Tape(Protocol):
    """The record. `infra.postgres.connection` is its one implementation."""

    def append(self, facts: Sequence[Received | Quarantined]) -> list[Receipt]:
        """Keep these facts in one transaction; one receipt each, in order."""

    def read(self, after: int, limit: int) -> list[TapeRow]:
        """Rows with position > `after`, in order of position."""

    def rows_of(self, tape: str, seqs: Iterable[tuple[int, int]]) -> list[TapeRow]:
        """Rows of one tape within the given closed ranges of `table_seq`, in order."""

    def heads(self) -> list[Head]:
        """The newest row of every tape, by tape."""


def frame(parts: Iterable[bytes]) -> bytes:
    """Parts, each after its length (8 bytes, big-endian). Different lists frame differently."""
    return b"".join(len(part).to_bytes(8, "big") + part for part in parts)


def unframe(octets: bytes) -> Iterator[bytes]:
    """The parts of a frame. Raises ValueError if the lengths do not fit the bytes."""
    at = 0
    while at < len(octets):
        end = at + 8
        size = int.from_bytes(octets[at:end], "big")
        if end + size > len(octets):
            raise ValueError(f"a frame ends at {len(octets)}, a part claims {end + size}")
        yield octets[end : end + size]
        at = end + size


def frame_attributes(attributes: dict[str, str]) -> bytes:
    """A fact's attributes framed by name and value, sorted by name."""
    return frame(part.encode() for name in sorted(attributes) for part in (name, attributes[name]))


def unframe_attributes(octets: bytes) -> dict[str, str]:
    """The attributes as received strings."""
    parts = [part.decode() for part in unframe(octets)]
    return dict(zip(parts[::2], parts[1::2], strict=True))


def payload_hash(attributes: bytes, data: bytes) -> bytes:
    """SHA-256 over the two framed parts that a device sent."""
    sizes = _size(len(attributes)), _size(len(data))
    return hashlib.sha256(sizes[0] + attributes + sizes[1] + data).digest()


@lru_cache(maxsize=4096)
def _frame_of(tape: str, type_: str) -> bytes:
    return frame((tape.encode(), type_.encode()))


def chain_hash(previous: bytes, row: TapeRow) -> bytes:
    """The hash of a row, recomputed from its bytes and the previous hash.

    SHA-256 over: version byte 0x02, previous hash (32), position (8), table_seq (8), time_us (8),
    received_at_us (8), then the framed tape and type, then the payload hash (32). Integers are
    signed, big-endian. The stored hash of the row is not used.
    """
    numbers = _NUMBERS.pack(row.position, row.table_seq, row.time_us, row.received_at_us)
    payload = payload_hash(row.attributes, row.data)
    return hashlib.sha256(
        _CHAIN_VERSION + previous + numbers + _frame_of(row.tape, row.type) + payload
    ).digest()
