"""Every kind of alert: its setting, its line in the runbook, raised from there on, its receipt."""

from __future__ import annotations

import ast
import dataclasses
import re
import time
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import pytest

from consumers.alerts import conditions, process
from consumers.alerts.cameras import LostCamera
from consumers.alerts.conditions import KINDS, THRESHOLDS, Alert
from consumers.floor.table_board import Board
from infra.postgres.alerts import Alerts, Device
from infra.postgres.parking import ParkedSummary
from infra.postgres.relay_progress import Waiting
from infra.settings import PREFIX, TABLE, load
from replay.docs import settings
from tests.scenes import alert_reads
from tests.scenes.alert_reads import RULED_AT_US, checked, fact_read, ruling

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from infra.postgres.connection import Database
    from infra.settings import Settings

ROOT = Path(__file__).parents[3]
SETTINGS = load({})
NOW_US = 1_795_000_000_000_000
OVERDUE = {"code": "stub_count_overdue", "says": "so"}
OPEN = Board("hollywood", "CC-07", open=True)


def device(name: str, silent_s: int) -> Device:
    return Device("hollywood/CC-07", f"/hollywood/CC-07/{name}", NOW_US - silent_s * 1_000_000)


class Case(NamedTuple):
    """What raises a kind of alert exactly where its setting is `at`."""

    kind: str
    setting: str
    at: int
    found: Callable[[Database, Settings], Iterable[Alert]]


CASES = (
    Case(
        "payout",
        "alert_payout_cents",
        5_000,
        lambda database, given: alert_reads.found(
            fact_read(database, 5_000), time.time_ns() // 1000, given
        ),
    ),
    Case(
        "finding",
        "alert_finding_cents",
        300,
        lambda _, given: alert_reads.found(
            ruling({"code": "overpaid", "says": "so", "expected": 0, "recorded": 300}),
            RULED_AT_US,
            given,
        ),
    ),
    Case(
        "procedure",
        "alert_procedures",
        2,
        lambda _, given: alert_reads.found(ruling(OVERDUE, OVERDUE), RULED_AT_US, given),
    ),
    Case(
        "device_silent",
        "alert_device_silent_s",
        70,
        lambda _, given: conditions.of_tables(
            [OPEN], [device("shoe", 1), device("chips", 70)], NOW_US, given
        ),
    ),
    Case(
        "table_quiet",
        "alert_table_quiet_s",
        80,
        lambda _, given: conditions.of_tables([OPEN], [device("shoe", 80)], NOW_US, given),
    ),
    Case(
        "camera_lost",
        "alert_camera_lost_s",
        600,
        lambda _, given: conditions.of_cameras(
            [LostCamera("hollywood", "CAM-1", NOW_US - 600_000_000, "no signal")], NOW_US, given
        ),
    ),
    Case(
        "clock_off",
        "alert_clock_ms",
        700,
        lambda database, given: alert_reads.found(
            alert_reads.read_of(database, checked(750, 50)), time.time_ns() // 1000, given
        ),
    ),
    Case(
        "lag",
        "alert_lag_s",
        90,
        lambda _, given: conditions.of_views({"drop": 90}, [], NOW_US, given),
    ),
    Case(
        "lag",
        "alert_lag_s",
        90,
        lambda _, given: conditions.of_views({}, [Waiting("a", 1, 90_000_000)], NOW_US, given),
    ),
    Case(
        "lag",
        "alert_lag_records",
        100,
        lambda _, given: conditions.of_views({}, [Waiting("a", 100)], NOW_US, given),
    ),
    Case(
        "parked",
        "alert_parked_facts",
        3,
        lambda _, given: conditions.of_parked(
            [ParkedSummary("drop", "hollywood/CC-07", 17, 3, "edited", "Bent.", "t/1@2", 0, 3)],
            NOW_US,
            given,
        ),
    ),
    Case(
        "dead_letters",
        "alert_dead_letters",
        4,
        lambda _, given: conditions.of_dead_letters(process.DEAD, 4, NOW_US, given),
    ),
)


def test_every_kind_that_the_programs_raise_is_declared_with_its_thresholds_and_tried() -> None:
    raised = {
        call.args[1].value
        for path in (ROOT / "consumers").rglob("*.py")
        for call in ast.walk(ast.parse(path.read_text()))
        if isinstance(call, ast.Call)
        and isinstance(call.func, ast.Name)
        and call.func.id == "Alert"
        and isinstance(call.args[1], ast.Constant)
    }
    assert raised == set(KINDS)
    declared = {(kind, setting) for kind, names in THRESHOLDS.items() for setting in names}
    assert {(case.kind, case.setting) for case in CASES} == declared
    every = {row.name.removeprefix(PREFIX).lower() for row in TABLE}
    others = {"alert_age_s", "alert_webhook"}
    assert {name for _, name in declared} == {n for n in every if n.startswith("alert_")} - others


@pytest.mark.parametrize("kind", KINDS)
def test_a_kind_has_its_settings_and_their_defaults_on_its_line_of_the_runbook(kind: str) -> None:
    lines = (ROOT / "docs/operations.md").read_text().splitlines()
    (line,) = [line for line in lines if line.startswith(f"| `{kind}` |")]
    defaults = {row.name.removeprefix(PREFIX): row.default for row in TABLE}
    named = re.findall(r"`(ALERT_\w+)` \((\d+)\)", line)
    assert named == [(each.upper(), defaults[each.upper()]) for each in THRESHOLDS[kind]]
    assert all(str(getattr(SETTINGS, name.lower())) == default for name, default in named)
    reference = settings.page()
    for name, default in named:
        assert re.search(rf"`{PREFIX}{name}`[^\n]*\b{default}\b", reference)


@pytest.mark.parametrize("case", CASES, ids=lambda case: f"{case.kind}-{case.setting}")
def test_a_kind_is_raised_from_its_setting_on_and_every_channel_leaves_a_receipt(
    database: Database, case: Case
) -> None:
    def found(limit: int) -> list[Alert]:
        given = dataclasses.replace(SETTINGS, **{case.setting: limit})
        return [each for each in case.found(database, given) if each.kind == case.kind]

    (alert,) = found(case.at)
    assert (alert.kind, alert.value, alert.threshold) == (case.kind, case.at, case.at)
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
