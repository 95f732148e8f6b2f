"""Feeds for tests of views: simulated days on a tape, cut and disturbed as a test asks.

`record` puts a feed on a tape; `Prefix` is the record as it stood at a position, or a source that
is a list.
"""

from __future__ import annotations

import random
from typing import TYPE_CHECKING, NamedTuple

from msgspec.structs import replace

from consumers.registry import VIEWS, install
from consumers.runtime.lifecycle import Projection, catch_up, dump
from infra.postgres.tape import PostgresTape
from infra.postgres.view_tables import reading
from ledger.facts import (
    AdjustmentPaid,
    BookmarkAdded,
    BookmarkRemoved,
    CreditAccepted,
    DaySealed,
    DisputeNoted,
    DisputeRaised,
    DisputeResolved,
    FillAccepted,
    FindingRef,
    FindingTaken,
    FootageLocked,
    FrameAnnotated,
    LogEntryAdded,
    MeterRead,
    RoundCompleted,
    SampleDrawn,
    ShiftBegun,
    ShiftCountersigned,
    ShiftHandedOver,
    StillTaken,
    StubCounted,
    TaskDone,
    TaskSet,
)
from ledger.facts.review import FrameShape
from ledger.record.tape import Received, frame_attributes, unframe_attributes
from ledger.record.wire import encode, fact_of, parse_line
from ledger.simulate import MISTAKES, deal, line, plan_of
from ledger.values import format_time

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from infra.postgres.connection import Database
    from ledger.facts import Body
    from ledger.record.tape import TapeRow
    from ledger.record.wire import Fact

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
    """A simulated day's facts in the order they arrive, with mistakes of every kind.

    Every fifth round is disputed.
    """
    mistakes = dict.fromkeys(MISTAKES, planted)
    plan = plan_of(minutes=minutes, tables=tables, seed=seed, mistakes=mistakes)
    facts, _ = deal(plan)
    told = []
    for fact in facts:
        told.append(received(line(plan, fact)))
        if isinstance(fact.body, RoundCompleted) and fact.round and fact.round.number % 5 == 1:
            told += _disputed(fact)
    return told


def slips_elsewhere(facts: Sequence[Received], chance: random.Random) -> Iterator[Received]:
    """Acceptances of slips by other tables and by the cage, some before the first, some after."""
    for number, fact in enumerate(map(fact_of, facts)):
        if isinstance(fact.body, FillAccepted | CreditAccepted):
            source = f"/hollywood/{chance.choice(('CC-01', 'TDF-01', 'CC-09'))}/slips"
            at_us = fact.time_us + chance.randrange(-600_000_000, 600_000_000)
            yield received(encode(fact.body, source, f"e{number}", at_us))
            for nth, minute in enumerate((-60_000_000, 60_000_000, 3_600_000_000)):
                by_cage = replace(fact.body, table=None)
                id_, at_us = f"c{number}-{nth}", fact.time_us + minute
                yield received(encode(by_cage, "/hollywood/cage/slips", id_, at_us))


def _disputed(fact: Fact) -> Iterator[Received]:
    """A dispute about a round, from claim to adjustment, each fact a second after the other."""
    assert fact.round is not None
    name = f"D-{fact.round.table}-{fact.round.number}"
    span = {"from_": format_time(fact.time_us - MINUTE_US), "to": format_time(fact.time_us)}
    why = {"by": "S-2001", "because": f"dispute {name}", "dispute": name}
    bodies = (
        DisputeRaised(dispute=name, round=str(fact.round), position=1, claim="Short.", by="F-7"),
        FootageLocked(camera=f"{fact.round.table}-1", **span, **why),
        DisputeNoted(dispute=name, note="Watched twice.", by="S-2001"),
        DisputeResolved(dispute=name, outcome="Upheld.", by="S-2002"),
        AdjustmentPaid(dispute=name, position=1, amount=2500, paid_from="cage"),
    )
    source = f"/{fact.round.property}/surveillance/disputes"
    for number, body in enumerate(bodies, 1):
        yield received(encode(body, source, f"{name}/{number}", fact.time_us + number * 1_000_000))


def seals(days: int = 9) -> list[Received]:
    """Facts that close as many gaming days, as another system records them."""
    found = []
    for nth in range(1, days + 1):
        body = DaySealed(
            gaming_day=f"2026-10-{nth:02d}",
            version=1,
            heads={"CC-07": nth},
            rules="1",
            report=1,
            digest=f"{nth:064x}",
            by="F-1",
            second="F-2",
        )
        source = "/hollywood/office/ledger"
        found.append(received(encode(body, source, f"seal-{nth}", 1_795_000_000_000_000 + nth)))
    return found


def of_finance() -> list[Received]:
    """Closed days and a meter: no simulated floor has them, and each view must have rows."""
    shown = MeterRead(meter="link-7", amount=1)
    meter = received(encode(shown, "/p/pit-2/d", "m-1", 1_795_000_000_000_000))
    return [*seals(), meter, *reviewed()]


def reviewed() -> list[Received]:
    """Work on findings, samples, log, shifts, marks on footage: no simulated floor has them."""
    rounds = tuple(f"p:T-{nth}/2026-11-20/{nth}" for nth in range(1, 10))
    bodies = [
        *(
            FindingTaken(finding=FindingRef(code="overpaid", round=each), by="S-1")
            for each in rounds
        ),
        SampleDrawn(sample="S-1", shift="day", rounds=rounds, seed="7", by="S-9"),
        *_marked(),
        *(
            LogEntryAdded(
                entry=f"L-{nth}",
                from_="2026-11-20T21:05:00Z",
                place="cage",
                what="A fall.",
                who=(),
                recorded_where="cam2",
                disposition="none",
                by="S-9",
            )
            for nth in range(9)
        ),
        *(ShiftBegun(shift=f"SH-{nth}", by="S-9") for nth in range(9)),
        ShiftHandedOver(shift="SH-1", to="S-1", report="0" * 64, by="S-9", left_out=rounds),
        ShiftCountersigned(shift="SH-1", by="S-1"),
        *(
            TaskSet(
                dispute=f"D-{nth}",
                task="T-1",
                what="Call.",
                to="S-1",
                due="2026-11-20T21:05:00Z",
                by="S-9",
            )
            for nth in range(9)
        ),
        TaskDone(dispute="D-1", task="T-1", by="S-1"),
    ]
    return [
        received(encode(body, "/p/surveillance/review", f"r-{nth}", 1_795_000_000_000_000 + nth))
        for nth, body in enumerate(bodies)
    ]


def _marked() -> Iterator[Body]:
    """Bookmarks, one of them removed; stills, and shapes beside a frame."""
    at = {"from_": format_time(1_795_000_000_000_000), "to": format_time(1_795_000_001_000_000)}
    for nth in range(1, 6):
        yield BookmarkAdded(
            bookmark=f"B-{nth}", round=f"T-{nth}/2026-11-20/{nth}", cameras=("T-1-cam1",), **at,
            text="He looks away.", tags=("cut",), by="S-1",
        )  # fmt: skip
        segment = {"camera": "T-1-cam1", "segment": f"{nth:064x}", "frame": nth}
        yield StillTaken(**segment, sha256=f"{nth:064x}", because="His hand.", by="S-1")
        shape = FrameShape(kind="box", points=((1, 2), (3, 4)))
        yield FrameAnnotated(**segment, shapes=(shape,), by="S-1")
    yield BookmarkRemoved(bookmark="B-1", because="The wrong round.", by="S-1")


def uncared(minutes: int = 60, *, seed: int = 7) -> list[Received]:
    """A day on which no stub is ever counted: there are findings of no round."""
    plan = plan_of(minutes=minutes, seed=seed)
    facts, _ = deal(plan)
    return [received(line(plan, f)) for f in facts if not isinstance(f.body, StubCounted)]


def received(octets: bytes) -> Received:
    parsed = parse_line(octets)
    assert isinstance(parsed, Received), parsed
    return parsed


def as_type(fact: Received, type_: str) -> Received:
    """The same fact under another stored name, as another version of the program kept it."""
    attributes = unframe_attributes(fact.attributes) | {"type": f"roundledger.{type_}"}
    return fact._replace(type=type_, attributes=frame_attributes(attributes))


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


def recorded(database: Database, /, minutes: int, **of_day: int) -> tuple[TapeRow, ...]:
    """A scene: a day on the tape, and every view there is, still empty; the rows of the record."""
    rows = record(database, day(minutes, **of_day))
    install(database)
    return tuple(rows)


def viewed(database: Database, /, minutes: int, **of_day: int) -> tuple[TapeRow, ...]:
    """A scene: the same with the day in every view."""
    rows = recorded(database, minutes, **of_day)
    catch_up(database, Prefix(rows, len(rows)), VIEWS)
    return rows


_TOKENS = "SELECT pseudonym, token FROM ledger.pseudonyms WHERE token IS NOT NULL"


def dumped(database: Database, view: Projection) -> bytes:
    """The live view's canonical dump, with tokens of patrons in place of pseudonyms.

    The salt of a pseudonym is random, so two ledgers of the same facts differ in them.
    """
    with reading(database, [table.name for table in view.tables]) as store:
        found = dump(store, view)
        for pseudonym, token in store.query(_TOKENS):
            found = found.replace(pseudonym.encode(), token.encode())
        return found
