"""Several processes on one record: one gapless sequence, nothing missed, lost or doubled."""

from __future__ import annotations

import random
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import TYPE_CHECKING

import psycopg
import pytest

from infra.postgres.connection import Database, create_database
from infra.postgres.migrations import migrate
from infra.postgres.server.embedded import embedded
from infra.postgres.tape import PostgresTape
from infra.postgres.view_tables import tape_source
from tests.fixtures.postgres import fact, url_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence


ROOT = Path(__file__).parents[3]


def device(database: Database, *arguments: object) -> subprocess.Popen[str]:
    command = [sys.executable, "-m", "tests.processes.device", database.url, *map(str, arguments)]
    return subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True)


def acknowledged(process: subprocess.Popen[str]) -> dict[int, int]:
    """Number and position of every fact the process has said was kept; waits for its end."""
    with process:
        return numbered(process.stdout.read().splitlines() if process.stdout else [])


def numbered(lines: Iterable[str]) -> dict[int, int]:
    """The positions by number in lines with a fact's number and its position."""
    return {int(number): int(position) for number, position in map(str.split, lines)}


@pytest.mark.long
def test_processes_appending_at_once_leave_one_gapless_sequence(
    tape: PostgresTape, database: Database
) -> None:
    seen: list[int] = []
    done = threading.Event()

    def follow() -> None:
        with tape_source(database) as source:
            while not done.is_set():
                source.wait(len(seen), 0.1)
                seen.extend(row.position for row in source.read(len(seen), 500))

    reader = threading.Thread(target=follow)
    reader.start()
    shared = [device(database, 0, 400, 7, "CC-01") for _ in range(3)]  # the same facts from three
    own = [device(database, n * 1_000, 300, n, "CC-02") for n in (1, 3)]
    kept = [acknowledged(process) for process in shared + own]
    while len(seen) < tape.counters().appended:
        time.sleep(0.05)
    done.set()
    reader.join()

    rows = tape.read(0, 10_000)
    assert [row.position for row in rows] == list(range(1, 1_001))
    assert tape.verify().broken is None
    assert kept[0] == kept[1] == kept[2]
    assert tape.counters().duplicate == 800
    assert seen == list(range(1, 1_001)), "the tailing reader missed or doubled something"


def test_a_sequence_without_the_lock_loses_rows_for_a_tailing_reader(database: Database) -> None:
    """Negative control: why positions are given under a lock that is held until the commit."""
    with (
        psycopg.connect(database.url) as slow,
        psycopg.connect(database.url) as quick,
        psycopg.connect(database.url, autocommit=True) as reader,
    ):
        reader.execute("CREATE TABLE unlocked (id bigserial, by text)")
        slow.execute("INSERT INTO unlocked (by) VALUES ('slow')")
        quick.execute("INSERT INTO unlocked (by) VALUES ('quick')")
        quick.commit()
        seen = reader.execute("SELECT id, by FROM unlocked WHERE id > 0").fetchall()
        slow.commit()
        seen += reader.execute("SELECT id, by FROM unlocked WHERE id > %s", seen[-1][:1]).fetchall()
        assert seen == [(2, "quick")]


def killed_and_sent_again(database: Database, kills: int, seed: int) -> dict[str, int]:
    """Three devices, each killed again and again, each sending again what was not acknowledged.

    Each is killed once it has said that so many facts are kept, wherever it is by then.
    """
    chance = random.Random(seed)  # noqa: S311 - the same kills every run
    kept: dict[str, int] = {}
    first = dict.fromkeys(("CC-01", "CC-02", "CC-03"), 0)
    for _ in range(0, kills, len(first)):
        running = {place: device(database, first[place], 5_000, 3, place) for place in first}
        for place, process in running.items():
            assert process.stdout is not None
            heard = [process.stdout.readline() for _ in range(chance.randrange(1, 30))]
            process.kill()
            said = numbered(heard) | acknowledged(process)
            kept |= {f"{place} {fact(number).id}": at for number, at in said.items()}
            first[place] = max(said) + 1
    return kept


@pytest.mark.long
def test_killed_processes_lose_no_acknowledged_fact_and_double_none(
    tape: PostgresTape, database: Database
) -> None:
    kept = killed_and_sent_again(database, 36, 20261120)
    rows = tape.read(0, 100_000)
    places = {(row.tape.split("/")[1], row.id): row.position for row in rows}
    assert len(kept) > 100
    assert len(places) == len(rows), "a fact stands twice"
    for key, position in kept.items():
        place, fact_id = key.split()
        assert places[place, fact_id] == position
    assert [row.position for row in rows] == list(range(1, len(rows) + 1))
    assert tape.verify().broken is None
    assert tape.counters().nothing_lost


def test_a_device_that_believes_before_it_is_told_is_caught(
    tape: PostgresTape, database: Database
) -> None:
    """Negative control: what is acknowledged before it is kept is lost by a kill in between."""
    with device(database, 0, 6, 3, "CC-07", "--boast") as process:
        assert process.stdout is not None
        kept = {int(process.stdout.readline().split()[0]) for _ in range(6)}
        process.kill()
    on_record = {row.id for row in tape.read(0, 100)}
    assert {number for number in kept if fact(number).id not in on_record} == {3, 4, 5}


@pytest.mark.long
def test_a_server_killed_while_facts_arrive_keeps_every_acknowledged_one(tmp_path: Path) -> None:
    with embedded(tmp_path) as url:
        create_database(url, "ledger")
        migrate(url_of(url, "ledger"))
        database = Database(url_of(url, "ledger"), url_of(url, "ledger"))
        process = device(database, 0, 5_000, 3)
        assert process.stdout is not None
        for _ in range(20):
            process.stdout.readline()
        server = int((tmp_path / "postgres" / "postmaster.pid").read_text().splitlines()[0])
        process.kill()
        subprocess.run(["kill", "-9", str(server)], check=True)
        said = acknowledged(process)
    with embedded(tmp_path) as url:
        database = Database(url_of(url, "ledger"), url_of(url, "ledger"))
        with PostgresTape(database) as tape:
            rows = {row.id: row.position for row in tape.read(0, 100_000)}
            assert said
            assert all(rows[fact(number).id] == position for number, position in said.items())
            assert tape.verify().broken is None


MIGRATE = (
    "import sys; from infra.postgres.migrations import migrate; print(len(migrate(sys.argv[1])))"
)


def migrating(urls: Sequence[str]) -> list[int]:
    running = [
        subprocess.Popen(
            [sys.executable, "-c", MIGRATE, url], cwd=ROOT, stdout=subprocess.PIPE, text=True
        )
        for url in urls
    ]
    return [int(process.communicate()[0]) for process in running]


@pytest.mark.long
def test_processes_that_start_together_migrate_once(tmp_path: Path) -> None:
    with embedded(tmp_path) as url:
        urls = [url_of(url, name) for name in ("one", "two")]
        for name in ("one", "two"):
            create_database(url, name)
        applied = migrating(urls * 3)
        for at in (0, 1):
            assert sorted(applied[at::2])[:2] == [0, 0]
            assert sorted(applied[at::2])[2] > 0
            database = Database(urls[at], urls[at])
            with PostgresTape(database) as tape:
                assert tape.append([fact(1)])[0].position == 1


@pytest.mark.long
def test_a_login_that_may_create_roles_but_is_no_superuser_sets_everything_up(
    tmp_path: Path,
) -> None:
    with embedded(tmp_path) as url:
        with psycopg.connect(url, autocommit=True) as superuser:
            superuser.execute("CREATE ROLE keeper LOGIN CREATEROLE")
            superuser.execute("CREATE DATABASE kept OWNER keeper")
        keeper = psycopg.conninfo.make_conninfo(url, dbname="kept", user="keeper")
        assert migrate(keeper)
        with PostgresTape(Database(keeper, keeper)) as tape:
            assert tape.append([fact(1)])[0].verdict == "appended"
            assert tape.verify().broken is None


@pytest.mark.long
def test_a_new_process_serves_within_seconds_of_a_kill(
    tape: PostgresTape, database: Database, record_property: pytest.RecordProperty
) -> None:
    process = device(database, 0, 5_000, 3)
    assert process.stdout is not None
    process.stdout.readline()
    process.kill()
    acknowledged(process)
    began = time.monotonic()
    again = device(database, 5_000, 1, 1)
    assert acknowledged(again)
    record_property("seconds_from_kill_to_receipt", round(time.monotonic() - began, 3))
    assert time.monotonic() - began < 20
