"""Which tests go to a process together: those of a file, but for files whose tests share nothing.

`--dist loadfile` gives a whole file to one process. A file of forty cases without a server may end
long after everything else; its cases fill whatever process is free, and come last.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from xdist.scheduler import LoadFileScheduling

if TYPE_CHECKING:
    from xdist.remote import Producer

APART = {
    "tests/contract/test_mutants.py",
    "tests/property/rules/test_clock_apart.py",
    "tests/property/record/test_feed_simulation.py",
}
"""Files of many long tests that own no server and keep nothing for one another."""


def goes_with(nodeid: str) -> str:
    """What a test goes to a process with: its file, or itself alone."""
    file = nodeid.split("::", 1)[0]
    return nodeid if file in APART else file


class ByFileOrApart(LoadFileScheduling):
    """A file goes to one process whole, the tests of those named one by one."""

    def _split_scope(self, nodeid: str) -> str:
        return goes_with(nodeid)


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Producer) -> LoadFileScheduling | None:
    """Take the place of `--dist loadfile`, and of nothing else."""
    return ByFileOrApart(config, log) if config.getoption("dist") == "loadfile" else None
