"""A camera that stays dark is reported, by the process and on the page, until it is restored."""

from __future__ import annotations

import dataclasses
import time
from typing import TYPE_CHECKING

import msgspec

from consumers.alerts import process
from consumers.alerts.cameras import Cameras
from consumers.alerts.kinds.cameras import LOST_S
from consumers.alerts.kinds.views import LAG_S
from consumers.registry import install
from infra.postgres.alerts import Alerts
from infra.postgres.tape import PostgresTape
from infra.settings import load
from ledger.facts import CameraLost, CameraRestored
from replay.web.alert_watch import AlertWatch
from tests.fixtures.postgres import fact
from tests.scenes import alert_reads
from tests.scenes.alert_reads import checked, read_of
from tests.scenes.view_feeds import record

if TYPE_CHECKING:
    from infra.postgres.connection import Database
    from infra.settings import Settings
    from ledger.record.tape import Received

MENDED_S = 3_600
SETTINGS = dataclasses.replace(load({}), thresholds={LAG_S: 10**9, LOST_S: MENDED_S})
CAM = "hollywood/CAM-1"


def told(number: int, *, lost: bool, camera: str = "CAM-1") -> Received:
    kind, name = (CameraLost, "camera_lost") if lost else (CameraRestored, "camera_restored")
    data = msgspec.json.encode(kind(camera=camera, reason="no signal"))
    return fact(number, place="surveillance", device="nvr", name=name, data=data)


def ago(database: Database, facts: list[Received], seconds: int) -> None:
    """Have these be the first on record, and received so long ago."""
    install(database)
    record(database, facts)
    with database.connect("ledger_owner") as connection, connection.transaction():
        connection.execute("ALTER TABLE ledger.tape DISABLE TRIGGER USER")
        connection.execute(
            "UPDATE ledger.tape SET received_at_us = received_at_us - %s", (seconds * 1_000_000,)
        )
        connection.execute("ALTER TABLE ledger.tape ENABLE TRIGGER USER")


def of_a_look(database: Database, settings: Settings = SETTINGS) -> set[tuple[str, str]]:
    """What the process raises, and what the page shows, of one look each."""
    with database.connect("ledger_projector") as connection:
        kept = Alerts(database, connection)
        process.AlertService(database, kept, {"log": str}, settings).look()
        raised = {tuple(each.alert_id.split(":")[:2]) for each in kept.receipts()}
    with PostgresTape(database) as tape:
        shown = {(each.kind, each.about) for each in AlertWatch(database, tape, settings).now().all}
    assert raised == shown
    return shown


def test_a_camera_that_is_not_restored_in_time_is_told_of(database: Database) -> None:
    ago(database, [told(1, lost=True)], MENDED_S + 60)
    assert of_a_look(database) == {("camera_lost", CAM)}


def test_one_restored_and_one_lost_just_now_are_not(database: Database) -> None:
    ago(database, [told(1, lost=True), told(2, lost=False)], MENDED_S + 60)
    record(database, [told(3, lost=True, camera="CAM-2")])
    assert of_a_look(database) == set()


def test_a_process_that_looks_on_learns_of_the_repair_and_of_nothing_told_late(
    database: Database,
) -> None:
    ago(database, [told(5, lost=True)], MENDED_S + 60)
    with database.connect("ledger_projector") as connection:
        kept, cameras = Alerts(database, connection), Cameras(LOST_S.of(SETTINGS))
        now_us = time.time_ns() // 1000
        (dark,) = cameras.look(kept, now_us)
        assert (dark.property, dark.camera, dark.reason) == ("hollywood", "CAM-1", "no signal")
        record(database, [told(2, lost=False)])
        assert cameras.look(kept, now_us) == [dark], "restored before it was lost"
        record(database, [told(6, lost=False)])
        assert cameras.look(kept, now_us) == []
        assert cameras.look(kept, now_us) == []


def test_a_clock_that_is_surely_off_is_told_of(database: Database) -> None:
    (alert,) = alert_reads.found(read_of(database, checked(-2_600, 100)), 0, SETTINGS)
    assert (alert.kind, alert.about, alert.value) == ("clock_off", CAM, 2_500)
    assert "2,500 ms or more behind ntp" in alert.says


def test_a_check_that_leaves_it_open_whether_the_clock_is_off_raises_nothing(
    database: Database,
) -> None:
    assert alert_reads.found(read_of(database, checked(2_600, 1_000)), 0, SETTINGS) == []
