"""What the rules say of a round: settlements, findings, and what must come next. Values only."""

from __future__ import annotations

from typing import Literal

from msgspec import Struct

Outcome = Literal["win", "lose", "push", "void"]
Status = Literal["complete", "awaiting", "void"]


class FactRef(Struct, frozen=True):
    """Which fact: a source and its id identify it for ever."""

    source: str
    id: str


class Settlement(Struct, frozen=True, kw_only=True):
    """What one wager was owed, by section. Money in cents, stakes not included in `net`."""

    position: int
    hand: int = 1
    wager: str
    throw: int | None = None  # 1 = the first valid throw; only where wagers repeat within a round
    stake: int
    outcome: Outcome
    row: str | None = None  # the printed row that paid or pushed
    odds: str | None = None  # as printed
    rows: list[str] | None = None  # the parts, where two rows pay one wager
    net: int  # what the patron gains (+) or loses (-), after breakage
    exact_net: str  # the exact fraction before breakage
    paytable: str | None = None  # its letter, where the Rules Submission chooses one
    section: str  # as printed: "592.12(b)"
    reading: str | None = None  # the reading it depended on
    reading_value: str | bool | None = None
    paid_from: Literal["table", "cage"] = "table"


class Finding(Struct, frozen=True, kw_only=True):
    """Something the record shows that the rules do not: it reads aloud as one sentence."""

    code: str
    position: int | None = None
    hand: int | None = None
    wager: str | None = None
    throw: int | None = None
    expected: int | str | None = None  # cents where it is money
    recorded: int | str | None = None
    section: str | None = None
    says: str
    facts: list[FactRef] = []


class Awaiting(Struct, frozen=True, kw_only=True, omit_defaults=True, rename={"or_": "or"}):
    """What must happen next and by which section; `or` names what may happen instead."""

    step: str
    who: str
    section: str | None  # None: of no known game
    position: int | None = None
    wager: str | None = None
    amount: int | None = None
    or_: str | None = None


class Ruling(Struct, frozen=True, kw_only=True):
    """One round re-adjudicated: the whole of it, from the facts alone."""

    round: str  # "CC-07/2026-11-20/231"
    property: str
    game: str | None  # None: not on record
    edition: str | None  # None: of no known game
    edition_note: str | None = None  # where no edition covers the gaming day
    status: Status
    settlements: list[Settlement]
    findings: list[Finding]
    awaiting: Awaiting | None
    next: Awaiting | None = None  # what must come next on the record, payments included
    before: Ruling | None = None  # the ruling without the corrections that were made since


class TableFindings(Struct, frozen=True, kw_only=True):
    """Findings of procedures that belong to no round."""

    table: str
    property: str
    gaming_day: str | None
    round: None = None
    findings: list[Finding]
