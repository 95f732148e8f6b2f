"""The current state, as conditions of a state read it."""

from __future__ import annotations

from types import MappingProxyType
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from consumers.alerts.cameras import LostCamera
    from consumers.floor.table_board import Board
    from infra.postgres.alerts import Device
    from infra.postgres.parking import ParkedSummary
    from infra.postgres.relay_progress import Refusal, Strays, Waiting
    from infra.postgres.tape import DoorRefusal
    from infra.settings import Settings


class Snapshot(NamedTuple):
    """The state at one moment. Times are by the ledger's clock, microseconds."""

    now_us: int
    settings: Settings
    boards: Sequence[Board] = ()
    devices: Sequence[Device] = ()
    lost_cameras: Sequence[LostCamera] = ()
    behind_s: Mapping[str, int] = MappingProxyType({})  # consumer lag of each view
    waiting: Sequence[Waiting] = ()
    parked: Sequence[ParkedSummary] = ()
    strays: Sequence[Strays] = ()
    refusals: Sequence[Refusal] = ()
    dead_letters: Mapping[str, int] = MappingProxyType({})  # not handled yet, by topic
    door_refusals: Sequence[DoorRefusal] = ()

    @property
    def hour(self) -> int:
        """The number of the hour: a key with it raises the alert again every hour."""
        return self.now_us // 3_600_000_000
