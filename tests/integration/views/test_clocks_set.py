"""The server's clock is set back an hour under PostgreSQL, ingest, relay and views as they run.

Order is that of the record, views are what they would be, and nobody waits for an hour.
"""

from __future__ import annotations

import json
import threading
import time
from contextlib import contextmanager, suppress
from subprocess import TimeoutExpired
from typing import TYPE_CHECKING, NamedTuple

import pytest

from consumers.registry import VIEWS, install
from consumers.relay import check
from consumers.runtime.lifecycle import catch_up
from infra.kafka import topics
from infra.postgres.connection import create_database
from infra.postgres.migrations import migrate
from infra.postgres.tape import PostgresTape
from ledger.simulate import deal, line, plan_of
from tests.fixtures.cli import Cli, environ
from tests.fixtures.postgres_pair import NAME, Postgres
from tests.processes.view_keeper import begun_anew, emptied, positions, view_process
from tests.scenes.feed_faults import everything
from tests.scenes.feeding import fill
from tests.scenes.publishing import checked, position, process
from tests.until import until

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path
    from subprocess import Popen

    from infra.kafka.clients import Connection
    from infra.postgres.connection import Database
    from ledger.record.tape import TapeRow
    from tests.fixtures.clock import WallClock
    from tests.fixtures.kafka import Cluster

HOUR_S = 3_600
AN_HOUR_US = HOUR_S * 1_000_000
DEADLINE_S = 4.0


class ByTime(NamedTuple):
    """The mistake: a record read by when a fact was received, instead of by its position."""

    rows: Sequence[TapeRow]

    def read(self, after: int, limit: int) -> Sequence[TapeRow]:
        newest = self.rows[after - 1].received_at_us if after else 0
        return [row for row in self.rows if row.received_at_us > newest][:limit]

    def wait(self, after: int, timeout_s: float) -> None:
        raise AssertionError(f"waits {timeout_s} s after {after}: what is there has an end")


@pytest.fixture
def server(
    servers: list[Postgres], wall_clock: WallClock, monkeypatch: pytest.MonkeyPatch
) -> Postgres:
    """A PostgreSQL with an empty ledger. It and all that is started after it live by the clock."""
    for name, text in wall_clock.environ.items():
        monkeypatch.setenv(name, text)
    made = servers[0]
    made.make()
    made.start()
    create_database(made.url, NAME)
    migrate(made.database.owner_url)
    install(made.database)
    return made


@pytest.mark.long
def test_an_hour_back_changes_neither_order_nor_views_and_a_reader_by_time_misses_facts(
    kafka: Connection, server: Postgres, wall_clock: WallClock, tmp_path: Path
) -> None:
    database = server.database
    plan = plan_of(minutes=20, tables=2, seed=5)
    told = [line(plan, fact) for fact in deal(plan)[0]]
    third = len(told) // 3
    file = tmp_path / "feed.jsonl"
    file.touch()
    cli = Cli(environ(tmp_path, ROUND_LEDGER_DATABASE_URL=database.url))
    with (
        cli.start("ingest", "--follow", file) as ingest,
        process(database, kafka) as relay,
        view_process(database, kafka) as views,
    ):
        for number in range(3):
            if number == 1:
                wall_clock.set_off(-HOUR_S)
            with file.open("ab") as out:
                part = told[number * third : (number + 1) * third]
                out.writelines(each + b"\n" for each in part)
            until(lambda number=number: positions(database)[0] == (number + 1) * third)
        assert views.count("lost") == 0
        assert (ingest.poll(), relay.poll()) == (None, None)
        views.stop()
        for running in (ingest, relay):
            running.terminate()
            assert running.wait(120) == 0
    with PostgresTape(database) as tape:
        rows = tape.read(0, 2 * len(told))
        assert tape.verify().broken is None
        assert tape.counters().nothing_lost
    received = [row.received_at_us for row in rows]
    assert received[third - 1] - received[third] > AN_HOUR_US * 0.9, "the clock was set back"
    assert [row.id for row in rows] == [json.loads(each)["id"] for each in told[: 3 * third]]
    seen = check.verify(database, kafka)
    assert (seen.broken, seen.facts) == (0, 3 * third)
    kept = everything(database)
    assert kept == begun_anew(database)
    emptied(database)
    for there in (rows[:third], rows):
        catch_up(database, ByTime(there), VIEWS)
    assert everything(database) != kept, "the control"


@contextmanager
def going_back(clock: WallClock) -> Iterator[None]:
    """Set the clock back by a minute, and by a minute more, five times a second."""
    ended = threading.Event()

    def go_back() -> None:
        back_s = 0
        while not ended.wait(0.2):
            back_s += 60
            clock.set_off(-back_s)

    thread = threading.Thread(target=go_back)
    thread.start()
    try:
        yield
    finally:
        ended.set()
        thread.join()


def ended_after(running: Popen[str], s_max: float) -> float | None:
    """Seconds until the process ended; None if it still runs after so many."""
    began = time.monotonic()
    with suppress(TimeoutExpired):
        running.wait(s_max)
        return time.monotonic() - began
    return None


@pytest.mark.long
def test_a_deadline_passes_though_the_clock_goes_back_and_one_by_the_wall_clock_never_does(
    database: Database,
    own_kafka: Cluster,
    tape: PostgresTape,
    wall_clock: WallClock,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for name, text in wall_clock.environ.items():
        monkeypatch.setenv(name, text)
    took: list[float | None] = []
    for mode in ("right", "wall"):
        wall_clock.set_off(0)
        with process(database, own_kafka.connection, mode, DEADLINE_S) as running:
            published(database, tape)
            own_kafka.pause(on=True)
            with going_back(wall_clock):  # before there is a deadline
                fill(tape, 100, first=tape.counters().appended)
                took.append(ended_after(running, 3 * took[0] if took and took[0] else 300))
            said = "" if took[-1] is None else running.communicate()[1]
        own_kafka.pause(on=False)
        own_kafka.wait()
    assert took[0] is not None
    assert took[1] is None, f"the control: {said}"
    seen = checked(database, own_kafka.connection)
    assert (seen.broken, seen.facts) == (0, tape.counters().appended)


def published(database: Database, tape: PostgresTape) -> None:
    """Put facts on record, and wait until a relay has them acknowledged."""
    fill(tape, 100, first=tape.counters().appended)
    until(lambda: position(database, topics.FACTS) == tape.counters().appended)
