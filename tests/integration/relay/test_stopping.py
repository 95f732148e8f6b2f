"""SIGTERM while no broker answers: each process of the feed ends, whatever it waits for."""

from __future__ import annotations

import json
import subprocess
import time
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

import httpx
import pytest

from infra.kafka import topics
from tests.fixtures.kafka import Cluster, relays
from tests.processes.command_server import started
from tests.scenes.feeding import fill
from tests.until import until

if TYPE_CHECKING:
    from collections.abc import Sequence

    from infra.postgres.connection import Database
    from infra.postgres.tape import PostgresTape

FOLLOWING = (
    ("relay", "--deadline", "600"),  # so long it would wait for its window
    ("consume", "table_board", "--follow", "--from", "kafka"),
    ("consume", "alerts", "--follow"),
)
STARTING = (*FOLLOWING, ("relay", "verify"), ("relay", "republish", "--from", "1", "--to", "9"))
ENDS_S_MAX = 60
"""Far above what an idle machine takes (3 s), far below what is waited for."""


def port(running: subprocess.Popen[bytes]) -> int:
    assert running.stderr
    while line := running.stderr.readline():
        if told := json.loads(line).get("port"):
            return int(told)
    raise AssertionError(running.wait())


def ready(at: int) -> bool:
    return httpx.get(f"http://127.0.0.1:{at}/readyz", timeout=120).status_code == 200


def asks_brokers(pid: int, broker: int) -> bool:
    """Whether a process has a connection to a broker's port."""
    files = []
    for each in Path(f"/proc/{pid}/fd").iterdir():
        with suppress(FileNotFoundError):  # closed since it was listed
            files.append(str(each.readlink()))
    lines = [line.split() for line in Path("/proc/net/tcp").read_text().splitlines()[1:]]
    to_broker = {f"socket:[{line[9]}]" for line in lines if line[2].endswith(f":{broker:04X}")}
    return bool(to_broker.intersection(files))


def ended(running: subprocess.Popen[bytes], args: Sequence[str]) -> float:
    """The seconds that a process takes to end after SIGTERM."""
    began = time.monotonic()
    running.terminate()
    assert running.wait(ENDS_S_MAX) in (0, 143), args
    return time.monotonic() - began


@pytest.mark.long
def test_processes_of_the_feed_end_while_brokers_are_stopped(
    database: Database, tape: PostgresTape, own_kafka: Cluster, tmp_path: Path
) -> None:
    topics.apply(own_kafka.connection)
    environ = relays(database, own_kafka.connection, tmp_path).environ
    environ |= {"ROUND_LEDGER_READY_S": "3"}
    pipes = {"stdout": subprocess.DEVNULL, "stderr": subprocess.PIPE}
    fill(tape, 20)
    took: dict[str, float] = {}
    every = [(args, started([*args, "--port", "0"], environ, **pipes)) for args in FOLLOWING]
    try:
        ports = [port(running) for _, running in every]
        for at in ports:
            until(lambda at=at: ready(at))
        own_kafka.pause(on=True)
        fill(tape, 20, first=20)
        for at in ports:
            until(lambda at=at: not ready(at))
        for args, running in every:
            took[" ".join(args)] = ended(running, args)
        for args in STARTING:
            running = started([*args], environ, **pipes)
            every.append((args, running))
            until(lambda pid=running.pid: asks_brokers(pid, own_kafka.nodes.nodes[0].port))
            took[f"{' '.join(args)}, starting"] = ended(running, args)
    finally:
        for _, running in every:
            running.kill()
            running.wait()
            running.stderr.close()
    print({name: round(s, 1) for name, s in took.items()})  # noqa: T201 - shown by -s
