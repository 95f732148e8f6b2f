"""While Kafka is away, alerts that need none of it are raised, and go where they can."""

from __future__ import annotations

import dataclasses
from contextlib import closing
from typing import TYPE_CHECKING

import pytest

from consumers.alerts import process
from consumers.alerts.kinds.views import LAG_RECORDS, LAG_S
from consumers.alerts.process import ON_TOPIC, Tally, run
from consumers.registry import install
from infra.kafka import topics
from infra.kafka.clients import Connection
from infra.kafka.reader import reader
from infra.postgres.alerts import Alerts
from infra.settings import load
from ledger.errors import Unavailable
from tests.fixtures.postgres import fact
from tests.scenes.view_feeds import record

if TYPE_CHECKING:
    from collections.abc import Callable

    from infra.postgres.connection import Database
    from tests.fixtures.kafka import Cluster

WAITS = dataclasses.replace(load({}), thresholds={LAG_RECORDS: 1, LAG_S: 10**9})
"""A record that waits for its topic raises an alert, and nothing else does."""


def delivered(database: Database) -> set[str]:
    """The channels that have taken the alert."""
    with closing(database.connect("ledger_projector")) as connection:
        told = Alerts(database, connection).receipts()
    assert {each.alert_id.partition(":")[0] for each in told} <= {"lag"}
    return {each.channel for each in told if each.delivered_at_us}


@pytest.fixture
def nowhere() -> Connection:
    """A Kafka that does not run."""
    return Connection("127.0.0.1:1")


def test_an_alert_of_the_state_goes_out_though_kafka_never_answered(
    database: Database, nowhere: Connection
) -> None:
    install(database)
    record(database, [fact(1)])
    tally = run(database, nowhere, WAITS, stop=lambda: "log" in delivered(database), follow=True)
    assert delivered(database) == {"log"}
    assert (tally.raised, tally.failed, tally.answered_at) == (1, 0, None)
    with closing(database.connect("ledger_projector")) as connection:
        waits = Alerts(database, connection).due(ON_TOPIC, (600,), 9)
    assert [each.tries for each in waits] == [0], "the topic gets it later"


def test_a_run_to_the_end_of_the_feed_fails_without_kafka(
    database: Database, nowhere: Connection
) -> None:
    install(database)
    with pytest.raises(Unavailable, match="did not answer"):
        run(database, nowhere, WAITS, stop=lambda: False, follow=False)


def test_a_process_that_ended_with_kafka_sent_nothing(
    database: Database, nowhere: Connection, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The control: as it was when the service manager had to start it again."""

    def ends(_: object, error: Unavailable, __: object) -> None:
        raise error

    install(database)
    record(database, [fact(1)])
    monkeypatch.setattr(process, "_without_feed", ends)
    with pytest.raises(Unavailable):
        run(database, nowhere, WAITS, stop=lambda: False, follow=True)
    assert delivered(database) == set()


@pytest.mark.long
def test_an_alert_goes_out_while_every_broker_is_stopped_and_to_its_topic_afterwards(
    database: Database, own_kafka: Cluster
) -> None:
    topics.apply(own_kafka.connection)
    install(database)
    steps = iter(_steps(database, own_kafka))
    step = [next(steps)]
    told: list[Tally] = []

    def stop() -> bool:
        if step[0](told[0]):
            step[0] = next(steps, _over)
        return step[0] is _over

    run(database, own_kafka.connection, WAITS, stop=stop, follow=True, tally=told.append)
    assert delivered(database) == {"log", ON_TOPIC}
    with reader(own_kafka.connection, process.TOPIC) as source:
        assert sum(span.end - span.begin for span in source.bounds().values()) == 1


def _over(_: Tally) -> bool:
    return False


def _steps(database: Database, kafka: Cluster) -> list[Callable[[Tally], bool]]:
    def stops(tally: Tally) -> bool:
        if tally.answered_at is None:
            return False
        kafka.pause(on=True)
        record(database, [fact(1)])
        return True

    def goes_on(_: Tally) -> bool:
        if delivered(database) != {"log"}:
            return False
        kafka.pause(on=False)
        return True

    return [stops, goes_on, lambda _: delivered(database) == {"log", ON_TOPIC}]
