"""Figures for Prometheus: what became of everything received, and how the server answers.

The verdicts are counted by the record itself, so they hold over all processes and restarts:
received = appended + duplicate + equivocation + quarantined, at every scrape.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, generate_latest
from prometheus_client.core import CounterMetricFamily
from prometheus_client.registry import Collector

from ledger.errors import Unavailable

if TYPE_CHECKING:
    from collections.abc import Iterable

    from prometheus_client.core import Metric

    from infra.tape import PostgresTape

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


class Metrics:
    """The figures of one server."""

    def __init__(self, tape: PostgresTape) -> None:
        self.registry = CollectorRegistry()
        self.registry.register(_Verdicts(tape))
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
