"""A relay that stands still, with broker and readers alive: the figures and an alert tell of it."""

from __future__ import annotations

import dataclasses
import signal
import threading
import time
from contextlib import ExitStack, contextmanager
from typing import TYPE_CHECKING

import pytest

from consumers.alerts import process
from consumers.alerts.kinds.views import LAG_S
from consumers.registry import VIEWS, install
from consumers.runtime.following import follow_on
from consumers.runtime.metrics import ConsumerMetrics
from consumers.runtime.runner import RunnerOptions
from infra.kafka import topics
from infra.kafka.feed_source import feed_source
from infra.postgres.alerts import Alerts
from infra.postgres.tape import PostgresTape
from infra.settings import load
from tests.fixtures.kafka import relays
from tests.scenes.view_feeds import day

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from infra.kafka.clients import Connection
    from infra.postgres.connection import Database

VIEW = next(each for each in VIEWS if each.name == "payouts")
BEHIND = 'round_ledger_view_behind_seconds{view="payouts"}'
WAITS = f'round_ledger_topic_behind_seconds{{topic="{topics.FACTS}"}}'
SILENT = "round_ledger_feed_silent_seconds"


@contextmanager
def reading(database: Database, kafka: Connection, watch: ConsumerMetrics) -> Iterator[None]:
    """A view kept up from the feed beside the test."""
    done = threading.Event()

    def run() -> None:
        follow_on(
            database,
            [VIEW],
            progress=lambda *_: None,
            stop=watch.heartbeat(done.is_set),
            lost=lambda error, _: watch.lost(error.what),
            opened=lambda: feed_source(database, kafka, [VIEW.name], watch.figures),
            options=RunnerOptions(listener=watch),
        )

    thread = threading.Thread(target=run)
    thread.start()
    try:
        yield
    finally:
        done.set()
        thread.join()


def figures(watch: ConsumerMetrics) -> dict[str, float]:
    lines = [line for line in watch.page().decode().splitlines() if not line.startswith("#")]
    return {name: float(value) for name, _, value in (line.rpartition(" ") for line in lines)}


def until(watch: ConsumerMetrics, is_so: Callable[[dict[str, float]], bool]) -> dict[str, float]:
    end = time.monotonic() + 240
    while not is_so(told := figures(watch)):
        assert time.monotonic() < end, told
        time.sleep(0.1)
    return told


@pytest.mark.long
def test_the_whole_ways_freshness_tells_of_a_relay_that_stands_still(
    database: Database, bare_kafka: Connection, tmp_path: Path
) -> None:
    topics.apply(bare_kafka)
    facts = day(2)
    half = len(facts) // 2
    install(database)
    watch = ConsumerMetrics(database, feed=True)
    with (
        PostgresTape(database) as tape,
        relays(database, bare_kafka, tmp_path).start() as relay,
        ExitStack() as ends,
    ):
        ends.callback(relay.kill)
        tape.append(facts[:half])
        with reading(database, bare_kafka, watch):
            fresh = until(watch, lambda told: told[BEHIND] == 0.0 and told.get(WAITS, 1.0) == 0.0)
            assert fresh[SILENT] < 60
            relay.send_signal(signal.SIGSTOP)
            tape.append(facts[half:])
            stale = until(watch, lambda told: told[BEHIND] > 6 and told[WAITS] > 6)
            assert watch.alive() is None, "readers see nothing wrong with themselves"
            assert watch.ready() is None
            assert stale[SILENT] < stale[BEHIND], "the control: the broker answers all the while"
            assert told_of(database, bare_kafka) >= {"lag:payouts", f"lag:{topics.FACTS}"}
            relay.send_signal(signal.SIGCONT)
            until(watch, lambda told: told[BEHIND] == told[WAITS] == 0.0)
            relay.terminate()
            assert relay.wait(60) == 0


def told_of(database: Database, kafka: Connection) -> set[str]:
    given = dataclasses.replace(load({}), thresholds={LAG_S: 5})
    process.run(database, kafka, given, stop=lambda: False, follow=False)
    with database.connect("ledger_projector") as connection:
        receipts = Alerts(database, connection).receipts()
    return {each.alert_id.rpartition(":")[0] for each in receipts if each.delivered_at_us}
