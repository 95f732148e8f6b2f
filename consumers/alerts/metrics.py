"""Metrics and readiness of the alert process: its counts, and what waits."""

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
    "delivered": "Alerts delivered, counted once for each channel.",
    "failed": "Deliveries that failed.",
    "dead": "Records sent to the dead-letter topic.",
    "too_old": "Alerts not raised because the fact is older than ROUND_LEDGER_ALERT_AGE_S.",
}

_STANDING = {
    "letters": "Dead letters not handled yet; too high if some offsets hold no record.",
    "lag": "Records of the group's partitions not read yet.",
}


class AlertMetrics(ProcessMetrics):
    """The metrics of one alert process.

    It is ready if its group has assigned it partitions, and a broker answered within `ready_s`
    seconds.
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
        """Export this tally from now on."""
        self.tally = tally

    def ready(self) -> str | None:
        """Why the process is not ready; None if it is."""
        return self.alive() or self.unheard("no broker", self.tally.answered_at)

    def _of(self, name: str) -> float:
        return float(getattr(self.tally, name))
