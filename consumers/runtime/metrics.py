"""Metrics and readiness of a process that keeps views: facts read, applied and parked."""

from __future__ import annotations

import logging
import time
from functools import partial
from typing import TYPE_CHECKING

from prometheus_client import Counter, Gauge

from consumers.runtime.runner import RunnerListener
from infra.kafka.merging import Figures
from infra.metrics import SILENT_S_MAX, ProcessMetrics, counted, of_record

if TYPE_CHECKING:
    from collections.abc import Sequence

    from consumers.runtime.source import Batch
    from infra.postgres.connection import Database
    from infra.postgres.parking import Parked

LOG = logging.getLogger("round_ledger.views")

_COUNTED = {
    "records": "Records read from the feed.",
    "duplicates": "Facts read again from the feed and skipped.",
    "reordered": "Facts that came after a later fact of their tape.",
    "gaps": "Gaps in the feed, filled from the record.",
    "healed": "Facts read from the record because the feed lacked them.",
    "poisoned": "Feed records that contradict the record.",
    "offsets_lost": "Stored offsets that the topic no longer has.",
}


class ConsumerMetrics(ProcessMetrics, RunnerListener):
    """The metrics of a process that keeps views. Only one thread writes `Figures`.

    A process that reads the feed is ready if it has its partitions and a broker answered within
    `ready_s` seconds. One that reads the record is ready if it read it within `ready_s` seconds.
    Consumer lag does not matter for readiness.
    """

    def __init__(
        self,
        database: Database,
        *,
        feed: bool,
        ready_s: float = SILENT_S_MAX,
        views: Sequence[str] = (),
    ) -> None:
        super().__init__(ready_s)
        self.figures = Figures()
        self.feed = feed
        self._why = ""
        self.scrape(partial(of_record, database))
        if feed:
            self.scrape(partial(counted, "feed", _COUNTED, partial(getattr, self.figures)))
            self.gauge_silence("feed", lambda: self.figures.answered_at)
        self._facts = Counter(
            "round_ledger_view_facts",
            "Facts that a view has read; those of parked tapes are included.",
            ["view"],
            registry=self.registry,
        )
        self._fenced = Counter(
            "round_ledger_view_fenced",
            "Batches refused because another process had moved the view.",
            ["view"],
            registry=self.registry,
        )
        for view in views:  # starts at 0, so that a rate includes the first event
            self._facts.labels(view)
            self._fenced.labels(view)
        self._moved = Gauge(
            "round_ledger_view_moved_timestamp_seconds",
            "When a view last committed a batch, Unix time.",
            ["view"],
            registry=self.registry,
        )

    def moved(self, view: str, batch: Batch) -> None:
        """A view has committed a batch."""
        self._facts.labels(view).inc(len(batch.rows))
        self._moved.labels(view).set_to_current_time()

    def read(self) -> None:
        """The source was read, with or without new rows."""
        self._why = ""
        if not self.feed:
            self.figures.answered_at = time.monotonic()

    def lost(self, why: str) -> None:
        """The source, or the record, does not answer."""
        self._why = f": {why}"

    def fenced(self, view: str) -> None:
        """Another process had moved the view; nothing was applied.

        Not logged: a command that reads the view moves it too, and so does a standby.
        """
        self._fenced.labels(view).inc()

    def parked(self, view: str, parked: Parked) -> None:
        """A view has parked a tape."""
        figures = {"view": view, **parked._asdict()}
        LOG.error("a view has parked a tape", extra={"figures": figures})

    def ready(self) -> str | None:
        """Why the process is not ready; None if it is."""
        who = "no broker" if self.feed else "no record"
        return self.alive() or self.unheard(who, self.figures.answered_at, self._why)
