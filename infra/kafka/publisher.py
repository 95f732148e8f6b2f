"""Writing to the feed: a window of records at a time, acknowledged whole or not counted.

The producer is idempotent and never gives up by itself; our own deadline does. After any failure
it is not used again: whoever publishes ends its process and begins again from what was tracked,
since what reached the brokers is not known (and the library's producer can hang for ever).
"""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING, Any, NamedTuple, Self

from infra.kafka.clients import unavailable
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
"""How much may be under way at once: the library itself knows no bound."""

ACKNOWLEDGED_S_MAX = 60.0
"""How long a window may take until every broker that must has it, seconds."""

_METADATA_S_MAX = 10
_NEVER_MS = 2**31 - 1
_CLOSE_S_MAX = 5


def options(deadline_s: float) -> dict[str, Any]:
    """How the library's producer is made, so that it loses, doubles and swaps nothing."""
    return {
        "acks": "all",
        "enable_idempotence": True,  # by itself the library would switch it off silently
        "retries": float("inf"),
        # A broker that knows nothing of a producer yet takes its second request where the first was
        # put off, and a later fact stands before an earlier one (KAFKA-15591).
        "max_in_flight_requests_per_connection": 1,
        "delivery_timeout_ms": _NEVER_MS,  # where it ends, the library's producer hangs
        "request_timeout_ms": int(min(30.0, deadline_s) * 1000),
        "max_block_ms": _METADATA_S_MAX * 1000,
        "bootstrap_timeout_ms": int(deadline_s * 1000),
        "linger_ms": 5,
        "batch_size": 131_072,
        "compression_type": "zstd",
        "allow_auto_create_topics": False,
    }


class TopicRecreatedError(Unavailable):
    """A topic took a record below one that it had taken before: it is not the topic it was."""


class SendWindow(NamedTuple):
    """What is sent and acknowledged together."""

    records: Sequence[ProducerRecord]
    end: int  # what tracking is moved to once it is acknowledged


def window_of(numbered: Iterable[tuple[int, ProducerRecord]]) -> SendWindow | None:
    """The first of these records that may be under way together, at least one; None of none.

    Each comes with its number. How many there are at most, `WINDOW_RECORDS`, is asked of the
    record, so that no more is read than may go out.
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
    """A producer for one process. Not to be shared between threads, not to be kept over a fork."""

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
            self._producer: Any = (made or KafkaProducer)(**kafka.options(), **options(deadline_s))
        except KafkaError as error:
            raise unavailable(kafka, error) from error

    def publish(self, topic: str, partitions: int, records: Sequence[ProducerRecord]) -> None:
        """Return when every record is acknowledged. Raises `Unavailable`: then begin anew.

        `TopicRecreatedError` where a topic was made anew, or lost its end: what it had is gone.
        """
        until = self._clock.monotonic() + self._deadline_s
        try:
            futures = [self._send(topic, partitions, record) for record in records]
            self._producer.flush(timeout=self._deadline_s)
            taken = [
                future.get(timeout=max(0.0, until - self._clock.monotonic())) for future in futures
            ]
        except KafkaError as error:
            raise unavailable(self.kafka, error) from error
        for each in taken:
            self._follows(topic, each)

    def _follows(self, topic: str, taken: Acknowledged) -> None:
        """A partition's offsets only rise as long as it is the same partition."""
        if taken.offset < 0:
            return
        newest = self._newest.get((topic, taken.partition), -1)
        if taken.offset <= newest:
            raise TopicRecreatedError(
                "The topic was made anew while it was written to",
                where=f"{self.kafka.named(topic)}, partition {taken.partition},"
                f" offset {taken.offset}",
                hint="Start the relay again, and it sends everything again.",
            )
        self._newest[topic, taken.partition] = taken.offset

    def _send(self, topic: str, partitions: int, record: ProducerRecord) -> Sent:
        sent: Sent = self._producer.send(
            self.kafka.named(topic),
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
            # What is under way may never end, and closing waits for it: drop it first. There is no
            # public way; an atexit hook would else wait again and end in a traceback.
            self._producer._sender.force_close()  # noqa: SLF001 - as said
        with suppress(KafkaError):
            self._producer.close(timeout=_CLOSE_S_MAX)
