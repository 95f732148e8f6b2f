"""Every kind of alert: what raises it exactly at its thresholds, its words and its receipts."""

from __future__ import annotations

import dataclasses
import re
import time
from typing import TYPE_CHECKING, NamedTuple

import pytest

from consumers.alerts import conditions, process
from consumers.alerts.cameras import LostCamera
from consumers.alerts.kinds import (
    BY_NAME,
    KINDS,
    THRESHOLDS,
    cameras,
    dead_letters,
    door,
    payout,
    refusals,
    rulings,
    strays,
    tables,
    views,
)
from consumers.alerts.snapshot import Snapshot
from consumers.floor.table_board import Board
from infra.postgres.alerts import Alerts, Device
from infra.postgres.parking import ParkedSummary
from infra.postgres.relay_progress import Refusal, Strays, Waiting
from infra.postgres.tape import DoorRefusal
from infra.settings import PREFIX, load
from replay.docs import settings as docs
from replay.shell.settings import TABLE
from replay.web.alert_watch import AlertNow
from replay.web.pages.alarms import alarms
from tests.scenes import alert_reads
from tests.scenes.alert_reads import RULED_AT_US, checked, fact_read, read_of, ruling

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from consumers.alerts.alert import Alert, AlertKind
    from infra.kafka.consumer_group import Read
    from infra.postgres.connection import Database
    from infra.settings import Settings, Threshold

SETTINGS = load({})
NOW_US = 1_795_000_000_000_000
OVERDUE = {"code": "stub_count_overdue", "says": "so"}
OPEN = Board("hollywood", "CC-07", open=True)


def device(name: str, silent_s: int) -> Device:
    return Device("hollywood/CC-07", f"/hollywood/CC-07/{name}", NOW_US - silent_s * 1_000_000)


class Case(NamedTuple):
    """What raises a kind of alert exactly where a threshold of its own is `at`."""

    kind: AlertKind
    threshold: Threshold
    at: int
    found: Callable[[Database, Settings], Iterable[Alert]]


def fact(read: Callable[[Database], Read]) -> Callable[[Database, Settings], Iterable[Alert]]:
    """What a record raises as it comes off the feed."""
    return lambda database, given: alert_reads.found(read(database), time.time_ns() // 1000, given)


def ruled(*findings: dict[str, object]) -> Callable[[Database, Settings], Iterable[Alert]]:
    """What a ruling with these findings raises."""
    return lambda _, given: alert_reads.found(ruling(*findings), RULED_AT_US, given)


def state(**parts: object) -> Callable[[Database, Settings], Iterable[Alert]]:
    """What a state raises."""
    made = Snapshot(NOW_US, SETTINGS)._replace(**parts)
    return lambda _, given: [
        each.alert for each in conditions.of_state(made._replace(settings=given))
    ]


LOST = LostCamera("hollywood", "CAM-1", NOW_US - 600_000_000, "no signal")
STRAY = Strays("t", 1, 3, 17, NOW_US, "It is no fact.")
AT_THE_DOOR = DoorRefusal("key:0f3a9c1b22d45566", "unsigned", 4, NOW_US, 17)
REFUSED = Refusal("t", 2, NOW_US, NOW_US, "It differs.")
PARKED = ParkedSummary("drop", "hollywood/CC-07", 17, 3, "edited", "Bent.", "t/1@2", 0, 3)
CASES = (
    Case(payout.PAYOUT, payout.LIMIT, 5_000, fact(lambda base: fact_read(base, 5_000))),
    Case(
        rulings.FINDING,
        rulings.DIFFERENCE,
        300,
        ruled({"code": "overpaid", "says": "so", "expected": 0, "recorded": 300}),
    ),
    Case(rulings.PROCEDURE, rulings.TIMES, 2, ruled(OVERDUE, OVERDUE)),
    Case(
        tables.DEVICE_SILENT,
        tables.SILENT_S,
        70,
        state(boards=[OPEN], devices=[device("shoe", 1), device("chips", 70)]),
    ),
    Case(
        tables.TABLE_QUIET,
        tables.QUIET_S,
        80,
        state(boards=[OPEN], devices=[device("shoe", 80)]),
    ),
    Case(cameras.CAMERA_LOST, cameras.LOST_S, 600, state(lost_cameras=[LOST])),
    Case(
        cameras.CLOCK_OFF, cameras.OFF_MS, 700, fact(lambda base: read_of(base, checked(750, 50)))
    ),
    Case(views.LAG, views.LAG_S, 90, state(behind_s={"drop": 90})),
    Case(views.LAG, views.LAG_S, 90, state(waiting=[Waiting("a", 1, 90_000_000)])),
    Case(views.LAG, views.LAG_RECORDS, 100, state(waiting=[Waiting("a", 100)])),
    Case(views.PARKED, views.WITHHELD, 3, state(parked=[PARKED])),
    Case(dead_letters.DEAD_LETTERS, dead_letters.LETTERS, 4, state(dead_letters={process.DEAD: 4})),
    Case(refusals.RELAY_REFUSED, refusals.REFUSALS, 2, state(refusals=[REFUSED])),
    Case(strays.STRAYS, strays.STRAY_RECORDS, 3, state(strays=[STRAY])),
    Case(door.DOOR_REFUSED, door.REFUSED_FACTS, 4, state(door_refusals=[AT_THE_DOOR])),
)


def test_every_threshold_of_every_kind_is_tried() -> None:
    tried = {(case.kind.name, case.threshold) for case in CASES}
    assert tried == {(kind.name, each) for kind in KINDS for each in kind.thresholds}


def test_a_kind_and_a_threshold_have_names_of_their_own() -> None:
    assert len(BY_NAME) == len(KINDS)
    names = [each.name for each in THRESHOLDS]
    assert len(set(names)) == len(names)
    assert all(re.fullmatch(r"ALERT_[A-Z_]+", name) for name in names)


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.name)
def test_a_kind_is_in_the_settings_in_the_docs_and_on_the_page_live(kind: AlertKind) -> None:
    (line,) = [each for each in docs.alerts().splitlines() if each.startswith(f"| `{kind.name}` |")]
    assert kind.when in line
    assert kind.runbook in line
    rows = {row.name: row for row in TABLE}
    for each in kind.thresholds:
        assert f"`{each.name}` ({each.default})" in line
        assert rows[f"{PREFIX}{each.name}"].default == str(each.default)
        assert f"| `{PREFIX}{each.name}` | {each.default} |" in docs.page()
    (shown,) = alarms([AlertNow(1, kind.name, "x", "so")])
    assert (shown.title, shown.severity, shown.do) == (kind.title, kind.severity, kind.do)
    assert kind.do.endswith(".")
    assert not kind.when.endswith(".")


@pytest.mark.parametrize("case", CASES, ids=lambda case: f"{case.kind.name}-{case.threshold.name}")
def test_a_kind_is_raised_from_its_threshold_on_and_every_channel_leaves_a_receipt(
    database: Database, case: Case
) -> None:
    def found(limit: int) -> list[Alert]:
        given = dataclasses.replace(SETTINGS, thresholds={case.threshold: limit})
        return [each for each in case.found(database, given) if each.kind == case.kind.name]

    (alert,) = found(case.at)
    assert alert.id.startswith(f"{case.kind.name}:")
    assert (alert.value, alert.threshold) == (case.at, case.at)
    assert found(case.at + 1) == [], "the control: below its threshold"
    channels = {name: lambda due: f"took {due.alert_id}" for name in ("topic", "log", "webhook")}
    with database.connect("ledger_projector") as connection:
        kept = Alerts(database, connection)
        service = process.AlertService(database, kept, channels, SETTINGS)
        service.raise_(alert)
        service.raise_(alert)
        assert [each.delivered_at_us for each in kept.receipts()] == [None] * 3
        service.deliver()
        service.deliver()
        receipts = kept.receipts()
    assert sorted(each.channel for each in receipts) == ["log", "topic", "webhook"]
    for each in receipts:
        assert (each.alert_id, each.tries, each.answer) == (alert.id, 1, f"took {alert.id}")
        assert each.delivered_at_us
