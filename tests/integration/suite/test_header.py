"""What the header of a run says of servers that the environment names: who they are."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import psycopg

from tests.fixtures.kafka import kafka_version
from tests.fixtures.postgres import postgres_version

if TYPE_CHECKING:
    import pytest

    from infra.kafka.clients import Connection

NOBODY = "127.0.0.1:9"


def test_a_postgresql_named_in_the_environment_is_asked_for_its_version(
    postgres_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TESTS_DATABASE_URL", postgres_url)
    with psycopg.connect(postgres_url) as connection:
        (version,) = connection.execute("SHOW server_version").fetchone() or ("",)
    assert version in postgres_version()
    monkeypatch.setenv("TESTS_DATABASE_URL", f"postgresql://u:secret-word@{NOBODY}/none")
    assert "does not answer" in postgres_version()
    assert "secret-word" not in postgres_version()


def test_a_kafka_named_in_the_environment_is_asked_for_its_version(
    kafka_server: Connection, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TESTS_KAFKA_BOOTSTRAP", kafka_server.bootstrap)
    said = kafka_version()
    assert re.match(r"Kafka [4-9]\.\d+ ", said), said
    assert kafka_server.bootstrap in said
    monkeypatch.setenv("TESTS_KAFKA_BOOTSTRAP", NOBODY)
    assert "does not answer" in kafka_version()
