"""The clocks of a table's devices are set while it is dealt: order, money and views stay.

Two processes tell what happens at a table, each by a clock that the test sets.
"""

from __future__ import annotations

import os
import subprocess
import sys
import time
from contextlib import ExitStack
from datetime import UTC, datetime
from typing import TYPE_CHECKING, NamedTuple

import pytest

from consumers.registry import VIEWS, install
from consumers.runtime.lifecycle import catch_up
from infra.postgres.view_tables import tape_source
from ledger.adjudication.feed import adjudicate
from ledger.record.wire import fact_of
from ledger.rules.engine.ruling import Ruling
from ledger.simulate import deal, line, plan_of
from tests.fixtures.cli import ROOT
from tests.fixtures.clock import WallClock
from tests.processes.view_keeper import begun_anew
from tests.scenes.feed_faults import everything
from tests.scenes.view_feeds import received

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from infra.postgres.connection import Database
    from infra.postgres.tape import PostgresTape
    from ledger.record.tape import Received
    from ledger.record.wire import Fact

DAY_S, HOUR_S = 86_400, 3_600
EUROPE = "CET-1CEST,M3.5.0,M10.5.0/3"
CHANGE = datetime(2026, 10, 25, 1, tzinfo=UTC)
"""When summer time ends there: 03:00 is 02:00 again."""

LATE_S_MAX = 0.1
"""How much later than it happened a device may tell of a fact, seconds: rules go by order."""


PLAN = plan_of(minutes=60, tables=1, seats=3, seed=21, of=("criss_cross_poker",))


class Ruled(NamedTuple):
    """What a feed says of each round, by its name."""

    settlements: dict[str, object]
    codes: dict[str, list[str]]

    def but(self, name: str) -> Ruled:
        """Without a round: the one in the middle of which clocks were set may be found at fault."""
        return Ruled(*({key: said[key] for key in said if key != name} for said in self))


class Clocks(NamedTuple):
    """What the device that sees cards turned goes by, and what all others do."""

    eye: WallClock
    others: WallClock


@pytest.fixture
def clocks(wall_clock: WallClock, tmp_path: Path) -> Clocks:
    return Clocks(wall_clock, WallClock(tmp_path, wall_clock.library))


def dealt() -> tuple[list[Fact], Fact]:
    """A table's hour, and the fact of it before which clocks are set: in the middle of a round."""
    facts, _ = deal(PLAN)
    return list(facts), next(fact for fact in facts[len(facts) // 2 :] if fact.round)


def told(
    clocks: Clocks,
    off_s: int = 0,
    *,
    alone: bool = False,
    manner: str = "utc",
    middle_at: datetime | None = None,
) -> list[Received]:
    """Deal a table, an hour long, as fast as its devices can tell of it.

    off_s: how far their clocks are off from the middle on; with `alone` only the eye's. middle_at:
    when that is, if it matters.
    """
    facts, middle = dealt()
    later_s = middle_at.timestamp() - middle.time_us / 1e6 if middle_at else 0
    with ExitStack() as stack:
        eye, other = (
            stack.enter_context(device(how, {**os.environ, **clock.environ, "TZ": EUROPE}))
            for how, clock in ((manner, clocks.eye), ("utc", clocks.others))
        )
        stamped = []
        wrong_s = 0
        for fact in facts:
            if fact is middle:
                wrong_s = off_s
            seen = fact.source.endswith("/eye")
            by, clock = (eye, clocks.eye) if seen else (other, clocks.others)
            at_s = fact.time_us / 1e6 + later_s
            off = wrong_s if seen or not alone else 0
            stamped.append(stamp(by, clock, line(PLAN, fact), at_s, off))
        for process in (eye, other):
            process.communicate()
    return stamped


def stamp(
    by: subprocess.Popen[bytes], clock: WallClock, octets: bytes, at_s: float, off_s: int
) -> Received:
    """Let a device tell of a fact at a time, by its clock; again where the machine was too busy."""
    assert by.stdin
    assert by.stdout
    while True:
        ahead_s = at_s - time.time()
        clock.set_off(ahead_s + off_s)
        by.stdin.write(octets + b"\n")
        by.stdin.flush()
        said = by.stdout.readline().strip()
        if time.time() + ahead_s - at_s < LATE_S_MAX:
            return received(said)


def device(manner: str, environ: dict[str, str]) -> subprocess.Popen[bytes]:
    return subprocess.Popen(
        [sys.executable, "-m", "tests.processes.clock_device", manner],
        cwd=ROOT,
        env=environ,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    )


def ruled(facts: Sequence[Received]) -> Ruled:
    said = [each for each in adjudicate([fact_of(each) for each in facts]) if each.round]
    return Ruled(
        {str(each.round): each.settlements for each in said if isinstance(each, Ruling)},
        {str(each.round): [one.code for one in each.findings] for each in said},
    )


@pytest.mark.long
@pytest.mark.parametrize("off_s", [3 * DAY_S, -HOUR_S], ids=["3 days ahead", "an hour back"])
def test_a_tables_clocks_that_are_set_change_no_order_no_money_and_no_view(
    database: Database, tape: PostgresTape, clocks: Clocks, off_s: int
) -> None:
    on_time = told(clocks)
    right = ruled(on_time)
    off = told(clocks, off_s)
    off_by_s = [(a.time_us - b.time_us) / 1e6 for a, b in zip(off, on_time, strict=True)]
    assert {round(each) for each in off_by_s} == {0, off_s}
    amid = str(dealt()[1].round).partition(":")[2]
    assert ruled(off).but(amid) == right.but(amid)
    assert not any(right.codes.values())

    tape.append(off)
    assert [row.id for row in tape.read(0, 2 * len(off))] == [each.id for each in off]
    assert tape.verify().broken is None
    install(database)
    with tape_source(database) as source:
        catch_up(database, source, VIEWS)
    assert everything(database) == begun_anew(database)

    alone = ruled(told(clocks, off_s, alone=True))
    assert alone.but(amid) != right.but(amid), "the control: one that is off alone"


@pytest.mark.long
def test_a_device_that_goes_by_the_clock_on_the_wall_is_right_when_summer_time_ends(
    clocks: Clocks,
) -> None:
    right = ruled(told(clocks, middle_at=CHANGE))
    assert not any(right.codes.values())
    assert ruled(told(clocks, manner="local", middle_at=CHANGE)) == right
    careless = ruled(told(clocks, manner="careless", middle_at=CHANGE))
    assert careless != right, "the control: one that takes the time on the wall for UTC"
