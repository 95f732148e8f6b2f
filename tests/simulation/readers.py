"""The ports of Kafka for those who read, and the relay's `FeedWriter`, on the imagined brokers."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING

from infra.kafka.ports import Bounds, Consumed
from ledger.errors import Unavailable

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from infra.kafka.ports import Acknowledged
    from infra.kafka.publisher import Publisher
    from infra.kafka.records import ProducerRecord
    from tests.simulation.broker import Broker


class SimReader:
    """`infra.kafka.ports.TopicReader`."""

    def __init__(self, broker: Broker, topic: str) -> None:
        self._broker = broker
        self._topic = topic

    def bounds(self) -> dict[int, Bounds]:
        ask(self._broker, f"bounds {self._topic}")
        return {log.number: Bounds(0, log.durable) for log in self._broker.logs[self._topic]}

    def read(self, ranges: Mapping[int, Bounds]) -> Iterator[list[Consumed]]:
        for number, span in ranges.items():
            if span.begin < span.end:
                ask(self._broker, f"read {self._topic}/{number}")
                log = self._broker.logs[self._topic][number]
                if len(log.stored) < span.end:
                    raise Unavailable("it is not there any more", where="sim", hint="Begin again.")
                yield [each.record for each in log.stored[span.begin : span.end] if each.record]


class SimFeedWriter:
    """`infra.kafka.ports.FeedWriter`."""

    def __init__(self, broker: Broker, publisher: Publisher) -> None:
        self._broker = broker
        self._publisher = publisher

    def publish(
        self, topic: str, partitions: int, records: Sequence[ProducerRecord]
    ) -> Sequence[Acknowledged]:
        return self._publisher.publish(topic, partitions, records)

    def partitions(self, topic: str) -> int:
        ask(self._broker, f"partitions {topic}")
        return self._broker.partitions[topic]

    @contextmanager
    def opened(self, topic: str) -> Iterator[SimReader]:
        at = self._broker.world.now
        yield SimReader(self._broker, topic)
        self._publisher._producer.looked(topic, at)


class SimPartitions:
    """`infra.kafka.ports.Partitions`."""

    where = "simulation"

    def __init__(self, broker: Broker, topic: str) -> None:
        self._broker = broker
        self._world = broker.world
        self._logs = broker.logs[topic]
        self._next: dict[int, int] = {}
        self.seen: list[Consumed] = []

    def bounds(self) -> dict[int, Bounds]:
        ask(self._broker, "bounds")
        return {log.number: Bounds(0, log.durable) for log in self._logs}

    def ends(self) -> dict[int, int]:
        ask(self._broker, "ends")
        return {log.number: log.durable for log in self._logs}

    def seek(self, starts: Mapping[int, int]) -> None:
        self._next = dict(starts)

    def poll(self, on: Sequence[int], off: Sequence[int], wait_s: float) -> list[Consumed]:
        self._world.step("poll")
        if not self._has(on) and wait_s:
            self._world.wait(lambda: self._has(on), wait_s)
        if not self._broker.is_up:
            return []
        found: list[Consumed] = []
        for number in on:
            log = self._logs[number]
            if self._next[number] > log.durable:
                raise Unavailable("offset out of range", where="simulation", hint="Begin again.")
            upto = min(log.durable, self._next[number] + self._world.chance.randint(0, 6))
            found += [each.record for each in log.stored[self._next[number] : upto] if each.record]
            self._next[number] = upto
        self.seen += found
        return found

    def reached(self) -> dict[int, int]:
        return dict(self._next)

    def _has(self, on: Sequence[int]) -> bool:
        return self._broker.is_up and any(
            self._logs[number].durable != self._next[number] for number in on
        )


def ask(broker: Broker, what: str) -> None:
    """One question; no answer while the broker is down."""
    broker.world.step(what)
    if not broker.is_up:
        broker.world.sleep(5.0)
        if not broker.is_up:
            raise Unavailable("no broker answers", where="simulation", hint="Begin again.")
