"""Records facts of the house for commands and pages, and returns receipts.

Viewing footage, a lock, a clock reading: actions of people become facts like those of devices,
judged and kept by the same functions.
"""

from __future__ import annotations

import secrets
import time
from typing import TYPE_CHECKING, NamedTuple, Protocol

from infra.sender import current_sender
from ledger.errors import Refused, Unavailable, Usage
from ledger.record.tape import Quarantined
from ledger.record.wire import encode, parse_structured
from ledger.values import Source

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from ledger.facts import Body
    from ledger.record.tape import Receipt, Received

SURVEILLANCE = "surveillance"
"""The place whose tape has the actions of investigators."""


KEPT = ("appended", "duplicate")
"""Verdicts that mean the fact is on record as sent."""


class FactWriter(Protocol):
    """A writer of facts: an open `PostgresTape`, or a `Committer` over one."""

    def append(self, facts: Sequence[Received | Quarantined]) -> list[Receipt]:
        """Keep all of them in one transaction; one receipt each, in order."""


class Noted(NamedTuple):
    """A fact of the house, and the record's answer to it."""

    fact: Received
    receipt: Receipt

    @property
    def position(self) -> int:
        """Its position on the record."""
        return self.receipt.position or 0


def screen(property_: str, device: str = "screen") -> Source:
    """The source of actions on the pages, or of another device of surveillance."""
    return Source(property_, SURVEILLANCE, device)


def append_fact(
    record: FactWriter,
    body: Body,
    source: Source,
    *,
    subject: str | None = None,
    time_us: int | None = None,
    id: str | None = None,  # noqa: A002 - the attribute's own name
) -> Noted:
    """Record one fact, with time now or `time_us` (microseconds, UTC).

    If the answer is lost, the same bytes are sent once more, so that no fact is recorded twice.
    Raises `Usage` for a malformed fact, `Unavailable` if the database does not answer, `Refused` if
    a given `id` is on record with other bytes.
    """
    fact = build_fact(body, source, subject=subject, time_us=time_us, id=id)
    return append_facts(record, [fact])[0]


def append_first_free(
    record: FactWriter, source: Source, made: Mapping[str, Body], where: str
) -> str:
    """Record the first of these facts whose id is free; the id. made: the facts by id.

    Raises as `append_fact`, `Refused` if all ids are taken.
    """
    for name, body in made.items():
        try:
            append_fact(record, body, source, id=name)
        except Refused:  # somebody else has taken that id
            continue
        return name
    raise Refused("Others record the same at this moment", where=where, hint="Send it again.")


def append_facts(record: FactWriter, facts: Sequence[Received]) -> list[Noted]:
    """Record several facts in one transaction. Raises as `append_fact`."""
    noted = append_each(record, facts)
    for _, receipt in noted:
        if receipt.verdict not in KEPT:
            raise Refused(
                "Another fact with this id is on record",
                where=f"{receipt.source}, id {receipt.id}",
                hint="Repeat it with another id. What was sent is in quarantine.",
            )
    return noted


def append_each(record: FactWriter, facts: Sequence[Received]) -> list[Noted]:
    """Record several facts; the caller checks for verdicts not in `KEPT`. Raises `Unavailable`."""
    try:
        receipts = record.append(facts)
    except Unavailable:
        receipts = record.append(facts)
    return [Noted(fact, receipt) for fact, receipt in zip(facts, receipts, strict=True)]


def build_fact(
    body: Body,
    source: Source,
    *,
    subject: str | None = None,
    time_us: int | None = None,
    id: str | None = None,  # noqa: A002 - the attribute's own name
) -> Received:
    """A fact ready to be appended, judged like a received one. Raises `Usage`."""
    when_us = now_us() if time_us is None else time_us
    who = "/" + "/".join(source)
    judged = parse_structured(encode(body, who, id or new_id(when_us), when_us, subject))
    if isinstance(judged, Quarantined):
        raise Usage(f"{judged.what} ({judged.reason})", where=judged.where, hint=judged.hint)
    return judged._replace(sender=current_sender())


def new_id(time_us: int) -> str:
    """A unique id; later ids sort later, which suits the record's index."""
    return f"{time_us:016x}-{secrets.token_hex(8)}"


def now_us() -> int:
    """This machine's clock, microseconds since the epoch."""
    return time.time_ns() // 1000
