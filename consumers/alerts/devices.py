"""The devices that have sent facts, with the time of the last one, kept between checks.

A device may be silent while its table records any number of facts. So a check cannot read a fixed
number of facts back. Each check reads the facts received since the one before.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from infra.postgres.alerts import Alerts, Device

FIRST_THRESHOLDS = 4
"""How far back the first check reads, as a multiple of the device-silence threshold."""

REMEMBERED_S = 86_400
"""How long a silent device is remembered, seconds; then it counts as removed."""


class DeviceWatch:
    """The last fact of each device, kept by one process."""

    def __init__(self, limit_s: int) -> None:
        self._back_us = limit_s * FIRST_THRESHOLDS * 1_000_000
        self._forget_us = max(self._back_us, REMEMBERED_S * 1_000_000)
        self._position: int | None = None
        self._last: dict[tuple[str, str], Device] = {}

    def look(self, kept: Alerts, tables: Sequence[str], now_us: int) -> list[Device]:
        """Every remembered device, and the source of the newest fact of each of these tables."""
        if self._position is None:
            self._position = kept.position_before(now_us - self._back_us)
        self._position, heard = kept.heard(self._position)
        for each in heard:
            before = self._last.get((each.tape, each.source), each)
            self._last[each.tape, each.source] = max(before, each)  # they differ only in time
        oldest_us = now_us - self._forget_us
        self._last = {key: each for key, each in self._last.items() if each.last_us >= oldest_us}
        newest = {(each.tape, each.source): each for each in kept.newest_of(tables)}
        return sorted((self._last | newest).values())
