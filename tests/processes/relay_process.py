"""A relay as a process to be killed: `URL BOOTSTRAP WINDOW MODE`. Says `moved` after each window.

MODE `right` is the relay as it is. The others are mutants, each of which loses facts to a fault:

- `early` moves tracking before anything is acknowledged, and does not look at the topic's real end.
- `blind` does not look at the topic's real end, only at how far it is tracked.
- `leaderless` takes no lock: of two, each believes that it leads.
- `hasty` takes a window that it has sent for one that arrived. It looks at no answer, and its
  producer gives up at the deadline, as the library's does by itself.
- `one` believes one broker of several, before the others have what it has, and does not look at
  offsets either.
- `heedless` does not look at the offsets that its records come to stand at.
- `wall` measures its deadline by the wall clock, which may be set back.
"""

from __future__ import annotations

import signal
import sys
import threading
import time
from contextlib import nullcontext, suppress
from typing import TYPE_CHECKING, Any

from consumers.relay import relay as relaying
from consumers.relay import streams
from infra.kafka import publisher
from infra.kafka.clients import Connection
from infra.kafka.library import KafkaError
from infra.kafka.publisher import Publisher
from infra.postgres import relay_progress as leading
from infra.postgres.connection import Database
from ledger.errors import Unavailable

if TYPE_CHECKING:
    from collections.abc import Sequence

    from infra.kafka.ports import Acknowledged
    from infra.kafka.records import ProducerRecord


_AN_HOUR_MS = 3_600_000


def main(
    url: str, bootstrap: str, prefix: str, window: str, mode: str, deadline_s: str = "30"
) -> None:
    streams.WINDOW_RECORDS = int(window)
    if mode == "early":
        _early()
    elif mode == "blind":
        _blind()
    elif mode == "leaderless":
        leading.advisory_lock = lambda *_, **__: nullcontext(enter_result=True)  # type: ignore[assignment]
    elif mode == "hasty":
        _hasty(float(deadline_s))
    elif mode == "heedless":
        _heedless()
    elif mode == "wall":
        _by_the_wall_clock(float(deadline_s))
    elif mode == "one":
        _heedless()
        _made_with(acks=1, enable_idempotence=False)
    told = threading.Event()
    signal.signal(signal.SIGTERM, lambda *_: told.set())
    relaying.relay(
        Database(url, url),
        Connection(bootstrap, topic_prefix=prefix),
        stop=told.is_set,
        progress=lambda *_: _say("moved"),
        deadline_s=float(deadline_s),
    )


def _say(word: str) -> None:
    sys.stdout.write(f"{word}\n")
    sys.stdout.flush()


def _early() -> None:
    publish = Publisher.publish
    held: list[tuple[Publisher, str, int, Sequence[ProducerRecord]]] = []

    def later(
        self: Publisher, topic: str, partitions: int, records: Sequence[ProducerRecord]
    ) -> list[Acknowledged]:
        for each in held:
            publish(*each)
        held[:] = [(self, topic, partitions, records)]
        return []

    Publisher.publish = later  # type: ignore[method-assign]
    _blind()


def _blind() -> None:
    relaying._resumed = lambda _, store, stream, *__: store.tracked(stream.topic)


def _heedless() -> None:
    Publisher._follows = lambda *_: None  # type: ignore[method-assign]


def _hasty(deadline_s: float) -> None:
    given_up_ms = int(deadline_s * 1000)

    def publish(
        self: Publisher, topic: str, partitions: int, records: Sequence[ProducerRecord]
    ) -> list[Acknowledged]:
        for record in records:
            self._send(topic, partitions, record)
        with suppress(KafkaError):
            self._producer.flush(timeout=2 * deadline_s)
        return []

    Publisher.publish = publish  # type: ignore[method-assign]
    _made_with(
        enable_idempotence=False,
        delivery_timeout_ms=given_up_ms,
        request_timeout_ms=given_up_ms // 2,
    )


_LOOKS = 10


def _by_the_wall_clock(deadline_s: float) -> None:
    def publish(
        self: Publisher, topic: str, partitions: int, records: Sequence[ProducerRecord]
    ) -> list[Acknowledged]:
        futures: list[Any] = [self._send(topic, partitions, record) for record in records]
        until = time.time() + deadline_s
        late = 0
        while not all(future.is_done for future in futures):
            # Several looks in a row: with other threads reading its file, the library that sets
            # the clock may give the machine's time for once.
            late = late + 1 if time.time() > until else 0
            if late > _LOOKS:
                raise Unavailable("No answer in time", where=topic, hint="The clock went on.")
            time.sleep(0.01)
        return []

    Publisher.publish = publish  # type: ignore[method-assign]
    _made_with(request_timeout_ms=_AN_HOUR_MS, bootstrap_timeout_ms=_AN_HOUR_MS)


def _made_with(**other: object) -> None:
    options = publisher.options
    publisher.options = lambda deadline_s: options(deadline_s) | other


if __name__ == "__main__":
    main(*sys.argv[1:])
