"""Metrics for Prometheus: verdicts of received facts, and the server's responses.

The record counts the verdicts, so they cover all processes and restarts. At every scrape, received
= appended + duplicate + equivocation + quarantined.
"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Protocol

from prometheus_client import Counter, Gauge, Histogram, generate_latest
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, Metric
from prometheus_client.parser import text_string_to_metric_families
from prometheus_client.registry import Collector

from infra.metrics import MetricsPage, consumer_lag, verdicts

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping

    from infra.postgres.tape import PostgresTape
    from ledger.record.group_commit import Committer
    from replay.footage.live.cameras import LiveFigures
    from replay.web.request_limits import Budget

SECONDS = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0)


class RequestMetrics(MetricsPage):
    """The metrics of what one process receives."""

    def __init__(self, committer: Committer, budget: Budget) -> None:
        super().__init__()
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
        self.over_quota = Counter(
            "round_ledger_http_over_quota",
            "Requests to /v1/facts that were refused because their key had used up its quota.",
            ["place"],
            registry=self.registry,
        )
        self.door = Counter(
            "round_ledger_http_door_refusals",
            "Facts that were quarantined because their signature or its key's grant was lacking.",
            ["reason"],
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

    def refused(self, reasons: Iterable[str | None]) -> None:
        """Count facts that the door refused, by reason."""
        for reason in reasons:
            self.door.labels(reason).inc()


class OtherProcesses(Protocol):
    """The processes of a server beside its own."""

    @property
    def running(self) -> int:
        """How many run now."""

    @property
    def restarts(self) -> int:
        """How often one was started again."""

    def pages(self) -> Mapping[int, bytes]:
        """The request metrics of each by its number, in Prometheus's text format."""


class Metrics(MetricsPage):
    """The metrics of a server: of the record, and of the requests of each of its processes."""

    def __init__(
        self, tape: PostgresTape, requests: RequestMetrics, others: OtherProcesses | None = None
    ) -> None:
        super().__init__()
        self.requests = requests
        self._others = others
        self.scrape(lambda: verdicts(tape.counters()))
        self.scrape(lambda: consumer_lag(tape.view_lags()))
        if others is not None:
            says = "Processes of this server that receive facts."
            self.gauge("workers", says, lambda: 1 + others.running)
            self.scrape(lambda: _restarts(others.restarts))

    def watch_live(self, figures: Callable[[], LiveFigures]) -> None:
        """Export the counts of live pictures, too."""
        self.scrape(lambda: _live(figures()))

    def page(self) -> bytes:
        """All metrics in Prometheus's text format."""
        own = self.requests.page()
        if self._others is not None:
            own = joined({0: own, **self._others.pages()})
        return super().page() + own


def joined(pages: Mapping[int, bytes]) -> bytes:
    """The metrics of several processes as one page; a label has the number of each."""
    families: dict[str, Metric] = {}
    for number, page in pages.items():
        for each in text_string_to_metric_families(page.decode()):
            family = families.setdefault(
                each.name, Metric(each.name, each.documentation, each.type)
            )
            family.samples += [
                sample._replace(labels={**sample.labels, "worker": str(number)})
                for sample in each.samples
            ]
    return generate_latest(_Families(families.values()))


def _live(figures: LiveFigures) -> Iterator[Metric]:
    name, wanted = "round_ledger_live", "Cameras that are watched on Live, or were lately."
    yield GaugeMetricFamily(f"{name}_cameras_wanted", wanted, value=figures.wanted)
    connected = "Those of them whose pictures come."
    yield GaugeMetricFamily(f"{name}_cameras_connected", connected, value=figures.connected)
    octets = "Bytes of live pictures received."
    yield CounterMetricFamily(f"{name}_octets", octets, value=figures.octets)
    breaks = "Times that a live picture broke off or did not come."
    yield CounterMetricFamily(f"{name}_breaks", breaks, value=figures.breaks)


def _restarts(times: int) -> Iterator[Metric]:
    says = "Times that a worker ended and was started again."
    yield CounterMetricFamily("round_ledger_worker_restarts", says, value=times)


class _Families(Collector):
    """Metrics that were put together."""

    def __init__(self, families: Iterable[Metric]) -> None:
        self._families = families

    def collect(self) -> Iterable[Metric]:
        """All of them."""
        return self._families
