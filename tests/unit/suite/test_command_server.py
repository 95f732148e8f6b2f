"""A command that is forked is what a command that is started is, seen from outside."""

from __future__ import annotations

import importlib
import json
import os
import signal
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from replay.footage.decoding import reader
from tests.fixtures.cli import Cli, environ, feed, lines
from tests.processes.command_server import (
    ROOT,
    SECONDS,
    START,
    STARTED_WITH,
    Command,
    Started,
    forks,
    pythons,
    server,
    started,
)
from tests.until import until

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="commands are forked on Linux only")
PIPES = dict.fromkeys(("stdin", "stdout", "stderr"), subprocess.PIPE)
WAITS = ["adjudicate", "-", "--json"]  # for its standard input


def real(args: Sequence[str], environ: dict[str, str]) -> subprocess.Popen[bytes]:
    return subprocess.Popen([*START, *args], env=environ, cwd=ROOT, **PIPES)


@pytest.fixture
def command(tmp_path: Path) -> Iterator[subprocess.Popen[bytes]]:
    """One that reads its standard input, which is open."""
    with started(WAITS, environ(tmp_path), **PIPES) as process:
        try:
            assert isinstance(process, Command)
            until(lambda: _ready(process.pid))
            yield process
        finally:
            process.kill()


def test_a_process_ends_with_the_block_that_fails() -> None:
    with (
        pytest.raises(LookupError),
        Started([sys.executable, "-c", "import signal; signal.pause()"]) as process,
    ):
        raise LookupError
    assert process.returncode == -signal.SIGKILL


def _ready(pid: int) -> bool:
    """Whether it has come to where it catches SIGTERM."""
    return bool(int(_status(pid)["SigCgt"], 16) & 1 << signal.SIGTERM - 1)


def _status(pid: int) -> dict[str, str]:
    lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    return {name: told.strip() for name, _, told in (line.partition(":") for line in lines)}


def _open_files(pid: int) -> dict[str, str]:
    """What each of its descriptors is, a pipe or a file."""
    found = {}
    for each in Path(f"/proc/{pid}/fd").iterdir():
        with suppress(FileNotFoundError):  # It was closed since it was listed.
            found[each.name] = str(each.readlink()).partition(":[")[0]
    return found


def test_commands_of_the_tests_are_forked(tmp_path: Path) -> None:
    """Else all that the suite gains by it were lost unseen: libraries set variables too."""
    for name in ("av", "cv2", "fastapi", "kafka", "playwright.sync_api"):
        importlib.import_module(name)
    with pytest.raises(reader.UnreadableVideoError):
        reader.index(feed(tmp_path / "no.mp4", [b"footage"]))
    assert pythons(environ(tmp_path)) == pythons(STARTED_WITH)
    assert forks(environ(tmp_path))
    with Cli(environ(tmp_path)).start("--help") as process:
        assert isinstance(process, Command)
        process.communicate()
    assert 0 < process.seconds < 60
    assert SECONDS[-1] == process.seconds, "whoever counts what a test takes can count it"


def test_from_outside_it_is_what_a_started_one_is(
    command: subprocess.Popen[bytes], tmp_path: Path
) -> None:
    with real(WAITS, environ(tmp_path)) as other:
        try:
            until(lambda: _ready(other.pid))
            for told in (
                lambda pid: [(n, t) for n, t in _status(pid).items() if n.startswith("Sig")],
                lambda pid: [_status(pid)[name] for name in ("Umask", "Uid", "Gid", "Threads")],
                lambda pid: (os.getpgid(pid), os.getsid(pid)),
                lambda pid: Path(f"/proc/{pid}/cwd").readlink(),
                lambda pid: Path(f"/proc/{pid}/limits").read_text(),
                _open_files,
            ):
                # One that was started may read its modules still.
                until(lambda told=told: told(command.pid) == told(other.pid))
        finally:
            other.kill()


@pytest.mark.parametrize(
    ("number", "ends_with"),
    [(signal.SIGKILL, -signal.SIGKILL), (signal.SIGTERM, 143), (signal.SIGINT, 130)],
)
def test_a_signal_reaches_the_command_itself(
    command: subprocess.Popen[bytes], number: signal.Signals, ends_with: int
) -> None:
    assert command.poll() is None
    with pytest.raises(subprocess.TimeoutExpired):
        command.wait(0.01)
    command.send_signal(number)
    out, err = command.communicate(timeout=120)
    assert (command.returncode, command.wait(), command.poll()) == (ends_with,) * 3
    assert (out, err) == (b"", b"")
    assert not Path(f"/proc/{command.pid}").exists()


def test_one_that_is_stopped_goes_on(command: subprocess.Popen[bytes]) -> None:
    command.send_signal(signal.SIGSTOP)
    until(lambda: _status(command.pid)["State"].startswith("T"))
    assert command.poll() is None
    command.send_signal(signal.SIGCONT)
    assert command.communicate(timeout=120) == (b"", b"")
    assert command.returncode == 0


@pytest.mark.parametrize(
    ("args", "given", "code"),
    [
        (["--help"], b"", 0),
        (["nonsense"], b"", 2),
        (["adjudicate", "-"], b"no fact\n", 2),
        (["adjudicate", "-", "--json"], b"\n".join(lines(40)) + b"\n", 0),
        (["verify"], b"", 3),
    ],
    ids=str,
)
def test_it_says_and_ends_as_a_started_one(
    tmp_path: Path, args: list[str], given: bytes, code: int
) -> None:
    url = "postgresql://nobody@127.0.0.1:9/none"
    told = environ(tmp_path, ROUND_LEDGER_DATABASE_URL=url)
    with real(args, told) as process:
        expected = process.communicate(given, timeout=120)
    with started(args, told, **PIPES) as forked:
        assert forked.communicate(given, timeout=120) == expected
    assert forked.returncode == process.returncode
    assert process.returncode == code


def test_it_has_the_environment_it_is_given_and_none_of_another(tmp_path: Path) -> None:
    def port(number: int) -> tuple[str, str]:
        more = {"ROUND_LEDGER_HTTP_PORT": str(number)} if number else {}
        ran = Cli(environ(tmp_path, **more))("settings", "--json")
        row = next(each for each in ran.json if each["setting"] == "ROUND_LEDGER_HTTP_PORT")
        return row["value"], row["origin"]

    numbers = [9001, 0, 9002, 0, 9003, 9004, 0, 9005]
    with ThreadPoolExecutor(len(numbers)) as many:
        found = list(many.map(port, numbers))
    [default] = {value for value, origin in found if origin == "default"}
    assert found == [
        (str(number), "environment") if number else (default, "default") for number in numbers
    ]


def test_it_runs_in_the_folder_it_is_told(tmp_path: Path) -> None:
    feed(tmp_path / "mine", lines(1))
    assert Cli(environ(tmp_path))("adjudicate", "mine", "--json", cwd=tmp_path).code == 0
    assert Cli(environ(tmp_path))("adjudicate", "mine", "--json").code == 2


def test_pipes_may_be_files_or_nothing_and_text(tmp_path: Path) -> None:
    path = tmp_path / "out"
    with path.open("wb") as out:
        with started(
            ["adjudicate", "-"], environ(tmp_path), stdin=subprocess.DEVNULL, stdout=out,
            stderr=subprocess.STDOUT,
        ) as process:  # fmt: skip
            assert process.wait(120) == 0
        with started(
            ["settings", "--json"], environ(tmp_path), stdout=subprocess.PIPE, text=True
        ) as process:
            assert process.stdout
            told = list(process.stdout)
    assert path.read_bytes().isascii()
    assert all(json.loads(line)["setting"] for line in told)  # type: ignore[arg-type] # is text


def test_what_a_start_alone_can_do_is_a_start(tmp_path: Path) -> None:
    """A library that is loaded first, and whatever else is read while Python starts."""
    for more in ({"LD_PRELOAD": "/lib/clock.so"}, {"PYTHONPATH": "/x"}, {"TZ": "Europe/Paris"}):
        assert not forks(environ(tmp_path, **more))
    for warnings in ("error", "error,ignore::ResourceWarning"):
        assert forks(environ(tmp_path, PYTHONWARNINGS=warnings))
    assert server("error") is server("error")
