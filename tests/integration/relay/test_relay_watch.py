"""A relay that is asked how it does."""

from __future__ import annotations

import json
import time
from contextlib import contextmanager, nullcontext
from functools import partial
from typing import TYPE_CHECKING

import httpx
import pytest

from consumers.relay.metrics import RelayMetrics
from consumers.relay.relay import KafkaFeedWriter, publish
from consumers.relay.streams import Facts, Quarantine
from infra.kafka.ports import Bounds
from infra.kafka.publisher import Publisher
from infra.metrics import STUCK_S_MAX
from infra.postgres import relay_progress
from ledger.errors import Unavailable
from tests.fixtures.kafka import relays
from tests.scenes.feeding import fill
from tests.until import until

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from contextlib import AbstractContextManager
    from pathlib import Path

    from infra.kafka.clients import Connection
    from infra.kafka.ports import Acknowledged, Consumed, FeedWriter, TopicReader
    from infra.kafka.records import ProducerRecord
    from infra.postgres.connection import Database
    from infra.postgres.tape import PostgresTape


@pytest.mark.long
def test_a_relay_tells_that_it_is_well_and_what_it_published(
    database: Database, tape: PostgresTape, kafka: Connection, tmp_path: Path
) -> None:
    fill(tape, 30)
    with relays(database, kafka, tmp_path).start("--port", "0") as running:
        assert running.stderr
        told = json.loads(running.stderr.readline())
        at = f"http://127.0.0.1:{told['port']}"
        line = 'round_ledger_relay_published_total{topic="ledger.table-events.v1"} 30.0'
        until(lambda: line in httpx.get(f"{at}/metrics").text)
        assert [httpx.get(f"{at}/{path}").text for path in ("healthz", "readyz")] == [
            "ok\n",
            "ok: it leads\n",
        ]
        probed = httpx.head(f"{at}/readyz?probe=1")
        assert (probed.status_code, probed.text) == (200, "")
        assert probed.headers["Content-Length"] == "13"
        assert httpx.get(f"{at}/ready").status_code == 404
        running.terminate()
        assert running.wait(120) == 0


def test_a_relay_in_which_nothing_comes_round_is_not_well() -> None:
    watch = RelayMetrics()
    watch.waits()
    asked = watch.heartbeat(lambda: False)
    watch.ticked_at = time.monotonic() - STUCK_S_MAX - 1
    assert "has stood still" in str(watch.alive())
    assert not asked()
    assert watch.ready() is None


def test_a_relay_is_ready_once_it_leads_and_saw_its_topics_or_while_it_waits() -> None:
    watch = RelayMetrics(ready_s=5)
    assert "has not asked for the lead" in str(watch.ready())
    watch.waits()
    assert (watch.ready(), watch.doing()) == (None, "it waits, another relay leads")
    watch.ticked_at -= 6
    assert "asked for the lead 6 s ago" in str(watch.ready())
    watch.leads()
    watch.heartbeat(lambda: False)()
    assert "has not seen the ends" in str(watch.ready())
    watch.heard()
    assert (watch.ready(), watch.doing()) == (None, "it leads")
    watch.broker_silent(Unavailable("nobody listens", where="here", hint="Start it."))
    assert watch.ready() is None, "one question without an answer is none too many"
    with time_later(6):
        watch.heartbeat(lambda: False)()
        assert str(watch.ready()).endswith("no broker has answered for 6 s: nobody listens")
        assert watch.alive() is None, "a restart would not bring the brokers back"


@contextmanager
def time_later(seconds: float) -> Iterator[None]:
    now = time.monotonic
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("time.monotonic", lambda: now() + seconds)
        yield


class Gone:
    """Brokers that lost what a topic held, or do not answer: `infra.kafka.ports.FeedWriter`."""

    def __init__(self, feed_writer: FeedWriter, *, silent: bool) -> None:
        self._feed_writer = feed_writer
        self._silent = silent
        self.asked = 0

    def partitions(self, topic: str) -> int:
        return self._feed_writer.partitions(topic)

    def publish(
        self, topic: str, partitions: int, records: Sequence[ProducerRecord]
    ) -> Sequence[Acknowledged]:
        return self._feed_writer.publish(topic, partitions, records)

    def opened(self, topic: str) -> AbstractContextManager[TopicReader]:
        self.asked += 1
        if self.asked <= 2:  # as the relay begins
            return self._feed_writer.opened(topic)
        if self._silent:
            raise Unavailable("nobody listens", where="here", hint="Start it.")
        return nullcontext(Empty())


class Empty:
    """A topic that was made again."""

    def bounds(self) -> dict[int, Bounds]:
        return {0: Bounds(0, 0)}

    def read(self, ranges: Mapping[int, Bounds]) -> Iterator[list[Consumed]]:
        assert all(span.begin == span.end for span in ranges.values())
        return iter(())


@pytest.mark.long
@pytest.mark.parametrize("silent", [True, False])
def test_a_relay_without_news_looks_at_the_ends_of_its_topics_and_ends_where_one_is_lost(
    database: Database, tape: PostgresTape, kafka: Connection, *, silent: bool
) -> None:
    fill(tape, 10)
    watch = RelayMetrics(ready_s=0.3)
    told: list[str | None] = []

    def stop() -> bool:
        told.append(watch.ready())
        return len(told) > 12

    with (
        relay_progress.lead(database, lambda: False) as relay_store,
        Publisher(kafka, deadline_s=20) as sends,
    ):
        assert relay_store
        gone = Gone(KafkaFeedWriter(kafka, sends), silent=silent)
        streams = [Facts(relay_store), Quarantine(relay_store)]
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr("consumers.relay.relay.POLL_S", 0.1)
            begun = partial(
                publish, relay_store, gone, streams, stop=watch.heartbeat(stop), listener=watch
            )
            watch.leads()
            if silent:
                begun()
                assert told[0] is None
                assert "no broker has answered" in str(told[-1])
            else:
                with pytest.raises(
                    Unavailable, match="lacks records that its brokers had acknowledged"
                ):
                    begun()
        assert gone.asked > 2, "the control: it looked again"
