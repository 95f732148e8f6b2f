"""What each test costs in CPU seconds: the ten dearest end a run, and a dear one is marked `long`.

CPU seconds do not depend on what else the machine does, but for up to half more where its cores are
shared; wall time does. The call of a test is counted, not its fixtures. It includes the process
with all of its threads, the children that it has waited for by then, and what `count` adds. Not
counted are servers that a fixture started and that still run (PostgreSQL, Kafka, a browser).
"""

from __future__ import annotations

import resource
from typing import TYPE_CHECKING, NamedTuple

import pytest

from tests.suite.required import REQUIRED

if TYPE_CHECKING:
    from collections.abc import Callable, Generator

LISTED_S, FAILED_S = 1.0, 4.0
SHOWN = 10
_SPENT = "cpu_s"
_MAY_BE_LONG = "long"
_counters: list[Callable[[], float]] = []


class Cost(NamedTuple):
    """CPU seconds of one test, and whether it is marked as one that may take long."""

    cpu_s: float
    is_long: bool
    test: str


_costs: list[Cost] = []


def count(seconds: Callable[[], float]) -> None:
    """Count too what others spent for the tests so far, such as commands forked by a server."""
    _counters.append(seconds)


def cpu_s() -> float:
    """What was spent so far."""
    own = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(each.ru_utime + each.ru_stime for each in own) + sum(each() for each in _counters)


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_runtest_call(item: pytest.Item) -> Generator[None]:
    """Measure the call of a test."""
    before = cpu_s()
    try:
        return (yield)
    finally:
        item.user_properties.append((_SPENT, cpu_s() - before))


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item, call: pytest.CallInfo[None]
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Fail a test in CI that every run would pay too much for."""
    report = yield
    if report.when != "call":
        return report
    is_long = any(item.get_closest_marker(name) for name in ("long", "exhaustive"))
    report.user_properties.append((_MAY_BE_LONG, is_long))
    spent = dict(report.user_properties)[_SPENT]
    if REQUIRED and report.passed and not is_long and spent > FAILED_S:
        report.outcome = "failed"
        report.longrepr = f"takes {spent:.1f} CPU s: make it cheaper, or mark it `long`"
    return report


def pytest_runtest_logreport(report: pytest.TestReport) -> None:
    """Take a test's cost; where workers run the tests, the process that they report to does."""
    told = dict(report.user_properties)
    if report.when == "call" and _SPENT in told:
        _costs.append(Cost(told[_SPENT], told[_MAY_BE_LONG], report.nodeid))


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """End a run with what cost most, and with what is dear and not marked."""
    costs = sorted(_costs, reverse=True)
    total = sum(each.cpu_s for each in costs)
    terminalreporter.section(f"slowest of {total:.0f} CPU s")
    _list(terminalreporter, costs[:SHOWN])
    dear = [each for each in costs if each.cpu_s > LISTED_S and not each.is_long]
    if dear:
        terminalreporter.section(f"over {LISTED_S:.0f} CPU s and not marked `long`")
        _list(terminalreporter, dear)


def _list(terminalreporter: pytest.TerminalReporter, costs: list[Cost]) -> None:
    for each in costs:
        terminalreporter.line(f"{each.cpu_s:7.2f} s  {each.test}")
