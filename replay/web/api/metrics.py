"""Figures for Prometheus: what became of everything received, and how the server answers.

The verdicts are counted by the record itself, so they hold over all processes and restarts:
received = appended + duplicate + equivocation + quarantined, at every scrape.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, generate_latest

from infra.metrics import Scraped, consumer_lag, verdicts

if TYPE_CHECKING:
    from infra.postgres.tape import PostgresTape
    from ledger.record.group_commit import Committer
    from replay.web.arrival import Budget

SECONDS = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0)


class Metrics:
    """The figures of one server."""

    def __init__(self, tape: PostgresTape, committer: Committer, budget: Budget) -> None:
        self.registry = CollectorRegistry()
        self.registry.register(Scraped(lambda: verdicts(tape)))
        self.registry.register(Scraped(lambda: consumer_lag(tape.view_lags())))
        for name, says, value in (
            ("committer_facts", "Facts that wait for a commit.", lambda: committer.waiting.facts),
            ("committer_octets", "Their octets.", lambda: committer.waiting.octets),
            ("http_body_octets", "Octets of bodies under way.", lambda: budget.held),
        ):
            Gauge(f"round_ledger_{name}", says, registry=self.registry).set_function(value)
        self.requests = Counter(
            "round_ledger_http_requests",
            "Requests to /v1/facts, by mode and status.",
            ["mode", "status"],
            registry=self.registry,
        )
        self.seconds = Histogram(
            "round_ledger_http_seconds",
            "From the request's last octet to its answer, seconds.",
            buckets=SECONDS,
            registry=self.registry,
        )
        self.under_way = Gauge(
            "round_ledger_http_under_way", "Requests not answered yet.", registry=self.registry
        )

    def page(self) -> bytes:
        """The text format."""
        return generate_latest(self.registry)
