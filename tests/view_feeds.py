"""Feeds for tests of views: simulated days on a tape, cut and disturbed as a test asks.

`record` puts a feed on a tape; `Prefix` is the record as it stood at a position, or a source that
is a list.
"""

from __future__ import annotations

import random
from typing import TYPE_CHECKING, NamedTuple

from consumers.projection import Projection, dump
from infra.tape import PostgresTape
from infra.views import reading
from ledger.facts import StubCounted
from ledger.simulate import MISTAKES, deal, line, plan_of
from ledger.tape import Received
from ledger.wire import parse_line

if TYPE_CHECKING:
    from collections.abc import Sequence

    from infra.postgres import Database
    from ledger.tape import TapeRow

MINUTE_US = 60_000_000


class Prefix(NamedTuple):
    """Rows of the record up to a position, as a `RecordSource`."""

    rows: Sequence[TapeRow]
    until: int

    def read(self, after: int, limit: int) -> Sequence[TapeRow]:
        return self.rows[after : min(after + limit, self.until)]

    def wait(self, after: int, timeout_s: float) -> None:
        raise AssertionError(f"waits {timeout_s} s after {after}: a prefix has an end")


def day(minutes: int = 30, *, seed: int = 7, tables: int = 4, planted: int = 1) -> list[Received]:
    """A simulated day's facts in the order they arrive, with mistakes of every kind."""
    mistakes = dict.fromkeys(MISTAKES, planted)
    plan = plan_of(minutes=minutes, tables=tables, seed=seed, mistakes=mistakes)
    facts, _ = deal(plan)
    return [received(line(plan, fact)) for fact in facts]


def uncared(minutes: int = 60, *, seed: int = 7) -> list[Received]:
    """A day on which no stub is ever counted: there are findings of no round."""
    plan = plan_of(minutes=minutes, seed=seed)
    facts, _ = deal(plan)
    return [received(line(plan, f)) for f in facts if not isinstance(f.body, StubCounted)]


def received(octets: bytes) -> Received:
    parsed = parse_line(octets)
    assert isinstance(parsed, Received), parsed
    return parsed


def disturbed(facts: list[Received], seed: int, *, window: int = 60) -> list[Received]:
    """The same facts arriving otherwise: shuffled over a window, a few of them very late."""
    chance = random.Random(seed)  # noqa: S311 - repeatable, guards nothing
    late = set(chance.sample(range(len(facts)), max(1, len(facts) // 200)))
    at = [
        number + chance.randrange(window) + (chance.randrange(len(facts)) if number in late else 0)
        for number in range(len(facts))
    ]
    return [fact for _, fact in sorted(zip(at, facts, strict=True), key=lambda each: each[0])]


def record(database: Database, facts: Sequence[Received]) -> list[TapeRow]:
    """Put facts on the tape; every row of the record."""
    with PostgresTape(database) as tape:
        for at in range(0, len(facts), 1000):
            tape.append(facts[at : at + 1000])
        rows: list[TapeRow] = []
        while found := tape.read(len(rows), 5000):
            rows += found
        return rows


def dumped(database: Database, view: Projection) -> bytes:
    """The live view's canonical dump."""
    with reading(database, [table.name for table in view.tables]) as store:
        return dump(store, view)
