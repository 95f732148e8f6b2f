"""Metrics and readiness of a sealer: the log's size, its newest checkpoint and cosignatures."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from infra.metrics import SILENT_S_MAX, ProcessMetrics

if TYPE_CHECKING:
    from ledger.witnessed_log.checkpoints import Checkpoint


class SealerMetrics(ProcessMetrics):
    """The metrics of one sealer. It is ready if the record answered within `ready_s` seconds."""

    def __init__(self, ready_s: float = SILENT_S_MAX) -> None:
        super().__init__(ready_s)
        self._began_at = time.monotonic()
        self._looked_at: float | None = None
        self._sealed_at: float | None = None
        self._cosigned_at: float | None = None
        self._entries = self._witnesses = self._edits = 0
        says = "Entries of the newest checkpoint that this sealer published."
        self.gauge("log_entries", says, lambda: float(self._entries))
        says = "Witnesses that cosigned it."
        self.gauge("log_witnesses", says, lambda: float(self._witnesses))
        says = "Times that another program changed a view, as this sealer saw."
        self.gauge("log_views_edited", says, lambda: float(self._edits))
        says = "Seconds since this sealer published a checkpoint, or since it began."
        self.gauge("log_sealed_seconds", says, lambda: self._since(self._sealed_at))
        says = "Seconds since a witness cosigned one, or since this sealer began."
        self.gauge("log_cosigned_seconds", says, lambda: self._since(self._cosigned_at))

    def looked(self) -> None:
        """As `SealerListener`."""
        self._looked_at = time.monotonic()

    def sealed(self, checkpoint: Checkpoint, witnesses: int) -> None:
        """As `SealerListener`."""
        self._sealed_at = time.monotonic()
        self._entries, self._witnesses = checkpoint.size, witnesses
        if witnesses:
            self._cosigned_at = self._sealed_at

    def view_edited(self, view: str, position: int) -> None:
        """As `edited` of `ViewRounds`."""
        del view, position
        self._edits += 1

    def ready(self) -> str | None:
        """Why it is not ready; None if it is."""
        return self.alive() or self.unheard("no record", self._looked_at)

    def _since(self, at: float | None) -> float:
        return time.monotonic() - (self._began_at if at is None else at)
