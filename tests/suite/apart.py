"""Which tests go to a process together: those of a file, but for some files.

`--dist loadfile` gives a whole file to one process. A file of forty cases without a server may end
long after everything else; its cases fill whatever process is free, and come last. Two files that
stand on the same dear fixture go to one process, which makes it once.
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


TOGETHER = {"tests/integration/web/test_web_dossier.py": "tests/integration/web/test_web_round.py"}
"""A file, and the file with which it goes: both look at one served floor with footage."""

LONGEST_FIRST = (
    "tests/integration/postgres/test_disk_full.py",
    "tests/e2e/docs/test_pages_run.py",
    "tests/e2e/cli/test_demo.py",
    "tests/integration/feed/test_feed_processes.py",
    "tests/integration/relay/test_relay_brokers.py",
    "tests/integration/http/test_store_and_forward.py",
    "tests/e2e/player/test_screen_round.py",
    "tests/integration/postgres/test_memory_bounded.py",
    "tests/e2e/player/test_screen_kinds.py",
    "tests/integration/postgres/test_services.py",
    "tests/integration/relay/test_power_cut_broker.py",
    "tests/integration/http/test_half_open.py",
    "tests/integration/dossier/test_dossier_memory.py",
    "tests/integration/postgres/test_rolling_upgrade.py",
    "tests/integration/feed/test_feed_topic_deleted.py",
    "tests/integration/views/test_clocks_set.py",
    "tests/e2e/cli/test_dossier_vtest.py",
    "tests/integration/alerts/test_feed_alerts.py",
    "tests/integration/alerts/test_alert_group.py",
)
"""Files whose few tests take a minute or more together: begun last, one alone would end the run."""


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Begin the long run with them."""
    if config.option.markexpr == "long":
        place = {name: at for at, name in enumerate(LONGEST_FIRST)}
        items.sort(key=lambda item: place.get(item.nodeid.partition("::")[0], len(place)))


def goes_with(nodeid: str) -> str:
    """What a test goes to a process with: its file, another file, or itself alone."""
    file = nodeid.split("::", 1)[0]
    return nodeid if file in APART else TOGETHER.get(file, file)


class ByFileOrApart(LoadFileScheduling):
    """A file goes to one process whole, the tests of those named one by one."""

    def _split_scope(self, nodeid: str) -> str:
        return goes_with(nodeid)


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Producer) -> LoadFileScheduling | None:
    """Take the place of `--dist loadfile`, and of nothing else."""
    return ByFileOrApart(config, log) if config.getoption("dist") == "loadfile" else None
