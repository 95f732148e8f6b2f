"""Links that go dead without a word: to the ledger from a device, to a broker from the relay.

Neither side learns that the other one is gone. Facts are neither lost nor doubled, and a waiting
side gives up by itself.
"""

from __future__ import annotations

import socket
import subprocess
import sys
from typing import TYPE_CHECKING, NamedTuple

import pytest

from infra.kafka import topics
from replay.devices.file_tail import kept_place
from tests.fixtures.cli import ROOT, Cli, lines
from tests.fixtures.kafka import FEED, Cluster, relays
from tests.processes.link import Link, link
from tests.scenes.feeding import fill
from tests.scenes.publishing import checked, position, process
from tests.until import until

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from infra.postgres.connection import Database
    from infra.postgres.tape import PostgresTape
    from infra.services.brokers import Node
    from tests.processes.link import Dead

DEADLINE_S = 4.0
EVERY, FIRST = 400, 100
WAITS = (
    "import replay.devices.http_client as client; client.ANSWER_S_MAX = {};"
    " from replay.cli import main; main()"
)
"""`round-ledger` that waits so long for an answer of another ledger."""

FOR_EVER = "None"


class Far(NamedTuple):
    """A ledger at the other end of a link, and a device's file here."""

    cli: Cli
    tape: PostgresTape
    link: Link
    file: Path

    def follow(self, waits_s: str = str(DEADLINE_S)) -> subprocess.Popen[bytes]:
        what = ("ingest", "--follow", str(self.file), "--to", self.url)
        return self._start("-c", WAITS.format(waits_s), *what)

    def careless(self) -> subprocess.Popen[bytes]:
        return self._start("-m", "tests.processes.follow_process", str(self.file), self.url)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.link.port}"

    def tell(self, span: range) -> None:
        """Let the device write of so many facts."""
        with self.file.open("ab") as out:
            out.writelines(lines(EVERY)[number] + b"\n" for number in span)

    def has(self, count: int) -> None:
        """Wait until so many facts are on record."""
        until(lambda: self.tape.counters().appended >= count)

    def answered(self, count: int) -> None:
        """Wait until so many are on record and the device has heard of it."""
        self.has(count)
        until(lambda: kept_place(self.file).lines >= count)

    def _start(self, *args: str) -> subprocess.Popen[bytes]:
        return subprocess.Popen(
            [sys.executable, *args],
            env=self.cli.environ,
            cwd=ROOT,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )


@pytest.fixture
def far(cli: Cli, tape: PostgresTape, tmp_path: Path) -> Iterator[Far]:
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    with cli.start("serve", "--port", str(port)) as server, link(port) as between:
        try:
            assert server.stderr
            assert b'"port":' in server.stderr.readline()
            yield Far(cli, tape, between, tmp_path / "shoe.jsonl")
        finally:
            server.kill()


@pytest.mark.long
@pytest.mark.parametrize("how", ["both ways", "answers"])
def test_a_device_gives_up_a_dead_link_and_sends_again_what_was_not_answered(
    far: Far, how: Dead
) -> None:
    far.tell(range(FIRST))
    with far.follow() as device:
        try:
            far.answered(FIRST)
            far.link.die(how)
            far.tell(range(FIRST, EVERY))
            until(lambda: far.link.lost)
            far.link.heal()
            far.answered(EVERY)
            device.terminate()
            assert device.wait(60) == 0
        finally:
            device.kill()
    counters = far.tape.counters()
    assert [row.id for row in far.tape.read(0, 2 * EVERY)] == [
        f"run1-{n:08d}" for n in range(EVERY)
    ]
    assert (counters.appended, counters.nothing_lost) == (EVERY, True)
    assert (counters.duplicate > 0) == (how == "answers"), "what arrived unheard came again"


@pytest.mark.long
def test_a_device_that_waits_for_ever_or_believes_at_once_is_found(far: Far) -> None:
    """The controls of the one above."""
    far.tell(range(FIRST))
    with far.follow(FOR_EVER) as patient:
        far.has(FIRST)
        far.link.die("both ways")
        far.tell(range(FIRST, 2 * FIRST))
        until(lambda: far.link.lost)
        far.link.heal()
        with pytest.raises(subprocess.TimeoutExpired):
            patient.wait(3 * DEADLINE_S)
        assert far.tape.counters().appended == FIRST
        patient.kill()
    far.link.die("both ways")
    lost = far.link.lost
    with far.careless() as careless:
        until(lambda: far.link.lost > lost)
        careless.kill()
    far.link.heal()
    far.tell(range(2 * FIRST, EVERY))
    with far.follow() as device:
        far.has(EVERY - FIRST)
        device.terminate()
        assert device.wait(60) == 0
    assert far.tape.counters().appended == EVERY - FIRST


@pytest.fixture
def linked(tmp_path: Path) -> Iterator[tuple[Cluster, Link]]:
    """A broker that is only ever reached through a link."""
    made: list[Link] = []

    def through(node: Node) -> dict[str, str]:
        made.append(Link(node.port))
        return {"advertised.listeners": f"PLAINTEXT://127.0.0.1:{made[0].port}"}

    cluster = Cluster(tmp_path / "kafka", more=through)
    try:
        topics.apply(cluster.connection, FEED)
        yield cluster, made[0]
    finally:
        cluster.close()
        made[0].close()


def published(database: Database, tape: PostgresTape, count: int) -> None:
    """Put facts on record, and wait until a relay takes them for published."""
    fill(tape, count, first=tape.counters().appended)
    until(lambda: position(database, topics.FACTS) == tape.counters().appended)


@pytest.mark.long
@pytest.mark.parametrize("how", ["both ways", "answers"])
def test_a_relay_gives_up_a_dead_link_within_its_deadline_and_the_next_one_loses_nothing(
    database: Database,
    tape: PostgresTape,
    linked: tuple[Cluster, Link],
    tmp_path: Path,
    how: Dead,
) -> None:
    cluster, between = linked
    with relays(database, cluster.connection, tmp_path).start(
        "--deadline", str(DEADLINE_S)
    ) as running:
        try:
            published(database, tape, FIRST)
            between.die(how)
            fill(tape, FIRST, first=FIRST)
            assert running.wait(120) == 3
        finally:
            running.kill()
    assert between.lost
    assert position(database, topics.FACTS) == FIRST
    between.heal()
    seen = checked(database, cluster.connection)
    assert (seen.broken, seen.facts) == (0, 2 * FIRST)
    assert (seen.duplicates > 0) == (how == "answers")


@pytest.mark.long
def test_a_relay_that_takes_what_it_sent_for_arrived_loses_what_a_dead_link_took(
    database: Database, tape: PostgresTape, linked: tuple[Cluster, Link]
) -> None:
    """The control of the one above."""
    cluster, between = linked
    with process(database, cluster.connection, "hasty", DEADLINE_S) as running:
        published(database, tape, FIRST)
        between.die("both ways")
        published(database, tape, FIRST)  # as it believes
        between.heal()
        published(database, tape, FIRST)
        running.terminate()
        running.wait(120)
    seen = checked(database, cluster.connection)
    assert {each.kind for each in seen.breaks} == {"missing"}
