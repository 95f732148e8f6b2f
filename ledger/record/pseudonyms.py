"""Pseudonyms: what the record keeps in place of a patron's token, so that a token can be erased.

A pseudonym is a salted commitment to a token. Facts, chains, views and the feed have it from the
first. Token and salt stand in one table beside the record, and nowhere else. Once they are gone
from there, no hash can be guessed back to the token, and every proof still holds (ADR 0244).
"""

from __future__ import annotations

import hashlib
import json
import re
from typing import TYPE_CHECKING, NamedTuple, TypeVar

from ledger.record.tape import Quarantined, Received, frame, frame_attributes, unframe_attributes
from ledger.record.verify import BreakKind, RecordBreak

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

F = TypeVar("F", Received, Quarantined)

PREFIX = "pseudonym:"
"""What opens a pseudonym; 64 hexadecimal digits follow."""

SALT_OCTETS = 32
ERASED = "patron_erased.v1"
"""The type of the fact that erases: with it, token and salt are gone in the same transaction."""

NOT_KEPT = "not kept"
"""What quarantine has in place of the signature over a token."""

_DOMAIN = b"roundledger pseudonym v1\0"
_PSEUDONYM = re.compile(PREFIX + "[0-9a-f]{64}")
_SIGNATURE = "signature"


def _named(name: str) -> bytes:
    """A pattern for a name in JSON and its colon. Any letter may be written as an escape."""
    letters = (rb"(?:%c|\\u00(?i:%02x))" % (letter, letter) for letter in name.encode())
    return rb'(?<!\\)"' + b"".join(letters) + rb'"\s*:\s*'


_STRING = rb'"(?:[^"\\]|\\.)*(?:"|\Z)'
_TOKEN = re.compile(rb"(%b)(%b|-?[0-9][-+.0-9eE]*)" % (_named("patron"), _STRING), re.DOTALL)
_SIGNED = re.compile(rb"(%b)%b" % (_named(_SIGNATURE), _STRING), re.DOTALL)


class PatronToken(NamedTuple):
    """A patron as a casino names one. property: empty for an input that names no casino."""

    property: str
    token: str


class FactOnRecord(NamedTuple):
    """The data of a fact on record, and those of its pseudonyms whose token is known."""

    data: bytes
    known: frozenset[str]


class KeptPseudonym(NamedTuple):
    """A row of the table of pseudonyms. token and salt: None once they were erased."""

    number: int  # gapless from 1
    pseudonym: str
    property: str
    token: str | None
    salt: bytes | None
    erased_position: int | None  # of the fact that erased it


def pseudonym_of(patron: PatronToken, salt: bytes) -> str:
    """The commitment: SHA-256 over a domain, and over casino, salt and token, each framed."""
    parts = (patron.property.encode(), salt, patron.token.encode())
    return PREFIX + hashlib.sha256(_DOMAIN + frame(parts)).hexdigest()


def is_pseudonym(text: str) -> bool:
    """Whether a text has the form of a pseudonym."""
    return _PSEUDONYM.fullmatch(text) is not None


def patrons_in(fact: Received | Quarantined) -> list[PatronToken]:
    """The patrons whose tokens stand in an input, in the field `patron` at whatever depth."""
    octets = fact.data if isinstance(fact, Received) else fact.octets
    if b"patron" not in octets and b"\\u00" not in octets:
        return []  # as nearly every fact
    tokens = (_decoded(found[2]) for found in _TOKEN.finditer(octets))
    return [PatronToken(_property(fact), each) for each in tokens if _is_token(each)]


def with_pseudonyms(fact: F, known: Mapping[PatronToken, str]) -> F:
    """The input with pseudonyms in place of tokens, and without a signature over them.

    With the device's public key anybody could try tokens until the signature fits.
    """
    property_ = _property(fact)

    def meant(found: re.Match[bytes]) -> bytes:
        token = _decoded(found[2])
        return (
            found[1] + b'"%b"' % known[PatronToken(property_, token)].encode()
            if _is_token(token)
            else found[0]
        )

    if isinstance(fact, Received):
        attributes = unframe_attributes(fact.attributes)
        attributes.pop(_SIGNATURE, None)
        framed = frame_attributes(attributes)
        return fact._replace(attributes=framed, data=_TOKEN.sub(meant, fact.data))
    unsigned = _SIGNED.sub(rb'\1"%b"' % NOT_KEPT.encode(), fact.octets)
    return fact._replace(octets=_TOKEN.sub(meant, unsigned))


def said_again(sent: Received, on_record: FactOnRecord, known: Mapping[PatronToken, str]) -> bool:
    """Whether a fact that names patrons says what is on record under its identity.

    An erased token is equal to any. A fact may have been recorded with the token itself, before
    there were pseudonyms.
    """
    if _TOKEN.sub(rb"\1", sent.data) != _TOKEN.sub(rb"\1", on_record.data):
        return False
    property_ = _property(sent)
    pairs = zip(_TOKEN.finditer(on_record.data), _TOKEN.finditer(sent.data), strict=True)
    for was, now in ((_decoded(one[2]), _decoded(other[2])) for one, other in pairs):
        erased = is_pseudonym(was) and was not in on_record.known
        if was not in (now, known.get(PatronToken(property_, now))) and not erased:
            return False
    return True


def verify_pseudonyms(
    rows: Iterable[KeptPseudonym], counted: int, erasures: Mapping[str, int]
) -> Iterator[RecordBreak]:
    """Every row that is not as it was kept, or that was erased by nobody on record.

    rows: by number, up to `counted`, which the record counts. erasures: by pseudonym, the position
    of the first fact that erases it.
    """
    number = 0
    for row in rows:
        for gone in range(number + 1, row.number):
            yield _break("pseudonym deleted", gone, "a pseudonym that was kept here is gone")
        number = row.number
        if odd := _contradiction(row, erasures.get(row.pseudonym)):
            yield _break("pseudonym edited", number, odd)
    for gone in range(number + 1, counted + 1):
        yield _break("pseudonym deleted", gone, "a pseudonym that was kept here is gone")


def _contradiction(row: KeptPseudonym, erased: int | None) -> str | None:
    """A difference between a row and its pseudonym or the record, in words, or None."""
    if row.token is None or row.salt is None:
        if erased is None:
            return "its token is gone, and no fact on record erases it"
        return None if erased == row.erased_position else f"it was erased at position {erased}"
    if pseudonym_of(PatronToken(row.property, row.token), row.salt) != row.pseudonym:
        return "its token and salt are not those of the pseudonym"
    return None if erased is None else f"it was erased at position {erased}, and stands here again"


def _break(kind: BreakKind, number: int, says: str) -> RecordBreak:
    return RecordBreak(kind, None, None, None, f"{says[0].upper()}{says[1:]}.", pseudonym=number)


def _property(fact: Received | Quarantined) -> str:
    """The casino that an input's source names; empty if it names none."""
    return (fact.source or "").removeprefix("/").partition("/")[0]


def _decoded(octets: bytes) -> str:
    """The text of a JSON string or number. What is not JSON is read as it stands."""
    try:
        text = str(json.loads(octets))
    except ValueError:
        text = octets.strip(b'"').decode(errors="replace")
    return text.replace("\0", "\N{REPLACEMENT CHARACTER}").encode(errors="replace").decode()


def _is_token(text: str) -> bool:
    return text != "" and not is_pseudonym(text)
