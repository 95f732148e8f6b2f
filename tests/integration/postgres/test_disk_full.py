"""Disks that are full: what was answered is kept, what was not is not, and all goes on with space.

Real PostgreSQL and real Kafka on file systems of a few hundred MiB, filled to the last byte.
"""

from __future__ import annotations

import subprocess
import sys
from contextlib import suppress
from typing import TYPE_CHECKING

import httpx
import psycopg
import pytest

from consumers.relay import check
from infra.kafka import topics
from infra.postgres.connection import create_database
from infra.postgres.migrations import migrate
from infra.postgres.tape import PostgresTape
from tests.fixtures.cli import ROOT, Cli, environ, lines
from tests.fixtures.http import BATCH, batch
from tests.fixtures.kafka import FEED, Cluster, relays
from tests.fixtures.postgres_pair import NAME, Postgres
from tests.scenes.feeding import fill, once
from tests.scenes.publishing import blind, process
from tests.until import until

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from infra.postgres.connection import Database
    from tests.fixtures.disk import Disk

FEW = {"min_wal_size": "32MB", "max_wal_size": "32MB"}
MANY = {"min_wal_size": "32MB", "max_wal_size": "4GB"}  # its log is not recycled, and grows
A_REQUEST = 200


@pytest.fixture
def cramped(
    disk_of: Callable[[int], Disk], request: pytest.FixtureRequest
) -> Iterator[tuple[Postgres, Disk]]:
    """A PostgreSQL with an empty ledger on a disk of its own."""
    disk = disk_of(192)
    server = Postgres(disk.folder / "pg")
    server.make()
    server.start(**getattr(request, "param", FEW))
    try:
        create_database(server.url, NAME)
        migrate(server.database.owner_url)
        yield server, disk
    finally:
        server.stop("immediate")


@pytest.mark.long
@pytest.mark.parametrize(
    ("cramped", "leaving", "says"),
    [(FEW, 0, "could not extend file"), (MANY, 10 * 2**20, "PANIC:  could not write to file")],
    indirect=["cramped"],
    ids=["tables", "log"],
)
def test_with_a_full_disk_ingest_answers_503_keeps_nothing_half_and_goes_on_with_space(
    cramped: tuple[Postgres, Disk], tmp_path: Path, leaving: int, says: str
) -> None:
    server, disk = cramped
    cli = Cli(environ(tmp_path, ROUND_LEDGER_DATABASE_URL=server.database.url))
    every = lines(60_000)
    ready = [every[at : at + A_REQUEST] for at in range(0, len(every), A_REQUEST)]
    with cli.start("serve", "--port", "0") as process, httpx.Client(timeout=120) as client:
        assert process.stderr
        port = process.stderr.readline().split(b'"port":')[1].split(b"}")[0].decode()
        url = f"http://127.0.0.1:{port}/v1/facts"

        def send(part: list[bytes]) -> int:
            return client.post(url, content=batch(part), headers=BATCH).status_code

        assert send(ready[0]) == 200
        disk.fill(leaving=max(leaving, 2 * 2**20))
        kept = 1
        while (status := send(ready[kept])) == 200:
            kept += 1
            disk.fill(leaving=leaving)
        assert status == 503
        assert says in (server.folder / "log").read_text()
        assert send(ready[kept]) == 503, "and again, while it is full"
        disk.give_back()
        with suppress(psycopg.Error):
            server.ask("SELECT 1")
        if not (server.data / "postmaster.pid").exists():  # it may have stopped of it
            server.start(**FEW)
        until(lambda: send(ready[kept]) == 200)
        process.terminate()
        process.wait(120)
    with PostgresTape(server.database) as tape:
        counters = tape.counters()
        assert (counters.appended, counters.nothing_lost) == ((kept + 1) * A_REQUEST, True)
        assert [row.id for row in tape.read(0, 99_999)] == [
            f"run1-{n:08d}" for n in range((kept + 1) * A_REQUEST)
        ]
        assert tape.verify().broken is None


@pytest.mark.long
def test_a_sender_that_says_so_before_the_record_did_is_found_on_a_full_disk(
    cramped: tuple[Postgres, Disk],
) -> None:
    server, disk = cramped
    disk.fill()
    command = [
        sys.executable,
        "-m",
        "tests.processes.device",
        server.database.url,
        "0",
        "20000",
        "1000",
    ]
    boasted = subprocess.run(
        [*command, "--boast"], cwd=ROOT, capture_output=True, text=True, check=False, timeout=200
    ).stdout.splitlines()
    disk.give_back()
    if not (server.data / "postmaster.pid").exists():
        server.start(**FEW)
    with PostgresTape(server.database) as tape:
        assert tape.counters().appended < len(boasted)


@pytest.mark.long
def test_with_a_full_broker_the_relay_ends_and_the_next_one_loses_nothing(
    database: Database, disk_of: Callable[[int], Disk], tmp_path: Path
) -> None:
    disk = disk_of(256)
    cluster = Cluster(disk.folder / "kafka")
    node = cluster.nodes.nodes[0]
    try:
        topics.apply(cluster.connection, FEED)
        with PostgresTape(database) as tape:
            fill(tape, 300)
        once(database, cluster.connection)
        disk.fill()
        with PostgresTape(database) as tape:
            for first in range(300, 60_300, 2_000):
                fill(tape, 2_000, first=first)
        with relays(database, cluster.connection, tmp_path).start("--deadline", "10") as running:
            assert running.wait(120) == 3
            assert running.stderr
            assert b"Traceback" not in running.stderr.read()
        disk.give_back()
        if cluster.processes[node.id].poll() is None:
            cluster.kill(node)
        cluster.start(node)
        cluster.wait()
        once(database, cluster.connection)
        seen = check.verify(database, cluster.connection)
        assert (seen.breaks, seen.facts) == ([], 60_300)
    finally:
        cluster.close()


@pytest.mark.long
def test_a_relay_that_moves_tracking_first_loses_facts_to_a_full_broker_and_it_is_seen(
    database: Database,
    disk_of: Callable[[int], Disk],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    blind(monkeypatch)
    disk = disk_of(256)
    cluster = Cluster(disk.folder / "kafka")
    node = cluster.nodes.nodes[0]
    try:
        topics.apply(cluster.connection, FEED)
        with PostgresTape(database) as tape:
            fill(tape, 300)
            with process(database, cluster.connection, "early", deadline_s=10) as running:
                assert running.stdout
                assert running.stdout.readline() == "moved\n"  # a full broker would let none begin
                disk.fill()
                for first in range(300, 60_300, 2_000):
                    fill(tape, 2_000, first=first)
                assert running.wait(120) != 0
        disk.give_back()
        if cluster.processes[node.id].poll() is None:
            cluster.kill(node)
        cluster.start(node)
        cluster.wait()
        once(database, cluster.connection)
        assert "missing" in {
            each.kind for each in check.verify(database, cluster.connection).breaks
        }
    finally:
        cluster.close()
