"""A file that is replaced is whole, however the process that replaces it ends."""

from __future__ import annotations

import signal
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from infra.files import replace_file

ROOT = Path(__file__).parents[3]
KILLED = """
import os, sys
from pathlib import Path
from infra.files import replace_file

def in_place(path, octets):
    with path.open("wb") as file:
        os.fsync(file.fileno())
        file.write(octets)

def killed(*_):
    os.kill(os.getpid(), 9)

path, way, at = sys.argv[1:]
setattr(*{"flush": (os, "fsync", killed), "rename": (Path, "replace", killed)}[at])
{"in place": in_place, "whole": replace_file}[way](Path(path), b"new")
"""


def write_killed(path: Path, way: str, at: str) -> None:
    ran = subprocess.run([sys.executable, "-c", KILLED, path, way, at], cwd=ROOT, check=False)
    assert ran.returncode == -signal.SIGKILL


@pytest.mark.parametrize("at", ["flush", "rename"])
def test_a_killed_process_leaves_the_old_file_and_the_next_one_writes(
    tmp_path: Path, at: str
) -> None:
    path = tmp_path / "kept"
    for before in (None, b"old"):
        write_killed(path, "whole", at)
        assert (path.read_bytes() if path.exists() else None) == before
        replace_file(path, b"old")
    assert path.read_bytes() == b"old"


def test_a_file_written_in_place_is_empty_after_a_kill(tmp_path: Path) -> None:
    path = tmp_path / "kept"
    path.write_bytes(b"old")
    write_killed(path, "in place", "flush")
    assert path.read_bytes() == b""


def test_only_the_owner_reads_it_and_nothing_stays_beside_it(tmp_path: Path) -> None:
    replace_file(tmp_path / "kept", b"secret")
    assert stat.S_IMODE((tmp_path / "kept").stat().st_mode) == 0o600
    assert [path.name for path in tmp_path.iterdir()] == ["kept"]


def test_a_file_that_cannot_be_renamed_leaves_nothing(tmp_path: Path) -> None:
    (tmp_path / "kept").mkdir()
    with pytest.raises(OSError, match="kept"):
        replace_file(tmp_path / "kept", b"new")
    assert [path.name for path in tmp_path.iterdir()] == ["kept"]
