"""Metrics for Prometheus: verdicts of received facts, and the server's responses.

The record counts the verdicts, so they cover all processes and restarts. At every scrape, received
= appended + duplicate + equivocation + quarantined.
"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

from prometheus_client import Counter, Gauge, Histogram

from infra.metrics import MetricsPage, consumer_lag, verdicts

if TYPE_CHECKING:
    from infra.postgres.tape import PostgresTape
    from ledger.record.group_commit import Committer
    from replay.web.request_limits import Budget

SECONDS = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0)


class Metrics(MetricsPage):
    """The metrics of one server."""

    def __init__(self, tape: PostgresTape, committer: Committer, budget: Budget) -> None:
        super().__init__()
        self.scrape(lambda: verdicts(tape.counters()))
        self.scrape(lambda: consumer_lag(tape.view_lags()))
        says = "Facts that wait for a commit."
        self.gauge("committer_facts", says, lambda: committer.waiting.facts)
        self.gauge("committer_octets", "Their bytes.", lambda: committer.waiting.octets)
        self.gauge("http_body_octets", "Bytes of bodies under way.", lambda: budget.held)
        self.requests = Counter(
            "round_ledger_http_requests",
            "Requests to /v1/facts, by mode and status.",
            ["mode", "status"],
            registry=self.registry,
        )
        self.seconds = Histogram(
            "round_ledger_http_seconds",
            "Seconds from a request's last byte to its answer.",
            buckets=SECONDS,
            registry=self.registry,
        )
        self.under_way = Gauge(
            "round_ledger_http_under_way", "Requests not answered yet.", registry=self.registry
        )
        self._of = cache(self.requests.labels)

    def answered(self, mode: str, status: int) -> None:
        """Count a request that was answered."""
        self._of(mode, str(status)).inc()
