"""Relays as processes to be killed, facts that arrive meanwhile, and what the feed holds then."""

from __future__ import annotations

import subprocess
import sys
import threading
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from consumers import relay_check
from infra import relaying
from infra.tape import PostgresTape
from tests.feeding import PLACES, once
from tests.fix_postgres import fact
from tests.until import until

if TYPE_CHECKING:
    from collections.abc import Iterator

    from consumers.relay_check import Checked
    from infra.kafka.clients import Connection
    from infra.postgres import Database

ROOT = Path(__file__).parents[1]
WINDOW = 40  # small, so that a fault falls into the middle of much


@contextmanager
def process(
    base: Database, where: Connection, mode: str = "right", deadline_s: float = 120
) -> Iterator[subprocess.Popen[str]]:
    """A relay; whatever becomes of the test, it is ended. Its modes: `tests.relay_process`."""
    command = [sys.executable, "-m", "tests.relay_process", base.url, where.bootstrap]
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


def position(base: Database, topic: str) -> int:
    """How far a topic is acknowledged."""
    return {each.topic: each.position for each in relaying.tracked(base)}.get(topic, 0)


def moves(base: Database) -> None:
    """Wait until more is acknowledged than now: lines that were printed before prove nothing."""
    before = relaying.tracked(base)
    until(lambda: relaying.tracked(base) != before)


def stands_still(base: Database, count: list[int]) -> bool:
    """Whether nothing is acknowledged while facts arrive, once what was on its way has come."""
    for _ in range(2):
        before, first = relaying.tracked(base), count[0]
        until(lambda first=first: count[0] > first + 150)
    return relaying.tracked(base) == before


@contextmanager
def load(base: Database, every_s: float = 0.01) -> Iterator[list[int]]:
    """Facts arriving all the while; the list holds how many there are."""
    with PostgresTape(base) as tape:
        count = [tape.counters().appended]
    done = threading.Event()

    def append() -> None:
        with PostgresTape(base) as tape:
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


def checked(base: Database, where: Connection) -> Checked:
    """What the feed holds once a relay was left alone until it had nothing more to do."""
    once(base, where)
    return relay_check.verify(base, where)
