"""The process that decodes footage reaches nothing but the files that it was given."""

from __future__ import annotations

import json
import os
import re
import socket
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from ledger.errors import Lacking, Usage
from replay.footage.decoding import limits
from replay.footage.decoding.decoder import Job, decode, sha256_of
from replay.footage.decoding.files import close, give
from replay.footage.decoding.seccomp import _ALLOWED
from replay.shell import settings
from tests.fixtures.cli import ROOT
from tests.footage.video_kinds import KINDS
from tests.footage.video_kinds import write as write_video
from tests.processes.listening import listen

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.fixtures.cli import Cli

PROGRAM = ROOT / "tests" / "processes" / "abilities.py"
ALL = {
    "reads a key", "reads any file", "connects to a Unix socket", "connects by TCP",
    "deletes a file", "truncates a file", "writes a file", "runs a program",
    "reads an environment", "reads memory", "starts a process", "signals a process",
}  # fmt: skip
BY_SYSTEM_CALLS_ONLY = {"connects to a Unix socket", "starts a process", "signals a process"}
"""What Landlock alone may leave, by its version."""


@pytest.fixture(scope="module", autouse=True)
def sealing() -> None:
    """Skip where the kernel has no such filters; this project's CI has them."""
    confined = limits.confinement()
    assert confined is not None
    if (confined.opens or not confined.landlock) and not os.environ.get("CI"):
        pytest.skip("this system lacks Landlock or filters of system calls")


@pytest.fixture
def aims(tmp_path: Path) -> Iterator[dict[str, object]]:
    """What an insider would aim at, and a process of the same user beside it."""
    for name in ("key", "deleted", "truncated"):
        (tmp_path / name).write_text("secret")
    (tmp_path / "key").chmod(0o600)
    socket_path = str(tmp_path / ".s.PGSQL.5432")
    with (
        listen() as listening,
        socket.socket(socket.AF_UNIX) as server,
        subprocess.Popen(["/bin/cat"], stdin=subprocess.PIPE) as beside,
    ):
        server.bind(socket_path)
        server.listen()
        yield {
            **{name: str(tmp_path / name) for name in ("key", "deleted", "truncated", "written")},
            "socket": socket_path,
            "port": listening.port,
            "pid": beside.pid,
            "address": _readable(beside.pid),
        }
        assert beside.stdin is not None
        beside.stdin.close()


def _readable(pid: int) -> int:
    """An address that this process surely has mapped to be read."""
    first = Path(f"/proc/{pid}/maps").read_text("ascii").splitlines()[0]
    return int(first.partition("-")[0], 16)


def able(fences: str, aims: dict[str, object]) -> set[str]:
    command = [sys.executable, "-I", "-B", str(PROGRAM), str(ROOT), fences, json.dumps(aims)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return set(done.stdout.splitlines())


@pytest.mark.parametrize("fences", ["both", "seccomp"])
def test_code_in_the_decoder_s_process_reaches_nothing(
    aims: dict[str, object], fences: str
) -> None:
    assert able(fences, aims) == set()
    assert Path(str(aims["deleted"])).read_text() == Path(str(aims["truncated"])).read_text()


def test_landlock_alone_keeps_every_file_and_program(aims: dict[str, object]) -> None:
    assert able("landlock", aims) <= BY_SYSTEM_CALLS_ONLY


def test_the_same_code_without_a_fence_reaches_everything(aims: dict[str, object]) -> None:
    assert able("none", aims) == ALL


def test_a_file_is_read_by_the_descriptor_that_was_open_before(tmp_path: Path) -> None:
    """What lies at its path once the jobs have begun does not matter."""
    write_video(tmp_path / "x.mp4", KINDS["gop60"], 10)
    path, digest = str(tmp_path / "x.mp4"), sha256_of(tmp_path / "x.mp4")
    files = give([path], [])
    (tmp_path / "x.mp4").unlink()
    timed = [limits.TimedJob(15, Job(path, digest, (0,)))]
    with limits._started("decoding.reader", timed, files, limits.LIMITS) as child:
        assert child.stdout is not None
        _confined, answer = child.stdout.read().splitlines()
    close(files)
    assert len(json.loads(answer)["frames"]) == 1


def held(path: str) -> int:
    """How many of this process's descriptors are of a file."""
    return sum(os.path.realpath(each) == path for each in Path("/proc/self/fd").iterdir())


def test_a_job_s_files_are_closed_here_after_it(tmp_path: Path) -> None:
    write_video(tmp_path / "x.mp4", KINDS["gop60"], 10)
    job = Job(str(tmp_path / "x.mp4"), sha256_of(tmp_path / "x.mp4"))
    before = held(job.path)
    assert decode([job] * 3 + [Job(str(tmp_path / "none.mp4"), "0" * 64)])[0].index
    assert held(job.path) == before
    files = give([job.path], [])
    assert held(job.path) == before + 1, "the look finds an open file"
    close(files)


def test_files_that_do_not_fit_one_child_go_to_the_next(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(limits, "FILES_MAX", 2)
    jobs = []
    for number in range(3):
        path = tmp_path / f"{number}.mp4"
        write_video(path, KINDS["gop60"], 10 + number)
        jobs.append(Job(str(path), sha256_of(path)))
    answers = decode(jobs)
    assert [len(each.index.pts_us) if each.index else 0 for each in answers] == [10, 11, 12]


def test_a_house_may_refuse_to_read_footage_without_fences(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_video(tmp_path / "x.mp4", KINDS["gop60"], 10)
    job = Job(str(tmp_path / "x.mp4"), sha256_of(tmp_path / "x.mp4"), (0,))
    strict = settings.read({"ROUND_LEDGER_UNCONFINED_FOOTAGE": "refuse"})
    monkeypatch.setattr(settings, "in_force", lambda: strict)
    assert decode([job])[0].frames, "it is confined here"
    unfenced = limits._PROGRAM.replace(
        "main(confined)", "sandbox.filter_system_calls = lambda: False; main(confined)"
    ).replace("import sys;", "import sys; from replay.footage.decoding import sandbox;")
    assert unfenced.count("sandbox.filter") == 1
    monkeypatch.setattr(limits, "_PROGRAM", unfenced)
    with pytest.raises(Lacking, match="could open other files"):
        decode([job])
    with pytest.raises(Usage, match="neither read nor refuse"):
        settings.read({"ROUND_LEDGER_UNCONFINED_FOOTAGE": "maybe"})


def test_the_command_says_what_the_decoder_may_reach(plain_cli: Cli) -> None:
    told = plain_cli("footage", "status", "--json").json[0]
    assert (told["opens_files"], told["landlock"], told["network"]) == (False, True, False)
    assert "no other file, connection or program" in plain_cli("footage", "status").err


HEADERS = (
    ("/usr/include/x86_64-linux-gnu/asm/unistd_64.h", 0),
    ("/usr/include/asm-generic/unistd.h", 1),  # which 64-bit ARM uses
)


@pytest.mark.parametrize(("header", "column"), HEADERS)
def test_the_numbers_of_the_filter_are_the_kernel_s(header: str, column: int) -> None:
    """A wrong number would allow another call."""
    if not Path(header).exists():
        pytest.skip("the kernel's header is not installed")
    known = dict(
        re.findall(r"#define __NR(?:3264)?_(\w+)\s+(\d+)\n", Path(header).read_text("ascii"))
    )
    known.setdefault("newfstatat", known.get("fstatat", ""))
    numbers = {name: row[column] for name, row in _ALLOWED.items()}
    assert len({*numbers.values()} - {None}) == sum(each is not None for each in numbers.values())
    assert {name: number for name, number in numbers.items() if number is not None} == {
        name: int(known[name]) for name, number in numbers.items() if number is not None
    }
