"""Releases from quarantine: the fact that an input turns out to be, as sent or corrected."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING, NamedTuple

import msgspec

from ledger.errors import Refused, Usage
from ledger.record.tape import Quarantined, frame_attributes, unframe_attributes
from ledger.record.wire import parse_kept, parse_structured
from ledger.roster.door import COMMANDS_ONLY, REPLACES
from ledger.roster.signature import SIGNATURE, SIGNKEY
from ledger.values import quantity

if TYPE_CHECKING:
    from collections.abc import Mapping

    from infra.postgres.tape import PostgresTape
    from ledger.record.tape import InQuarantine, Received, TapeRow

CORRECTED_OCTETS_MAX = 44 * 1024
"""The most bytes of a corrected fact as JSON text: its request is one fact, of 64 KiB at most."""

_PIECE = 4_000  # characters of a term


class ReleasedFact(NamedTuple):
    """The fact that is recorded for an input in quarantine."""

    row: InQuarantine
    fact: Received


def released_fact(
    tape: PostgresTape, number: int, corrected: bytes | None, where: str = "corrected"
) -> ReleasedFact:
    """The fact to record for a number in quarantine: the same bytes again, or a corrected fact.

    where: what brought the corrected one. Raises `NotFound`, `Refused` and `Usage`.
    """
    row = tape.in_quarantine(number)
    if row.released_at_us is not None:
        raise Refused(
            f"Quarantined input {number} was released before",
            where=f"number {number} in quarantine",
            hint="`round-ledger quarantine show` names the position of its fact.",
        )
    fact = _same_again(row) if corrected is None else _corrected(corrected, number, where)
    if fact.type in COMMANDS_ONLY:
        raise Refused(
            f"Only a command records a {fact.type}",
            where=f"number {number} in quarantine",
            hint=f"Use `round-ledger {COMMANDS_ONLY[fact.type]}`: it names the people who did it.",
        )
    return ReleasedFact(row, fact)


def corrected_terms(octets: bytes) -> dict[str, str]:
    """A corrected fact in pieces that fit the terms of a request. Raises `Usage`."""
    text = octets.decode().strip()
    size = len(msgspec.json.encode(text))
    if size > CORRECTED_OCTETS_MAX:
        raise Usage(
            f"The corrected fact has {quantity(size, 'byte')} as JSON text",
            where="--as",
            hint=f"Two people release one of at most {CORRECTED_OCTETS_MAX:,}. Each quote counts "
            "twice. Leave out blanks.",
        )
    pieces = [text[at : at + _PIECE] for at in range(0, len(text), _PIECE)]
    return {f"corrected_{number}": piece for number, piece in enumerate(pieces, 1)}


def corrected_of(terms: Mapping[str, str]) -> bytes | None:
    """The corrected fact that the terms of a request hold, or None."""
    names = ("corrected", *(f"corrected_{number}" for number in range(1, len(terms) + 1)))
    pieces = [terms[name] for name in names if name in terms]
    return "".join(pieces).encode() if pieces else None


def require_new(tape: PostgresTape, fact: Received) -> None:
    """Raise `Refused` if another fact with this identity is on record."""
    rows = tape.told_by(fact.source, fact.id)
    if any(row.id == fact.id and _content(row) != _content(fact) for row in rows):
        raise Refused(
            "Its source and id are on record with other bytes",
            where=f"{fact.source}, id {fact.id}",
            hint="Release a `fact_corrected` with --as instead.",
        )


def fact_digest(fact: Received) -> str:
    """SHA-256 of what a fact says: its type, source, id, time, subject, attributes and data."""
    says = (fact.type, fact.source, fact.id, fact.time_us, fact.subject, fact.attributes, fact.data)
    return hashlib.sha256(msgspec.json.encode(says)).hexdigest()


def _content(of: TapeRow | Received) -> tuple[bytes, dict[str, str]]:
    """What makes two facts of one identity the same: the data, and attributes but a signature."""
    attributes = unframe_attributes(of.attributes)
    told = {name: attributes[name] for name in attributes.keys() - {SIGNKEY, SIGNATURE}}
    return of.data, told


def _same_again(row: InQuarantine) -> Received:
    where = f"number {row.quarantine_id} in quarantine"
    if row.verdict == "equivocation":
        raise Refused(
            "It is a well-formed fact, but its source and id are on record with other bytes",
            where=where,
            hint="If it is the true one, append a `fact_corrected` for the other with --as.",
        )
    judged = parse_kept(row.octets)
    if isinstance(judged, Quarantined):
        raise Refused(
            f"It is still malformed: {judged.what} ({judged.reason})",
            where=f"{where}, {judged.where}",
            hint=f"Correct it and append the corrected fact with --as: {judged.hint}.",
        )
    return judged


def _corrected(octets: bytes, number: int, where: str) -> Received:
    """The corrected fact, with the number of the input it replaces."""
    judged = parse_structured(octets.strip())
    if isinstance(judged, Quarantined):
        raise Usage(
            f"{judged.what} ({judged.reason})", where=f"{where} {judged.where}", hint=judged.hint
        )
    attributes = unframe_attributes(judged.attributes)
    if attributes.setdefault(REPLACES, str(number)) != str(number):
        raise Usage(
            f"The fact replaces number {attributes[REPLACES]}, not {number}",
            where=f"{where} $.{REPLACES}",
            hint=f"Leave `{REPLACES}` out: it is added.",
        )
    return judged._replace(attributes=frame_attributes(attributes))
