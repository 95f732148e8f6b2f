"""What one channel of alerts does not take holds up neither the others nor the process."""

from __future__ import annotations

import time
from contextlib import contextmanager
from typing import TYPE_CHECKING

import msgspec
import pytest

from consumers import alerting
from consumers.alerts import Alert
from infra.alerts import Alerts
from infra.settings import load
from ledger.errors import Unavailable

if TYPE_CHECKING:
    from collections.abc import Iterator

    from infra.postgres import Database

SETTINGS = load({})
NOW_US = 1_795_000_000_000_000


@contextmanager
def kept(base: Database) -> Iterator[Alerts]:
    with base.connect("ledger_projector") as connection:
        yield Alerts(base, connection)


def raised(kept: Alerts, *channels: str, count: int = 1) -> None:
    for number in range(count):
        alert = Alert(f"lag:{number}", "lag", "drop", "Behind.", 60, 60, NOW_US)
        kept.raise_(alert.id, alert.kind, msgspec.json.encode(alert).decode(), channels)


def test_a_webhook_that_hangs_holds_up_no_other_channel_and_not_the_round(
    database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(alerting, "CHANNEL_S_MAX", 1.0)

    def hangs(_: alerting.Due) -> str:
        time.sleep(1.05)
        raise TimeoutError("timed out")

    with kept(database) as alerts_:
        raised(alerts_, "webhook", "log", count=3)
        desk = alerting.Desk(
            database, alerts_, {"webhook": hangs, "log": lambda _: "logged"}, SETTINGS
        )
        desk.deliver()
        told = alerts_.receipts()
    assert [each.tries for each in told if each.channel == "webhook"] == [1, 0, 0], "one a round"
    assert all(each.delivered_at_us for each in told if each.channel == "log")


def test_what_waits_for_a_channel_that_is_gone_is_not_in_the_way_of_the_others(
    database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(alerting, "_DUE_AT_ONCE", 2)
    with kept(database) as alerts_:
        raised(alerts_, "webhook", count=2)
        alert = Alert("lag:new", "lag", "drop", "Behind.", 60, 60, NOW_US)
        alerts_.raise_(alert.id, alert.kind, msgspec.json.encode(alert).decode(), ["log"])
        desk = alerting.Desk(database, alerts_, {"log": lambda _: "logged"}, SETTINGS)
        desk.deliver()
        told = {each.alert_id: each.answer for each in alerts_.receipts()}
    assert told == {"lag:0": "", "lag:1": "", "lag:new": "logged"}


def test_a_producer_that_failed_once_is_not_used_again_for_alerts(database: Database) -> None:
    def away(_: alerting.Due) -> str:
        raise Unavailable("Kafka is away", where="here", hint="Start it.")

    with kept(database) as alerts_:
        raised(alerts_, "topic", count=2)
        desk = alerting.Desk(database, alerts_, {"topic": away}, SETTINGS)
        with pytest.raises(Unavailable):
            desk.deliver()
        assert [each.tries for each in alerts_.receipts()] == [1, 0]
