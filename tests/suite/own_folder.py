"""A folder of temporary files for each run of the tests, so that no run takes another's away.

Without one, runs of one user share a folder, and each run that starts shuts it to other users. A
server of another run that works there as another user then cannot read its own files.
"""

from __future__ import annotations

import shutil
import tempfile
from contextlib import suppress
from pathlib import Path

import pytest

OWN = pytest.StashKey[Path]()


@pytest.hookimpl(tryfirst=True)
def pytest_configure(config: pytest.Config) -> None:
    """Name a folder of this run's own, unless `--basetemp` names one: workers have one."""
    if config.option.basetemp is None:
        config.stash[OWN] = Path(tempfile.mkdtemp(prefix="round-ledger-tests-"))
        config.option.basetemp = str(config.stash[OWN])


@pytest.hookimpl(trylast=True)
def pytest_sessionfinish(session: pytest.Session, exitstatus: int) -> None:
    """Keep the folder only after a failure, to look into."""
    if exitstatus != pytest.ExitCode.TESTS_FAILED:
        with suppress(KeyError):
            shutil.rmtree(session.config.stash[OWN], ignore_errors=True)
