"""Brokers killed, silent and away while a relay publishes: no fact is lost, and a careless relay's
are, under the same fault.
"""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from consumers.relay import check
from infra.kafka import topics
from infra.kafka.clients import administrator
from infra.kafka.records import partition_of
from tests.fixtures.kafka import FEED, Cluster, relays
from tests.fixtures.postgres import fact
from tests.scenes.feeding import fill
from tests.scenes.publishing import (
    WINDOW,
    checked,
    load,
    moves,
    position,
    process,
    stands_still,
)
from tests.until import until

if TYPE_CHECKING:
    from collections.abc import Iterator
    from subprocess import Popen

    from infra.postgres.connection import Database
    from infra.postgres.tape import PostgresTape
    from infra.services.brokers import Node

DEADLINE_S = 4.0


@pytest.mark.long
def test_a_broker_that_is_killed_and_started_again_is_waited_for(
    database: Database, own_kafka: Cluster
) -> None:
    node = own_kafka.nodes.nodes[0]
    with load(database) as count, process(database, own_kafka.connection) as running:
        assert running.stdout
        assert running.stdout.readline() == "moved\n"
        own_kafka.kill(node)
        assert stands_still(database, count), "the control: nobody acknowledges anything"
        assert running.poll() is None, running.communicate()[1]
        own_kafka.start(node)
        own_kafka.wait()
        moves(database)
        running.terminate()
        assert running.wait(40) == 0, running.communicate()[1]
    seen = checked(database, own_kafka.connection)
    assert (seen.broken, seen.facts) == (0, count[0])


def published(database: Database, tape: PostgresTape, upto: int) -> None:
    """Put facts on record up to a position, and wait until a relay has them acknowledged."""
    first = tape.counters().appended
    fill(tape, upto - first, first=first)
    until(lambda: position(database, topics.FACTS) == upto)


@pytest.mark.long
def test_an_outage_beyond_the_deadline_ends_the_relay_and_the_next_one_goes_on(
    database: Database, own_kafka: Cluster, tape: PostgresTape, tmp_path: Path
) -> None:
    """The library's producer would hang here for ever; the process must not."""
    commands = relays(database, own_kafka.connection, tmp_path)
    with commands.start("--deadline", str(DEADLINE_S)) as running:
        published(database, tape, 100)
        own_kafka.pause(on=True)
        fill(tape, 100, first=100)
        assert running.wait(60) == 3
        assert running.stderr
        told = running.stderr.read().decode()
        assert "Kafka rejected the request or did not answer" in told
        assert "Traceback" not in told
    assert position(database, topics.FACTS) == 100, "nothing of the rest is taken for published"
    own_kafka.pause(on=False)
    own_kafka.wait()
    with commands.start("--deadline", "60") as running:
        published(database, tape, 300)
        running.terminate()
        assert running.wait(60) == 0
    seen = checked(database, own_kafka.connection)
    assert (seen.broken, seen.facts) == (0, 300)


@pytest.mark.long
def test_a_relay_that_looks_at_no_answer_loses_what_an_outage_took_and_it_is_seen(
    database: Database, own_kafka: Cluster, tape: PostgresTape
) -> None:
    """The control of the one above."""
    with process(database, own_kafka.connection, "hasty", DEADLINE_S) as running:
        published(database, tape, 100)
        own_kafka.pause(on=True)
        published(database, tape, 200)  # as it believes
        own_kafka.pause(on=False)
        own_kafka.wait()
        published(database, tape, 300)
        running.terminate()
        assert running.wait(60) == 0, running.communicate()[1]
    seen = checked(database, own_kafka.connection)
    assert {each.kind for each in seen.breaks} == {"missing"}
    assert seen.facts < 300


@pytest.fixture
def three(tmp_path: Path) -> Iterator[Cluster]:
    """Three nodes of this test's own, with the relay's topics."""
    cluster = Cluster(tmp_path / "kafka", 3)
    try:
        topics.apply(cluster.connection, FEED)
        assert topics.differences(cluster.connection, FEED) == []
        yield cluster
    finally:
        for node in cluster.nodes.nodes:  # at once: the last ones would wait for the others
            if node.id in cluster.processes:
                cluster.kill(node)


def killed_amid(database: Database, cluster: Cluster, running: Popen[str], node: Node) -> None:
    """Kill one node of three while facts go out; return when they do without it, and it is back."""
    assert running.stdout
    assert running.stdout.readline() == "moved\n"
    cluster.kill(node)
    moves(database)
    moves(database)  # with the node gone, not on the way when it went
    assert running.poll() is None, running.communicate()[1]
    cluster.start(node)
    cluster.wait()


def led_most(cluster: Cluster) -> tuple[Node, list[str]]:
    """The node that leads the most partitions, and places whose facts go to them."""
    with administrator(cluster.connection) as admin:
        told = admin.describe_topics([topics.FACTS])[0]["partitions"]
    leaders = {each["partition_index"]: each["leader_id"] for each in told}
    most = Counter(leaders.values()).most_common(1)[0][0]
    every = [f"CC-{number}" for number in range(100)]
    places = [
        place
        for place in every
        if leaders[partition_of(f"hollywood/{place}".encode(), len(leaders))] == most
    ]
    return next(each for each in cluster.nodes.nodes if each.id == most), places


def octets_of(node: Node) -> int:
    """How much of the facts' topic a node has written."""
    found = Path(node.folder).glob(f"data/{topics.FACTS}-*/*.log")
    return sum(each.stat().st_size for each in found)


def dies_alone(
    database: Database, tape: PostgresTape, cluster: Cluster, running: Popen[str], *, believes: bool
) -> tuple[int, Node]:
    """A node writes facts, is killed before any other could copy them, and facts go on without it.

    How many of them were taken for published then; and the node.
    """

    def append(count: int) -> int:
        first = tape.counters().appended
        tape.append([fact(n, place=places[n % len(places)]) for n in range(first, first + count)])
        return first + count

    node, places = led_most(cluster)
    first = append(WINDOW)
    until(lambda: position(database, topics.FACTS) == first)
    cluster.pause(on=True, but=node)
    written = octets_of(node)
    last = append(2 * WINDOW)  # the others had asked for the first of it before they were stopped
    until(lambda: octets_of(node) > written)
    if believes:
        until(lambda: position(database, topics.FACTS) == last)
    believed = position(database, topics.FACTS) - first
    cluster.kill(node)
    cluster.pause(on=False)
    last = append(WINDOW)
    until(lambda: position(database, topics.FACTS) == last)
    assert running.poll() is None, running.communicate()[1]
    return believed, node


@pytest.mark.long
def test_with_three_nodes_any_one_may_be_killed_and_a_relay_that_believes_one_loses_facts(
    database: Database, tape: PostgresTape, three: Cluster
) -> None:
    with process(database, three.connection) as running:
        with load(database):
            for node in three.nodes.nodes:
                killed_amid(database, three, running, node)
        believed, node = dies_alone(database, tape, three, running, believes=False)
        assert believed == 0
        three.start(node)
        three.wait()
        running.terminate()
        assert running.wait(60) == 0, running.communicate()[1]
    seen = checked(database, three.connection)
    assert (seen.broken, seen.facts) == (0, tape.counters().appended)
    with process(database, three.connection, "one") as running:  # the control
        believed, _ = dies_alone(database, tape, three, running, believes=True)
        assert believed
        running.kill()
    seen = check.verify(database, three.connection)
    assert {each.kind for each in seen.breaks} == {"missing"}
    assert 0 < seen.broken <= believed
