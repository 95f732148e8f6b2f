"""A Kafka of the imagination: high watermarks, producers known by sequence, a bad network.

A request of one producer comes to the broker in the order it was sent, late perhaps, perhaps twice,
perhaps after its process has died. How producers behave is taken from the options they are given.
"""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING, Any, NamedTuple

from infra.kafka import topics
from infra.kafka.library import KafkaError
from infra.kafka.ports import Consumed
from infra.kafka.records import OUTBOX, POSITION, QUARANTINE_ID, ProducerRecord

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from tests.simulation.world import World

DOWN_S = (0.5, 20.0)


class Stored(NamedTuple):
    """A record in a log, and who wrote it."""

    record: Consumed | None  # None: an offset that holds nothing
    producer: int
    seq: int


class Log:
    """One partition."""

    def __init__(self, topic: str, number: int) -> None:
        self.topic = topic
        self.number = number
        self.stored: list[Stored] = []
        self.durable = 0  # the high watermark: what readers see, and what is acknowledged
        self.cuts = 0
        self.cut_at = -1.0
        self.owed: set[int] = set()  # numbers it had and lost; a new process must see it

    def offsets_of(self, batch: Batch, begin: int) -> list[int]:
        """The offsets of a batch that was put at `begin`, or came before.

        Below zero, as of most where some were dropped on the way: not known.
        """
        count = len(batch.records)
        if len(self.stored) - begin == count:
            return list(range(begin, begin + count))
        unknown = [-1] * (count - 1)
        if batch.seq is None:
            return [*unknown, len(self.stored) - 1]
        last = batch.producer, batch.seq + count - 1
        found = [at for at, e in enumerate(self.stored) if (e.producer, e.seq) == last and e.record]
        return [*unknown, found[-1] if found else -1]

    def last(self, producer: int) -> int | None:
        found = [each.seq for each in self.stored if each.producer == producer]
        return max(found, default=None)


class Broker:
    """All topics."""

    def __init__(self, world: World, partitions: Mapping[str, int]) -> None:
        self.world = world
        self.up_at = 0.0
        self.partitions = dict(partitions)
        self.logs = {name: self._empty(name) for name in partitions}
        self.producers = 0
        self.undurable: list[Callable[[], None]] = []  # answers that wait for followers
        self.looked: dict[tuple[int, str], float] = {}  # when a producer's process saw the tails
        self.lost: dict[str, set[int]] = {name: set() for name in partitions}  # nobody will resend
        self.rewound = 0
        self.deleted = 0
        self.lies: list[tuple[str, int]] = []  # what was done to records, and their positions
        self.bend: Callable[[Log, list[Consumed]], list[Consumed | None]] = lambda _, sent: [*sent]
        self.appended: Callable[[Log, ProducerRecord], None] = lambda *_: None

    @property
    def is_up(self) -> bool:
        return self.world.now >= self.up_at

    def append(self, log: Log, batch: Batch) -> str:
        """What the broker answers: "kept", "again" or "out of order"."""
        if self.world.fault("not enough replicas"):
            return "again"
        if batch.seq is not None:
            last = log.last(batch.producer)
            if last is not None and batch.seq + len(batch.records) - 1 <= last:
                self.world.met["a batch came again"] += 1
                return "kept"
            if last is not None and batch.seq != last + 1:
                return "out of order"
        if log.owed and self.looked.get((batch.producer, log.topic), -1.0) < log.cut_at:
            # Newer records hide the gap from a process that starts next.
            self.lost[log.topic] |= log.owed
            log.owed.clear()
        for record in batch.records:
            self.appended(log, record)
        self.store(log, batch.producer, batch.seq, batch.records)
        return "kept"

    def store(
        self, log: Log, producer: int, seq: int | None, records: Sequence[ProducerRecord]
    ) -> None:
        """Put records at the end, bent or whole."""
        told = [Consumed(log.number, 0, r.key, r.value, tuple(r.headers)) for r in records]
        for at, each in enumerate(self.bend(log, told)):
            kept = each and each._replace(offset=len(log.stored))
            number = -1 if seq is None else seq + min(at, len(records) - 1)
            log.stored.append(Stored(kept, producer, number))
            log.owed.discard(number_of(each) if each else 0)
            what = f"{number_of(each)} as {number}" if each else "nothing"
            self.world.say(f"{log.topic}/{log.number}@{len(log.stored) - 1} holds {what}")
        if seq is not None:
            log.stored[-1] = log.stored[-1]._replace(seq=seq + len(records) - 1)

    def tick(self) -> None:
        """Followers catch up; a disaster may come."""
        for logs in self.logs.values():
            for log in logs:
                if len(log.stored) > log.durable and self.world.chance.random() < 0.6:
                    log.durable = len(log.stored)
        self.world.net.extend(self.undurable)
        self.undurable.clear()
        if self.world.fault("broker restarted"):
            self.restart(power=False)
        if self.world.fault("power cut"):
            self.restart(power=True)
        if self.world.fault("topic deleted"):
            name = self.world.chance.choice(sorted(self.logs))
            self.delete(name)

    def restart(self, *, power: bool) -> None:
        """Another leader: what was not durable is gone. A power cut takes what was, too."""
        self.up_at = self.world.now + self.world.chance.uniform(*DOWN_S)
        for logs in self.logs.values():
            for log in logs:
                keep = log.durable
                if power:
                    keep = max(0, keep - self.world.chance.randint(0, 4))
                self._cut(log, keep)

    def delete(self, name: str) -> None:
        """Deleted, and made again by somebody."""
        self.deleted += name == topics.FACTS
        for log in self.logs[name]:
            self._cut(log, 0)

    def _cut(self, log: Log, keep: int) -> None:
        gone = log.stored[keep:]
        if keep < log.durable:
            self.rewound += 1
            log.cut_at = self.world.now
            log.owed |= {number_of(each.record) for each in gone if each.record}
        log.cuts += 1
        if gone:
            self.world.say(f"{log.topic}/{log.number} ends at {keep}, {len(gone)} are gone")
        del log.stored[keep:]
        log.durable = min(log.durable, keep)

    def _empty(self, name: str) -> list[Log]:
        return [Log(name, number) for number in range(self.partitions[name])]


def number_of(record: Consumed) -> int:
    """By what a topic's records are counted."""
    told = dict(record.headers)
    return int(told.get(OUTBOX) or told.get(QUARANTINE_ID) or told.get(POSITION) or b"0")


class Batch:
    """Records of one partition that travel together."""

    def __init__(self, producer: int, log: Log, seq: int | None) -> None:
        self.producer = producer
        self.log = log
        self.seq = seq
        self.records: list[ProducerRecord] = []
        self.sent: list[SimSent] = []
        self.under_way = False
        self.end = 0
        self.offsets: list[int] = []  # of its records, where they were put; below zero: not known
        self.cuts = 0


class SimSent:
    """`infra.kafka.ports.Sent`."""

    def __init__(self, world: World) -> None:
        self._world = world
        self.is_done = False
        self.error: Exception | None = None
        self.taken = Taken()

    def get(self, timeout: float) -> Taken:
        if not self._world.wait(lambda: self.is_done, max(0.0, timeout)) and not self.is_done:
            raise KafkaError("not acknowledged in time")
        if self.error:
            raise self.error
        return self.taken


class Taken(NamedTuple):
    """`infra.kafka.ports.Acknowledged`."""

    partition: int = 0
    offset: int = -1


class SimProducer:
    """`infra.kafka.ports.Producer`: batches, sequences and retries as its options say."""

    def __init__(self, broker: Broker, options: Mapping[str, Any]) -> None:
        broker.producers += 1
        self._broker = broker
        self._world = broker.world
        self._id = broker.producers
        self._idempotent = options["enable_idempotence"]
        self._all = options["acks"] == "all"
        self._in_flight_max = options["max_in_flight_requests_per_connection"]
        self._queues: dict[tuple[str, int], list[Batch]] = {}
        self._seqs: dict[tuple[str, int], int] = {}
        self._wire: deque[Batch] = deque()  # a connection keeps the order
        self._sender = self  # what closing by force asks for
        self._gone = False

    def looked(self, topic: str, at: float) -> None:
        """Its process has seen where a topic ended."""
        self._broker.looked[self._id, topic] = at

    def send(
        self,
        topic: str,
        *,
        key: bytes,
        value: bytes | None,
        headers: list[tuple[str, bytes]],
        partition: int,
    ) -> SimSent:
        queue = self._queues.setdefault((topic, partition), [])
        fits = queue and not queue[-1].under_way and not self._world.chance.randrange(3)
        if not fits or queue[-1].under_way:
            seq = self._seqs.get((topic, partition), 0) if self._idempotent else None
            queue.append(Batch(self._id, self._broker.logs[topic][partition], seq))
        batch = queue[-1]
        batch.records.append(ProducerRecord(key, value, headers))
        self._seqs[topic, partition] = self._seqs.get((topic, partition), 0) + 1
        sent = SimSent(self._world)
        batch.sent.append(sent)
        return sent

    def flush(self, timeout: float) -> None:
        self._world.step("flush")
        self._pump()
        until = self._world.now + timeout
        while any(self._queues.values()):
            if self._world.now > until:
                raise KafkaError("not flushed in time")
            self._world.wait(lambda: not any(self._queues.values()), min(1.0, timeout))
            self._pump()

    def close(self, timeout: float) -> None:
        self._gone = True

    def force_close(self) -> None:
        self._gone = True

    def _pump(self) -> None:
        """Send what may be under way now, in order."""
        for queue in self._queues.values():
            for batch in queue[: self._in_flight_max]:
                if not batch.under_way:
                    batch.under_way = True
                    self._wire.append(batch)
                    self._world.net.append(self._arrive)

    def _arrive(self) -> None:
        """The next request of this connection reaches the broker, if it does."""
        if not self._wire:
            return
        if not self._broker.is_up or self._world.fault("connection to broker cut"):
            lost = list(self._wire)
            self._wire.clear()
            for each in lost:
                each.under_way = False
            return
        batch = self._wire.popleft()
        if self._gone:
            self._world.met["a request outlived its process"] += 1
        begin = len(batch.log.stored)
        answer = self._broker.append(batch.log, batch)
        if answer == "kept":
            batch.offsets = batch.log.offsets_of(batch, begin)
        batch.end, batch.cuts = len(batch.log.stored), batch.log.cuts
        if self._world.fault("request came twice"):
            self._broker.append(batch.log, batch)
        self._world.net.append(lambda: self._answered(batch, answer))

    def _answered(self, batch: Batch, answer: str) -> None:
        queue = self._queues[batch.log.topic, batch.log.number]
        if self._gone or batch not in queue:
            return
        if answer == "kept" and self._all and batch.log.durable < batch.end:
            if batch.log.cuts != batch.cuts:  # another leader answers for it now: send it again
                batch.under_way = False
                return
            self._broker.undurable.append(lambda: self._answered(batch, answer))
            return
        if self._world.fault("acknowledgement lost"):
            batch.under_way = False
            return
        if answer == "out of order" and batch is queue[0]:
            self._end(queue, batch, KafkaError("out of order"))
        elif answer == "kept":
            self._end(queue, batch, None)
        else:
            batch.under_way = False
        if not self._gone:
            self._pump()

    def _end(self, queue: list[Batch], batch: Batch, error: Exception | None) -> None:
        queue.remove(batch)
        for sent, offset in zip(batch.sent, batch.offsets or [-1] * len(batch.sent), strict=True):
            sent.taken = Taken(batch.log.number, offset)
            sent.is_done, sent.error = True, error
