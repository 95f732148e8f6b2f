"""One broker of three is stopped: it takes connections and answers nothing. Everything starts."""

from __future__ import annotations

import subprocess
from typing import TYPE_CHECKING, Any

import pytest

from infra.kafka import clients, topics
from infra.kafka.clients import cluster
from ledger.errors import Unavailable
from tests.fixtures.kafka import Cluster, relays
from tests.processes.command_server import started
from tests.scenes.feeding import fill

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from infra.postgres.connection import Database
    from infra.postgres.tape import PostgresTape

PIPES = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
COMMANDS = (
    ["relay", "--once"],
    ["consume", "table_board", "--from", "kafka"],
    ["consume", "alerts"],
    ["relay", "verify"],
)


@pytest.fixture
def three(tmp_path: Path) -> Iterator[Cluster]:
    """Three nodes of this test's own, with every topic."""
    nodes = Cluster(tmp_path / "kafka", 3)
    try:
        topics.apply(nodes.connection)
        yield nodes
    finally:
        nodes.close()


def ends(args: Sequence[str], environ: dict[str, str]) -> tuple[int, str]:
    """How a command ends, and what it says."""
    with started(args, environ, stdin=subprocess.DEVNULL, **PIPES) as running:
        out, told = running.communicate(timeout=300)
    return running.returncode, (out + told).decode()


@pytest.mark.long
def test_everything_that_reads_or_writes_the_feed_starts_whichever_broker_is_stopped(
    database: Database,
    tape: PostgresTape,
    three: Cluster,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    environ = relays(database, three.connection, tmp_path).environ
    for count, node in enumerate(three.nodes.nodes):
        fill(tape, 50, first=50 * count)
        three.pause(on=True, only=node)
        for args in COMMANDS:
            code, told = ends(args, environ)
            assert code == 0, (node.id, args, told)
        three.pause(on=False)
        three.wait()

    # The control: without the question which of them answer, the library draws the stopped one.
    stopped = three.nodes.nodes[0]
    three.pause(on=True, only=stopped)
    monkeypatch.setattr(clients, "answering", lambda addresses, *_, **__: [*addresses])

    def draw(brokers: Sequence[Any]) -> Any:  # noqa: ANN401 - the library is not typed
        return next(each for each in brokers if each.port == stopped.port)

    monkeypatch.setattr("kafka.net.manager.random.choice", draw)
    with pytest.raises(Unavailable, match="Unable to bootstrap"):
        cluster(three.connection, timeout_s=3)
    three.pause(on=False)
