"""Strict JSON: every byte is accounted for, no name is repeated, every number is valid.

Readers disagree about a repeated name, a NaN or a lone surrogate. A record with one would mean
different things to different readers. This module knows no facts and guesses nothing. It withstands
any bytes: no input can drive a recursion.
"""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

_STRING = re.compile(rb'"(?:[^"\\]|\\.)*"', re.DOTALL)
_TOKEN = re.compile(rb'"(?:[^"\\]|\\.)*"|[\[\]{},]', re.DOTALL)
_NOT_BRACKETS = bytes(set(range(256)) - set(b"[]{}"))
_UNPRINTABLE = re.compile(r"[\x00-\x1f\x7f-\x9f\ud800-\udfff]")
_SPACE = b" \t\r\n"
_TEXT_MAX = 500


class MalformedError(ValueError):
    """Bytes that are not a well-formed fact.

    reason: a stable code; what: a sentence; where: a JSON path or a byte; hint: what to do now.
    """

    def __init__(self, reason: str, what: str, where: str, hint: str) -> None:
        super().__init__(f"{what} ({where}); {hint}")
        self.reason = reason
        self.what = printable(what)
        self.where = printable(where)
        self.hint = hint


class _Suspect(Exception):  # noqa: N818 - not an error yet: the second reading decides
    """A repeated name or an invalid number. A second, slower reading says where."""


class _Pairs(list[tuple[str, object]]):
    """An object with its repeated names."""


class _Constant(str):
    """`NaN`, `Infinity` or `-Infinity`, which JSON does not have."""

    __slots__ = ()


def printable(text: str) -> str:
    """A text with control characters and lone surrogates escaped, and shortened."""
    text = text if len(text) <= _TEXT_MAX else text[:_TEXT_MAX] + "…"
    return _UNPRINTABLE.sub(lambda match: f"\\u{ord(match[0]):04x}", text)


def unsafe(text: str) -> bool:
    """Whether a text holds a control character, a lone surrogate or a noncharacter."""
    if text.isprintable():
        return False
    return any(
        character < " "
        or "\x7f" <= character <= "\x9f"
        or "\ud800" <= character <= "\udfff"
        or "\ufdd0" <= character <= "\ufdef"
        or ord(character) & 0xFFFE == 0xFFFE  # noqa: PLR2004 - the last two of every plane
        for character in text
    )


def _unique(pairs: list[tuple[str, object]]) -> dict[str, object]:
    members = dict(pairs)
    if len(members) != len(pairs):
        raise _Suspect
    return members


def _refuse(_: str) -> object:
    raise _Suspect


_DECODER = json.JSONDecoder(object_pairs_hook=_unique, parse_constant=_refuse)
_AS_IT_STOOD = json.JSONDecoder(object_pairs_hook=_Pairs, parse_constant=_Constant)


def read(octets: bytes, depth_max: int) -> object:
    """The value of these bytes. Raises MalformedError if they are not strict JSON."""
    try:
        text = octets.decode()
    except UnicodeDecodeError as error:
        raise MalformedError(
            "not_utf8",
            f"The byte 0x{octets[error.start]:02x} is not UTF-8",
            f"byte {error.start}",
            "send JSON as UTF-8",
        ) from None
    if deeper_than(octets, depth_max):
        raise MalformedError(
            "too_deep",
            f"Arrays and objects are nested more than {depth_max} levels deep",
            "$",
            "send a flatter `data`; no fact needs as many levels",
        )
    try:
        return _DECODER.decode(text)
    except _Suspect:
        raise _name_the_suspect(text) from None
    except json.JSONDecodeError as error:
        raise _not_json(text, error) from None
    except ValueError:  # Python refuses to read integers of thousands of digits
        raise MalformedError(
            "wrong_field", "A number has thousands of digits", "$", "send numbers up to 2^53"
        ) from None


def deeper_than(octets: bytes, depth_max: int) -> bool:
    """Whether brackets outside strings nest deeper than that. The bytes need not be JSON."""
    if octets.count(b"[") + octets.count(b"{") <= depth_max:
        return False
    depth = 0
    for octet in _STRING.sub(b"", octets).translate(None, _NOT_BRACKETS):
        depth += 1 if octet in b"[{" else -1
        if depth > depth_max:
            return True
    return False


def elements(octets: bytes) -> list[bytes] | None:
    """The bytes of each element of an array, or None if the bytes are no array.

    Only brackets, commas and strings are read, so that one bad element does not spoil the others.
    """
    octets = octets.strip(_SPACE)
    found: list[bytes] = []
    depth, start = 0, 1
    for match in _TOKEN.finditer(octets):
        token = match[0]
        if depth == 0 and (token != b"[" or match.start() != 0):
            return None
        if token in (b"[", b"{"):
            depth += 1
        elif token in (b"]", b"}"):
            depth -= 1
            if depth == 0:
                return _closed(octets, found, start, match) if token == b"]" else None
        elif token == b"," and depth == 1:
            found.append(octets[start : match.start()].strip(_SPACE))
            start = match.end()
    return None


def _closed(
    octets: bytes, found: list[bytes], start: int, end: re.Match[bytes]
) -> list[bytes] | None:
    if end.end() != len(octets):
        return None
    last = octets[start : end.start()].strip(_SPACE)
    return [*found, last] if last or found else []


def without_nul(value: object, path: str) -> None:
    """Check that no text holds U+0000, which a database cannot keep. Raises MalformedError."""
    for where, text in _texts(value, path):
        if "\x00" in text:
            raise MalformedError(
                "wrong_field", "A text holds the character U+0000", where, "leave U+0000 out"
            )


def _texts(value: object, path: str) -> Iterator[tuple[str, str]]:
    if isinstance(value, str):
        yield path, value
    elif isinstance(value, dict):
        for name, member in value.items():
            yield path, name
            yield from _texts(member, f"{path}.{name}")
    elif isinstance(value, list):
        for index, member in enumerate(value):
            yield from _texts(member, f"{path}[{index}]")


def _name_the_suspect(text: str) -> MalformedError:
    try:
        value = _AS_IT_STOOD.decode(text)
    except json.JSONDecodeError as error:
        return _not_json(text, error)
    return next(_suspects(value, "$"))


def _suspects(value: object, path: str) -> Iterator[MalformedError]:
    if isinstance(value, _Constant):
        yield MalformedError(
            "not_a_number",
            f"{value} is not a JSON number",
            path,
            "leave the field out if there is no number",
        )
    elif isinstance(value, _Pairs):
        seen: set[str] = set()
        for name, member in value:
            if name in seen:
                yield MalformedError(
                    "duplicate_key",
                    f"`{name}` appears twice in one object",
                    f"{path}.{name}",
                    "send each name once; readers disagree about which of two counts",
                )
            seen.add(name)
            yield from _suspects(member, f"{path}.{name}")
    elif isinstance(value, list):
        for index, member in enumerate(value):
            yield from _suspects(member, f"{path}[{index}]")


def _not_json(text: str, error: json.JSONDecodeError) -> MalformedError:
    octet = len(text[: error.pos].encode())
    return MalformedError(
        "not_json",
        f"Not JSON: {error.msg}",
        f"byte {octet}",
        "send one JSON object a fact; send a cut line again whole",
    )
