"""A process that keeps views up from Kafka: `URL BOOTSTRAP MODE`. To be killed, asked to stop.

Prints `up`, `moved` after each batch of a view, `lost` if a server is away, `refused` if
another moved a view, and at its end what it counted. Modes:

- `right`: as it is.
- `between`: stops itself, once, between the transactions of the first view and the second.
- `within`: stops itself, once, in the middle of a transaction.
- `early`: the mutant that moves a view's position before its rows, in a transaction of its own. It
  says `early` at one such moment, and stays in it until it is killed, or PostgreSQL or the brokers
  are gone.
"""

from __future__ import annotations

import os
import signal
import sys
import time
from typing import TYPE_CHECKING

from consumers.registry import VIEWS
from consumers.runtime.following import follow_on
from consumers.runtime.lifecycle import RunnerOptions
from consumers.runtime.metrics import ConsumerMetrics
from consumers.runtime.stopping import until_signalled
from infra.kafka import clients
from infra.kafka.clients import Connection
from infra.kafka.feed_source import feed_source
from infra.postgres.connection import Database
from infra.postgres.view_tables import ViewStore

if TYPE_CHECKING:
    from infra.postgres.view_tables import Tracking

BATCH_ROWS = 40
FRAIL, FRAIL_FROM = "payouts", 100
"""The view, and the position, from which on the mutant stays in the moment of a full batch."""


class Told(ConsumerMetrics):
    """Counts what was refused."""

    refused = 0

    def fenced(self, view: str) -> None:
        super().fenced(view)
        self.refused += 1
        say(f"refused {view}")


def main(url: str, bootstrap: str, prefix: str, mode: str) -> None:
    database, kafka = Database(url, url), Connection(bootstrap, topic_prefix=prefix)
    watch = Told(database, feed=True)
    first = iter([mode])
    if mode == "within":
        _pause_within()
    elif mode == "early":
        _mutate(database, kafka)

    def moved(_name: str, _position: int) -> None:
        say("moved")
        if next(first, None) == "between":
            os.kill(os.getpid(), signal.SIGSTOP)

    with until_signalled() as stop:
        say("up")
        position = follow_on(
            database,
            VIEWS,
            progress=moved,
            stop=stop,
            lost=lambda error, _: say(f"lost {error}"),
            opened=lambda: feed_source(
                database, kafka, [each.name for each in VIEWS], watch.figures
            ),
            options=RunnerOptions(batch_rows=BATCH_ROWS, parks=True, listener=watch),
        )
    say(f"stopped at {position}, {watch.refused} refused")


def say(text: str) -> None:
    sys.stdout.write(f"{text}\n")
    sys.stdout.flush()


def _pause_within() -> None:
    advance = ViewStore.advance

    def pausing(self: ViewStore, view: str, seen: Tracking, to: int) -> bool:
        ViewStore.advance = advance  # type: ignore[method-assign]
        moved = advance(self, view, seen, to)
        os.kill(os.getpid(), signal.SIGSTOP)
        return moved

    ViewStore.advance = pausing  # type: ignore[method-assign]


def _mutate(database: Database, kafka: Connection) -> None:
    stayed: list[str] = []

    def early(self: ViewStore, view: str, seen: Tracking, to: int) -> bool:
        with database.connect("ledger_owner") as apart:
            apart.execute("UPDATE views.tracking SET position = %s WHERE view = %s", (to, view))
        full = seen.position >= FRAIL_FROM and to - seen.position == BATCH_ROWS
        if view == FRAIL and full and not stayed:
            stayed.append(view)
            say("early")
            while True:
                self.connection.execute("SELECT")  # raises once the server is gone
                clients.client(dict, kafka)  # as soon as no broker is there
                time.sleep(0.02)
        return True

    ViewStore.advance = early  # type: ignore[method-assign]


if __name__ == "__main__":
    main(*sys.argv[1:])
