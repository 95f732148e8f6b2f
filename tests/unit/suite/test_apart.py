"""Tests of one file stay together, but for those of the files named, which are there."""

from __future__ import annotations

from pathlib import Path

from tests.suite.apart import APART, LONGEST_FIRST, TOGETHER, goes_with

ROOT = Path(__file__).parents[3]


def test_every_file_named_is_there() -> None:
    named = {*APART, *LONGEST_FIRST, *TOGETHER, *TOGETHER.values()}
    assert [name for name in sorted(named) if not (ROOT / name).is_file()] == []


def test_a_file_stays_whole_and_the_tests_of_one_named_go_apart() -> None:
    named = min(APART)
    assert goes_with("tests/unit/test_x.py::test_a") == "tests/unit/test_x.py"
    assert goes_with(f"{named}::test_a[b::c]") == f"{named}::test_a[b::c]"


def test_two_files_on_one_dear_fixture_go_together() -> None:
    for file, other in TOGETHER.items():
        assert goes_with(f"{file}::test_a") == goes_with(f"{other}::test_a") == other
