"""Bytes <-> facts: CloudEvents 1.0 in, typed structs out, and nothing guessed."""

from __future__ import annotations

from msgspec import Struct

from ledger.values import RoundId


class Fact(Struct, frozen=True, gc=False):
    """One fact as the rules and views read it: who said it, when by whose clock, and what."""

    body: object  # one of ledger.facts
    source: str
    id: str
    time_us: int  # the device's clock, microseconds since the epoch
    round: RoundId | None
    table: str | None  # the table it speaks of: the round's, `data.table`, or the source's place
    boot: str | None
    sequence: int | None  # the device's own counter, None where it has none
