"""The rule that CI may skip nothing is itself tested: a skip passes here and fails there."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.suite.budget import cases

ROOT = Path(__file__).parents[3]


@pytest.mark.parametrize(
    ("required", "outcome"),
    cases([("local", "1 failed, 2 skipped")], [("", "3 skipped"), ("all", "3 failed")]),
)
def test_a_skip_is_a_failure_only_where_everything_is_required(
    tmp_path: Path, required: str, outcome: str
) -> None:
    case = tmp_path / "test_skips.py"
    case.write_text(
        "import pytest\n"
        "REASONS = ['no broker', 'no Docker engine holds it', 'hledger is not installed']\n"
        "@pytest.mark.parametrize('reason', REASONS)\n"
        "def test_it(reason): pytest.skip(reason)\n"
    )
    run = subprocess.run(
        [
            sys.executable,
            "-m",
            "pytest",
            "-q",
            "-p",
            "tests.suite.required",
            "-c",
            os.devnull,
            str(case),
        ],
        cwd=ROOT,
        env={**os.environ, "TESTS_REQUIRE": required, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )
    assert outcome in run.stdout


FIXTURE = """
import pytest
@pytest.fixture
def browser():
    pytest.skip("no browser: install one")
@pytest.mark.parametrize("n", range(20))
def test_it({asks}n):
    {does}
"""


@pytest.mark.parametrize(
    ("required", "told", "ended"),
    cases(
        [("", ["SKIPPED 40 tests: no browser: install one"], "40 skipped")],
        [("all", [], "20 failed, 20 errors")],
    ),
)
def test_what_lacks_is_one_line_that_says_what_to_install_however_many_tests_and_files_ask(
    tmp_path: Path, required: str, told: list[str], ended: str
) -> None:
    asked = FIXTURE.format(asks="browser, ", does="pass")
    said = FIXTURE.format(asks="", does="pytest.skip('no browser: install one')")
    for name, text in {"test_asked.py": asked, "test_said.py": said}.items():
        (tmp_path / name).write_text(text)
    settings = tmp_path / "settings.toml"
    settings.write_bytes((ROOT / "pyproject.toml").read_bytes())
    command = [
        sys.executable,
        "-m",
        "pytest",
        "-p",
        "tests.suite.required",
        "-p",
        "no:cacheprovider",
    ]
    run = subprocess.run(
        [*command, "-c", str(settings), str(tmp_path)],
        cwd=ROOT,
        env={**os.environ, "TESTS_REQUIRE": required, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )
    lines = [line for line in run.stdout.splitlines() if line.startswith("SKIPPED")]
    assert lines == told
    assert ended in run.stdout
