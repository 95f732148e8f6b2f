"""`round-ledger` forked from a process that has it loaded: most of what a start costs is importing.

A server beside the tests, one a worker and an environment of Python's own, forks the command when
it is asked. The child is a process like any other: environment, folder, pipes, signals, end and pid
are its own. The server has no thread, no connection and no file open that a fork could share. What
differs from a real start: modules are imported already, and texts hash as in the server.

Tests of starting itself run a program of their own and never come here.
"""

from __future__ import annotations

import atexit
import gc
import json
import os
import select
import signal
import socket
import struct
import subprocess
import sys
import threading
import time
from contextlib import suppress
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from tests.suite import spent

if TYPE_CHECKING:
    import io
    from collections.abc import Mapping, Sequence

ROOT = Path(__file__).resolve().parents[2]
START = [sys.executable, "-c", "from replay.cli import main; main()"]
_SERVER = [*START[:2], "from tests.processes.command_server import run, serve; serve(); run()"]
_WARNINGS = "PYTHONWARNINGS"
_OF_OPENCV = ("OPENCV_", "QT_QPA_", "LD_LIBRARY_PATH")  # set as tests import it, and read footage
_NOT_PYTHONS = ("ROUND_LEDGER_", "PYTEST_", "PYTHONUNBUFFERED", _WARNINGS, *_OF_OPENCV)
_LATE = (
    "av",
    "encodings.idna",
    "rich.console",
    "rich.progress",
    "rich.table",
    "typer.rich_utils",
    "uvicorn.lifespan.on",
    "uvicorn.protocols.http.h11_impl",
)
"""What commands import only when they come to need it."""

SECONDS: list[float] = []
"""What each forked command took of a processor; `os.times` of the tests lacks it until the end."""

spent.count(lambda: sum(SECONDS))

_LENGTH, _BORN, _ENDED = struct.Struct("!I"), struct.Struct("!q"), struct.Struct("!qd")


def started(
    args: Sequence[str],
    environ: Mapping[str, str],
    cwd: Path = ROOT,
    **more: Any,  # noqa: ANN401 - of `Popen`
) -> subprocess.Popen[bytes]:
    """The command as a process; of what `Popen` takes besides, only pipes and text are heeded."""
    how = Command if forks(environ) else Started
    return how([*START, *args], env=environ, cwd=cwd, **more)


def forks(environ: Mapping[str, str]) -> bool:
    """Whether a fork is what a start would be: not where libraries read something else at start.

    Nor on macOS, whose frameworks do not outlive a fork.
    """
    return sys.platform == "linux" and pythons(environ) == pythons(STARTED_WITH)


def pythons(environ: Mapping[str, str]) -> dict[str, str]:
    """What the interpreter and libraries may read while they are imported, but for warnings."""
    return {name: text for name, text in environ.items() if not name.startswith(_NOT_PYTHONS)}


STARTED_WITH = dict(os.environ)


class Started(subprocess.Popen[bytes]):
    """A process that is killed if the test's block about it fails; its end is awaited there."""

    def __exit__(self, kind: type[BaseException] | None, *rest: Any) -> None:  # noqa: ANN401, PYI036 - as the base has it
        if kind is not None:
            self.kill()
        super().__exit__(kind, *rest)


class Command(Started):
    """A forked command; `seconds` of a processor it took, its own children too, once it ended."""

    seconds = 0.0
    _report = -1

    def _execute_child(self, *given: Any) -> None:  # noqa: ANN401 - as the base calls it
        """Ask the server for the child where `Popen` would fork one itself."""
        args, cwd, environ = given[0], given[5], given[6]
        ends = given[10:16]  # (read, write) of stdin, stdout, stderr
        self._report, told = os.pipe()
        try:
            pipes = [end if end >= 0 else at for at, end in enumerate((ends[0], ends[3], ends[5]))]
            asked = {"args": args[len(START) :], "environ": dict(environ), "cwd": str(cwd)}
            server(environ.get(_WARNINGS, "")).ask(asked, [*pipes, told])
        finally:
            os.close(told)
            self._close_pipe_fds(*ends)  # type: ignore[attr-defined] # of the base
        [self.pid] = _BORN.unpack(self._told(_BORN.size))
        self._child_created = True

    def _try_wait(self, flags: int) -> tuple[int, int]:
        """The pid and how it ended, else 0 twice: as `waitpid` of a child of this process."""
        if flags & os.WNOHANG and not select.select([self._report], [], [], 0)[0]:
            return 0, 0
        status, self.seconds = _ENDED.unpack(self._told(_ENDED.size))
        os.close(self._report)
        SECONDS.append(self.seconds)
        return self.pid, status

    def _internal_poll(self, _deadstate: int | None = None) -> int | None:
        if self.returncode is None and self._waitpid_lock.acquire(blocking=False):  # type: ignore[attr-defined]
            try:
                if self.returncode is None:
                    pid, status = self._try_wait(os.WNOHANG)
                    if pid:
                        self._handle_exitstatus(status)  # type: ignore[attr-defined]
            finally:
                self._waitpid_lock.release()  # type: ignore[attr-defined]
        return self.returncode

    def _told(self, size: int) -> bytes:
        octets = os.read(self._report, size)  # written at once, so read at once
        if len(octets) != size:
            raise RuntimeError("the process that forks commands ended")
        return octets


class Server(NamedTuple):
    """The process that forks, seen from the tests."""

    control: socket.socket
    turn: threading.Lock

    def ask(self, asked: Mapping[str, Any], files: Sequence[int]) -> None:
        """Let it fork one; it answers through the last of the files."""
        octets = json.dumps(asked).encode()
        with self.turn:
            socket.send_fds(self.control, [_LENGTH.pack(len(octets))], files)
            self.control.sendall(octets)


@cache
def server(warnings: str) -> Server:
    """The one for commands that treat warnings so: what is imported meets them too."""
    ours, its = socket.socketpair()
    environ = {**pythons(STARTED_WITH), _WARNINGS: warnings, "OPENBLAS_NUM_THREADS": "1"}
    with its:
        process = subprocess.Popen(
            [*_SERVER, str(its.fileno())],
            env=environ,
            cwd=ROOT,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            pass_fds=[its.fileno()],
        )

    def end() -> None:
        ours.close()
        process.wait()

    atexit.register(end)
    return Server(ours, threading.Lock())


def serve() -> None:
    """Fork a command for each that is asked for; returns in the child, which then is the command.

    Ends with the process that asks.
    """
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # a Ctrl-C is for the tests and their commands
    control = socket.socket(fileno=int(sys.argv[1]))
    load()
    gc.collect()
    gc.freeze()  # pages that nobody writes to stay shared
    running: dict[int, tuple[int, int]] = {}  # by how its end is reported: pid, where to report
    poll = select.poll()
    poll.register(control, select.POLLIN)
    while True:
        for ready, _ in poll.poll():
            if ready != control.fileno():
                poll.unregister(ready)
                _report_end(ready, *running.pop(ready))
                continue
            asked, files = _received(control)
            pid = os.fork()
            if not pid:
                control.close()
                for each in [*running, *(report for _, report in running.values()), files[3]]:
                    os.close(each)
                _become(files[:3], **asked)
                return
            for each in files[:3]:
                os.close(each)
            _write(files[3], _BORN.pack(pid))
            ends = os.pidfd_open(pid)
            running[ends] = pid, files[3]
            poll.register(ends, select.POLLIN)


def load() -> None:
    """Import whatever commands import. Raises RuntimeError where that leaves more than modules."""
    from replay.cli.shell.app import COMMANDS  # noqa: PLC0415 - the tests' own process needs none of it

    for name in [*(f"replay.cli.{row.module}" for row in COMMANDS), *_LATE]:
        import_module(name)
    threads = len([*Path("/proc/self/task").iterdir()])
    if threads > 1:
        raise RuntimeError(f"{threads - 1} threads were started by what was imported")


def run() -> None:
    """Run the command, and end as the interpreter does but for one thing.

    It does not take down every module, for which it would copy all it shares with the server. An
    end that is not the usual one is left to the interpreter.
    """
    from replay.cli import main  # noqa: PLC0415 - as above

    code: object = 0
    try:
        main()
    except SystemExit as end:
        code = end.code
        if not isinstance(code, int):
            raise
    threading._shutdown()  # type: ignore[attr-defined]
    atexit._run_exitfuncs()
    gc.collect()  # what was left open is complained of
    try:
        sys.stdout.flush()
        sys.stderr.flush()
    except OSError:
        raise SystemExit(code) from None
    os._exit(code)


def _received(control: socket.socket) -> tuple[dict[str, Any], list[int]]:
    head, files, _, _ = socket.recv_fds(control, _LENGTH.size, 4)
    if not head:
        os._exit(0)  # nobody is left who would ask
    [size] = _LENGTH.unpack(head)
    octets = b""
    while len(octets) < size:
        octets += control.recv(size - len(octets))
    return json.loads(octets), files


def _become(files: Sequence[int], args: Sequence[str], environ: dict[str, str], cwd: str) -> None:
    """Be what a start would have made of this process."""
    for at, each in enumerate(files):
        os.dup2(each, at)
        os.close(each)
    signal.signal(signal.SIGINT, signal.default_int_handler)
    os.environ.clear()
    os.environ.update(environ)
    time.tzset()
    os.chdir(cwd)
    sys.argv = ["-c", *args]
    sys.stdin = sys.__stdin__ = _opened(sys.stdin, 0, "r")
    sys.stdout = sys.__stdout__ = _opened(sys.stdout, 1, "w")
    sys.stderr = sys.__stderr__ = _opened(sys.stderr, 2, "w")


def _opened(before: Any, at: int, mode: str) -> io.TextIOWrapper:  # noqa: ANN401 - a stream
    """A stream as the interpreter opens it."""
    live = at == 2 or os.isatty(at)
    return open(
        at,
        mode,
        buffering=1 if live and mode == "w" else -1,
        encoding=before.encoding,
        errors=before.errors,
        closefd=False,
    )


def _report_end(ends: int, pid: int, report: int) -> None:
    os.close(ends)
    _, status, used = os.wait4(pid, 0)
    _write(report, _ENDED.pack(status, used.ru_utime + used.ru_stime))
    os.close(report)


def _write(report: int, octets: bytes) -> None:
    with suppress(BrokenPipeError):  # who asked for it does not want to know any more
        os.write(report, octets)
