"""A relay as a process to be killed: `URL BOOTSTRAP WINDOW MODE`. Says `moved` after each window.

MODE `right` is the relay as it is. `early` is the mutant that moves tracking before anything is
acknowledged, and does not look at the topic's real end: killed, it loses facts. `leaderless` is the
one that takes no lock: of two, each believes that it leads.
"""

from __future__ import annotations

import signal
import sys
import threading
from typing import TYPE_CHECKING

from consumers import relay as relaying
from infra import relaying as leading
from infra.kafka.clients import Connection
from infra.kafka.publisher import Publisher
from infra.postgres import Database

if TYPE_CHECKING:
    from collections.abc import Sequence

    from infra.kafka.records import Record


def main(url: str, bootstrap: str, window: str, mode: str, deadline_s: str = "30") -> None:
    relaying.WINDOW_RECORDS = int(window)
    if mode == "early":
        _mutate()
    elif mode == "leaderless":
        leading._LEAD = "SELECT true"
    told = threading.Event()
    signal.signal(signal.SIGTERM, lambda *_: told.set())
    relaying.relay(
        Database(url, url),
        Connection(bootstrap),
        stop=told.is_set,
        progress=lambda *_: _say("moved"),
        deadline_s=float(deadline_s),
    )


def _say(word: str) -> None:
    sys.stdout.write(f"{word}\n")
    sys.stdout.flush()


def _mutate() -> None:
    publish = Publisher.publish
    held: list[tuple[Publisher, str, int, Sequence[Record]]] = []

    def later(self: Publisher, topic: str, partitions: int, records: Sequence[Record]) -> None:
        for each in held:
            publish(*each)
        held[:] = [(self, topic, partitions, records)]

    Publisher.publish = later  # type: ignore[method-assign]
    relaying.tails = lambda *_: {}  # type: ignore[assignment]


if __name__ == "__main__":
    main(*sys.argv[1:])
