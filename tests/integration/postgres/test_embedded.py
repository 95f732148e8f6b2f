"""The embedded PostgreSQL starts by itself, is shared, and stops when nobody needs it."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path

import psycopg
import pytest

from infra.postgres.connection import Database, open_database
from infra.postgres.server import embedded as under_test
from infra.postgres.server.embedded import embedded, kept_running
from infra.postgres.tape import PostgresTape
from infra.settings import Settings, load
from ledger.errors import Unavailable
from tests.fixtures.postgres import fact
from tests.suite.memory import short_lived
from tests.until import until

ROOT = Path(__file__).parents[3]
USER = """
import sys, time
from infra.settings import Settings, load
from infra.postgres.connection import open_database
environ = {"ROUND_LEDGER_HOME": sys.argv[1], "ROUND_LEDGER_POSTGRES_STAYS_S": "0"}
with open_database(load(environ)) as base:
    with base.connect("ledger_reader") as connection:
        connection.execute("SELECT 1")
    print("ready", flush=True)
    sys.stdin.read()
"""


def user(home: Path) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-W", "error", "-c", USER, str(home)],
        cwd=ROOT,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )


def is_ready(process: subprocess.Popen[str]) -> bool:
    assert process.stdout is not None
    return process.stdout.readline() == "ready\n"


def runs(home: Path) -> bool:
    return (home / "postgres" / "postmaster.pid").exists()


OTHER = """
import os, sys, psycopg
os.setgroups([]); os.setgid(65534); os.setuid(65534)
try:
    psycopg.connect(sys.argv[1]).close()
except psycopg.OperationalError as error:
    sys.exit(str(error))
"""


def test_the_server_lets_in_whom_the_system_names_and_nobody_by_trust(tmp_path: Path) -> None:
    with embedded(tmp_path) as url:
        rules = "SELECT type, auth_method, error FROM pg_hba_file_rules"
        with psycopg.connect(url) as connection:
            assert set(connection.execute(rules).fetchall()) == {("local", "peer", None)}
            held = connection.execute("SELECT error FROM pg_ident_file_mappings").fetchall()
            assert set(held) == {(None,)}


def test_a_server_that_was_made_to_trust_everybody_no_longer_does(tmp_path: Path) -> None:
    """A home of an earlier version: its next start ends that."""
    with embedded(tmp_path):
        pass
    rules = tmp_path / "postgres" / "pg_hba.conf"
    rules.write_text("local all all trust\n")
    with embedded(tmp_path) as url, psycopg.connect(url) as connection:
        found = connection.execute("SELECT auth_method FROM pg_hba_file_rules").fetchall()
        assert set(found) == {("peer",)}


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can be another user")
def test_another_user_of_the_machine_does_not_become_superuser() -> None:
    """The server's folder may be reached: its socket lies elsewhere if the path is long."""
    with short_lived("peer") as home, embedded(home) as url:
        for folder in (home, home / "postgres"):
            folder.chmod(0o711)
        other = subprocess.run(
            [sys.executable, "-c", OTHER, url], capture_output=True, text=True, check=False
        )
        (home / "postgres").chmod(0o700)
        assert (other.returncode, "Peer authentication failed" in other.stderr) == (1, True)
        psycopg.connect(url).close()  # the control


@pytest.mark.long
def test_processes_that_start_together_share_one_server_and_the_last_one_stops_it(
    tmp_path: Path,
) -> None:
    users = [user(tmp_path) for _ in range(3)]
    for process in users:
        assert is_ready(process)
    for process in users:
        assert runs(tmp_path)
        process.communicate()
        assert process.returncode == 0
    assert not runs(tmp_path)


@pytest.mark.long
def test_a_killed_user_does_not_keep_the_server_running(tmp_path: Path) -> None:
    killed, other = user(tmp_path), user(tmp_path)
    assert is_ready(killed)
    assert is_ready(other)
    killed.kill()
    killed.communicate()
    assert runs(tmp_path)
    other.communicate()
    assert not runs(tmp_path)


@pytest.mark.long
def test_what_is_kept_is_there_after_a_restart(tmp_path: Path) -> None:
    settings = Settings(tmp_path, postgres_stays_s=0)
    for expected in ("appended", "duplicate"):
        with open_database(settings) as database, PostgresTape(database) as tape:
            assert tape.append([fact(1)])[0].verdict == expected


@pytest.mark.long
def test_a_stale_lock_file_that_names_another_process_is_forgotten(tmp_path: Path) -> None:
    with embedded(tmp_path):
        pass
    stale = tmp_path / "postgres" / "postmaster.pid"
    lines = [
        str(os.getpid()),
        str(stale.parent),
        "1",
        "5432",
        str(stale.parent),
        "",
        "1 1",
        "ready",
    ]
    stale.write_text("\n".join(lines) + "\n")
    with embedded(tmp_path) as url, psycopg.connect(url) as connection:
        assert connection.execute("SELECT 1").fetchone() == (1,)


@pytest.mark.long
def test_a_server_killed_a_moment_ago_is_started_again_at_once(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    with embedded(tmp_path) as url:
        for _ in range(3):
            pid = (tmp_path / "postgres" / "postmaster.pid").read_text().split()[0]
            os.kill(int(pid), signal.SIGKILL)
            with embedded(tmp_path), psycopg.connect(url) as connection:
                assert connection.execute("SELECT 1").fetchone() == (1,)
    assert not [record.getMessage() for record in caplog.records if record.levelname == "ERROR"]


def test_a_server_that_cannot_start_says_where_to_look(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("infra.postgres.server.embedded.START_S_MAX", 0.1)
    (tmp_path / "postgres").write_text("not a folder")
    with pytest.raises(Unavailable, match="ROUND_LEDGER_DATABASE_URL"), embedded(tmp_path):
        pass


def test_a_server_that_does_not_answer_is_unavailable_and_its_password_is_not_told() -> None:
    settings = load({"ROUND_LEDGER_DATABASE_URL": "postgresql://me:hush@127.0.0.1:1/ledger"})
    assert "hush" not in repr(settings)
    with pytest.raises(Unavailable) as caught, open_database(settings):
        pass
    assert "127.0.0.1:1/ledger" in str(caught.value)
    assert "hush" not in str(caught.value)
    assert caught.value.exit_code == 3
    assert "hush" not in repr(Database("postgresql://me:hush@h/l", "postgresql://me:hush@h/l"))


@pytest.mark.long
def test_an_append_to_a_server_gone_is_unavailable_until_it_is_back(tmp_path: Path) -> None:
    settings = Settings(tmp_path, postgres_stays_s=0)
    with open_database(settings) as database:
        tape = PostgresTape(database)
        tape.append([fact(1)])
        tape.read(0, 1)
    for use in (lambda: tape.append([fact(1)]), lambda: tape.read(0, 1)):
        began = time.monotonic()
        with pytest.raises(Unavailable):
            use()
        assert time.monotonic() - began < 60  # it waits for nobody
    with open_database(settings):
        assert tape.append([fact(1)])[0].verdict == "duplicate"
        assert len(tape.read(0, 10)) == 1
        tape.close()


def killed_and_back(home: Path, url: str, within_s: float) -> bool:
    """Kill the server's first process; whether another one answers within the time.

    A killed process of a busy machine may answer for a moment, so the process is compared.
    """
    pid = first_process(home)
    assert pid
    os.kill(pid, signal.SIGKILL)
    until = time.monotonic() + within_s
    while time.monotonic() < until:
        time.sleep(0.1)
        try:
            psycopg.connect(url, connect_timeout=2).close()
        except psycopg.OperationalError:
            continue
        if first_process(home) not in (None, pid):
            return True
    return False


def first_process(home: Path) -> int | None:
    """The process that the server's own file names."""
    with suppress(FileNotFoundError, IndexError):
        return int((home / "postgres" / "postmaster.pid").read_text().split()[0])
    return None


@pytest.mark.long
def test_a_process_that_serves_has_its_killed_server_started_again(tmp_path: Path) -> None:
    with embedded(tmp_path) as url, kept_running(tmp_path, every_s=0.1):
        assert killed_and_back(tmp_path, url, within_s=120)
    assert not runs(tmp_path)


@pytest.mark.long
def test_without_it_a_killed_server_stays_away(tmp_path: Path) -> None:
    """The negative control."""
    with embedded(tmp_path) as url:
        assert not killed_and_back(tmp_path, url, within_s=2)


FIRST_START = (
    """
import sys
from infra.postgres.server import embedded as under_test
home, in_place = sys.argv[1:]
if in_place:
    under_test._make = lambda folder: None
"""
    + USER
)


@pytest.mark.parametrize("killed", ["alone", "with all its processes"])
@pytest.mark.long
def test_a_first_start_that_is_killed_does_not_spoil_the_next(tmp_path: Path, killed: str) -> None:
    """Killed alone, it leaves an `initdb` that goes on in its folder."""
    kill_first_start(tmp_path, killed, in_place="")
    with (
        open_database(Settings(tmp_path, postgres_stays_s=0)) as database,
        database.connect("ledger_reader") as connection,
    ):
        assert connection.execute("SELECT 1").fetchone() == (1,)


@pytest.mark.long
def test_made_in_place_a_killed_first_start_spoils_every_other_until_it_is_put_aside(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    kill_first_start(tmp_path, "with all its processes", in_place="yes")
    with monkeypatch.context() as as_before:
        as_before.setattr(under_test, "_make", lambda _: None)
        as_before.setattr(under_test, "START_S_MAX", 1.0)
        with pytest.raises(Unavailable, match="did not start"), embedded(tmp_path):
            pass
    with embedded(tmp_path) as url, psycopg.connect(url) as connection:
        assert connection.execute("SELECT 1").fetchone() == (1,)
    assert len(list(tmp_path.glob("postgres.aside-*"))) == 1


def kill_first_start(home: Path, killed: str, in_place: str) -> None:
    """Kill a first start as soon as its data folder has its first file."""
    process = subprocess.Popen(
        [sys.executable, "-c", FIRST_START, str(home), in_place],
        cwd=ROOT,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        start_new_session=True,
    )
    until(lambda: any(home.glob("postgres*/PG_VERSION")))
    if killed == "alone":
        process.kill()
    else:
        os.killpg(process.pid, signal.SIGKILL)
    process.communicate()
    assert process.returncode == -signal.SIGKILL
