"""Relays as processes to be killed, facts that arrive meanwhile, and what the feed holds then."""

from __future__ import annotations

import subprocess
import sys
import threading
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from consumers.relay import check
from infra.postgres import relay_progress
from infra.postgres.tape import PostgresTape
from tests.fixtures.postgres import fact
from tests.scenes.feeding import PLACES, once
from tests.until import until

if TYPE_CHECKING:
    from collections.abc import Iterator

    import pytest

    from consumers.relay.check import FeedCheck
    from infra.kafka.clients import Connection
    from infra.postgres.connection import Database

ROOT = Path(__file__).parents[2]
WINDOW = 40  # small, so that a fault falls into the middle of much


@contextmanager
def process(
    database: Database, kafka: Connection, mode: str = "right", deadline_s: float = 120
) -> Iterator[subprocess.Popen[str]]:
    """A relay; whatever becomes of the test, it is ended. Its modes: `processes.relay_process`."""
    command = [sys.executable, "-m", "tests.processes.relay_process", database.url, kafka.bootstrap]
    command.append(kafka.topic_prefix)
    with subprocess.Popen(
        [*command, str(WINDOW), mode, str(deadline_s)],
        cwd=ROOT,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as running:
        try:
            yield running
        finally:
            running.kill()


def position(database: Database, topic: str) -> int:
    """How far a topic is acknowledged."""
    return {each.topic: each.position for each in relay_progress.tracked(database)}.get(topic, 0)


def moves(database: Database) -> None:
    """Wait until more is acknowledged than now: lines that were printed before prove nothing."""
    before = _acknowledged(database)
    until(lambda: _acknowledged(database) > before)


def _acknowledged(database: Database) -> int:
    """How much is acknowledged, of all topics; a relay that starts keeps rows of none."""
    return sum(each.position for each in relay_progress.tracked(database))


def stands_still(database: Database, count: list[int]) -> bool:
    """Whether nothing is acknowledged while facts arrive, once what was on its way has come."""
    for _ in range(2):
        before, first = relay_progress.tracked(database), count[0]
        until(lambda first=first: count[0] > first + 150)
    return relay_progress.tracked(database) == before


@contextmanager
def load(database: Database, every_s: float = 0.01) -> Iterator[list[int]]:
    """Facts arriving all the while; the list holds how many there are."""
    with PostgresTape(database) as tape:
        count = [tape.counters().appended]
    done = threading.Event()

    def append() -> None:
        with PostgresTape(database) as tape:
            while not done.wait(every_s):
                first = count[0]
                facts = [fact(n, place=PLACES[n % len(PLACES)]) for n in range(first, first + 15)]
                tape.append(facts)
                count[0] += len(facts)

    thread = threading.Thread(target=append)
    thread.start()
    try:
        yield count
    finally:
        done.set()
        thread.join()


def blind(patch: pytest.MonkeyPatch) -> None:
    """Have a relay believe its checkpoint, and look at no topic's end."""
    patch.setattr(
        "consumers.relay.relay._resumed",
        lambda _, relay_store, stream, *__: relay_store.tracked(stream.topic),
    )


def checked(database: Database, kafka: Connection) -> FeedCheck:
    """What the feed holds once a relay was left alone until it had nothing more to do."""
    once(database, kafka)
    return check.verify(database, kafka)
