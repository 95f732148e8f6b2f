"""What servers write is in memory where there is room, and is gone after the tests."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from contextlib import suppress
from pathlib import Path

import pytest

from tests.suite import memory
from tests.suite.memory import place, short_lived

ROOT = Path(__file__).parents[3]
CASE = """
import signal, sys, pytest
from tests.suite.memory import short_lived
@pytest.fixture(scope="session")
def folder():
    with short_lived("case") as made:
        yield made
def test_it(folder):
    (folder / "written").touch()
    with open({told!r}, "w") as out:
        out.write(str(folder))
    signal.pause()
"""


def test_memory_is_taken_only_where_there_is_enough_of_it(tmp_path: Path) -> None:
    assert place(tmp_path, room_min=0) == tmp_path
    assert place(tmp_path, room_min=2**62) is None
    assert place(tmp_path / "none", room_min=0) is None


def test_a_folder_has_a_name_of_ours_and_is_gone_after_an_error(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(memory, "place", lambda: tmp_path)
    with suppress(KeyError), short_lived("case") as folder:
        (folder / "written").touch()
        raise KeyError
    assert folder.name.startswith("round-ledger-case-")
    assert folder.parent == tmp_path
    assert not folder.exists()


@pytest.mark.long
@pytest.mark.parametrize("ended_by", [signal.SIGINT, signal.SIGTERM])
@pytest.mark.parametrize("workers", [(), ("-n", "2")])
def test_a_folder_is_gone_after_an_interrupt(
    tmp_path: Path, workers: tuple[str, ...], ended_by: signal.Signals
) -> None:
    told = tmp_path / "told"
    os.mkfifo(told)
    (tmp_path / "test_it.py").write_text(CASE.format(told=str(told)))
    settings = tmp_path / "pytest.ini"
    settings.write_text("[pytest]\n")
    given = ["-c", settings, "-p", "no:cacheprovider", "-p", "tests.conftest", *workers, tmp_path]
    with subprocess.Popen(
        [sys.executable, "-m", "pytest", *map(str, given)],
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        start_new_session=True,
    ) as run:
        folder = Path(told.read_text())
        assert (folder / "written").exists()
        os.killpg(run.pid, ended_by)
        said, _ = run.communicate(timeout=120)
    assert not folder.exists(), said.decode()
