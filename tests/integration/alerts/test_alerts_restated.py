"""Rulings that are said again raise nothing for what came long ago, whenever they are said."""

from __future__ import annotations

import dataclasses
import time
from typing import TYPE_CHECKING

import msgspec
import pytest

from consumers.alerts import process
from consumers.alerts.conditions import ADJUDICATIONS
from consumers.alerts.kinds.rulings import DIFFERENCE
from consumers.alerts.kinds.views import LAG_S
from consumers.registry import VIEWS, install
from consumers.rulings import rulings
from consumers.runtime import outbox
from consumers.runtime.lifecycle import catch_up
from infra.kafka.consumer_group import Read
from infra.kafka.ports import Consumed
from infra.kafka.records import of_message
from infra.postgres import relay_progress
from infra.postgres.alerts import Alerts
from infra.postgres.outbox import QueuedMessage
from infra.postgres.view_tables import tape_source
from infra.settings import load
from ledger.rules.engine.ruling import Finding
from tests.scenes.view_feeds import day, record

if TYPE_CHECKING:
    from infra.postgres.connection import Database
    from infra.postgres.relay_progress import RelayStore
    from ledger.record.tape import TapeRow

SETTINGS = dataclasses.replace(load({}), thresholds={DIFFERENCE: 1, LAG_S: 10**9})
DAYS_US = 2 * 86_400_000_000


def aged(database: Database) -> None:
    """Everything on record came two days ago."""
    with database.connect("ledger_owner") as connection, connection.transaction():
        connection.execute("ALTER TABLE ledger.tape DISABLE TRIGGER USER")
        connection.execute(
            "UPDATE ledger.tape SET received_at_us = received_at_us - %s", (DAYS_US,)
        )
        connection.execute("ALTER TABLE ledger.tape ENABLE TRIGGER USER")


def read(service: RelayStore, after: int) -> list[Read]:
    """What views left for the relay, as it comes off the topic."""
    kept = service.outbox(ADJUDICATIONS, after, 100_000, 1 << 30)
    sent = [of_message(ADJUDICATIONS, each) for each in kept]
    return [
        Read(ADJUDICATIONS, Consumed(0, 0, each.key, each.value, tuple(each.headers)))
        for each in sent
    ]


def told(database: Database, read: list[Read], looks: int = 0) -> process.Tally:
    """What these records raise; looks: how often it then looks at how things stand."""
    assert read
    with database.connect("ledger_projector") as connection:
        service = process.AlertService(database, Alerts(database, connection), {}, SETTINGS)
        for each in read:
            service.handle(each)
        for _ in range(looks):
            service.look()
        return service.tally


def views_up(database: Database) -> None:
    with tape_source(database) as source:
        catch_up(database, source, VIEWS)


@pytest.mark.long
def test_rulings_on_what_came_long_ago_are_said_again_and_raise_nothing(
    database: Database,
) -> None:
    facts = day(8)
    install(database)
    record(database, facts[: len(facts) // 2])
    aged(database)
    with relay_progress.lead(database, lambda: False) as service:
        assert service
        service.move(ADJUDICATIONS, 0, 0)
        views_up(database)
        last = service.outbox(ADJUDICATIONS, 0, 100_000, 1 << 30)[-1].number
        outbox.restate(database, [ADJUDICATIONS], VIEWS)
        again = read(service, last)
        tally = told(database, again)
        assert tally.raised == 0
        assert tally.too_old > 0, "and it is told how many there were"
        last += len(again)
        record(database, facts)
        views_up(database)
        fresh = read(service, last)
        assert told(database, fresh).raised > 0, "what came just now is told"
        assert told(database, read(service, 0)).raised == 0, "and once"


def test_a_finding_of_no_round_is_as_old_as_the_fact_that_completes_it(
    database: Database, caplog: pytest.LogCaptureFixture
) -> None:
    facts = record(database, day(1)[:2])
    aged(database)
    fresh = record(database, day(1)[:4])[-1]

    def found(of: TapeRow) -> list[Read]:
        finding = Finding(code="stub_count_overdue", says="Overdue.")
        row = ("hollywood", "CC-07", of.time_us, of.source, of.id, 0, "2026-11-20", finding.code)
        state = ("", "F-1", "unseen", "", "")
        body = rulings.VIEW.tells[1].value_of(
            (*row, msgspec.json.encode(finding).decode(), None, True, *state)
        )
        sent = of_message(ADJUDICATIONS, QueuedMessage(1, 9, time.time_ns() // 1000, "k", body))
        return [Read(ADJUDICATIONS, Consumed(0, 0, sent.key, sent.value, tuple(sent.headers)))]

    caplog.set_level("WARNING")
    old, new = told(database, found(facts[0]), looks=2), told(database, found(fresh), looks=2)
    assert [(each.raised, each.too_old) for each in (old, new)] == [(0, 1), (1, 0)]
    said = [each for each in caplog.records if "too old" in each.getMessage()]
    assert [vars(each)["figures"] for each in said] == [{"count": 1, "ever": 1}]
