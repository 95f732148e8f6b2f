"""The cameras that are lost, with the time of their loss, kept between checks.

A loss counts from the time the record received it, not from the recorder's clock. So one clock
times all repairs.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from ledger.facts import CameraLost, CameraRestored, every_version, type_name
from ledger.record import kinds

if TYPE_CHECKING:
    from infra.postgres.alerts import Alerts

FIRST_THRESHOLDS = 4
"""How far back the first check reads, as a multiple of the time allowed for a repair."""

_WENT_DARK = every_version({type_name(CameraLost): True, type_name(CameraRestored): False})


class LostCamera(NamedTuple):
    """A camera that is lost and not restored yet."""

    property: str
    camera: str
    since_us: int  # when the loss was received, by the ledger's clock
    reason: str


class Cameras:
    """The state of each camera, kept by one process."""

    def __init__(self, limit_s: int) -> None:
        self._back_us = limit_s * FIRST_THRESHOLDS * 1_000_000
        self._position: int | None = None
        self._newest: dict[tuple[str, str], tuple[int, LostCamera | None]] = {}

    def look(self, kept: Alerts, now_us: int) -> list[LostCamera]:
        """Every camera that is lost now. A camera reported lost twice counts from the first report.

        A late fact of a time before the newest known one changes nothing.
        """
        if self._position is None:
            self._position = kept.position_before(now_us - self._back_us)
        self._position, told = kept.told(self._position, list(_WENT_DARK))
        for each in told:
            body: Any = kinds.body(kinds.KINDS[each.type], each.data)
            key = each.tape.partition("/")[0], body.camera
            time_us, dark = self._newest.get(key, (each.time_us, None))
            if each.time_us >= time_us:
                now_dark = dark or LostCamera(*key, each.received_us, body.reason)
                self._newest[key] = each.time_us, now_dark if _WENT_DARK[each.type] else None
        return sorted(dark for _, dark in self._newest.values() if dark)
