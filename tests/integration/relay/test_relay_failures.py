"""The failures of relays are counted for the next relay and for every reader of metrics."""

from __future__ import annotations

from typing import TYPE_CHECKING, Self

import pytest

from consumers.relay import relay as relays
from consumers.relay.relay import relay
from consumers.runtime.metrics import ConsumerMetrics
from infra.kafka.clients import Connection
from infra.postgres import relay_progress
from infra.postgres.connection import Database
from ledger.errors import Refused, Unavailable
from tests.fixtures.cli import Cli, environ
from tests.scenes.feeding import fill

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from infra.postgres.tape import PostgresTape

NOBODY = Connection("127.0.0.1:1")
"""Brokers that nothing listens for."""


def ended(database: Database, folder: Path) -> None:
    """A relay of its own that finds no brokers."""
    run = Cli(
        environ(
            folder,
            ROUND_LEDGER_DATABASE_URL=database.url,
            ROUND_LEDGER_KAFKA_BOOTSTRAP=NOBODY.bootstrap,
        )
    )
    ran = run("relay", "--once", "--deadline", "1")
    assert ran.code == Unavailable.exit_code
    assert "Kafka rejected the request or did not answer" in ran.err


def counted(database: Database) -> dict[str, int]:
    return {each.error: each.times for each in relay_progress.failures(database)}


def told(database: Database) -> list[str]:
    page = ConsumerMetrics(database, feed=False).page().decode().splitlines()
    return [line for line in page if line.startswith("round_ledger_relay_failures_total")]


@pytest.mark.long
def test_each_relay_that_ends_on_brokers_that_do_not_answer_is_counted(
    database: Database, tape: PostgresTape, tmp_path: Path
) -> None:
    fill(tape, 3)
    assert (counted(database), told(database)) == ({}, [])
    ended(database, tmp_path)
    (first,) = relay_progress.failures(database)
    assert (first.error, first.times) == ("NobodyListensError", 1)
    ended(database, tmp_path)
    assert counted(database) == {"NobodyListensError": 2}
    assert first.last_at_us < relay_progress.failures(database)[0].last_at_us
    assert told(database) == ['round_ledger_relay_failures_total{error="NobodyListensError"} 2.0']


def test_each_kind_of_failure_is_counted_by_itself(
    database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fails(error: Exception) -> Callable[..., object]:
        def instead(*_: object, **__: object) -> object:
            raise error

        return instead

    refused = Refused("of another history", where="here", hint="Look.")
    for error in (refused, refused, ZeroDivisionError("a fault of the program")):
        monkeypatch.setattr(relays, "publish", fails(error))
        monkeypatch.setattr(relays, "Publisher", Published)
        with pytest.raises(type(error)):
            relay(database, NOBODY, stop=lambda: False)
    assert counted(database) == {"Refused": 2, "ZeroDivisionError": 1}


class Published:
    """A producer that nothing is asked of."""

    def __init__(self, *_: object, **__: object) -> None:
        """As `infra.kafka.publisher.Publisher`."""

    publish = __init__

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        """Nothing was made."""


@pytest.mark.long
def test_a_relay_that_is_stopped_or_has_published_all_is_no_failure(
    database: Database, tape: PostgresTape, kafka: Connection
) -> None:
    fill(tape, 3)
    relay(database, kafka, stop=lambda: False, follow=False, deadline_s=20)
    assert counted(database) == {}


def test_what_ended_it_is_told_though_nothing_can_be_counted(
    database: Database, tape: PostgresTape, tmp_path: Path
) -> None:
    fill(tape, 3)
    with database.connect("ledger_owner") as connection:
        connection.execute("DROP TABLE views.relay_failures")
    ended(database, tmp_path)
    nowhere = "postgresql://nobody@127.0.0.1:1/none"
    with pytest.raises(Unavailable):
        relay(Database(nowhere, nowhere), NOBODY, stop=lambda: False)
