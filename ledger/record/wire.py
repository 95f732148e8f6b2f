"""Bytes and facts: CloudEvents 1.0 in, typed structs out, nothing guessed.

Bytes are checked here once, at the edge. The result is a well-formed fact exactly as received, or
the bytes with a reason. No input of a device can raise an error. What the record holds is trusted
afterwards, and only decoded. Nothing here knows a rule of any game.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote_to_bytes

import msgspec
from msgspec import Raw, Struct

from ledger.errors import Refused
from ledger.facts import Body, type_name
from ledger.record import kinds, strict_json
from ledger.record.envelope import (
    DEPTH_MAX,
    FACT_OCTETS_MAX,
    ID_MAX,
    parse_source_once,
    parse_subject_once,
    received,
)
from ledger.record.strict_json import MalformedError
from ledger.record.tape import Quarantined, Received, unframe_attributes
from ledger.record.usual_event import usual_event
from ledger.values import RoundId, format_time

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ledger.record.tape import TapeRow

_TEXTS = frozenset(("specversion", "type", "source", "id", "time", "subject", "datacontenttype"))
_QUOTED_PAIR = re.compile(r"\\(.)", re.DOTALL)
_HEADERS_END = b"\r\n\r\n"
BATCH_EVENTS_MAX = 10_000
"""The most events in one batch. More would hold the record's lock, and memory, for seconds."""


class Fact(Struct, frozen=True, gc=False):
    """One fact as rules and views read it: its sender, its time and clock, and its content."""

    body: object  # one of ledger.facts
    source: str
    id: str
    time_us: int  # by the device's clock, microseconds since the epoch
    round: RoundId | None
    table: str | None  # its table: the round's, `data.table`, or the source's place
    boot: str | None
    sequence: int | None  # the device's sequence number, None if it has none


class BatchTooLong(ValueError):  # noqa: N818 - named for what it is
    """A batch with more events than allowed. None of them was checked."""


class StoredFactError(Refused):
    """A stored row cannot be decoded: what, and where. The record or this program is at fault."""


class _Data(Struct, gc=False):
    data: Raw = Raw()


class _Who(Struct, gc=False):
    source: Any = None
    id: Any = None


class _Event(Struct, gc=False, omit_defaults=True, kw_only=True):
    specversion: str
    type: str
    source: str
    id: str
    time: str
    subject: str | None = None
    sequence: str | None = None
    boot: str | None = None
    data: Body


_decode_data = msgspec.json.Decoder(_Data).decode
_decode_who = msgspec.json.Decoder(_Who).decode
_decode_batch = msgspec.json.Decoder(list[Raw]).decode
_encode = msgspec.json.Encoder().encode


def parse_structured(octets: bytes) -> Received | Quarantined:
    """The fact of one CloudEvents JSON event, or its bytes with a reason."""
    try:
        return usual_event(octets) or _structured(octets)
    except MalformedError as error:
        return _quarantined(octets, error, *_who(octets, error))


def parse_line(octets: bytes) -> Received | Quarantined:
    """The fact of one line of a feed, without its line feed: an event in structured mode."""
    return parse_structured(octets)


def parse_batch(octets: bytes) -> list[Received | Quarantined] | Quarantined:
    """The facts of a CloudEvents JSON batch, each event checked by its own bytes.

    An event that is not JSON does not spoil the others. Only if the bytes are no array at all is
    the batch quarantined as one. Raises BatchTooLong beyond BATCH_EVENTS_MAX; nothing of it is
    checked then.
    """
    try:
        framed = _decode_batch(octets)
        _bounded(len(framed))
        events = [bytes(event) for event in framed]
    except (msgspec.DecodeError, RecursionError):
        split = strict_json.elements(octets)
        if split is None:
            error = MalformedError(
                "not_json", "Not a JSON array of events", "$", "send `[`, events, `]`"
            )
            return _quarantined(octets, error, None, None)
        _bounded(len(split))
        events = split
    return [parse_structured(event) for event in events]


def _bounded(events: int) -> None:
    if events > BATCH_EVENTS_MAX:
        raise BatchTooLong(f"{events:,} events in one batch; at most {BATCH_EVENTS_MAX:,}")


def parse_binary(headers: Mapping[str, str], body: bytes) -> Received | Quarantined:
    """The fact of one event in HTTP binary mode: `ce-` headers, and the bytes of `data` as body.

    A quarantined event keeps its headers before the body; `parse_kept` reads it again.
    """
    attributes: dict[str, str] = {}
    try:
        _check_size(len(body) + sum(len(name) + len(text) for name, text in _kept(headers)))
        _read_headers(headers, attributes)
        parsed = strict_json.read(body, DEPTH_MAX) if body else None
        return received(attributes, body.strip(b" \t\r\n"), parsed)
    except MalformedError as error:
        octets = b"".join(
            f"{name}: {text}\r\n".encode(errors="backslashreplace") for name, text in _kept(headers)
        )
        who = attributes.get("source"), attributes.get("id")
        return _quarantined(octets + b"\r\n" + body, error, *who)


def parse_kept(octets: bytes) -> Received | Quarantined:
    """Quarantined bytes checked again, in the mode they came in."""
    head, _, body = octets.partition(_HEADERS_END)
    if not head.lower().startswith((b"ce-", b"content-type:")):
        return parse_structured(octets)
    lines = (line.partition(": ") for line in head.decode(errors="replace").split("\r\n"))
    return parse_binary({name: text for name, _, text in lines}, body)


def decode(
    type: str,  # noqa: A002 - the attribute's own name
    source: str,
    id: str,  # noqa: A002 - the attribute's own name
    time_us: int,
    subject: str | None,
    attributes: bytes,
    data: bytes,
) -> Fact:
    """The typed fact of a stored row, in the current version.

    Its bytes were checked when they came. Raises StoredFactError if they do not decode.
    """
    kind = kinds.KINDS.get(type)
    who = parse_source_once(source)
    if kind is None or who is None:
        raise _undecodable(f"`{type}` is not known here", source, id)
    try:
        body = kinds.body(kind, data)
    except MalformedError as error:
        raise _undecodable(f"`{type}`: {error.what} ({error.where})", source, id) from None
    round_ = parse_subject_once(subject, who.property)[0] if subject is not None else None
    boot, sequence = _device_counter(attributes)
    table = round_.table if round_ else _table(kind, body, subject, who.property) or who.place
    return Fact(body, source, id, time_us, round_, table, boot, sequence)


def fact_of(row: TapeRow | Received) -> Fact:
    """The typed fact of a row, or of a fact just received. Raises as `decode` does."""
    try:
        return decode(
            row.type, row.source, row.id, row.time_us, row.subject, row.attributes, row.data
        )
    except StoredFactError as error:
        if isinstance(row, Received):
            raise
        where = f"position {row.position:,} of the record, {error.where}"
        raise StoredFactError(error.what, where=where, hint=error.hint) from None


def _undecodable(what: str, source: str, id_: str) -> StoredFactError:
    return StoredFactError(
        f"A stored fact cannot be read: {what}",
        where=f"{source}, id {id_}",
        hint="Run the program that wrote it, or a newer one; else see `round-ledger verify`.",
    )


def encode(
    body: Body,
    source: str,
    id: str,  # noqa: A002 - the attribute's own name
    time: int | str,
    subject: str | None = None,
    *,
    sequence: int | None = None,
    boot: str | None = None,
    offset_minutes: int = 0,
) -> bytes:
    """A fact as one line of a feed, without the line feed; the same bytes every time.

    time: microseconds since the epoch, written with the offset, or a text to write as it is.
    """
    return _encode(
        _Event(
            specversion="1.0",
            type=kinds.WIRE_PREFIX + type_name(body.__class__),
            source=source,
            id=id,
            time=time if isinstance(time, str) else format_time(time, offset_minutes),
            subject=subject,
            sequence=None if sequence is None else str(sequence),
            boot=boot,
            data=body,
        )
    )


def structured(row: TapeRow | Received) -> bytes:
    """The row as one CloudEvents JSON event, with the bytes of `data` as received."""
    attributes = _encode(unframe_attributes(row.attributes))
    return attributes[:-1] + b',"data":' + row.data + b"}"


def _structured(octets: bytes) -> Received:
    _check_size(len(octets))
    event = strict_json.read(octets, DEPTH_MAX + 1)
    if not isinstance(event, dict):
        raise MalformedError("not_an_object", "Not an object", "$", "send one JSON object a fact")
    if event.get("data_base64") is not None:
        raise MalformedError(
            "data_base64", "`data_base64` is not supported", "$.data_base64", "send `data` as JSON"
        )
    attributes = {
        name: value if value.__class__ is str else _attribute(name, value)
        for name, value in event.items()
        if name != "data" and value is not None
    }
    try:
        data = bytes(_decode_data(octets).data)
    except msgspec.DecodeError as error:
        raise MalformedError(
            "not_json", f"Not JSON: {error}", "$", "send whole characters and whole values"
        ) from None
    return received(attributes, data, event.get("data"))


def _attribute(name: str, value: object) -> str:
    """The CloudEvents string of an attribute of another type."""
    if name not in _TEXTS:
        if isinstance(value, bool):
            return "true" if value else "false"
        if isinstance(value, int):
            return str(value)
    raise MalformedError(
        "bad_attribute",
        f"`{name}` is not a text",
        f"$.{name}",
        "send attributes as strings; what has parts belongs in `data`",
    )


def _check_size(octets: int) -> None:
    if octets > FACT_OCTETS_MAX:
        raise MalformedError(
            "oversize",
            f"The fact is {octets} bytes long",
            "$",
            f"send at most {FACT_OCTETS_MAX} bytes a fact; split it, or refer to a file",
        )


def _kept(headers: Mapping[str, str]) -> list[tuple[str, str]]:
    """The headers that belong to the event."""
    return [
        (name, text)
        for name, text in headers.items()
        if name.lower() == "content-type" or name.lower().startswith("ce-")
    ]


def _read_headers(headers: Mapping[str, str], attributes: dict[str, str]) -> None:
    for header, text in _kept(headers):
        name = header.lower()
        name = "datacontenttype" if name == "content-type" else name.removeprefix("ce-")
        if name in attributes:
            raise MalformedError(
                "duplicate_key", f"`{name}` is sent twice", header, "send each header once"
            )
        if name in ("data", "data_base64"):
            raise MalformedError(
                "bad_attribute", f"`{name}` is no attribute", header, "send `data` as the body"
            )
        attributes[name] = _header_text(header, text)
    if not attributes.keys() - {"datacontenttype"}:
        raise MalformedError(
            "missing_attribute",
            "The request has no `ce-` header, so it names no event",
            "$.specversion",
            "send a whole event as `application/cloudevents+json`, a list of them as "
            "`application/cloudevents-batch+json`; another type needs `ce-` headers",
        )


def _header_text(header: str, text: str) -> str:
    """A header's value, unquoted, percent-decoded once, as UTF-8 (CloudEvents HTTP, 3.1.3.2)."""
    if len(text) > 1 and text[0] == text[-1] == '"':
        text = _QUOTED_PAIR.sub(r"\1", text[1:-1])
    if text.isascii() and "%" not in text:
        return text
    try:
        return unquote_to_bytes(text.encode("latin-1")).decode()
    except UnicodeError:
        raise MalformedError(
            "bad_attribute", f"`{header}` is not UTF-8", header, "percent-encode its UTF-8 bytes"
        ) from None


def _who(octets: bytes, error: MalformedError) -> tuple[str | None, str | None]:
    """Source and id of malformed input, if they can be read."""
    try:
        who = _decode_who(octets)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return None, None
    twice = error.where if error.reason == "duplicate_key" else ""
    return (
        who.source if isinstance(who.source, str) and twice != "$.source" else None,
        who.id if isinstance(who.id, str) and twice != "$.id" else None,
    )


def _quarantined(
    octets: bytes, error: MalformedError, source: str | None, id_: str | None
) -> Quarantined:
    return Quarantined(
        octets, error.reason, error.what, error.where, error.hint, _safe(source), _safe(id_)
    )


def _safe(text: str | None) -> str | None:
    return text if text and len(text) <= ID_MAX and not strict_json.unsafe(text) else None


def _table(kind: kinds.FactKind, body: Struct, subject: str | None, property_: str) -> str | None:
    """The table that a fact outside a round names."""
    table: str | None = getattr(body, "table", None) if kind.names_table else None
    if table is None and kind.names_round:
        named: str | None = body.round  # type: ignore[attr-defined] # kind says it has
        round_ = parse_subject_once(named.rpartition(":")[2], property_)[0] if named else None
        table = round_.table if round_ else None
    if table is None and kind.needs_subject and subject != property_:
        table = subject
    return table


def _device_counter(attributes: bytes) -> tuple[str | None, int | None]:
    """`boot` and `sequence` from framed attributes, which are sorted by name."""
    boot = sequence = None
    at, end = 0, len(attributes)
    while at < end:
        start = at + 8
        at = start + attributes[at + 7]  # a name is at most 64 bytes long
        name = attributes[start:at]
        if name > b"sequence":
            break
        start = at + 8
        at = start + int.from_bytes(attributes[at:start], "big")
        if name == b"boot":
            boot = attributes[start:at].decode()
        elif name == b"sequence":
            sequence = int(attributes[start:at])
    return boot, sequence
