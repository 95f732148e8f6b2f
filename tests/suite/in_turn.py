"""CI runs a share of the long tests in turn: other ones with each commit.

`make test-long` runs every test. With `--share=24`, as CI has it, every 24th runs. The seed of the
run, a commit in CI, says with which one they begin.
"""

from __future__ import annotations

import os
import zlib
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from collections.abc import Sequence

WHOLE = {"tests/e2e/docs/test_pages_run.py"}
"""Every test of these files always runs: a page of the documentation is true in every commit."""


def pytest_addoption(parser: pytest.Parser) -> None:
    """Say of how many tests one is run."""
    parser.addoption("--share", type=int, default=1, help="run every so-many-eth test")


@pytest.hookimpl(trylast=True)  # where `-m` has chosen already
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave out the tests whose turn it is not."""
    seed = zlib.crc32(os.environ.get("SEED", "").encode())
    left = {id(each) for each in left_out(items, config.getoption("--share"), seed)}
    if left:
        config.hook.pytest_deselected(items=[item for item in items if id(item) in left])
        items[:] = [item for item in items if id(item) not in left]


def left_out(items: Sequence[pytest.Item], share: int, seed: int) -> list[pytest.Item]:
    """The tests whose turn it is not, in whatever order they run."""
    named = sorted((item.nodeid, nth) for nth, item in enumerate(items))
    in_turn = [items[nth] for name, nth in named if name.partition("::")[0] not in WHOLE]
    return [item for at, item in enumerate(in_turn) if at % share != seed % share]
