"""Decoding the `data` of each type of fact: a decoder a stored name, and plain errors.

Every version ever stored has a row here. An earlier version is decoded into the current struct.
Nothing here reads an envelope.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

import msgspec

from ledger.facts import FACTS, SUBJECT_REQUIRED, UPCASTERS
from ledger.record.strict_json import MalformedError

if TYPE_CHECKING:
    from collections.abc import Callable

    from msgspec import Struct

WIRE_PREFIX = "roundledger."
"""The prefix of a stored name in a CloudEvents `type`."""

_MISSING = re.compile(r"Object missing required field `(?P<field>.+)`")
_FIRST_NAME = re.compile(r"`(?P<field>[a-z0-9_]+)`")
_CARD_FIELDS = ("card", "discards", "hands")
_CARD_HINT = "a card is rank and suit as in `As`, `Td`, `9c`; `Jk` is the joker, `??` not known"
_WHOLE_HINT = "money is an integer in cents (2500 is $25.00); no field of a fact is a fraction"


class FactKind(NamedTuple):
    """One stored name: its decoder, and what its struct says of place and round."""

    type: str
    decode: Callable[[bytes], Struct]
    upcast: Callable[[object], Struct] | None
    needs_subject: bool
    names_table: bool
    names_round: bool


def _kind(name: str, struct: type[Struct], upcast: Callable[[object], Struct] | None) -> FactKind:
    fields = struct.__struct_fields__
    return FactKind(
        name,
        msgspec.json.Decoder(struct).decode,
        upcast,
        name in SUBJECT_REQUIRED,
        "table" in fields,
        "round" in fields,
    )


KINDS: dict[str, FactKind] = {
    **{name: _kind(name, struct, None) for name, struct in FACTS.items()},
    **{name: _kind(name, old, upcast) for name, (old, upcast) in UPCASTERS.items()},
}
"""Kinds by stored name, every version."""

ON_THE_WIRE = {WIRE_PREFIX + name: kind for name, kind in KINDS.items()}
"""Kinds by the `type` of a CloudEvent."""

_KNOWN_NAMES = {name.rsplit(".", 1)[0] for name in KINDS}


def kind_of(wire_type: str) -> FactKind:
    """The kind that a CloudEvents `type` names. Raises MalformedError if there is none."""
    kind = ON_THE_WIRE.get(wire_type)
    if kind:
        return kind
    name, _, version = wire_type.removeprefix(WIRE_PREFIX).rpartition(".")
    if wire_type.startswith(WIRE_PREFIX) and name in _KNOWN_NAMES:
        raise MalformedError(
            "unknown_version",
            f"`{name}` has no version `{version}` here",
            "$.type",
            "upgrade the ledger and release this from quarantine, or send a version it knows",
        )
    raise MalformedError(
        "unknown_type",
        f"This ledger has no fact `{wire_type}`",
        "$.type",
        "write `roundledger.<fact>.v<version>`; if the fact is new, upgrade and release this",
    )


def body(kind: FactKind, data: bytes) -> Struct:
    """The typed struct of `data`, in the current version. Raises MalformedError."""
    try:
        told = kind.decode(data)
        return kind.upcast(told) if kind.upcast else told
    except msgspec.ValidationError as error:
        raise in_words(kind.type, str(error)) from None
    except msgspec.DecodeError as error:
        raise MalformedError(
            "not_json", f"Not JSON: {error}", "$.data", "send whole characters and whole values"
        ) from None


def in_words(type_: str, error: str) -> MalformedError:
    """The decoder's error as what, where and what to do now."""
    message, _, at = error.rpartition(" - at ")
    if not message:
        message, at = error, "`$`"
    *_, path = at.split("`")[:-1]
    where = "$.data" + path[1:]
    missing = _MISSING.fullmatch(message)
    if missing:
        field = missing["field"]
        return MalformedError(
            "missing_field",
            f"`{field}` is missing",
            f"{where}.{field}",
            f"send `{field}`; /docs/facts.html lists the fields of `{type_}`",
        )
    if message.startswith("`"):  # an error of the struct's own, which names the field first
        named = _FIRST_NAME.match(message)
        reason = "missing_field" if " is missing" in message else "wrong_field"
        where = f"{where}.{named['field']}" if named else where
        return MalformedError(reason, message, where, f"see `{type_}` in /docs/facts.html")
    return MalformedError("wrong_field", _what(message, where), where, _hint(type_, message, where))


def _is_card(where: str) -> bool:
    return where.removeprefix("$.data.").startswith(_CARD_FIELDS)


def _what(message: str, where: str) -> str:
    if message.startswith("Invalid enum value ") and _is_card(where):
        return message.removeprefix("Invalid enum value ") + " is not a card"
    if "matching regex" in message:
        return "The text does not have the form of this field"
    return message


def _hint(type_: str, message: str, where: str) -> str:
    if "got `float`" in message:
        return _WHOLE_HINT
    if message.startswith("Expected `int`") and ("<=" in message or ">=" in message):
        return "keep within that bound; money goes up to 10^13 cents"
    if _is_card(where) and where.endswith("]"):
        return _CARD_HINT
    return f"see `{type_}` in /docs/facts.html"
