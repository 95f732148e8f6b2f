"""The rule that CI may skip nothing is itself tested: a skip passes here and fails there."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[3]


@pytest.mark.parametrize(("required", "outcome"), [("", "1 skipped"), ("all", "1 failed")])
def test_a_skip_is_a_failure_only_where_everything_is_required(
    tmp_path: Path, required: str, outcome: str
) -> None:
    case = tmp_path / "test_skips.py"
    case.write_text("import pytest\n\ndef test_it():\n    pytest.skip('no broker')\n")
    run = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "tests.required", "-c", os.devnull, str(case)],
        cwd=ROOT,
        env={**os.environ, "TESTS_REQUIRE": required, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )
    assert outcome in run.stdout
