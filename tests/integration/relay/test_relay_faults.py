"""The relay killed, doubled and cut off, as real processes: no fact is lost, none out of order."""

from __future__ import annotations

import random
import time
from typing import TYPE_CHECKING

import psycopg
import pytest

from consumers.relay import check
from infra.kafka import topics
from infra.postgres import relay_progress
from ledger.errors import Refused, Unavailable
from tests.fixtures.kafka import relays
from tests.scenes.publishing import blind, checked, load, moves, process
from tests.until import until

if TYPE_CHECKING:
    from pathlib import Path

    from consumers.relay.check import FeedCheck
    from infra.kafka.clients import Connection
    from infra.postgres.connection import Database

KILLS, KILLS_LONG = 4, 40


def killed(
    database: Database, kafka: Connection, kills: int, seed: int, mode: str = "right"
) -> None:
    """Start the relay and kill it soon after it began to move, again and again."""
    chance = random.Random(seed)  # noqa: S311 - repeatable, not secret
    for _ in range(kills):
        with process(database, kafka, mode) as running:
            assert running.stdout
            for _ in range(chance.randint(1, 12)):
                assert running.stdout.readline() == "moved\n", running.communicate()[1]
            time.sleep(chance.random() * 0.03)
            running.kill()


def survives(database: Database, kafka: Connection, kills: int) -> FeedCheck:
    with load(database) as count:
        killed(database, kafka, kills, seed=kills)
    seen = checked(database, kafka)
    assert (seen.broken, seen.facts) == (0, count[0]), seen.breaks
    return seen


@pytest.mark.long
def test_a_relay_killed_at_any_moment_loses_no_fact(database: Database, kafka: Connection) -> None:
    survives(database, kafka, KILLS)


@pytest.mark.long
def test_a_relay_killed_tens_of_times_loses_no_fact(database: Database, kafka: Connection) -> None:
    seen = survives(database, kafka, KILLS_LONG)
    assert seen.duplicates, "some kill must fall between an acknowledgement and tracking"


@pytest.mark.long
def test_a_relay_that_moves_tracking_before_the_acknowledgement_loses_facts_and_it_is_seen(
    database: Database, kafka: Connection, monkeypatch: pytest.MonkeyPatch
) -> None:
    blind(monkeypatch)
    seen: set[str] = set()
    for seed in range(1, 9):  # whether a kill falls into the moment is chance
        with load(database):
            killed(database, kafka, 3, seed=seed, mode="early")
        seen = {each.kind for each in checked(database, kafka).breaks}
        if "missing" in seen:
            break
    assert "missing" in seen


@pytest.mark.long
def test_of_two_relays_one_waits_and_takes_over_when_the_other_is_killed(
    database: Database, kafka: Connection, tmp_path: Path
) -> None:
    commands = relays(database, kafka, tmp_path)
    with load(database) as count, process(database, kafka) as first:
        assert first.stdout
        assert first.stdout.readline() == "moved\n"
        with commands.start() as second:
            assert second.stderr
            assert b"another relay leads" in second.stderr.readline()
            assert check.verify(database, kafka).duplicates == 0
            first.kill()
            first.wait()
            moves(database)
            moves(database)  # what the first one still had under way is behind us
            second.terminate()
            assert second.wait(120) == 0
            assert b"Published" in second.stderr.read(), "it was the second one that published"
    seen = checked(database, kafka)
    assert (seen.broken, seen.facts) == (0, count[0])


@pytest.mark.long
def test_without_the_lead_two_relays_send_facts_twice_until_tracking_refuses_one(
    database: Database, kafka: Connection
) -> None:
    """The control of the one above."""
    with (
        load(database) as count,
        process(database, kafka, "leaderless") as first,
        process(database, kafka, "leaderless") as second,
    ):
        until(lambda: first.poll() is not None or second.poll() is not None)
        refused = first if first.poll() is not None else second
        assert "Another relay has moved" in refused.communicate()[1]
    seen = checked(database, kafka)
    assert (seen.broken, seen.facts) == (0, count[0])
    assert seen.duplicates


def test_a_relay_that_lost_the_lead_moves_nothing(database: Database) -> None:
    with (
        relay_progress.lead(database, lambda: False) as first,
        relay_progress.relay_store(database) as other,
    ):
        assert first
        first.move(topics.FACTS, 0, 10)
        assert other.tracked(topics.FACTS) == 10
        with psycopg.connect(database.url) as another:
            another.execute("UPDATE views.relayed SET position = 12")
        with pytest.raises(Refused, match="Another relay"):
            first.move(topics.FACTS, 10, 20)
        assert other.tracked(topics.FACTS) == 12


def test_one_lead_at_a_time_and_none_after_the_connection_is_gone(database: Database) -> None:
    with relay_progress.lead(database, lambda: False) as first:
        assert first
        with relay_progress.lead(database, lambda: True) as second:
            assert second is None
        with psycopg.connect(database.url, autocommit=True) as killer:
            killer.execute(
                "SELECT pg_terminate_backend(pid) FROM pg_locks WHERE locktype = 'advisory'"
                " AND database = (SELECT oid FROM pg_database WHERE datname = current_database())"
            )
        with pytest.raises(Unavailable):
            first.move(topics.FACTS, 0, 10)
    with relay_progress.lead(database, lambda: False) as next_:
        assert next_
        assert next_.tracked(topics.FACTS) == 0
