"""What a relay tells of itself: what it published, whether it leads, whether brokers answer it.

How far topics are behind is told by whatever keeps views up, for every process alike.
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from prometheus_client import CollectorRegistry, Counter, Gauge, generate_latest

from consumers.runtime.metrics import SILENT_S_MAX, STUCK_S_MAX

if TYPE_CHECKING:
    from collections.abc import Callable

    from ledger.errors import Unavailable

BEGINS, WAITS, LEADS = "begins", "waits", "leads"


class RelayWatch:
    """The figures of one relay: a `consumers.runtime.metrics.Served`, a `relay.Watcher`.

    Ready: it leads, every end it looked at holds what it should, and brokers have answered within
    `ready_s` seconds; or it waits, and has asked for the lead within as long.
    """

    def __init__(self, ready_s: float = SILENT_S_MAX) -> None:
        self.look_s = ready_s / 3
        self.ticked_at = time.monotonic()
        self._ready_s = ready_s
        self._state = BEGINS
        self._heard_at: float | None = None  # as leader
        self._why = ""
        self._registry = CollectorRegistry()
        self._published = Counter(
            "round_ledger_relay_published",
            "Records that brokers acknowledged to this process.",
            ["topic"],
            registry=self._registry,
        )
        leads = Gauge(
            "round_ledger_relay_leads",
            "1: this relay publishes; 0: it waits, or begins.",
            registry=self._registry,
        )
        leads.set_function(lambda: float(self._state == LEADS))
        silent = Gauge(
            "round_ledger_relay_silent_seconds",
            "Since brokers last answered it where it leads, since it last asked for the lead else.",
            registry=self._registry,
        )
        silent.set_function(self._silent_s)

    def passed(self, topic: str, count: int) -> None:
        """Records were acknowledged."""
        self._published.labels(topic).inc(count)

    def ticking(self, stop: Callable[[], bool]) -> Callable[[], bool]:
        """`stop`, noting that it is asked: a relay asks between windows and while it waits."""

        def asked() -> bool:
            self.ticked_at = time.monotonic()
            return stop()

        return asked

    def waits(self) -> None:
        """As `Watcher`."""
        self._state = WAITS

    def leads(self) -> None:
        """As `Watcher`."""
        self._heard_at, self._state = None, LEADS

    def heard(self) -> None:
        """As `Watcher`."""
        self._heard_at, self._why = time.monotonic(), ""

    def unheard(self, error: Unavailable) -> None:
        """As `Watcher`."""
        self._why = f": {error.what}"

    def alive(self) -> str | None:
        """Why it is to be started again; None: it is well."""
        silent = time.monotonic() - self.ticked_at
        return f"nothing came round for {silent:.0f} s" if silent > STUCK_S_MAX else None

    def ready(self) -> str | None:
        """Why nobody is to rely on it; None: it publishes what comes, or would take over."""
        if wrong := self.alive():
            return wrong
        silent = self._silent_s()
        if self._state == WAITS:
            return f"it asked for the lead {silent:.0f} s ago" if silent > self._ready_s else None
        if self._state == BEGINS:
            return "it has not asked for the lead yet"
        if self._heard_at is None:
            return "it leads, and has not seen the ends of its topics yet"
        if silent > self._ready_s:
            return f"it leads, and no broker has answered for {silent:.0f} s{self._why}"
        return None

    def doing(self) -> str:
        """As `Served`."""
        return "it waits, another relay leads" if self._state == WAITS else "it leads"

    def page(self) -> bytes:
        """The text format."""
        return generate_latest(self._registry)

    def _silent_s(self) -> float:
        led = self._heard_at if self._state == LEADS else None
        return time.monotonic() - (self.ticked_at if led is None else led)
