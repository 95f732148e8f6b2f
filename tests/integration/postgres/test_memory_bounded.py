"""A view that catches up on much more than fits into memory: it holds little of it at a time.

Under the same limit one that takes in all at once dies, leaves nothing half, and the next goes on.
"""

from __future__ import annotations

import random
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from consumers.registry import install, view
from infra.postgres.tape import PostgresTape
from tests.fixtures.cli import ROOT, environ
from tests.fixtures.kafka import reached
from tests.fixtures.postgres import fact
from tests.processes.view_keeper import begun_anew
from tests.scenes.feeding import once
from tests.scenes.view_feeds import day, dumped, record

if TYPE_CHECKING:
    from pathlib import Path

    from infra.kafka.clients import Connection
    from infra.postgres.connection import Database

MIB = 160
LARGE, OCTETS = 24_000, 8_000
"""Facts of the backlog, 183 MiB of them, and a day's in the middle."""

PADDED = b'{"to":"player","position":3,"cards":["As","Kd"],"face":"down","number":%d,"says":"%s"}'
NAME = "payouts"


def backlog(database: Database) -> int:
    """Put it on record; how many facts it is."""
    chance = random.Random(27)  # noqa: S311 - repeatable, guards nothing
    install(database)
    with PostgresTape(database) as tape:
        for first in range(0, LARGE, 1_000):
            if first == LARGE // 2:
                record(database, day(8))
            told = [
                fact(
                    n,
                    place=f"CC-{n % 30}",
                    data=PADDED % (n, chance.randbytes(OCTETS // 2).hex().encode()),
                )
                for n in range(first, first + 1_000)
            ]
            tape.append(told)
        return tape.counters().appended


def position(database: Database) -> int:
    with database.connect("ledger_reader") as connection:
        row = connection.execute(
            "SELECT position FROM views.tracking WHERE view = %s", (NAME,)
        ).fetchone()
    assert row
    return int(row[0])


@pytest.mark.long
@pytest.mark.skipif(sys.platform != "linux", reason="other systems limit memory otherwise")
@pytest.mark.parametrize("source", ["tape", "kafka"])
def test_a_view_with_little_memory_takes_in_a_long_backlog_and_one_that_reads_all_at_once_dies(
    database: Database, kafka: Connection, tmp_path: Path, source: str
) -> None:
    told = environ(
        tmp_path,
        ROUND_LEDGER_DATABASE_URL=database.url,
        **reached(kafka),
        PYTHONWARNINGS="error,ignore::ResourceWarning",
    )

    def consume(mode: str) -> subprocess.CompletedProcess[bytes]:
        command = [sys.executable, "-m", "tests.processes.limited_process", str(MIB), mode]
        return subprocess.run(
            [*command, "consume", NAME, "--from", source],
            cwd=ROOT,
            env=told,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            check=False,
        )

    count = backlog(database)
    if source == "kafka":
        once(database, kafka)
    else:
        hungry = consume("hungry")
        assert b"memory" in hungry.stderr.lower(), hungry.stderr
        assert (hungry.returncode != 0, position(database)) == (True, 0), "the control"
    right = consume("right")
    assert right.returncode == 0, right.stderr
    assert position(database) == count
    kept = dumped(database, view(NAME))
    assert kept == begun_anew(database)[NAME]
