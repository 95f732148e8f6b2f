"""Metrics of the process that raises alerts: what it has done, what waits, whether it is ready."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from consumers.alerts.process import Tally
from infra.metrics import SILENT_S_MAX, ProcessMetrics, counted, of_record

if TYPE_CHECKING:
    from infra.postgres.connection import Database

_TALLIED = {
    "read": "Records read by this process.",
    "raised": "Alerts that this process raised.",
    "delivered": "Alerts accepted by a channel, each channel counted.",
    "failed": "Failed tries of a channel.",
    "dead": "Records put on the dead-letter topic.",
    "too_old": "Alerts not raised: the fact is older than ROUND_LEDGER_ALERT_AGE_S.",
}

_STANDING = {
    "letters": "Dead letters not handled yet; too high if some offsets hold no record.",
    "lag": "Records of the group's partitions not read yet.",
}


class AlertMetrics(ProcessMetrics):
    """The figures of a process that raises alerts.

    Ready: its group has given it partitions, and a broker has answered within `ready_s` seconds.
    """

    def __init__(self, database: Database, *, ready_s: float = SILENT_S_MAX) -> None:
        super().__init__(ready_s)
        self.tally = Tally()
        self.scrape(partial(of_record, database))
        self.scrape(partial(counted, "alerts", _TALLIED, self._of))
        for name, says in _STANDING.items():
            self.gauge(f"alerts_{name}", says, partial(self._of, name))
        self.gauge_silence("alerts", lambda: self.tally.answered_at)

    def take(self, tally: Tally) -> None:
        """Tell these figures from here on."""
        self.tally = tally

    def ready(self) -> str | None:
        """As said of the class."""
        return self.alive() or self.unheard("no broker", self.tally.answered_at)

    def _of(self, name: str) -> float:
        return float(getattr(self.tally, name))
