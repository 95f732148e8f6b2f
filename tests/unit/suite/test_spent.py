"""A test's cost is counted and printed at the end; in CI a costly one that is not `long` fails."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.suite import spent

ROOT = Path(__file__).parents[3]
CASES = """
import pytest

from tests.suite import spent

clock = [0.0]
spent.cpu_s = lambda: clock[0]

@pytest.fixture
def dear_to_make():
    clock[0] += 9

def test_cheap(dear_to_make):
    clock[0] += 0.5

def test_dear():
    clock[0] += 1.5

def test_too_dear():
    clock[0] += 4.5

@pytest.mark.long
def test_dear_and_marked():
    clock[0] += 5.5

@pytest.mark.parametrize("each", range(9))
def test_of_no_weight(each):
    pass
"""


def run(folder: Path, *options: str, required: str = "") -> list[str]:
    """The lines that a run of the cases ends with."""
    (folder / "test_cases.py").write_text(CASES)
    (folder / "pytest.ini").write_text("[pytest]\nmarkers = long\n")
    plugins = ["-p", "tests.suite.spent", "-p", "no:cacheprovider", *options]
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", *plugins, str(folder / "test_cases.py")],
        cwd=ROOT,
        env={
            **os.environ,
            "TESTS_REQUIRE": required,
            "PYTHONPATH": str(ROOT),
            "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1",
        },
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )
    return [line.strip() for line in done.stdout.splitlines()]


def after(lines: list[str], title: str) -> list[str]:
    """What a section lists: seconds, and the test."""
    (at,) = (number for number, line in enumerate(lines) if title in line)
    rows = []
    for line in lines[at + 1 :]:
        seconds, unit, test = (*line.split(maxsplit=2), "", "", "")[:3]
        if unit != "s":
            break
        rows.append(f"{seconds} {test.rpartition('::')[2]}")
    return rows


@pytest.mark.long
@pytest.mark.parametrize("workers", [(), ("-p", "xdist", "-n", "1")])
def test_the_ten_dearest_and_the_dear_ones_that_are_not_marked_end_a_run(
    tmp_path: Path, workers: tuple[str, ...]
) -> None:
    lines = run(tmp_path, *workers)
    slowest = after(lines, "slowest of 12 CPU s")
    assert len(slowest) == 10
    assert slowest[:4] == [
        "5.50 test_dear_and_marked",
        "4.50 test_too_dear",
        "1.50 test_dear",
        "0.50 test_cheap",
    ]
    dear = after(lines, "over 1 CPU s and not marked `long`")
    assert dear == ["4.50 test_too_dear", "1.50 test_dear"]
    assert lines[-1].startswith("13 passed")


def test_in_ci_a_test_that_is_too_dear_fails_and_says_why(tmp_path: Path) -> None:
    lines = run(tmp_path, required="all")
    assert lines[-1].startswith("1 failed, 12 passed")
    assert "takes 4.5 CPU s: make it cheaper, or mark it `long`" in lines


WORK = "while sum(__import__('os').times()[:2]) < 0.3: pass"


def test_children_that_were_waited_for_are_counted() -> None:
    before = spent.cpu_s()
    subprocess.run([sys.executable, "-S", "-c", WORK], check=True, timeout=120)
    assert spent.cpu_s() - before >= 0.3


def test_what_others_spent_for_a_test_is_counted_where_they_tell() -> None:
    of_commands = [0.0]
    with pytest.MonkeyPatch.context() as patch:  # undone before this test is itself measured
        patch.setattr(spent, "_counters", [])
        spent.count(lambda: sum(of_commands))
        before = spent.cpu_s()
        of_commands.append(500.0)
        assert 500 <= spent.cpu_s() - before < 560
