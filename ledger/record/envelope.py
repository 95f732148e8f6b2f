"""Check a CloudEvent's attributes, and frame a fact as it was received.

Structured, batch and binary mode all pass the same strings and the same bytes of `data`. A fact is
therefore equal however it travelled. Raises MalformedError for the first fault, and repairs
nothing.
"""

from __future__ import annotations

import re
from datetime import date
from functools import lru_cache

from ledger.record import kinds
from ledger.record.strict_json import MalformedError, unsafe, without_nul
from ledger.record.tape import IDENTITY_OCTETS_MAX, Received, frame_attributes
from ledger.values import NAME, RoundId, Source, parse_source, parse_subject, parse_time

FACT_OCTETS_MAX = 64 * 1024
"""The longest fact in bytes, envelope included."""

DEPTH_MAX = 32
"""The deepest nesting of arrays and objects in `data`, `data` itself counted."""

ID_MAX = 256
"""The longest `id`, characters."""

_SUBJECT_MAX = 256
_REQUIRED = ("specversion", "type", "source", "id", "time")
_KNOWN = frozenset((*_REQUIRED, "subject", "sequence", "boot", "dataschema"))
_NAME = re.compile(r"[a-z0-9]{1,64}")
_PLACE = re.compile(NAME)
_DIGITS = re.compile(r"[0-9]{1,18}")
_JSON_TYPE = re.compile(r'application/json\s*(?:;\s*charset\s*=\s*"?utf-8"?\s*)?', re.IGNORECASE)
_TIME_US_MIN = -2_208_988_800_000_000  # 1900-01-01
_TIME_US_MAX = 32_503_680_000_000_000  # 3000-01-01

parse_source_once = lru_cache(maxsize=4096)(parse_source)


@lru_cache(maxsize=4096)
def parse_subject_once(subject: str, property_: str) -> tuple[RoundId | None, bool]:
    """The round a subject names, if any, and whether its gaming day exists in the calendar."""
    round_ = parse_subject(subject, property_)
    if round_ is None:
        return None, True
    try:
        date.fromisoformat(round_.gaming_day)
    except ValueError:
        return round_, False
    return round_, True


def received(attributes: dict[str, str], data: bytes, parsed: object) -> Received:
    """The fact as it is stored. `parsed` is the parsed `data`, for checks of its values.

    Raises MalformedError if the attributes or `data` are not those of a fact.
    """
    content_type = attributes.pop("datacontenttype", None)
    if content_type is not None and not _JSON_TYPE.fullmatch(content_type):
        raise MalformedError(
            "content_type",
            f"The content type is `{content_type}`",
            "$.datacontenttype",
            "send `application/json` in UTF-8, or leave it out",
        )
    _check_attributes(attributes)
    kind = kinds.kind_of(attributes["type"])
    source = _source(attributes["source"])
    time_us = parse_time_in_range(attributes["time"])
    if data in (b"", b"null"):
        raise MalformedError(
            "data_missing", "There is no `data`", "$.data", "send `data`; if it is empty, `{}`"
        )
    if not isinstance(parsed, dict):
        raise MalformedError(
            "not_an_object", "`data` is not an object", "$.data", "send `data` as a JSON object"
        )
    subject = attributes.get("subject")
    _check_subject(kind, subject, source)
    if b"\\u0000" in data:
        without_nul(parsed, "$.data")
    kinds.body(kind, data)
    return Received(
        source.tape,
        kind.type,
        attributes["source"],
        attributes["id"],
        time_us,
        subject,
        frame_attributes(attributes),
        data,
    )


def _bad(name: str, what: str, hint: str) -> MalformedError:
    return MalformedError("bad_attribute", what, f"$.{name}", hint)


def _check_attributes(attributes: dict[str, str]) -> None:
    for name, value in attributes.items():
        if name not in _KNOWN and not _NAME.fullmatch(name):
            raise _bad(
                name,
                f"`{name}` is not a valid attribute name",
                "use lower-case letters and digits, up to 64; other fields belong in `data`",
            )
        if unsafe(value):
            raise _bad(name, f"`{name}` holds a control character", "send printable text")
    for name in _REQUIRED:
        if name not in attributes:
            raise MalformedError(
                "missing_attribute", f"`{name}` is missing", f"$.{name}", f"send `{name}`"
            )
    if attributes["specversion"] != "1.0":
        raise _bad("specversion", "Not CloudEvents 1.0", 'send `"specversion": "1.0"`')
    if not 1 <= len(attributes["id"]) <= ID_MAX:
        raise _bad("id", "`id` is empty or too long", f"send 1 to {ID_MAX} characters")
    identity = len(attributes["source"].encode()) + len(attributes["id"].encode())
    if identity > IDENTITY_OCTETS_MAX:
        raise _bad(
            "id",
            f"`source` and `id` are {identity} bytes long together",
            f"send at most {IDENTITY_OCTETS_MAX} bytes of both together",
        )
    sequence = attributes.get("sequence")
    if sequence is not None and not _DIGITS.fullmatch(sequence):
        raise _bad(
            "sequence",
            f"`{sequence}` is not a decimal number",
            'send the device\'s counter as digits, up to 18: `"sequence": "4711"`',
        )


def _source(text: str) -> Source:
    source = parse_source_once(text)
    if source is None:
        raise _bad(
            "source",
            f"`{text}` is not /property/place/device",
            "send three names of letters, digits, `.`, `_`, `-`: `/hollywood/CC-07/shoe`",
        )
    return source


def parse_time_in_range(text: str) -> int:
    """Microseconds since the epoch. Raises MalformedError for another text or century."""
    time_us = parse_time(text)
    if time_us is None or not _TIME_US_MIN <= time_us < _TIME_US_MAX:
        raise _bad(
            "time",
            f"`{text}` is not a time with offset",
            "send RFC 3339 between 1900 and 3000: `2026-11-20T19:04:11.204+01:00`",
        )
    return time_us


def _check_subject(kind: kinds.FactKind, subject: str | None, source: Source) -> None:
    if subject is None:
        if not kind.needs_subject:
            return
        raise MalformedError(
            "missing_subject",
            f"`{kind.type}` needs a `subject`",
            "$.subject",
            "send the round: `<table>/<gaming day>/<round number>`"
            " (for a rules submission the table, or the property)",
        )
    round_, on_calendar = parse_subject_once(subject, source.property)
    if kind.type == "rules_submission_filed.v1":
        good = _PLACE.fullmatch(subject) is not None
    elif kind.needs_subject:
        good = round_ is not None and on_calendar
    else:
        good = on_calendar and 1 <= len(subject) <= _SUBJECT_MAX
    if not good:
        raise MalformedError(
            "bad_subject",
            f"`{kind.type}` cannot have the subject `{subject}`",
            "$.subject",
            "send a round, `CC-07/2026-11-20/231`; for a rules submission a table or the property",
        )
