"""Which cameras are on which table now and have a live picture here."""

import threading
import time
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from starlette.requests import Request

from consumers.cameras.cameras import CAMERA_FACTS
from consumers.cameras.rows import mapping_rows
from infra.postgres.view_tables import reading
from ledger.record.wire import fact_of
from replay.cameras.coverage import coverage, mapped_cameras
from replay.cameras.retention import FAR_US
from replay.web.ports import Ports, ports

KEPT_S = 5.0
"""Seconds for which the mapping is reused, to spare the database."""


class TableName(NamedTuple):
    """A table of a property."""

    property: str
    table: str


class TableCameraNames(NamedTuple):
    """The cameras that are on a table now, by name."""

    shown: Sequence[str]  # with a live picture
    unset: Sequence[str]  # no address is set for them


OnTables = Mapping[TableName, TableCameraNames]

NO_CAMERAS = TableCameraNames((), ())


class TableCameras:
    """Reads the mapping at most every `KEPT_S` seconds, for all requests together."""

    def __init__(self, opened: Ports) -> None:
        self._ports = opened
        self._lock = threading.Lock()
        self._kept: OnTables = {}
        self._until = 0.0

    def now(self) -> OnTables:
        """The cameras of every table; none if no camera has a live picture."""
        if not self._ports.live.any:
            return {}
        with self._lock:
            if time.monotonic() > self._until:
                self._kept = self._read()
                self._until = time.monotonic() + KEPT_S
            return self._kept

    def _read(self) -> OnTables:
        with reading(self._ports.database, [CAMERA_FACTS.name]) as store:
            told = coverage(map(fact_of, mapping_rows(store)))
        on = {of: mapped_cameras(told, *of, FAR_US) for of in told.mapped}
        found = {}
        for of, names in on.items():
            shown = [each for each in names if self._ports.live.has(of[0], each)]
            unset = [each for each in names if each not in shown]
            found[TableName(*of)] = TableCameraNames(shown, unset)
        return found


def table_cameras(request: Request) -> OnTables:
    """The cameras of each table, with and without a live picture."""
    state = request.app.state
    if not hasattr(state, "table_cameras"):
        state.table_cameras = TableCameras(ports(request))
    found: TableCameras = state.table_cameras
    return found.now()
