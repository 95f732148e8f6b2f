"""Figures for Prometheus: what became of everything received, and how the server answers.

The verdicts are counted by the record itself, so they hold over all processes and restarts:
received = appended + duplicate + equivocation + quarantined, at every scrape.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, generate_latest
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily
from prometheus_client.registry import Collector

from ledger.errors import Unavailable

if TYPE_CHECKING:
    from collections.abc import Iterable

    from prometheus_client.core import Metric

    from infra.postgres.tape import PostgresTape
    from ledger.record.group_commit import Committer
    from replay.web.api.arrival import Budget

SECONDS = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0)


class _Verdicts(Collector):
    """The record's own counters, read at each scrape."""

    def __init__(self, tape: PostgresTape) -> None:
        self._tape = tape

    def describe(self) -> Iterable[Metric]:
        """Nothing is read before the first scrape."""
        return ()

    def collect(self) -> Iterable[Metric]:
        """One sample a verdict, and their sum as the record counted it; none without a record."""
        received = CounterMetricFamily("round_ledger_received", "Inputs received, ever.")
        verdicts = CounterMetricFamily(
            "round_ledger_facts", "Inputs received, by what became of them.", labels=["verdict"]
        )
        try:
            counted = self._tape.counters()._asdict()
        except Unavailable:
            return
        received.add_metric([], counted.pop("received"))
        for verdict, count in counted.items():
            verdicts.add_metric([verdict], count)
        yield received
        yield verdicts


class _Lags(Collector):
    """How far the live views are behind the record, whoever keeps them; read at each scrape."""

    def __init__(self, tape: PostgresTape) -> None:
        self._tape = tape

    def describe(self) -> Iterable[Metric]:
        """As above."""
        return ()

    def collect(self) -> Iterable[Metric]:
        """Two samples a view; none without a record."""
        facts = GaugeMetricFamily(
            "round_ledger_view_behind_facts", "Facts not in the view yet.", labels=["view"]
        )
        seconds = GaugeMetricFamily(
            "round_ledger_view_behind_seconds",
            "Since the oldest fact that is not in the view was received; 0 where all are.",
            labels=["view"],
        )
        try:
            lags = self._tape.view_lags()
        except Unavailable:
            return
        for lag in lags:
            facts.add_metric([lag.view], lag.facts)
            seconds.add_metric([lag.view], lag.behind_us / 1_000_000)
        yield facts
        yield seconds


class Metrics:
    """The figures of one server."""

    def __init__(self, tape: PostgresTape, committer: Committer, budget: Budget) -> None:
        self.registry = CollectorRegistry()
        self.registry.register(_Verdicts(tape))
        self.registry.register(_Lags(tape))
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
