"""PostgreSQL's machine loses its power while devices send: what was acknowledged is there after it.

Data that the disk was not asked to keep is lost, so a server that does not wait for it is found.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

import psycopg
import pytest

from infra.postgres.connection import create_database
from infra.postgres.migrations import migrate
from infra.postgres.tape import PostgresTape
from tests.fixtures.cli import ROOT
from tests.fixtures.postgres import fact
from tests.fixtures.postgres_pair import NAME, Postgres
from tests.until import until

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.fixtures.power import Powered

PLACES = ("CC-01", "CC-02", "CC-03")
CUTS = 3
OCTETS = 3_000
"""What each device has said to be acknowledged before the power goes: hundreds of facts."""

WITHOUT_THE_GUARD = """
DO $$ BEGIN EXECUTE (
    SELECT string_agg(replace(pg_get_functiondef(oid), '''on'', true', '''off'', true'), '; ')
    FROM pg_proc WHERE pronamespace = 'ledger'::regnamespace AND prosrc LIKE '%synchronous_commit%'
); END $$
"""


@pytest.fixture
def server(powered: Powered) -> Iterator[Postgres]:
    """A stopped server with an empty, migrated ledger on the disk."""
    made = Postgres(powered.folder / "pg")
    made.make()
    made.start()
    create_database(made.url, NAME)
    migrate(made.database.owner_url)
    made.stop()
    powered.settle()
    yield made
    made.stop("immediate")


def cut(server: Postgres, powered: Powered) -> None:
    """No power, neither for the disk nor for the server's processes; and power again."""
    postmaster = int((server.data / "postmaster.pid").read_text().split()[0])
    os.kill(postmaster, signal.SIGSTOP)  # it starts no process, and ends none
    powered.cut()
    children = Path(f"/proc/{postmaster}/task/{postmaster}/children").read_text().split()
    for process in (postmaster, *map(int, children)):
        with suppress(ProcessLookupError):
            os.kill(process, signal.SIGKILL)
    powered.off()
    powered.on()
    for name in (server.data / "postmaster.pid", server.folder / ".s.PGSQL.5432.lock"):
        name.unlink(missing_ok=True)  # no process of before has its number any more


def said(path: Path) -> dict[int, int]:
    """Number and position of every fact that a device got a receipt for."""
    whole = path.read_text().rpartition("\n")[0].splitlines()
    return {int(number): int(position) for number, position in map(str.split, whole)}


def cut_amid(
    server: Postgres, powered: Powered, folder: Path, first: int, **settings: str
) -> dict[tuple[str, str], int]:
    """Three devices send, the power goes, and is back: the position of each acknowledged fact."""
    server.start(**settings)
    told = {place: folder / f"{place}-{first}" for place in PLACES}
    running = []
    for place, path in told.items():
        command = [sys.executable, "-m", "tests.processes.device", server.database.url]
        with path.open("wb") as out:
            running.append(
                subprocess.Popen(
                    [*command, str(first), "900000", "3", place],
                    cwd=ROOT,
                    stdout=out,
                    stderr=subprocess.DEVNULL,
                )
            )
    try:
        until(lambda: all(path.stat().st_size > OCTETS for path in told.values()))
        cut(server, powered)
    finally:
        for device in running:
            device.kill()
            device.wait()
    return {
        (place, fact(number).id): position
        for place, path in told.items()
        for number, position in said(path).items()
    }


def lacks(server: Postgres, kept: dict[tuple[str, str], int]) -> int:
    """How many acknowledged facts are not where they were said to be; the rest is whole."""
    with PostgresTape(server.database) as tape:
        rows = tape.read(0, 999_999)
        there = {(row.tape.split("/")[1], row.id): row.position for row in rows}
        assert [row.position for row in rows] == list(range(1, len(rows) + 1))
        assert tape.verify().broken is None
        assert tape.counters().nothing_lost
    return sum(1 for key, position in kept.items() if there.get(key) != position)


@pytest.mark.long
@pytest.mark.parametrize(
    "settings", [{}, {"synchronous_commit": "off"}], ids=["as it is", "commits that do not wait"]
)
def test_a_power_cut_loses_no_acknowledged_fact(
    server: Postgres, powered: Powered, tmp_path: Path, settings: dict[str, str]
) -> None:
    kept: dict[tuple[str, str], int] = {}
    for number in range(CUTS):
        kept |= cut_amid(server, powered, tmp_path, number * 900_000, **settings)
        server.start()
        assert lacks(server, kept) == 0
        server.stop()
    assert len(kept) > CUTS * 300


@pytest.mark.long
def test_a_server_that_does_not_wait_for_the_disk_loses_what_it_acknowledged(
    server: Postgres, powered: Powered, tmp_path: Path
) -> None:
    """The control: the same cut."""
    kept = cut_amid(server, powered, tmp_path, 0, fsync="off")
    server.start()
    assert lacks(server, kept)


@pytest.mark.long
def test_commits_that_do_not_wait_lose_facts_where_the_record_lets_them(
    server: Postgres, powered: Powered, tmp_path: Path
) -> None:
    """The control of appending's own guard."""
    server.start()
    with psycopg.connect(server.database.url, autocommit=True) as connection:
        connection.execute(WITHOUT_THE_GUARD)
    server.stop()
    kept = cut_amid(server, powered, tmp_path, 0, synchronous_commit="off")
    server.start()
    assert lacks(server, kept)
