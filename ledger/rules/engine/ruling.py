"""Rulings as values: settlements, findings, and what must come next."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from msgspec import Struct

if TYPE_CHECKING:
    from collections.abc import Iterable

    from ledger.record.wire import Fact

Outcome = Literal["win", "lose", "push", "void"]
Status = Literal["complete", "awaiting", "void"]


class FactRef(Struct, frozen=True, gc=False):
    """A reference to a fact. Source and id together identify it for ever."""

    source: str
    id: str


def refs(facts: Iterable[Fact]) -> list[FactRef]:
    """References to facts."""
    return [FactRef(fact.source, fact.id) for fact in facts]


def joined(some: Iterable[FactRef], more: Iterable[FactRef]) -> list[FactRef]:
    """Some references and more of them, each once."""
    return list(dict.fromkeys([*some, *more]))


class Settlement(Struct, frozen=True, kw_only=True, gc=False):
    """What one wager is owed, by section. Money is in cents; `net` excludes the stake."""

    position: int
    hand: int = 1
    wager: str
    throw: int | None = None  # 1 = the first valid throw; only if wagers repeat within a round
    stake: int
    outcome: Outcome
    row: str | None = None  # the printed row that paid or pushed
    odds: str | None = None  # as printed
    rows: list[str] | None = None  # the rows, if two rows pay one wager
    net: int  # what the patron gains (+) or loses (-), after breakage
    exact_net: str  # the exact fraction before breakage
    paytable: str | None = None  # its letter, if the Rules Submission chooses one
    section: str  # as printed: "592.12(b)"
    reading: str | None = None  # the reading the settlement depends on
    reading_value: str | bool | None = None
    paid_from: Literal["table", "cage"] = "table"


class Finding(Struct, frozen=True, kw_only=True, gc=False):
    """A difference between the record and the rules, as one sentence and its parts."""

    code: str
    position: int | None = None
    hand: int | None = None
    wager: str | None = None
    throw: int | None = None
    expected: int | str | None = None  # cents if it is money
    recorded: int | str | None = None
    section: str | None = None
    says: str
    facts: list[FactRef] = []


class Awaiting(
    Struct, frozen=True, kw_only=True, gc=False, omit_defaults=True, rename={"or_": "or"}
):
    """What must happen next, and its section. `or` names what may happen instead."""

    step: str
    who: str
    section: str | None  # None: the game is not known
    position: int | None = None
    wager: str | None = None
    amount: int | None = None
    or_: str | None = None


class Ruling(Struct, frozen=True, kw_only=True):
    """The ruling on one round, from its facts alone."""

    round: str  # "CC-07/2026-11-20/231"
    property: str
    game: str | None  # None: not on record
    edition: str | None  # None: the game is not known
    edition_note: str | None = None  # given if no edition covers the gaming day
    status: Status
    settlements: list[Settlement]
    findings: list[Finding]
    awaiting: Awaiting | None
    next: Awaiting | None = None  # the next fact due, payments included
    before: Ruling | None = None  # the ruling without later corrections


class TableFindings(Struct, frozen=True, kw_only=True):
    """Findings about procedures, which belong to no round."""

    table: str
    property: str
    gaming_day: str | None
    round: None = None
    findings: list[Finding]
