"""How the CLI and the screen put a fact of the house on record, and get its receipt.

A view of footage, a lock, a clock read by hand: what people do here is told like any device's fact,
judged by the same edge and kept by the same function. It decides nothing about what may be told.
"""

from __future__ import annotations

import secrets
import time
from typing import TYPE_CHECKING, NamedTuple, Protocol

from ledger.errors import Refused, Unavailable, Usage
from ledger.record.tape import Quarantined
from ledger.record.wire import encode, parse_structured
from ledger.values import Source

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ledger.facts import Body
    from ledger.record.tape import Receipt, Received

SURVEILLANCE = "surveillance"
"""The place whose tape keeps what investigators do."""


KEPT = ("appended", "duplicate")
"""Verdicts on a fact that is on record now as it was told."""


class FactWriter(Protocol):
    """What keeps facts: an open `PostgresTape`, or a `Committer` over one."""

    def append(self, facts: Sequence[Received | Quarantined]) -> list[Receipt]:
        """Keep all of them in one transaction; one receipt each, in order."""


class Noted(NamedTuple):
    """A fact of the house, and the record's answer to it."""

    fact: Received
    receipt: Receipt

    @property
    def position(self) -> int:
        """Where it stands on the record."""
        return self.receipt.position or 0


def screen(property_: str, device: str = "screen") -> Source:
    """Who says what is done on the investigator's screen, or on another device of surveillance."""
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
    """Put one fact on record: it happened now, unless `time_us` (microseconds, UTC) says when.

    A lost answer is asked for once more with the same octets, so that nothing is told twice.
    Raises `Usage` where it is no well-formed fact, `Unavailable` where the record does not answer,
    `Refused` where an `id` given is on record with other octets.
    """
    fact = build_fact(body, source, subject=subject, time_us=time_us, id=id)
    return append_facts(record, [fact])[0]


def append_facts(record: FactWriter, facts: Sequence[Received]) -> list[Noted]:
    """Put several facts on record, all in one transaction. Raises as `append_fact`."""
    noted = append_each(record, facts)
    for _, receipt in noted:
        if receipt.verdict not in KEPT:
            raise Refused(
                "Another fact with this id is on record",
                where=f"{receipt.source}, id {receipt.id}",
                hint="Say it again under another id; what was sent is in quarantine.",
            )
    return noted


def append_each(record: FactWriter, facts: Sequence[Received]) -> list[Noted]:
    """The same, and whoever asks looks which verdict is not one of `KEPT`. Raises `Unavailable`."""
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
    """A fact ready to be kept, judged as one that arrives is. Raises `Usage`."""
    when_us = now_us() if time_us is None else time_us
    who = "/" + "/".join(source)
    judged = parse_structured(encode(body, who, id or new_id(when_us), when_us, subject))
    if isinstance(judged, Quarantined):
        raise Usage(f"{judged.what} ({judged.reason})", where=judged.where, hint=judged.hint)
    return judged


def new_id(time_us: int) -> str:
    """An id that nothing else has; ids made later sort later, as the record's index likes."""
    return f"{time_us:016x}-{secrets.token_hex(8)}"


def now_us() -> int:
    """This machine's clock, microseconds since the epoch."""
    return time.time_ns() // 1000
