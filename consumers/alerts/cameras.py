"""Which cameras are dark, and since when: remembered from one look to the next.

By when the record received that a camera was lost, and not by the recorder's clock: the repair is
timed by one clock, whichever recorder tells of it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from ledger.facts import CameraLost, CameraRestored, every_version, type_name
from ledger.record import kinds

if TYPE_CHECKING:
    from infra.postgres.alerts import Alerts

FIRST_THRESHOLDS = 4
"""How far back the first look goes, in times of what a repair may take."""

_WENT_DARK = every_version({type_name(CameraLost): True, type_name(CameraRestored): False})


class LostCamera(NamedTuple):
    """A camera that was lost and is not restored."""

    property: str
    camera: str
    since_us: int  # when that was received, by the ledger's clock
    reason: str


class Cameras:
    """What looks of one process have seen."""

    def __init__(self, limit_s: int) -> None:
        self._back_us = limit_s * FIRST_THRESHOLDS * 1_000_000
        self._position: int | None = None
        self._newest: dict[tuple[str, str], tuple[int, LostCamera | None]] = {}

    def look(self, kept: Alerts, now_us: int) -> list[LostCamera]:
        """Every camera that is dark now; one lost twice is dark since the first.

        What was told late, of a time before what is known, changes nothing.
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
