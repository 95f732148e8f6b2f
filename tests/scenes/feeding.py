"""Facts to publish, and a relay that publishes all there is and ends."""

from __future__ import annotations

from typing import TYPE_CHECKING

from consumers.relay.relay import relay
from tests.fixtures.postgres import fact

if TYPE_CHECKING:
    from infra.kafka.clients import Connection
    from infra.postgres.connection import Database
    from infra.postgres.tape import PostgresTape

PLACES = ("CC-07", "CC-08", "TDF-02", "cage", "office")


def fill(tape: PostgresTape, count: int, first: int = 0) -> None:
    """Facts of several places, taking turns."""
    tape.append([fact(n, place=PLACES[n % len(PLACES)]) for n in range(first, first + count)])


def once(database: Database, kafka: Connection) -> dict[str, int]:
    """Publish all there is; records sent by topic."""
    sent: dict[str, int] = {}

    def passed(topic: str, count: int, position: int) -> None:
        assert position > 0
        sent[topic] = sent.get(topic, 0) + count

    relay(database, kafka, stop=lambda: False, progress=passed, follow=False, deadline_s=20)
    return sent
