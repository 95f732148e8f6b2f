"""Metrics and health checks of a process over HTTP: Prometheus metrics, liveness, readiness.

Each process counts its own work. Consumer lag, parked tapes, quarantine and publishing backlog are
read from the database at each scrape, so they are the same in every process.
"""

from __future__ import annotations

import threading
import time
from collections import Counter
from contextlib import contextmanager
from functools import partial
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import TYPE_CHECKING

from prometheus_client import CollectorRegistry, Gauge, generate_latest
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily
from prometheus_client.registry import Collector

from infra.postgres import parking, relay_progress
from infra.postgres.tape import PostgresTape
from ledger.errors import LedgerError, Unavailable

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from prometheus_client.core import Metric

    from infra.postgres.connection import Database
    from infra.postgres.parking import ParkedSummary
    from infra.postgres.relay_progress import Failure, Strays, Waiting
    from infra.postgres.tape import Lag
    from ledger.record.tape import Counters

SILENT_S_MAX = 30.0
"""Default for how long the source may be silent before the process is not ready, seconds."""

STUCK_S_MAX = 120.0
"""How long the main loop may stand still before the process is not alive, seconds."""

_ASIDE = ("quarantined", "equivocation")


class MetricsPage:
    """The metrics of one process, for Prometheus."""

    def __init__(self) -> None:
        self.registry = CollectorRegistry()

    def scrape(self, read: Callable[[], Iterable[Metric]]) -> None:
        """Register a function that yields metrics at each scrape."""
        self.registry.register(Scraped(read))

    def gauge(self, name: str, says: str, value: Callable[[], float]) -> None:
        """Register a gauge whose value is read at each scrape."""
        Gauge(f"round_ledger_{name}", says, registry=self.registry).set_function(value)

    def page(self) -> bytes:
        """All metrics in Prometheus's text format."""
        return generate_latest(self.registry)


class ProcessMetrics(MetricsPage):
    """The metrics and health of one process. Only one thread writes `ticked_at`.

    It is alive while its main loop runs. Each subclass defines when it is ready.
    """

    def __init__(self, ready_s: float) -> None:
        super().__init__()
        self.ticked_at = time.monotonic()
        self.ready_s = ready_s

    def gauge_silence(self, whose: str, answered_at: Callable[[], float | None]) -> None:
        """Register a gauge of how long brokers have been silent, by the monotonic clock."""
        began_at = time.monotonic()

        def silent_s() -> float:
            at = answered_at()
            return time.monotonic() - (began_at if at is None else at)

        says = "Seconds since a broker last answered this process, or since it began."
        self.gauge(f"{whose}_silent_seconds", says, silent_s)

    def heartbeat(self, stop: Callable[[], bool]) -> Callable[[], bool]:
        """`stop`, wrapped so that each call counts as a heartbeat of the main loop."""

        def asked() -> bool:
            self.ticked_at = time.monotonic()
            return stop()

        return asked

    def alive(self) -> str | None:
        """Why the process is not alive; None if it is."""
        silent = time.monotonic() - self.ticked_at
        return f"its main loop has stood still for {silent:.0f} s" if silent > STUCK_S_MAX else None

    def ready(self) -> str | None:
        """Why the process is not ready; None if it is."""
        return self.alive()

    def doing(self) -> str:
        """What a ready process is doing, such as leading; empty if it has only one task."""
        return ""

    def unheard(self, who: str, answered_at: float | None, why: str = "") -> str | None:
        """Why the source counts as silent; None if it answered within `ready_s`."""
        if answered_at is None:
            return f"{who} has answered yet{why}"
        silent = time.monotonic() - answered_at
        return f"{who} has answered for {silent:.0f} s{why}" if silent > self.ready_s else None


class Scraped(Collector):
    """Metrics read at each scrape; none if the database does not answer."""

    def __init__(self, read: Callable[[], Iterable[Metric]]) -> None:
        self._read = read

    def describe(self) -> Iterable[Metric]:
        """Describe nothing, so that nothing is read before the first scrape."""
        return ()

    def collect(self) -> Iterable[Metric]:
        """All metrics of the function, or none."""
        try:
            return list(self._read())
        except Unavailable:
            return ()


def counted(
    whose: str, says: Mapping[str, str], of: Callable[[str], float]
) -> Iterator[CounterMetricFamily]:
    """Counters of a process whose values are kept elsewhere."""
    for name, text in says.items():
        yield CounterMetricFamily(f"round_ledger_{whose}_{name}", text, value=of(name))


def verdicts(received: Counters) -> Iterator[Metric]:
    """The number of inputs received, and one sample a verdict, by the record's own count."""
    figures = received._asdict()
    says = "Inputs received, ever, by the record's own count."
    yield CounterMetricFamily("round_ledger_received", says, value=figures.pop("received"))
    says = "Inputs by verdict; their sum is the inputs received."
    yield _family(CounterMetricFamily, "facts", says, "verdict", figures)


def consumer_lag(lags: Sequence[Lag]) -> Iterator[Metric]:
    """The consumer lag of all live views."""
    figures: dict[str, float] = {lag.view: lag.facts for lag in lags}
    says = "Facts not in the view yet."
    yield _family(GaugeMetricFamily, "view_behind_facts", says, "view", figures)
    figures = {lag.view: lag.behind_us / 1_000_000 for lag in lags}
    says = "Seconds since the oldest fact missing in the view was received; 0 if none is missing."
    yield _family(GaugeMetricFamily, "view_behind_seconds", says, "view", figures)


def of_record(database: Database) -> Iterator[Metric]:
    """Quarantine, consumer lag, parked tapes, publishing backlog and failures of relays."""
    with PostgresTape(database) as tape:
        lags, received = tape.view_lags(), tape.counters()
    parked, waiting = parking.shown(database), relay_progress.waiting(database)
    failures, strays = relay_progress.failures(database), relay_progress.strays(database)
    return record_metrics(lags, received, parked, waiting, failures, strays)


def record_metrics(
    lags: Sequence[Lag],
    received: Counters,
    parked: Iterable[ParkedSummary],
    waiting: Sequence[Waiting],
    failures: Iterable[Failure],
    strays: Iterable[Strays],
) -> Iterator[Metric]:
    """The metrics of what `of_record` has read."""
    gauge = partial(_family, GaugeMetricFamily)
    aside = {name: getattr(received, name) for name in _ASIDE}
    says = "Inputs in quarantine, ever, by verdict."
    yield _family(CounterMetricFamily, "quarantine_inputs", says, "verdict", aside)
    yield from consumer_lag(lags)
    tapes = Counter({lag.view: 0 for lag in lags})
    withheld = Counter(tapes)
    for each in parked:
        tapes[each.view] += 1
        withheld[each.view] += each.withheld
    yield gauge("view_parked_tapes", "Tapes that the view has parked.", "view", tapes)
    yield gauge("view_withheld_facts", "Facts of those tapes.", "view", withheld)
    says = "Publishing backlog: records that no broker has acknowledged yet."
    yield gauge("topic_behind_records", says, "topic", {w.topic: w.records for w in waiting})
    says = "How long the first of them has waited, seconds; 0 if none waits."
    since = {w.topic: w.since_us / 1_000_000 for w in waiting}
    yield gauge("topic_behind_seconds", says, "topic", since)
    ended = {each.error: each.times for each in failures}
    says = "Relays that ended with a failure, ever, by error."
    yield _family(CounterMetricFamily, "relay_failures", says, "error", ended)
    met: Counter[str] = Counter()
    for stray in strays:
        met[stray.topic] += stray.times
    says = "Records of other programs that relays met at the ends of topics, ever."
    yield _family(CounterMetricFamily, "topic_strays", says, "topic", met)


def _family(
    kind: type[CounterMetricFamily | GaugeMetricFamily],
    name: str,
    says: str,
    label: str,
    figures: Mapping[str, float],
) -> Metric:
    family = kind(f"round_ledger_{name}", says, labels=(label,))
    for each, figure in figures.items():
        family.add_metric((each,), figure)
    return family


@contextmanager
def metrics_server(process: ProcessMetrics, host: str, port: int) -> Iterator[int]:
    """Serve `/metrics`, `/healthz` and `/readyz` until the block ends; yields the port."""

    class Answers(BaseHTTPRequestHandler):
        timeout = 10

        def do_GET(self) -> None:
            path = self.path.partition("?")[0]  # probes may add a query against caches
            if path == "/metrics":
                self._answer(200, process.page(), "text/plain; version=0.0.4; charset=utf-8")
            elif path == "/healthz":
                self._say(process.alive(), "")
            elif path == "/readyz":
                self._say(process.ready(), process.doing())
            else:
                self._answer(404, b"see /metrics, /healthz, /readyz\n", "text/plain")

        do_HEAD = do_GET  # noqa: N815 - as the base asks for it

        def _say(self, wrong: str | None, doing: str) -> None:
            says = wrong or ": ".join(filter(None, ("ok", doing)))
            self._answer(503 if wrong else 200, f"{says}\n".encode(), "text/plain")

        def _answer(self, status: int, body: bytes, kind: str) -> None:
            self.send_response(status)
            self.send_header("Content-Type", kind)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            if self.command != "HEAD":
                self.wfile.write(body)

        def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - as the base names it
            """Log nothing: a scrape is not an event."""

    try:
        server = ThreadingHTTPServer((host, port), Answers)
    except OSError as error:
        raise _not_listening(host, port, error) from error
    server.daemon_threads = True
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.2})
    thread.start()
    try:
        yield server.server_address[1]
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


def _not_listening(host: str, port: int, error: OSError) -> LedgerError:
    return Unavailable(
        f"Metrics cannot be served on this port: {error.strerror}",
        where=f"{host}:{port}",
        hint="Stop the process that uses the port, or give another one with --port.",
    )
