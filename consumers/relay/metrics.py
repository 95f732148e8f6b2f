"""Metrics and readiness of a relay: records published, whether it leads, broker silence.

The publishing backlog of topics is exported by `consume`, for all processes.
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from prometheus_client import Counter

from consumers.relay.relay import RelayListener
from infra.metrics import SILENT_S_MAX, ProcessMetrics

if TYPE_CHECKING:
    from ledger.errors import Unavailable

BEGINS, WAITS, LEADS = "begins", "waits", "leads"


class RelayMetrics(ProcessMetrics, RelayListener):
    """The metrics of one relay.

    A leading relay is ready if all topic ends it read match, and brokers answered within `ready_s`
    seconds. A waiting relay is ready if it asked for the lead within `ready_s` seconds.
    """

    def __init__(self, ready_s: float = SILENT_S_MAX) -> None:
        super().__init__(ready_s)
        self.look_s = ready_s / 3
        self._state = BEGINS
        self._heard_at: float | None = None  # as leader
        self._why = ""
        self._published = Counter(
            "round_ledger_relay_published",
            "Records that brokers acknowledged to this process.",
            ["topic"],
            registry=self.registry,
        )
        says = "1: this relay leads and publishes; 0: it waits or starts."
        self.gauge("relay_leads", says, lambda: float(self._state == LEADS))
        says = "Leading: seconds since brokers last answered. Waiting: since it last asked to lead."
        self.gauge("relay_silent_seconds", says, self._silent_s)

    def passed(self, topic: str, count: int) -> None:
        """Count `count` acknowledged records."""
        self._published.labels(topic).inc(count)

    def waits(self) -> None:
        """As `RelayListener`."""
        self._state = WAITS

    def leads(self) -> None:
        """As `RelayListener`."""
        self._heard_at, self._state = None, LEADS

    def heard(self) -> None:
        """As `RelayListener`."""
        self._heard_at, self._why = time.monotonic(), ""

    def broker_silent(self, error: Unavailable) -> None:
        """As `RelayListener`."""
        self._why = f": {error.what}"

    def ready(self) -> str | None:
        """Why it is not ready; None if it publishes, or would take over the lead."""
        if wrong := self.alive():
            return wrong
        silent = self._silent_s()
        if self._state == WAITS:
            return f"it asked for the lead {silent:.0f} s ago" if silent > self.ready_s else None
        if self._state == BEGINS:
            return "it has not asked for the lead yet"
        if self._heard_at is None:
            return "it leads, and has not seen the ends of its topics yet"
        if silent > self.ready_s:
            return f"it leads, and no broker has answered for {silent:.0f} s{self._why}"
        return None

    def doing(self) -> str:
        """As `ProcessMetrics`."""
        return "it waits, another relay leads" if self._state == WAITS else "it leads"

    def _silent_s(self) -> float:
        led = self._heard_at if self._state == LEADS else None
        return time.monotonic() - (self.ticked_at if led is None else led)
