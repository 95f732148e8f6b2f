"""If Docker holds the compose file's images, the tests' servers are containers of these."""

from __future__ import annotations

import os

import pytest
from psycopg import conninfo

from tests.fixtures import kafka, postgres
from tests.fixtures.docker import pinned, published, required_engine


def named(variable: str) -> bool:
    """Whether the environment names a server, which is taken then."""
    return bool(os.environ.get(variable))


@pytest.mark.skipif(named("TESTS_DATABASE_URL"), reason="the environment names a PostgreSQL")
def test_postgresql_is_a_container_of_the_compose_files_image(
    request: pytest.FixtureRequest,
) -> None:
    image = pinned(postgres.IMAGE)
    required_engine(image)
    url = request.getfixturevalue("postgres_url")
    assert int(conninfo.conninfo_to_dict(url)["port"]) in published(image)


@pytest.mark.skipif(named("TESTS_KAFKA_BOOTSTRAP"), reason="the environment names a Kafka")
def test_kafka_is_a_container_of_the_compose_files_image(request: pytest.FixtureRequest) -> None:
    image = pinned(kafka.IMAGE)
    required_engine(image)
    where = request.getfixturevalue("kafka_server")
    assert int(where.bootstrap.rpartition(":")[2]) in published(image)
