"""Reads the current state for the alert process and for the page Live."""

from __future__ import annotations

from typing import TYPE_CHECKING

from consumers.alerts.cameras import Cameras
from consumers.alerts.devices import DeviceWatch
from consumers.alerts.kinds import cameras, tables
from consumers.alerts.snapshot import Snapshot
from consumers.floor import table_board
from infra.postgres import parking, relay_progress
from ledger.roster.door import REASONS

if TYPE_CHECKING:
    from infra.postgres.alerts import Alerts
    from infra.postgres.connection import Database
    from infra.postgres.tape import PostgresTape
    from infra.settings import Settings


class SnapshotReader:
    """Reads snapshots; it keeps devices and cameras from one snapshot to the next."""

    def __init__(self, database: Database, settings: Settings) -> None:
        self._database, self._settings = database, settings
        self._devices = DeviceWatch(tables.SILENT_S.of(settings))
        self._cameras = Cameras(cameras.LOST_S.of(settings))

    def read(self, kept: Alerts, tape: PostgresTape, now_us: int) -> Snapshot:
        """The current state without dead letters, which are on Kafka."""
        behind = {lag.view: lag.behind_us // 1_000_000 for lag in tape.view_lags()}
        boards = table_board.read(self._database) if table_board.VIEW.name in behind else []
        open_ = [f"{board.property}/{board.table}" for board in boards if board.open]
        since_us = now_us - self._settings.alert_age_s * 1_000_000
        return Snapshot(
            now_us,
            self._settings,
            boards,
            self._devices.look(kept, open_, now_us),
            self._cameras.look(kept, now_us),
            behind,
            relay_progress.waiting(self._database),
            parking.shown(self._database),
            relay_progress.strays(self._database),
            relay_progress.refusals(self._database),
            door_refusals=tape.door_refusals(REASONS, since_us),
        )
