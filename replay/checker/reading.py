"""Reading the files of a dossier: strict JSON, and facts in the bytes that were received."""

from __future__ import annotations

import json
import re
from base64 import b64decode
from datetime import datetime, timedelta, timezone
from typing import Any, NamedTuple, NoReturn

_DIGITS_MAX = 20
_TIME = re.compile(
    r"(\d{4})-(\d\d)-(\d\d)[Tt](\d\d):(\d\d):(\d\d)(?:\.(\d+))?(?:[Zz]|([+-])(\d\d):(\d\d))"
)
_ON_ONE_LINE = bytes.maketrans(b"\r\n", b"  ")
_PREFIX = "roundledger."


class Malformed(Exception):  # noqa: N818 - names the state of a text
    """A file's text has the wrong form; its text says why."""


class ReceivedFact(NamedTuple):
    """One fact in the bytes received."""

    where: str  # "facts.jsonl line 7"
    attributes: dict[str, str]
    data: bytes

    @property
    def key(self) -> tuple[str, str]:
        """Source and id, which identify the fact."""
        return (self.attributes.get("source", ""), self.attributes.get("id", ""))

    @property
    def kind(self) -> str:
        """`wager_paid.v1`."""
        name = self.attributes.get("type", "")
        return name[len(_PREFIX) :] if name.startswith(_PREFIX) else name

    @property
    def name(self) -> str:
        """`wager_paid`."""
        return self.kind.partition(".")[0]

    @property
    def tape(self) -> str:
        """The tape that its source belongs to."""
        return "/".join(self.attributes.get("source", "").split("/")[1:3])

    def told(self) -> dict[str, Any]:
        """Its data in today's version. Raises Malformed, KeyError and TypeError."""
        told = an_object(self.data, self.where)
        return UPCASTS[self.kind](told) if self.kind in UPCASTS else told


def wager_paid_v0(told: dict[str, Any]) -> dict[str, Any]:
    """Version 0 had the stake and what was paid with it; `amount` is the winnings alone."""
    kept = {name: each for name, each in told.items() if name not in ("paid_with_stake", "stake")}
    return {**kept, "amount": told["paid_with_stake"] - told["stake"]}


UPCASTS = {"wager_paid.v0": wager_paid_v0}
"""How each fact of an earlier version is read, as the ledger reads it."""


def parsed(octets: bytes, where: str) -> Any:  # noqa: ANN401 - whatever JSON holds
    """The parsed JSON. Raises Malformed for duplicate names, endless numbers and deep nesting."""
    try:
        return json.loads(
            octets.decode("utf-8"),
            object_pairs_hook=_pairs,
            parse_int=_integer,
            parse_float=str,  # kept as text: no figure here is a float
            parse_constant=_refused,
        )
    except (ValueError, RecursionError) as error:
        raise Malformed(f"{where} is not JSON: {error}.") from None


def an_object(octets: bytes, where: str) -> dict[str, Any]:
    """A JSON object. Raises Malformed."""
    found = parsed(octets, where)
    if not isinstance(found, dict):
        raise Malformed(f"{where} is not a JSON object.")
    return found


def canonical(told: object) -> bytes:
    """The canonical JSON: names sorted, no blanks, characters unescaped.

    Half of a surrogate pair, which only an escape can hold, makes bytes that nobody signed.
    """
    text = json.dumps(told, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    return text.encode("utf-8", "surrogatepass")


def fact_of(line: bytes, where: str) -> ReceivedFact:
    """The fact on a line, its `data` in the bytes received. Raises Malformed."""
    try:
        text = line.decode("utf-8")
        return _fact(text, where)
    except (ValueError, RecursionError, IndexError):
        raise Malformed(f"{where} is not a fact.") from None


def with_octets(fact: ReceivedFact, base64: str) -> ReceivedFact:
    """The fact with the bytes of its several-line data. Raises Malformed if they are other data."""
    try:
        octets = b64decode(base64, validate=True)
    except (ValueError, TypeError):
        raise Malformed(f"The bytes kept beside {fact.where} are not base64.") from None
    if octets.translate(_ON_ONE_LINE) != fact.data:
        raise Malformed(f"The bytes kept beside {fact.where} are other data than the fact has.")
    return fact._replace(data=octets)


def microseconds(time: str) -> int | None:
    """Microseconds since the epoch, rounded down. None for text that is not an RFC 3339 time."""
    match = _TIME.fullmatch(time)
    if not match:
        return None
    *moment, fraction, sign, hours, minutes = match.groups()
    micro = int(((fraction or "") + "000000")[:6])
    try:
        at = datetime(*map(int, moment), micro, tzinfo=timezone.utc)  # type: ignore[arg-type,misc] # six numbers
        away = timedelta(hours=int(hours or 0), minutes=int(minutes or 0))
        at = at + away if sign == "-" else at - away
        since = at - datetime(1970, 1, 1, tzinfo=timezone.utc)
    except (ValueError, OverflowError):
        return None
    return since // timedelta(microseconds=1)


def _fact(text: str, where: str) -> ReceivedFact:
    decoder = json.JSONDecoder(object_pairs_hook=_pairs, parse_int=str, parse_float=str)
    attributes: dict[str, str] = {}
    data = b""
    at, mark = 0, "{"
    while text[at] == mark:
        name, end = decoder.raw_decode(text, at + 1)
        if text[end] != ":" or name in attributes or not isinstance(name, str) or data:
            raise ValueError(name)
        value, at = decoder.raw_decode(text, end + 1)
        if name == "data":
            data = text[end + 1 : at].encode()
        elif isinstance(value, str):
            attributes[name] = value
        else:
            raise ValueError(name)
        mark = ","
    if text[at:] != "}":
        raise ValueError(text[at:])
    return ReceivedFact(where, attributes, data)


def _pairs(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        raise ValueError("an object has the same name twice")
    return found


def _integer(digits: str) -> int | str:
    """The number; one with too many digits stays text."""
    return int(digits) if len(digits) <= _DIGITS_MAX else digits


def _refused(text: str) -> NoReturn:
    raise ValueError(f"{text[:_DIGITS_MAX]} is not a number")
