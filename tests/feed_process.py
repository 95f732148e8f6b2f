"""A process that keeps views up from Kafka: `URL BOOTSTRAP`. To be killed, paused, asked to stop.

Prints `up`, then `moved` after each batch of a view, and at its end what it counted.
"""

from __future__ import annotations

import sys

from consumers.catalogue import VIEWS
from consumers.following import follow_on
from consumers.projection import Manner, until_signalled
from consumers.watch import Watch
from infra.kafka.clients import Connection
from infra.kafka.source import feed_source
from infra.postgres import Database


class Told(Watch):
    """Counts what was refused."""

    refused = 0

    def fenced(self, view: str) -> None:
        super().fenced(view)
        self.refused += 1


def main(url: str, bootstrap: str) -> None:
    base, where = Database(url, url), Connection(bootstrap)
    watch = Told(base, feed=True)
    with until_signalled() as stop:
        say("up")
        position = follow_on(
            base,
            VIEWS,
            progress=lambda *_: say("moved"),
            stop=stop,
            lost=lambda error, _: say(f"lost {error}"),
            opened=lambda: feed_source(base, where, [each.name for each in VIEWS], watch.figures),
            manner=Manner(batch_rows=40, parks=True, watcher=watch),
        )
    say(f"stopped at {position}, {watch.refused} refused")


def say(text: str) -> None:
    sys.stdout.write(f"{text}\n")
    sys.stdout.flush()


if __name__ == "__main__":
    main(*sys.argv[1:])
