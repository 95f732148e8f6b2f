"""The relay killed, doubled and cut off, as real processes: no fact is lost, none out of order."""

from __future__ import annotations

import random
import subprocess
import sys
import threading
import time
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import psycopg
import pytest

from consumers import relay_check
from infra import relaying
from infra.kafka import topics
from infra.tape import PostgresTape
from ledger.errors import Refused, Unavailable
from tests.feeding import PLACES, fill, once
from tests.fix_kafka import FEED, Cluster, relays
from tests.fix_postgres import fact

if TYPE_CHECKING:
    from collections.abc import Iterator

    from consumers.relay_check import Checked
    from infra.kafka.clients import Connection
    from infra.postgres import Database

ROOT = Path(__file__).parents[2]
KILLS, KILLS_LONG = 4, 40
WINDOW = 40  # small, so that a kill falls into the middle of much


@contextmanager
def process(
    base: Database, where: Connection, mode: str = "right", deadline_s: float = 30
) -> Iterator[subprocess.Popen[str]]:
    """A relay; whatever becomes of the test, it is ended."""
    command = [sys.executable, "-m", "tests.relay_process", base.url, where.bootstrap]
    with subprocess.Popen(
        [*command, str(WINDOW), mode, str(deadline_s)],
        cwd=ROOT,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as running:
        try:
            yield running
        finally:
            running.kill()


def moves(base: Database, within_s: float = 30) -> None:
    """Wait until more is acknowledged than now: lines that were printed before prove nothing."""
    before = relaying.tracked(base)
    until = time.monotonic() + within_s
    while relaying.tracked(base) == before:
        assert time.monotonic() < until, "nothing goes out"
        time.sleep(0.05)


def stands_still(base: Database, for_s: float) -> bool:
    """Whether nothing more is acknowledged, once what was on its way has come."""
    time.sleep(0.5)
    before = relaying.tracked(base)
    time.sleep(for_s)
    return relaying.tracked(base) == before


@contextmanager
def load(base: Database, every_s: float = 0.01) -> Iterator[list[int]]:
    """Facts arriving all the while; the list holds how many there are."""
    count = [0]
    done = threading.Event()

    def append() -> None:
        with PostgresTape(base) as tape:
            while not done.wait(every_s):
                first = count[0]
                facts = [fact(n, place=PLACES[n % len(PLACES)]) for n in range(first, first + 15)]
                tape.append(facts)
                count[0] += len(facts)

    thread = threading.Thread(target=append)
    thread.start()
    try:
        yield count
    finally:
        done.set()
        thread.join()


def killed(base: Database, where: Connection, kills: int, seed: int, mode: str = "right") -> None:
    """Start the relay and kill it soon after it began to move, again and again."""
    chance = random.Random(seed)  # noqa: S311 - repeatable, not secret
    for _ in range(kills):
        with process(base, where, mode) as running:
            assert running.stdout
            for _ in range(chance.randint(1, 12)):
                assert running.stdout.readline() == "moved\n", running.communicate()[1]
            time.sleep(chance.random() * 0.03)
            running.kill()


def checked(base: Database, where: Connection) -> Checked:
    """What the feed holds once a relay was left alone until it had nothing more to do."""
    once(base, where)
    return relay_check.verify(base, where)


def survives(base: Database, where: Connection, kills: int) -> Checked:
    with load(base) as count:
        killed(base, where, kills, seed=kills)
    seen = checked(base, where)
    assert (seen.broken, seen.facts) == (0, count[0]), seen.breaks
    return seen


def test_a_relay_killed_at_any_moment_loses_no_fact(database: Database, kafka: Connection) -> None:
    survives(database, kafka, KILLS)


@pytest.mark.long
def test_a_relay_killed_tens_of_times_loses_no_fact(database: Database, kafka: Connection) -> None:
    seen = survives(database, kafka, KILLS_LONG)
    assert seen.duplicates, "some kill must fall between an acknowledgement and tracking"


def test_a_relay_that_moves_tracking_before_the_acknowledgement_loses_facts_and_it_is_seen(
    database: Database, kafka: Connection, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("consumers.relay.tails", lambda *_: {})
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
            assert relay_check.verify(database, kafka).duplicates == 0
            first.kill()
            first.wait()
            moves(database)
            moves(database)  # what the first one still had under way is behind us
            second.terminate()
            assert second.wait(20) == 0
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
        until = time.monotonic() + 60
        while first.poll() is None and second.poll() is None:
            assert time.monotonic() < until, "neither is refused"
            time.sleep(0.05)
        refused = first if first.poll() is not None else second
        assert "Another relay has moved" in refused.communicate()[1]
    seen = checked(database, kafka)
    assert (seen.broken, seen.facts) == (0, count[0])
    assert seen.duplicates


def test_a_relay_that_lost_the_lead_moves_nothing(database: Database) -> None:
    with relaying.lead(database, lambda: False) as first, relaying.desk(database) as other:
        assert first
        first.move(topics.FACTS, 0, 10)
        assert other.tracked(topics.FACTS) == 10
        with psycopg.connect(database.url) as another:
            another.execute("UPDATE views.relayed SET position = 12")
        with pytest.raises(Refused, match="Another relay"):
            first.move(topics.FACTS, 10, 20)
        assert other.tracked(topics.FACTS) == 12


def test_one_lead_at_a_time_and_none_after_the_connection_is_gone(database: Database) -> None:
    with relaying.lead(database, lambda: False) as first:
        assert first
        with relaying.lead(database, lambda: True) as second:
            assert second is None
        with psycopg.connect(database.url, autocommit=True) as killer:
            killer.execute(
                "SELECT pg_terminate_backend(pid) FROM pg_locks WHERE locktype = 'advisory'"
                " AND database = (SELECT oid FROM pg_database WHERE datname = current_database())"
            )
        with pytest.raises(Unavailable):
            first.move(topics.FACTS, 0, 10)
    with relaying.lead(database, lambda: False) as next_:
        assert next_
        assert next_.tracked(topics.FACTS) == 0


@pytest.mark.long
def test_a_broker_that_is_killed_and_started_again_is_waited_for(
    database: Database, own_kafka: Cluster
) -> None:
    node = own_kafka.nodes.nodes[0]
    with load(database) as count, process(database, own_kafka.where) as running:
        assert running.stdout
        assert running.stdout.readline() == "moved\n"
        own_kafka.kill(node)
        assert stands_still(database, 1.5), "the control: nobody acknowledges anything"
        assert running.poll() is None, running.communicate()[1]
        own_kafka.start(node)
        own_kafka.wait()
        moves(database)
        running.terminate()
        assert running.wait(40) == 0, running.communicate()[1]
    seen = checked(database, own_kafka.where)
    assert (seen.broken, seen.facts) == (0, count[0])


@pytest.mark.long
def test_an_outage_beyond_the_deadline_ends_the_relay_and_the_next_one_goes_on(
    database: Database, own_kafka: Cluster, tape: PostgresTape, tmp_path: Path
) -> None:
    """The library's producer would hang here for ever; the process must not."""
    fill(tape, 100)
    with relays(database, own_kafka.where, tmp_path).start("--deadline", "4") as running:
        until = time.monotonic() + 20
        while {each.topic: each.position for each in relaying.tracked(database)} != {
            topics.FACTS: 100
        }:
            assert time.monotonic() < until, "the first hundred never went out"
            time.sleep(0.1)
        own_kafka.pause(on=True)
        fill(tape, 100, first=100)
        assert running.wait(30) == 3
        assert running.stderr
        told = running.stderr.read().decode()
        assert "Kafka does not do what is asked" in told
        assert "Traceback" not in told
    assert relaying.tracked(database)[0].position == 100, "the control: the rest did not go out"
    own_kafka.pause(on=False)
    own_kafka.wait()
    seen = checked(database, own_kafka.where)
    assert (seen.broken, seen.facts) == (0, 200)


@pytest.mark.long
def test_with_three_nodes_any_one_may_be_killed_while_facts_are_published(
    database: Database, tmp_path: Path
) -> None:
    cluster = Cluster(tmp_path / "kafka", 3)
    try:
        topics.apply(cluster.where, FEED)
        assert topics.differences(cluster.where, FEED) == []
        with load(database, every_s=0.05) as count, process(database, cluster.where) as running:
            assert running.stdout
            for node in cluster.nodes.nodes:
                assert running.stdout.readline() == "moved\n"
                cluster.kill(node)
                moves(database)
                moves(database)  # with the node gone, not on the way when it went
                assert running.poll() is None, running.communicate()[1]
                cluster.start(node)
                cluster.wait()
            running.terminate()
            assert running.wait(60) == 0, running.communicate()[1]
        seen = checked(database, cluster.where)
        assert (seen.broken, seen.facts) == (0, count[0])
    finally:
        cluster.close()
