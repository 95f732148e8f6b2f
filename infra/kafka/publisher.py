"""Writing to the feed: a window of records at a time, acknowledged whole or not counted.

The producer is idempotent and never gives up by itself; our own deadline does. After any failure
it is not used again: whoever publishes ends its process and begins again from what was tracked,
since what reached the brokers is not known (and the library's producer can hang for ever).
"""

from __future__ import annotations

import time
from contextlib import suppress
from typing import TYPE_CHECKING, Any, NamedTuple, Self

from infra.kafka.clients import unavailable
from infra.kafka.library import KafkaError, KafkaProducer
from infra.kafka.records import partition_of

if TYPE_CHECKING:
    from collections.abc import Sequence
    from types import TracebackType

    from infra.kafka.clients import Connection
    from infra.kafka.records import Record

WINDOW_RECORDS = 1_000
WINDOW_OCTETS = 4 * 1024 * 1024
"""How much may be under way at once: the library itself knows no bound."""

ACKNOWLEDGED_S_MAX = 60.0
"""How long a window may take until every broker that must has it, seconds."""

_METADATA_S_MAX = 10
_NEVER_MS = 2**31 - 1
_CLOSE_S_MAX = 5


class Window(NamedTuple):
    """What is sent and acknowledged together."""

    records: Sequence[Record]
    end: int  # what tracking is moved to once it is acknowledged


class Publisher:
    """A producer for one process. Not to be shared between threads, not to be kept over a fork."""

    def __init__(self, where: Connection, *, deadline_s: float = ACKNOWLEDGED_S_MAX) -> None:
        self._where = where
        self._deadline_s = deadline_s
        try:
            self._producer: Any = KafkaProducer(
                **where.options(),
                acks="all",
                enable_idempotence=True,  # by itself the library would switch it off silently
                retries=float("inf"),
                max_in_flight_requests_per_connection=5,
                delivery_timeout_ms=_NEVER_MS,  # where it ends, the library's producer hangs
                request_timeout_ms=int(min(30.0, deadline_s) * 1000),
                max_block_ms=_METADATA_S_MAX * 1000,
                bootstrap_timeout_ms=int(deadline_s * 1000),
                linger_ms=5,
                batch_size=131_072,
                compression_type="zstd",
                allow_auto_create_topics=False,
            )
        except KafkaError as error:
            raise unavailable(where, error) from error

    def publish(self, topic: str, partitions: int, records: Sequence[Record]) -> None:
        """Return when every record is acknowledged. Raises `Unavailable`: then begin anew."""
        until = time.monotonic() + self._deadline_s
        try:
            futures = [self._send(topic, partitions, record) for record in records]
            self._producer.flush(timeout=self._deadline_s)
            for future in futures:
                future.get(timeout=max(0.0, until - time.monotonic()))
        except KafkaError as error:
            raise unavailable(self._where, error) from error

    def _send(self, topic: str, partitions: int, record: Record) -> Any:  # noqa: ANN401 - a future of the library
        return self._producer.send(
            topic,
            key=record.key,
            value=record.value,
            headers=record.headers,
            partition=partition_of(record.key, partitions),
        )

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if error:
            # What is under way may never end, and closing waits for it: drop it first. There is no
            # public way; an atexit hook would else wait again and end in a traceback.
            self._producer._sender.force_close()  # noqa: SLF001 - as said
        with suppress(KafkaError):
            self._producer.close(timeout=_CLOSE_S_MAX)


def windows(records: Sequence[Record]) -> list[int]:
    """Where to cut so that no window is above its bounds: the end of each, in order."""
    ends: list[int] = []
    octets = count = 0
    for at, record in enumerate(records):
        if count and (count == WINDOW_RECORDS or octets + record.octets > WINDOW_OCTETS):
            ends.append(at)
            octets = count = 0
        octets += record.octets
        count += 1
    return [*ends, len(records)] if records else []
