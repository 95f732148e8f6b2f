"""A lone broker's machine loses its power: what it acknowledged and had not flushed is gone.

Kafka does not wait for the disk before it acknowledges. So the relay has to see what the topic
lacks and send it again: one started after the power cut, and one that lives through it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from consumers.relay import check
from infra.kafka import topics
from tests.fixtures.kafka import FEED, Cluster
from tests.scenes.feeding import fill, once
from tests.scenes.publishing import blind, checked, load, moves, process

if TYPE_CHECKING:
    from collections.abc import Iterator

    from infra.postgres.connection import Database
    from infra.postgres.tape import PostgresTape
    from tests.fixtures.power import Powered

SETTLED, UNSETTLED = 400, 600


@pytest.fixture
def broker(powered: Powered) -> Iterator[Cluster]:
    """A node on the disk, with the relay's topics, all of which has reached it."""
    cluster = Cluster(powered.folder / "kafka")
    try:
        topics.apply(cluster.connection, FEED)
        powered.settle()
        yield cluster
    finally:
        cluster.close()


def cut(powered: Powered, cluster: Cluster) -> None:
    """No power, and power again."""
    (node,) = cluster.nodes.nodes
    powered.cut()
    cluster.kill(node)
    powered.off()
    powered.on()
    cluster.start(node)
    cluster.wait()


def missing(database: Database, cluster: Cluster) -> int:
    """How many facts that were taken for published are not there; nothing else is wrong."""
    seen = check.verify(database, cluster.connection)
    assert {each.kind for each in seen.breaks} <= {"missing"}
    return seen.missing


def loses_its_end(
    database: Database, tape: PostgresTape, powered: Powered, cluster: Cluster
) -> None:
    """Publish a part that reaches the disk and a part that does not, and cut the power."""
    fill(tape, SETTLED)
    once(database, cluster.connection)
    powered.settle()
    fill(tape, UNSETTLED, first=SETTLED)
    once(database, cluster.connection)
    assert missing(database, cluster) == 0
    cut(powered, cluster)
    assert missing(database, cluster) == UNSETTLED, "what had not reached the disk, and no more"


@pytest.mark.long
def test_a_relay_started_after_the_cut_sends_again_what_the_broker_lost(
    database: Database, tape: PostgresTape, powered: Powered, broker: Cluster
) -> None:
    loses_its_end(database, tape, powered, broker)
    fill(tape, 100, first=SETTLED + UNSETTLED)
    seen = checked(database, broker.connection)
    assert (seen.broken, seen.facts) == (0, SETTLED + UNSETTLED + 100)


@pytest.mark.long
def test_a_relay_that_does_not_look_at_the_end_leaves_the_feed_short(
    database: Database,
    tape: PostgresTape,
    powered: Powered,
    broker: Cluster,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The control of the one above."""
    loses_its_end(database, tape, powered, broker)
    blind(monkeypatch)
    fill(tape, 100, first=SETTLED + UNSETTLED)
    seen = checked(database, broker.connection)
    assert {each.kind for each in seen.breaks} == {"missing"}
    assert (seen.missing, seen.facts) == (UNSETTLED, SETTLED + 100)


@pytest.mark.long
def test_a_relay_that_lives_through_the_cut_ends_and_the_next_one_sends_all_again(
    database: Database, powered: Powered, broker: Cluster
) -> None:
    with load(database) as count, process(database, broker.connection) as running:
        assert running.stdout
        assert running.stdout.readline() == "moved\n"
        moves(database)
        cut(powered, broker)
        assert running.wait(300) != 0
        assert "deleted and recreated while the relay was writing" in running.communicate()[1]
    seen = checked(database, broker.connection)
    assert (seen.broken, seen.facts) == (0, count[0])


@pytest.mark.long
def test_a_relay_that_does_not_mind_where_its_records_come_to_stand_leaves_the_feed_short(
    database: Database, powered: Powered, broker: Cluster
) -> None:
    """The control of the one above."""
    with load(database), process(database, broker.connection, "heedless") as running:
        assert running.stdout
        assert running.stdout.readline() == "moved\n"
        moves(database)
        cut(powered, broker)
        moves(database)
        moves(database)
        assert running.poll() is None, running.communicate()[1]
    assert missing(database, broker)
