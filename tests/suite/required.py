"""A skip on a user's machine is a reason; in CI, which has everything, it is a failure.

`TESTS_REQUIRE=all` requires everything but tesseract. `local` does not require a Docker engine with
the images, nor hledger. A missing service is reported in one line at the end, with what to install,
however many tests need it.
"""

from __future__ import annotations

import os
from collections import Counter
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from collections.abc import Generator

NO_DOCKER = "no Docker engine holds"
"""How the reason of a test begins that is skipped for want of one."""

NO_HLEDGER = "hledger is not installed"
"""How the reason of a test begins that checks a journal with hledger, too."""

NO_TESSERACT = "tesseract is not installed"
"""How the reason of the test begins that reads film with the program of that name."""

SPARED = {"all": (NO_TESSERACT,), "local": (NO_DOCKER, NO_HLEDGER, NO_TESSERACT)}
"""What may be missing, by what is required."""

REQUIRED = os.environ.get("TESTS_REQUIRE")


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport() -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Turn a skip into a failure where everything that tests need is required to be there."""
    report = yield
    if REQUIRED and report.skipped and not hasattr(report, "wasxfail"):
        reason = report.longrepr[2] if isinstance(report.longrepr, tuple) else report.longrepr
        if not any(each in str(reason) for each in SPARED.get(REQUIRED, ())):
            report.outcome = "failed"
            report.longrepr = f"skipped, though nothing may be missing here: {reason}"
    return report


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """A line for each reason that tests were skipped for: `-ra` has one for each place, too."""
    skipped = terminalreporter.stats.get("skipped", [])
    for reason, count in sorted(Counter(map(_reason, skipped)).items()):
        tests = "1 test" if count == 1 else f"{count:,} tests"
        terminalreporter.write_line(f"SKIPPED {tests}: {reason}")


def _reason(report: pytest.TestReport) -> str:
    said = report.longrepr[2] if isinstance(report.longrepr, tuple) else str(report.longrepr)
    return " ".join(said.removeprefix("Skipped: ").split())
