"""The usual event, read in one pass: nearly all facts of a floor, in a third of the time.

`usual_event` answers only for bytes that leave no doubt, and else returns None; `wire` then reads
them strictly. Both ways give the same fact (tests/property/record/test_usual_event.py).

Why no name can stand twice: no string holds a quote, since there is no backslash, and no blank
follows a quote. So `":` stands after every name, and elsewhere only where a text begins with a
colon. If there are as many of them as different names of the event and of `data` were read, each
of these stands once.
"""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, Literal, NamedTuple

import msgspec
from msgspec import UNSET, Raw, Struct, UnsetType

from ledger.record import kinds
from ledger.record.envelope import (
    ID_MAX,
    parse_source_once,
    parse_subject_once,
    parse_time_in_range,
)
from ledger.record.strict_json import MalformedError
from ledger.record.tape import IDENTITY_OCTETS_MAX, Received, frame, frame_attributes

if TYPE_CHECKING:
    from ledger.values import Source

_PLAIN = bytes(set(range(0x20, 0x7F)) - set(b"\\"))
_OCTETS_MAX = 4096
_OBJECTS = 2  # the event and its `data`; deep nesting would exhaust the stack
_ARRAYS_MAX = 16  # far from the deepest nesting that is allowed
_NAMES = 6  # of every event, `data` included
_SEQUENCE_MAX = 18
_SIGNATURE_SIZE = 88  # 64 bytes in base64
_TIME_SIZES = (27, 32)  # to the microsecond, with `Z` or with an offset


class _Event(Struct, gc=False, forbid_unknown_fields=True, kw_only=True):
    specversion: Literal["1.0"]
    type: str
    source: str
    id: str
    time: str
    subject: str | UnsetType = UNSET
    sequence: str | UnsetType = UNSET
    boot: str | UnsetType = UNSET
    signature: str | UnsetType = UNSET
    signkey: str | UnsetType = UNSET
    data: Raw


class _Sender(NamedTuple):
    parsed: Source
    framed: bytes  # the attributes `source` and `specversion`


class _Subject(NamedTuple):
    framed: bytes  # the attribute
    is_round: bool  # of a day in the calendar


_event = msgspec.json.Decoder(_Event).decode
_members = msgspec.json.Decoder(dict).decode
_TYPES = {
    name: (kind, frame_attributes({"type": name}))
    for name, kind in kinds.ON_THE_WIRE.items()
    if kind.type != "rules_submission_filed.v1"  # its subject is no round
}
_SPECVERSION = frame_attributes({"specversion": "1.0"})


def _named(name: bytes, size_max: int) -> list[bytes]:
    """The framed name of an attribute and the size of its value, by that size."""
    return [frame((name,)) + size.to_bytes(8, "big") for size in range(size_max + 1)]


_ID, _SEQUENCE = _named(b"id", ID_MAX), _named(b"sequence", _SEQUENCE_MAX)
_TIME = _named(b"time", max(_TIME_SIZES))
_SIGNATURE = _named(b"signature", _SIGNATURE_SIZE)[_SIGNATURE_SIZE]


def usual_event(octets: bytes) -> Received | None:
    """The fact of one CloudEvents JSON event, or None if it must be read strictly."""
    if (
        len(octets) > _OCTETS_MAX
        or octets.translate(None, _PLAIN)
        or b'" ' in octets
        or octets.count(b"{") > _OBJECTS
        or octets.count(b"[") > _ARRAYS_MAX
    ):
        return None
    try:
        event = _event(octets)
        data = bytes(event.data)
        names = octets.count(b'":') - len(_members(data))
        kind, type_ = _TYPES[event.type]
        kinds.body(kind, data)
    except (msgspec.MsgspecError, MalformedError, KeyError):
        return None
    sender, time_us = _sender(event.source), _time_us(event.time)
    if sender is None or time_us is None:
        return None
    attributes = _framed(event, kind, sender, type_, names)
    if attributes is None:
        return None
    subject = event.subject or None
    return Received(
        sender.parsed.tape, kind.type, event.source, event.id, time_us, subject, attributes, data
    )


def _framed(
    event: _Event, kind: kinds.FactKind, sender: _Sender, type_: bytes, names: int
) -> bytes | None:
    """The attributes as `frame_attributes` frames them; None if one is not usual.

    names: how many names the event has, if none stands twice.
    """
    id_, time, boot, sequence = event.id, event.time, event.boot, event.sequence
    size = len(id_)
    if not 1 <= size <= ID_MAX or len(event.source) + size > IDENTITY_OCTETS_MAX:
        return None
    framed_boot = framed_sequence = framed_subject = b""
    if boot is not UNSET:
        names -= 1
        framed_boot = _boot(boot)
    if sequence is not UNSET:
        names -= 1
        if not (sequence.isdigit() and len(sequence) <= _SEQUENCE_MAX):
            return None
        framed_sequence = _SEQUENCE[len(sequence)] + sequence.encode()
    framed_signature = _signed(event.signature, event.signkey)
    names -= 2 * bool(framed_signature)
    if event.subject is not UNSET:
        names -= 1
        subject = _subject(event.subject, sender.parsed.property)
        if not subject.is_round:
            return None
        framed_subject = subject.framed
    elif kind.needs_subject:
        return None
    if names != _NAMES:
        return None
    return b"".join(
        (
            framed_boot, _ID[size], id_.encode(), framed_sequence, framed_signature, sender.framed,
            framed_subject, _TIME[len(time)], time.encode(), type_,
        )
    )  # fmt: skip


@lru_cache(maxsize=4096)
def _sender(source: str) -> _Sender | None:
    parsed = parse_source_once(source)
    return _Sender(parsed, frame_attributes({"source": source}) + _SPECVERSION) if parsed else None


@lru_cache(maxsize=4096)
def _subject(subject: str, property_: str) -> _Subject:
    round_, on_calendar = parse_subject_once(subject, property_)
    is_round = round_ is not None and on_calendar
    return _Subject(frame_attributes({"subject": subject}), is_round)


@lru_cache(maxsize=4096)
def _boot(boot: str) -> bytes:
    return frame_attributes({"boot": boot})


def _signed(signature: str | UnsetType, signkey: str | UnsetType) -> bytes:
    """The two attributes of a signature, framed; nothing if one is missing or not usual."""
    if signature is UNSET or signkey is UNSET or len(signature) != _SIGNATURE_SIZE:
        return b""
    return _SIGNATURE + signature.encode() + _signkey(signkey)


@lru_cache(maxsize=4096)
def _signkey(key: str) -> bytes:
    return frame_attributes({"signkey": key})


def _time_us(text: str) -> int | None:
    """Microseconds since the epoch; None for a time in another form."""
    if len(text) not in _TIME_SIZES or text[19] != ".":
        return None
    digits = text[17:19] + text[20:26]
    minute_us = _minute_us(text[:17], text[26:])
    if minute_us is None or not digits.isdigit() or digits >= "60":
        return None
    return minute_us + int(digits)


@lru_cache(maxsize=4096)
def _minute_us(to_the_minute: str, offset: str) -> int | None:
    try:
        return parse_time_in_range(f"{to_the_minute}00{offset}")
    except MalformedError:
        return None
