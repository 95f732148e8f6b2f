"""Writing to the feed in windows of records. A window counts once all of it is acknowledged.

The producer is idempotent and retries without limit; the deadline is set here. After any failure
the producer is not used again, because it is unknown which records reached the brokers, and the
library's producer can hang for ever. The relay then ends and resumes from its checkpoint.
"""

from __future__ import annotations

from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple, Self

from infra.kafka.clients import client, unavailable
from infra.kafka.library import KafkaError, KafkaProducer
from infra.kafka.ports import SYSTEM
from infra.kafka.records import partition_of
from ledger.errors import Unavailable

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from infra.kafka.clients import Connection
    from infra.kafka.ports import Acknowledged, Clock, Producer, Sent
    from infra.kafka.records import ProducerRecord

    Made = Callable[..., Producer]

WINDOW_RECORDS = 1_000
WINDOW_OCTETS = 4 * 1024 * 1024
"""How many records, or bytes, one window may hold; the library sets no limit."""

ACKNOWLEDGED_S_MAX = 60.0
"""How long the acknowledgement of a window by all required brokers may take, seconds."""

_REQUEST_S_MAX = 30.0
_NEVER_MS = 2**31 - 1
_CLOSE_S_MAX = 2


def options(deadline_s: float) -> dict[str, Any]:
    """Options of the library's producer that prevent loss, duplication and reordering."""
    request_ms = int(min(_REQUEST_S_MAX, deadline_s) * 1000)
    return {
        "acks": "all",
        "enable_idempotence": True,  # else the library may switch it off silently
        "retries": float("inf"),
        # A broker that does not know a producer yet may accept its second request before a
        # deferred first one. A later fact then comes before an earlier one (KAFKA-15591).
        "max_in_flight_requests_per_connection": 1,
        "delivery_timeout_ms": _NEVER_MS,  # when it expires, the library's producer hangs
        "request_timeout_ms": request_ms,
        # The library may ask a stopped broker several times for what it needs to know of a topic.
        "max_block_ms": request_ms,
        "bootstrap_timeout_ms": int(deadline_s * 1000),
        # Longer than filling a window takes, so that batches are few. `flush` ends it at once, so
        # a window of one record does not wait.
        "linger_ms": 50,
        "batch_size": 131_072,
        "compression_type": "zstd",
        "allow_auto_create_topics": False,
    }


class TopicRecreatedError(Unavailable):
    """A record got an offset at or below an earlier one: the topic was deleted and recreated."""


class SendWindow(NamedTuple):
    """Records that are sent and acknowledged together."""

    records: Sequence[ProducerRecord]
    end: int  # the checkpoint once all are acknowledged


def window_of(numbered: Iterable[tuple[int, ProducerRecord]]) -> SendWindow | None:
    """The first of these numbered records, up to `WINDOW_OCTETS` bytes, at least one.

    None if there are no records. The caller limits their number to `WINDOW_RECORDS` when it reads
    them from the record, so that it reads no record that cannot be sent.
    """
    sent: list[ProducerRecord] = []
    octets = end = 0
    for number, record in numbered:
        octets += record.octets
        if sent and octets > WINDOW_OCTETS:
            break
        sent.append(record)
        end = number
    return SendWindow(sent, end) if sent else None


class Publisher:
    """A producer for one thread of one process; it must not be used after a fork."""

    def __init__(
        self,
        kafka: Connection,
        *,
        deadline_s: float = ACKNOWLEDGED_S_MAX,
        made: Made | None = None,
        clock: Clock = SYSTEM,
    ) -> None:
        self.kafka = kafka
        self._deadline_s = deadline_s
        self._clock = clock
        self._newest: dict[tuple[str, int], int] = {}  # offset by partition
        try:
            make = made or partial(client, KafkaProducer, kafka)
            self._producer: Any = make(**options(deadline_s))
        except KafkaError as error:
            raise unavailable(kafka, error) from error

    def publish(
        self, topic: str, partitions: int, records: Sequence[ProducerRecord]
    ) -> Sequence[Acknowledged]:
        """The places of the records, once all are acknowledged.

        After `Unavailable` start a new process.

        Raises `TopicRecreatedError` if the topic was recreated or lost its end.
        """
        until = self._clock.monotonic() + self._deadline_s
        try:
            named = self.kafka.named(topic)
            futures = [self._send(named, partitions, record) for record in records]
            self._producer.flush(timeout=self._deadline_s)
            taken = [
                future.get(timeout=max(0.0, until - self._clock.monotonic())) for future in futures
            ]
        except KafkaError as error:
            raise unavailable(self.kafka, error) from error
        for each in taken:
            self._follows(topic, each)
        return taken

    def _follows(self, topic: str, taken: Acknowledged) -> None:
        """Raise `TopicRecreatedError` unless the offset is above all earlier ones."""
        if taken.offset < 0:
            return
        newest = self._newest.get((topic, taken.partition), -1)
        if taken.offset <= newest:
            raise TopicRecreatedError(
                "The topic was deleted and recreated while the relay was writing",
                where=f"{self.kafka.named(topic)}, partition {taken.partition},"
                f" offset {taken.offset}",
                hint="Start the relay again: it sends all records again.",
            )
        self._newest[topic, taken.partition] = taken.offset

    def _send(self, named: str, partitions: int, record: ProducerRecord) -> Sent:
        sent: Sent = self._producer.send(
            named,
            key=record.key,
            value=record.value,
            headers=record.headers,
            partition=partition_of(record.key, partitions),
        )
        return sent

    def __enter__(self) -> Self:
        return self

    def __exit__(self, _: object, error: object, *__: object) -> None:
        if error:
            # Records being sent may never finish, and closing waits for them: drop them first. No
            # public call does so. An atexit hook would wait again and end in a traceback.
            self._producer._sender.force_close()  # noqa: SLF001 - as said
        with suppress(KafkaError):
            self._producer.close(timeout=_CLOSE_S_MAX)
