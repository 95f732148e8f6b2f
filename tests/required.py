"""A skip on a user's machine is a reason; in CI, which has everything, it is a failure.

What lacks is told in one line at the end, with what to install, however many tests ask for it.
"""

from __future__ import annotations

import os
from collections import Counter
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from collections.abc import Generator

REQUIRED = os.environ.get("TESTS_REQUIRE") == "all"


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport() -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Turn a skip into a failure where everything that tests need is required to be there."""
    report = yield
    if REQUIRED and report.skipped and not hasattr(report, "wasxfail"):
        reason = report.longrepr[2] if isinstance(report.longrepr, tuple) else report.longrepr
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
