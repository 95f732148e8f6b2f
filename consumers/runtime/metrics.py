"""Metrics of a process that keeps views up: what it reads and takes in, whether it is ready."""

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
    "duplicates": "Facts met again and skipped.",
    "reordered": "Facts that came after a later one of their tape.",
    "gaps": "Gaps in what was published, filled from the record.",
    "healed": "Facts read from the record because the feed lacked them.",
    "poisoned": "Records of the feed that contradict the record.",
    "offsets_lost": "Offsets that the topic no longer has.",
}


class ConsumerMetrics(ProcessMetrics, RunnerListener):
    """The figures of a process that keeps views up. `Figures` is written by one thread.

    Ready: it has its partitions, and a broker has answered within `ready_s` seconds; or it reads
    the record, and has read it within as long. How far it is behind does not matter for it.
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
            "Facts applied to a view.",
            ["view"],
            registry=self.registry,
        )
        self._fenced = Counter(
            "round_ledger_view_fenced",
            "Batches refused because another writer had moved the view.",
            ["view"],
            registry=self.registry,
        )
        for view in views:  # a counter that comes with its first event hides that one from a rate
            self._facts.labels(view)
            self._fenced.labels(view)
        self._moved = Gauge(
            "round_ledger_view_moved_timestamp_seconds",
            "When the view last applied facts, Unix time.",
            ["view"],
            registry=self.registry,
        )

    def moved(self, view: str, batch: Batch) -> None:
        """A view has taken in a batch."""
        self._facts.labels(view).inc(len(batch.rows))
        self._moved.labels(view).set_to_current_time()

    def read(self) -> None:
        """The source was read, whether or not there was anything."""
        self._why = ""
        if not self.feed:
            self.figures.answered_at = time.monotonic()

    def lost(self, why: str) -> None:
        """The source, or the record, is away."""
        self._why = f": {why}"

    def fenced(self, view: str) -> None:
        """A view had been moved by another; nothing was applied."""
        self._fenced.labels(view).inc()
        LOG.warning("another writer moved the view", extra={"figures": {"view": view}})

    def parked(self, view: str, parked: Parked) -> None:
        """A view withholds a tape from here on."""
        figures = {"view": view, **parked._asdict()}
        LOG.error("a view takes nothing more of a tape", extra={"figures": figures})

    def ready(self) -> str | None:
        """Why the process is not ready; None: it is."""
        who = "no broker" if self.feed else "no record"
        return self.alive() or self.unheard(who, self.figures.answered_at, self._why)
