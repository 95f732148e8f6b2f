"""The embedded server stays for a while after the last command, and its keeper stops it."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import time
from contextlib import ExitStack, closing, suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

import psycopg
import pytest

from infra.postgres.connection import open_database
from infra.postgres.server import embedded as module
from infra.postgres.server.embedded import embedded, kept_running, running, staying, stop_unused
from infra.postgres.server.keeper import (
    ServerKeeper,
    arguments,
    is_kept,
    let_stay,
    opened_files,
    opened_keeper_file,
    stays_s,
)
from infra.postgres.server.process import FOLDER, Server, lives, living
from infra.settings import Settings
from tests.fixtures.cli import Cli, environ
from tests.until import until

if TYPE_CHECKING:
    from collections.abc import Iterator

ROOT = Path(__file__).parents[3]
STAYS_S = 3600
PROCESS = [sys.executable, "-W", "error", "-m", "tests.processes.server_user"]


@pytest.fixture
def home(tmp_path: Path) -> Iterator[Path]:
    """A home; whatever server and keeper a failed test leaves there are ended."""
    home = tmp_path / "home"
    yield home
    for each in tmp_path.iterdir():
        if (each / FOLDER).is_dir():
            stop_unused(each)
    until(lambda: not keepers(tmp_path))


def keepers(home: Path) -> list[int]:
    """The keepers of this home, or of all homes in this folder."""
    found = []
    for each in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):
            words = (each / "cmdline").read_bytes().split(b"\0")
            ours = any(word.startswith(os.fsencode(home)) for word in words)
            if ours and any(b"infra.postgres.server.keeper" in word for word in words):
                found.append(int(each.name))
    return found


def keeper_of(home: Path) -> int:
    """The one keeper, once it has started; beside one that ends there may be the next."""
    until(lambda: len(keepers(home)) == 1 and _handles_signals(*keepers(home)))
    return keepers(home)[0]


def _handles_signals(pid: int, *_: int) -> bool:
    text = Path(f"/proc/{pid}/status").read_text()
    caught = int(text.partition("SigCgt:")[2].split()[0], base=16)
    return bool(caught >> signal.SIGTERM - 1 & 1)


def answers(url: str) -> None:
    psycopg.connect(url).close()


def used(home: Path, stays_s: int = STAYS_S) -> Server:
    """Use the server as a command does; the server as it was then."""
    with running(home, answers, stays_s):
        server = living(home / FOLDER)
    assert server
    return server


def due(home: Path) -> None:
    """Let the time be over, without waiting for it."""
    with opened_keeper_file(home) as file:
        let_stay(file, 0)


def runs(home: Path) -> bool:
    return living(home / FOLDER) is not None


def ended(home: Path) -> bool:
    return not runs(home) and not keepers(home)


@pytest.mark.long
def test_a_server_stays_for_the_next_command_and_one_keeper_stops_it_in_the_end(
    home: Path,
) -> None:
    first = used(home)
    keeper = keeper_of(home)
    assert used(home) == first
    assert keepers(home) == [keeper]
    found = staying(home)
    assert found
    assert found.pid == first.pid
    assert found.until_us
    assert 0 < found.until_us / 1e6 - time.time() <= STAYS_S
    due(home)
    until(lambda: ended(home))
    assert not lives(first)
    assert staying(home) is None
    assert "database system is shut down" in (home / FOLDER / "log").read_text()


@pytest.mark.long
def test_the_record_on_a_server_that_stays_is_opened_by_one_connection(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings, made = Settings(home, postgres_stays_s=STAYS_S), []
    with open_database(settings) as database:  # it is created and migrated
        pass
    connect = psycopg.connect

    def counted(url: str, **how: object) -> object:
        made.append(url)
        return connect(url, **how)

    monkeypatch.setattr(psycopg, "connect", counted)
    monkeypatch.setattr(module, "_wheel", lambda: pytest.fail("the wheel is not needed"))
    with open_database(settings) as again:
        assert again == database
    assert made == [database.url]


@pytest.mark.long
def test_a_server_that_is_used_is_not_stopped_however_late_it_is(home: Path) -> None:
    server = used(home)
    with running(home, psycopg.connect, STAYS_S) as connection, connection:
        due(home)
        with closing(opened_files(home)) as files:
            assert not ServerKeeper(home, files, server).look()  # as the process does, in its time
        assert connection.execute("SELECT 1").fetchone() == (1,)
        assert staying(home) == (server.pid, None)
    assert living(home / FOLDER) == server, "the command's end counts anew"
    with opened_keeper_file(home) as file:
        assert stays_s(file) == STAYS_S


@pytest.mark.long
def test_zero_seconds_stop_it_at_once_and_the_keeper_of_an_earlier_command_ends(
    home: Path,
) -> None:
    used(home)
    server = used(home, stays_s=0)
    assert not lives(server)
    until(lambda: ended(home))
    used(home, stays_s=0)
    assert not keepers(home)


@pytest.mark.long
def test_the_next_command_replaces_a_killed_keeper(home: Path) -> None:
    server = used(home)
    killed = keeper_of(home)
    os.kill(killed, signal.SIGKILL)
    until(lambda: not keepers(home))
    assert lives(server)
    assert used(home) == server
    assert keeper_of(home) != killed


@pytest.mark.long
@pytest.mark.parametrize("is_used", [False, True], ids=["unused", "used"])
def test_a_keeper_that_is_ended_stops_a_server_unless_it_is_used(
    home: Path, *, is_used: bool
) -> None:
    server = used(home)
    keeper = keeper_of(home)
    with ExitStack() as open_:
        if is_used:
            open_.enter_context(running(home, str, STAYS_S))
        os.kill(keeper, signal.SIGTERM)
        until(lambda: not keepers(home))
        assert lives(server) is is_used


@pytest.mark.long
def test_a_server_that_died_while_it_stayed_is_started_again_and_kept(home: Path) -> None:
    server = used(home)
    os.kill(server.pid, signal.SIGKILL)
    assert used(home).pid != server.pid
    keeper_of(home)
    due(home)
    until(lambda: ended(home))


@pytest.mark.long
@pytest.mark.parametrize("new", [False, True], ids=["removed", "replaced"])
def test_the_server_of_a_removed_home_ends_and_a_new_one_at_its_path_is_let_alone(
    home: Path, *, new: bool
) -> None:
    used(home.with_name("new"), stays_s=0)
    old = used(home)
    keeper = keeper_of(home)
    if new:
        home.rename(home.with_name("gone"))
        home.with_name("new").rename(home)
        with running(home, psycopg.connect) as connection, connection:
            until(lambda: not lives(old))
            until(lambda: keeper not in keepers(home))
            assert connection.execute("SELECT 1").fetchone() == (1,)
        used(home, stays_s=0)  # a shutdown of the old one would have written into its files
        used(home.with_name("gone"), stays_s=0)
    else:
        shutil.rmtree(home)
        until(lambda: not lives(old))
        until(lambda: not keepers(home))
        assert not home.exists()


@pytest.mark.long
def test_a_moved_home_in_use_keeps_its_server_until_its_user_ends(home: Path) -> None:
    moved = home.with_name("moved")
    server = used(home)
    with running(home, psycopg.connect) as connection, connection:
        home.rename(moved)
        with closing(opened_files(moved)) as files:
            assert not ServerKeeper(home, files, server).look()
        assert connection.execute("SELECT 1").fetchone() == (1,)
        moved.rename(home)


@pytest.mark.long
def test_two_homes_have_a_server_and_a_keeper_each(home: Path) -> None:
    other = home.with_name("other")
    servers = used(home), used(other)
    assert servers[0].pid != servers[1].pid
    due(home)
    until(lambda: ended(home))
    assert lives(servers[1])
    keeper_of(other)


@pytest.mark.long
def test_a_stale_pid_file_that_names_the_server_of_another_home_stops_none_of_both(
    home: Path,
) -> None:
    """After a restart of the machine, numbers of processes are given out again."""
    other = home.with_name("other")
    server = used(other)
    used(home, stays_s=0)
    text = (other / FOLDER / "postmaster.pid").read_text()
    (home / FOLDER / "postmaster.pid").write_text(text.replace(str(other), str(home)))
    assert living(home / FOLDER) is None
    assert used(home, stays_s=0).pid != server.pid
    assert lives(server)
    assert not runs(home)


@pytest.mark.long
def test_stopping_an_unused_server_tells_what_it_found(home: Path) -> None:
    assert stop_unused(home) == "not running"
    assert not home.exists()
    with running(home, str, STAYS_S):
        assert stop_unused(home) == "used"
        assert runs(home)
    assert stop_unused(home) == "stopped"
    assert not runs(home)
    assert stop_unused(home) == "not running"
    until(lambda: not keepers(home))


@pytest.mark.long
def test_without_a_keeper_the_server_stops_at_once(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module.sys, "executable", "/no/such/python")
    assert not lives(used(home))
    assert not keepers(home)


@pytest.mark.long
def test_a_process_that_serves_has_a_staying_server_started_again(home: Path) -> None:
    server = used(home)
    with embedded(home), kept_running(home, every_s=0.1):
        os.kill(server.pid, signal.SIGKILL)
        until(lambda: (now := living(home / FOLDER)) and now.pid != server.pid)
    assert not runs(home)


@pytest.mark.long
def test_services_tells_of_a_server_that_stays_or_is_used_and_ends_the_former(home: Path) -> None:
    cli = Cli(environ(home, ROUND_LEDGER_POSTGRES_STAYS_S=str(STAYS_S)))
    assert cli("rounds").code == 0
    server = living(home / FOLDER)
    assert server
    told = cli("services", "status", "--json")
    assert told.code == 3, "Kafka does not run"
    assert [(row["service"], row["pid"]) for row in told.json] == [("postgres", server.pid)]
    until_ = datetime.fromisoformat(told.json[0]["state"].removeprefix("stays until "))
    assert 0 < (until_ - datetime.now(UTC)).total_seconds() <= STAYS_S
    with embedded(home):
        assert cli("services", "status", "--json").json[0]["state"] == "in use"
        down = cli("services", "down")
        assert "Another process uses PostgreSQL" in down.err
        assert cli("services", "down", "--json").json == [{"stopped": False, "postgres": "used"}]
        assert lives(server)
    assert cli("rounds").code == 0
    assert cli("services", "down", "--json").json == [{"stopped": True, "postgres": "stopped"}]
    assert not runs(home)
    down = cli("services", "down")
    assert (down.code, down.err) == (0, "Nothing was running.\n")
    assert cli("services", "status", "--json").json == []


def started(*args: object, **more: object) -> subprocess.Popen[str]:
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
    words = [*PROCESS, *map(str, args)]
    return subprocess.Popen(words, cwd=ROOT, text=True, **pipes, **more)  # type: ignore[call-overload]


def says(process: subprocess.Popen[str], word: str) -> bool:
    assert process.stdout
    return process.stdout.readline() == f"{word}\n"


def go_on(process: subprocess.Popen[str]) -> None:
    assert process.stdin
    process.stdin.write("\n")
    process.stdin.flush()


@pytest.mark.long
@pytest.mark.parametrize("how", [(), ("unlocked",)], ids=["locked", "control"])
def test_a_command_that_starts_while_the_keeper_stops_the_server_gets_one_that_lasts(
    home: Path, how: tuple[str, ...]
) -> None:
    """The keeper is held up after it found the server unused, before it ends the server.

    The control has no start lock: the command connects to the server that is about to end.
    """
    old = used(home)
    killed = keeper_of(home)
    os.kill(killed, signal.SIGKILL)
    until(lambda: not keepers(home))
    with closing(opened_files(home)) as files:
        assert not is_kept(files.lock)
        let_stay(files.lock, 0)
        given, fds = arguments(home, old, files), [each.fileno() for each in files]
        keeper = started("keeper", *given, *how, pass_fds=fds)
    with keeper, ExitStack() as open_:
        assert says(keeper, "ending")
        command = open_.enter_context(started("user", home, *how, stderr=subprocess.PIPE))
        assert says(command, "opening")
        if not how:
            go_on(keeper)
        assert says(command, "connected")
        if how:
            go_on(keeper)
        assert keeper.wait(120) == 0
        assert not lives(old)
        out, err = command.communicate("\n", timeout=120)
    assert (out == "(1,)\n") is (not how), err


@pytest.mark.long
def test_many_commands_and_keepers_at_once_never_end_a_server_that_is_used(home: Path) -> None:
    seeds = range(1, 5)
    with ExitStack() as open_:
        many = [open_.enter_context(started("many", home, seed, 6)) for seed in seeds]
        assert [each.wait(600) for each in many] == [0] * len(many)
    used(home)
    due(home)
    until(lambda: ended(home))
    log = (home / FOLDER / "log").read_text()
    assert log.count("database system is shut down") > 1, "the control: it was stopped meanwhile"
    assert "not properly shut down" not in log
