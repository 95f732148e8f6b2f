"""Each run of the tests has its temporary files in a folder of its own."""

from __future__ import annotations

import os
import subprocess
import sys
from getpass import getuser
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[3]
CASE = """
def test_it(tmp_path):
    print(tmp_path)
    assert {holds}
"""


@pytest.mark.parametrize("workers", [(), ("-n", "1")])
@pytest.mark.parametrize("holds", [True, False])
def test_a_run_shuts_no_folder_of_another_run(
    tmp_path: Path, workers: tuple[str, ...], *, holds: bool
) -> None:
    """The folder that runs would share stays open; this run's own is gone, unless a test failed."""
    shared = tmp_path / f"pytest-of-{getuser()}"
    shared.mkdir()
    shared.chmod(0o755)
    (tmp_path / "test_it.py").write_text(CASE.format(holds=holds))
    settings = tmp_path / "pytest.ini"
    settings.write_text("[pytest]\n")
    given = ["-c", settings, "-p", "no:cacheprovider", "-p", "tests.suite.own_folder", *workers]
    run = subprocess.run(
        [sys.executable, "-m", "pytest", *map(str, given), str(tmp_path)],
        env={**os.environ, "PYTHONPATH": str(ROOT), "TMPDIR": str(tmp_path)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert run.returncode == (not holds), run.stdout
    assert shared.stat().st_mode & 0o777 == 0o755
    kept = list(tmp_path.glob("round-ledger-tests-*"))
    assert len(kept) == (not holds)
