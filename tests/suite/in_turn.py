"""CI runs a share of the long tests in turn: other ones with each commit.

`make test-long` runs every test. With `--share=12`, as CI has it, every eighth test of a file runs,
and every twelfth case of a test marked `in_turn`. Such a test tries many similar cases: mutants,
schedules of faults, kinds of footage. The seed of the run, a commit in CI, says with which one they
begin.
"""

from __future__ import annotations

import os
import zlib
from collections import defaultdict
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from collections.abc import Sequence

WHOLE = {"tests/e2e/docs/test_pages_run.py"}
"""Every test of these files always runs: a page of the documentation is true in every commit."""


def pytest_addoption(parser: pytest.Parser) -> None:
    """Say of how many alike cases one is run."""
    parser.addoption("--share", type=int, default=1, help="of tests `in_turn`, every so-many-eth")


@pytest.hookimpl(trylast=True)  # where `-m` has chosen already
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave out the cases whose turn it is not."""
    seed = zlib.crc32(os.environ.get("SEED", "").encode())
    left = {id(each) for each in left_out(items, config.getoption("--share"), seed)}
    if left:
        config.hook.pytest_deselected(items=[item for item in items if id(item) in left])
        items[:] = [item for item in items if id(item) not in left]


def left_out(items: Sequence[pytest.Item], share: int, seed: int) -> list[pytest.Item]:
    """The tests whose turn it is not, in whatever order they run."""
    alike: dict[str, list[pytest.Item]] = defaultdict(list)
    by_file: dict[str, list[pytest.Item]] = defaultdict(list)
    for item in sorted(items, key=lambda item: item.nodeid):
        if item.get_closest_marker("in_turn"):
            alike[item.nodeid.partition("[")[0]].append(item)
        elif (file := item.nodeid.partition("::")[0]) not in WHOLE:
            by_file[file].append(item)
    left = [each for cases in alike.values() for each in out_of_turn(cases, share, seed)]
    eighth = min(share, 8)
    return left + [each for tests in by_file.values() for each in out_of_turn(tests, eighth, seed)]


def out_of_turn(cases: Sequence[pytest.Item], share: int, seed: int) -> list[pytest.Item]:
    """All but every so-many-eth of them; one is always left in."""
    first = seed % min(share, len(cases))
    return [case for number, case in enumerate(cases) if number % share != first]
