"""The Kafka records of facts, quarantined inputs and view messages, written and read back.

A fact travels in CloudEvents binary mode. The `ce_*` headers are its attributes as received; the
value is the exact bytes of its `data`. The record's own values travel in `ledger_*` headers. No
attribute name has an underscore, so a device cannot forge them. Nothing is serialised again: a
consumer can recompute the hash from what it received.
"""

from __future__ import annotations

import base64
import hashlib
import struct
from binascii import hexlify
from functools import lru_cache
from typing import TYPE_CHECKING, NamedTuple

import msgspec

from infra.kafka.truncation import truncate_to_fit
from ledger.record import kinds
from ledger.record.tape import (
    GENESIS,
    TapeRow,
    chain_hash,
    frame_attributes,
    unframe_attributes,
)
from ledger.values import format_time, parse_time

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from infra.postgres.outbox import QueuedMessage
    from ledger.record.tape import InQuarantine

Header = tuple[str, bytes]

POSITION = "ledger_position"
TABLE_SEQ = "ledger_table_seq"
RECEIVED_AT = "ledger_received_at_us"
HASH = "ledger_hash"
PREVIOUS = "ledger_previous_hash"
REPUBLISHED = "ledger_republished"
QUARANTINE_ID = "ledger_quarantine_id"
DIGEST = "ledger_digest"
OUTBOX = "ledger_outbox"

QUARANTINED_TYPE = "roundledger.input_quarantined.v1"
QUARANTINE_KEY = b"quarantine"
QUARANTINE_SOURCE = "/round-ledger/quarantine"

OCTETS_MAX = 256 * 1024
"""Bytes of a quarantined input that are published; `quarantine show` has all of them."""

_JSON = b"application/json"
_CE = "ce_"
NUMBER_MAX = 2**63 - 1
"""The highest number that the record can assign."""

_DIGITS_MAX = len(str(NUMBER_MAX))


class UnreadableError(ValueError):
    """A record is not one of this feed; the text names its first fault."""


class ProducerRecord(NamedTuple):
    """A record to send."""

    key: bytes
    value: bytes | None  # None: a tombstone, which deletes the key
    headers: list[Header]

    @property
    def octets(self) -> int:
        """Its size, roughly, as counted against a window."""
        headers = sum([len(name) + len(value) for name, value in self.headers])
        return len(self.value or b"") + headers


class Fed(NamedTuple):
    """A fact as read from the feed."""

    row: TapeRow  # with the hash that the Kafka record claims
    previous: bytes  # the claimed hash of the fact before it on its tape
    republished: bool

    @property
    def is_whole(self) -> bool:
        """Whether the claimed hash matches its bytes."""
        return chain_hash(self.previous, self.row) == self.row.hash


def of_row(row: TapeRow, previous: bytes, *, republished: bool = False) -> ProducerRecord:
    """The Kafka record of a fact. `previous` is the hash of the fact before it on its tape."""
    headers = [
        ("content-type", _JSON),
        *(usual_headers(row.attributes) or strict_headers(row.attributes)),
        (POSITION, b"%d" % row.position),
        (TABLE_SEQ, b"%d" % row.table_seq),
        (RECEIVED_AT, b"%d" % row.received_at_us),
        (HASH, hexlify(row.hash)),
        (PREVIOUS, hexlify(previous)),
    ]
    if republished:
        headers.append((REPUBLISHED, b"1"))
    return ProducerRecord(row.tape.encode(), row.data, headers)


def strict_headers(attributes: bytes) -> list[Header]:
    """The headers of framed attributes, each decoded and encoded again. Raises ValueError."""
    return [(_CE + name, text.encode()) for name, text in unframe_attributes(attributes).items()]


def usual_headers(attributes: bytes) -> list[Header] | None:
    """The same from the bytes as they are; None if they must be read strictly.

    The names ascend, as `frame_attributes` writes them, so that none stands twice.
    """
    if not attributes.isascii():
        return None
    headers: list[Header] = []
    at, end, before = 0, len(attributes), ""
    try:
        while at < end:
            start = at + 8
            at = start + _length(attributes, at)[0]
            name = _header_name(attributes[start:at])
            start = at + 8
            at = start + _length(attributes, at)[0]
            headers.append((name, attributes[start:at]))
            if name <= before:
                return None
            before = name
    except struct.error:  # a length that the frame has no room for
        return None
    return headers if at == end else None


_length = struct.Struct(">Q").unpack_from


@lru_cache(maxsize=4096)
def _header_name(attribute: bytes) -> str:
    return _CE + attribute.decode()


def digest(key: bytes | None, value: bytes | None, headers: Iterable[Header]) -> bytes:
    """The SHA-256 of a record: of all that its writer gave it."""
    return hashlib.sha256(_pack((key, value, list(headers)))).digest()


_pack = msgspec.msgpack.Encoder().encode


def number(told: Mapping[str, bytes], name: str) -> int:
    """The number in a header; 0 if it is missing or outside what the record can assign."""
    text = told.get(name, b"")
    if len(text) <= _DIGITS_MAX and text.isdigit() and int(text) <= NUMBER_MAX:
        return int(text)
    return 0


def _required(told: Mapping[str, bytes], name: str) -> int:
    found = number(told, name)
    if not found:
        raise UnreadableError(f"header {name} is {told[name][:40]!r}, not a number from 1 up")
    return found


def fed(key: bytes | None, value: bytes | None, headers: Iterable[Header]) -> Fed:
    """The fact of a Kafka record. Its claims are not checked here. Raises `UnreadableError`."""
    told = dict(headers)
    try:
        attributes = {
            name.removeprefix(_CE): octets.decode()
            for name, octets in told.items()
            if name.startswith(_CE)
        }
        time_us = parse_time(attributes["time"])
        if key is None or value is None or time_us is None:
            raise UnreadableError("it has no key, no value or no time")
        if b"\0" in key:
            raise UnreadableError("its key is not the name of a place")
        row = TapeRow(
            _required(told, POSITION),
            key.decode(),
            _required(told, TABLE_SEQ),
            attributes["type"].removeprefix(kinds.WIRE_PREFIX),
            attributes["source"],
            attributes["id"],
            time_us,
            attributes.get("subject"),
            _required(told, RECEIVED_AT),
            frame_attributes(attributes),
            bytes(value),
            bytes.fromhex(told[HASH].decode()),
        )
        return Fed(row, bytes.fromhex(told[PREVIOUS].decode()), REPUBLISHED in told)
    except KeyError as error:
        raise UnreadableError(f"header {error} is missing") from None
    except (ValueError, UnicodeDecodeError) as error:
        raise UnreadableError(str(error)) from None


class Envelope(msgspec.Struct, frozen=True, omit_defaults=True):
    """The value of a quarantine record."""

    quarantine_id: int
    verdict: str
    received_at: str
    reason: str
    what: str
    where: str
    hint: str
    source: str | None
    id: str | None
    octets: int  # of the whole input
    sha256: str  # of the whole input
    bytes: str  # base64, the first OCTETS_MAX
    attributes: dict[str, str] | None = None  # only of an equivocation; its `bytes` are its `data`


_encode = msgspec.json.Encoder().encode


def is_of(row: InQuarantine, headers: Mapping[str, bytes], value: bytes | None) -> bool:
    """Whether a Kafka record is of this input, by its number, bytes and digest.

    An input restored from the feed may be truncated; it is compared by the bytes it has.
    """
    try:
        told = msgspec.json.decode(value or b"", type=Envelope)
    except msgspec.MsgspecError:
        return False
    is_cut = len(row.octets) == OCTETS_MAX < told.octets
    return (
        told.quarantine_id == row.quarantine_id
        and told.bytes == base64.b64encode(row.octets[:OCTETS_MAX]).decode()
        and told.sha256.encode() == headers.get(DIGEST)
        and (is_cut or told.sha256 == hashlib.sha256(row.octets).hexdigest())
    )


def is_quarantined(value: bytes | None, quarantine_id: int) -> bool:
    """Whether a value is an undamaged envelope of an input with this number."""
    try:
        told = msgspec.json.decode(value or b"", type=Envelope)
        octets = base64.b64decode(told.bytes)
    except (msgspec.MsgspecError, ValueError):
        return False
    is_cut = len(octets) == OCTETS_MAX < told.octets
    is_whole = is_cut or hashlib.sha256(octets).hexdigest() == told.sha256
    return is_whole and told.quarantine_id == quarantine_id


def of_quarantined(row: InQuarantine) -> ProducerRecord:
    """The Kafka record of a quarantined input: its bytes and the reason, in an envelope."""
    digest = hashlib.sha256(row.octets).hexdigest()
    received_at = format_time(row.received_at_us)
    envelope = Envelope(
        row.quarantine_id,
        row.verdict,
        received_at,
        row.reason,
        row.what,
        row.where,
        row.hint,
        row.source,
        row.id,
        len(row.octets),
        digest,
        base64.b64encode(row.octets[:OCTETS_MAX]).decode(),
        None if row.attributes is None else unframe_attributes(row.attributes),
    )
    value = _encode(envelope).decode()
    told = {
        "specversion": "1.0",
        "type": QUARANTINED_TYPE,
        "source": QUARANTINE_SOURCE,
        "id": message_id(str(row.quarantine_id), "", value),
        "time": received_at,
    }
    headers = [
        ("content-type", _JSON),
        *((_CE + name, text.encode()) for name, text in told.items()),
        (QUARANTINE_ID, b"%d" % row.quarantine_id),
        (DIGEST, digest.encode()),
    ]
    return ProducerRecord(QUARANTINE_KEY, value.encode(), headers)


def of_message(topic: str, kept: QueuedMessage, id_: str | None = None) -> ProducerRecord:
    """The Kafka record of a view's message.

    Among records of one key the highest position is the newest; at equal positions the highest
    number. If the view no longer has a row for the key, the record is a tombstone. A value that is
    too large is truncated (`infra.kafka.truncation`).
    """
    name = topic.removeprefix("ledger.").rpartition(".")[0]
    told = {
        "specversion": "1.0",
        "type": f"roundledger.{MESSAGE_TYPES[name]}.v1",
        "source": f"/round-ledger/{name}",
        "id": message_id(id_ or str(kept.number), kept.key, kept.body),
        "time": format_time(kept.made_at_us),
        **kept.attributes,
    }
    headers = [
        *((_CE + name, text.encode()) for name, text in told.items()),
        (OUTBOX, b"%d" % kept.number),
        (POSITION, b"%d" % kept.position),
    ]
    key = kept.key.encode()
    if kept.body is None:
        return ProducerRecord(key, None, headers)
    return ProducerRecord(key, truncate_to_fit(kept.body), [("content-type", _JSON), *headers])


def checkpoint_record(log: str, body: bytes) -> ProducerRecord:
    """The record of a signed checkpoint of the witnessed log; `body`: JSON.

    Its id follows from its bytes, and it has no time of its own: the witnesses' are in its text.
    """
    told = {
        "specversion": "1.0",
        "type": f"roundledger.{MESSAGE_TYPES['checkpoints']}.v1",
        "source": "/round-ledger/checkpoints",
        "id": hashlib.sha256(body).hexdigest(),
    }
    headers = [(_CE + name, text.encode()) for name, text in told.items()]
    return ProducerRecord(log.encode(), body, [("content-type", _JSON), *headers])


def message_id(name: str, key: str, body: str | None) -> str:
    """A name made unique by what it stands for: the same name and id always mean the same bytes.

    Names are numbers of a ledger, and every ledger begins with 1.
    """
    octets = key.encode() + b"\0" + (body or "").encode()
    return f"{name}-{hashlib.sha256(octets).hexdigest()[:16]}"


MESSAGE_TYPES = {
    "adjudications": "round_adjudicated",
    "drop-totals": "drop_totalled",
    "day-sealed": "sealed_day_stated",
    "journal-entries": "journal_entry_stated",
    "table-state": "table_stated",
    "camera-sync": "camera_marked",
    "alerts": "alert_raised",
    "checkpoints": "checkpoint_signed",
}
"""The CloudEvents type name of the records of each view topic."""


@lru_cache(maxsize=65_536)
def partition_of(key: bytes, partitions: int) -> int:
    """The partition of a key by murmur2, the default of Java clients.

    It is written here and pinned by a test, so that a new default of a library cannot move a table.
    """
    return (_murmur2(key) & 0x7FFFFFFF) % partitions


def _murmur2(octets: bytes) -> int:
    """MurmurHash2 with Kafka's seed (org.apache.kafka.common.utils.Utils.murmur2)."""
    m, mask = 0x5BD1E995, 0xFFFFFFFF
    h = 0x9747B28C ^ len(octets)
    whole = len(octets) & ~3
    for at in range(0, whole, 4):
        k = int.from_bytes(octets[at : at + 4], "little") * m & mask
        k ^= k >> 24
        h = (h * m & mask) ^ (k * m & mask)
    rest = octets[whole:]
    if rest:
        h = (h ^ int.from_bytes(rest, "little")) * m & mask
    h ^= h >> 13
    h = h * m & mask
    return h ^ (h >> 15)


class PreviousHashes:
    """The newest hash of each tape, as rows are read in order of position."""

    def __init__(self) -> None:
        self._last: dict[str, tuple[int, bytes]] = {}

    def before(self, row: TapeRow) -> bytes | None:
        """The hash of the row before this one; None if that row was not seen."""
        if row.table_seq == 1:
            return GENESIS
        seq, hash_ = self._last.get(row.tape, (0, b""))
        return hash_ if seq == row.table_seq - 1 else None

    def saw(self, row: TapeRow) -> None:
        """Remember this row as the newest of its tape."""
        self._last[row.tape] = (row.table_seq, row.hash)
