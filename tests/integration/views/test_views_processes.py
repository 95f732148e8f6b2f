"""Views kept up by real processes: killed anywhere, two at once, asked to stop."""

from __future__ import annotations

import logging
import random
import signal
import subprocess
import sys
import time
from contextlib import contextmanager
from typing import TYPE_CHECKING

import pytest

from consumers.money import drop
from consumers.registry import VIEWS, install, view
from consumers.runtime.lifecycle import Batch, Runner, RunnerOptions, catch_up, up_to_date
from consumers.runtime.metrics import ConsumerMetrics
from infra.postgres.view_tables import LIVE, ViewStore, opened, tape_source, writing
from tests.scenes.view_feeds import Prefix, day, dumped, record
from tests.until import until

if TYPE_CHECKING:
    from collections.abc import Iterator

    from infra.postgres.connection import Database
    from infra.postgres.view_tables import Tracking

KILLS = 12


@contextmanager
def view_process(database: Database) -> Iterator[subprocess.Popen[str]]:
    """A process that keeps every view up."""
    process = subprocess.Popen(
        [sys.executable, "-m", "tests.processes.view_process", database.url],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        assert process.stdout
        assert process.stdout.readline() == "up\n"
        yield process
    finally:
        process.kill()
        process.communicate()


def lowest(database: Database) -> int:
    with database.connect("ledger_reader") as connection:
        row = connection.execute("SELECT min(position) FROM views.tracking").fetchone()
    assert row
    return int(row[0])


def everything(database: Database) -> dict[str, bytes]:
    return {each.name: dumped(database, each) for each in VIEWS}


def begun_anew(database: Database) -> dict[str, bytes]:
    """Every view as it is when read from the first fact without a stop."""
    with database.connect("ledger_owner") as connection:
        for each in VIEWS:
            for table in each.tables:
                connection.execute(f"DELETE FROM views.{table.name}".encode())  # noqa: S608 - our own names
        connection.execute("UPDATE views.tracking SET position = 0")
    with tape_source(database) as source:
        catch_up(database, source, VIEWS)
    return everything(database)


@pytest.mark.long
def test_views_whose_keeper_is_killed_anywhere_are_those_of_one_that_never_was(
    database: Database,
) -> None:
    chance = random.Random(4)  # noqa: S311 - repeatable, guards nothing
    rows = record(database, day(30))
    install(database)
    killed_at = []
    for end in sorted(chance.sample(range(1, len(rows)), KILLS)):
        with view_process(database) as process:
            until(lambda end=end: lowest(database) >= end)
            process.send_signal(signal.SIGKILL)
            process.wait()
        killed_at.append(lowest(database))
    assert any(0 < position < len(rows) for position in killed_at), "kills must come amidst work"
    with tape_source(database) as source:
        assert catch_up(database, source, VIEWS) == len(rows)
    kept = everything(database)
    assert kept == begun_anew(database)


@pytest.mark.long
def test_two_keepers_at_once_count_nothing_twice(database: Database) -> None:
    rows = record(database, day(10))
    install(database)
    with view_process(database), view_process(database):
        until(lambda: lowest(database) >= len(rows))
    kept = everything(database)
    assert kept == begun_anew(database)


def test_without_the_comparison_two_runners_would_count_twice(
    database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The control: the tracking moved wherever it stands, as a checkpoint elsewhere would be."""

    def blind(store: ViewStore, name: str, seen: Tracking, to: int) -> bool:
        del seen
        store.connection.execute(
            "UPDATE views.tracking SET position = %s WHERE view = %s", (to, name)
        )
        return True

    rows = record(database, day(5))
    install(database)
    payouts = view("payouts")
    with writing(database, LIVE) as one, writing(database, LIVE) as two:
        monkeypatch.setattr(ViewStore, "advance", blind)
        for connection in (one, two):
            store = ViewStore(connection, LIVE)
            seen = store.tracking("payouts")
            assert seen is not None
        for connection in (one, two):  # both had looked before either wrote
            with connection.transaction():
                ViewStore(connection, LIVE).advance("payouts", seen, len(rows))
                payouts.apply(ViewStore(connection, LIVE), Batch(rows))
    twice = dumped(database, payouts)
    monkeypatch.undo()
    assert twice != begun_anew(database)["payouts"]


def test_a_keeper_is_not_warned_of_a_command_that_moved_its_view(
    database: Database, caplog: pytest.LogCaptureFixture
) -> None:
    """A search brings the view along; a standby moves it too. Nobody has to act."""
    rows = record(database, day(1))
    install(database)
    watch = ConsumerMetrics(database, feed=False, views=["drop"])
    with opened(database, LIVE) as store, caplog.at_level(logging.INFO):
        keeper = Runner(store, Prefix(rows, len(rows)), [drop.DROP], RunnerOptions(listener=watch))
        up_to_date(database, [drop.DROP])
        keeper.step()
    assert 'round_ledger_view_fenced_total{view="drop"} 1.0' in watch.page().decode()
    assert caplog.records == []


@pytest.mark.long
def test_a_keeper_asked_to_stop_ends_soon_between_two_batches(database: Database) -> None:
    rows = record(database, day(5))
    install(database)
    with view_process(database) as process:
        until(lambda: lowest(database) >= len(rows))
        start = time.monotonic()
        process.terminate()
        said, _ = process.communicate(timeout=120)
        took = time.monotonic() - start
    assert process.returncode == 0
    assert said == f"stopped at {len(rows)}\n"
    assert took < 10


@pytest.mark.long
def test_a_keeper_that_waits_sees_what_is_appended(database: Database) -> None:
    facts = day(5)
    record(database, facts[:100])
    install(database)
    with view_process(database):
        rows = record(database, facts[100:])
        until(lambda: lowest(database) >= len(rows))
    source = Prefix(rows, len(rows))
    assert catch_up(database, source, VIEWS) == len(rows)
    assert drop.read(database)
