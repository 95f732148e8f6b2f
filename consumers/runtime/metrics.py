"""What a process that keeps views up tells of itself: figures for Prometheus, alive, ready.

The figures of the process are counted here; how far views are behind, what they withhold and what
waits to be published is read from the database at each scrape, so it holds for every process.
"""

from __future__ import annotations

import logging
import threading
import time
from contextlib import contextmanager
from functools import partial
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import TYPE_CHECKING, NamedTuple, Protocol

from prometheus_client import CollectorRegistry, Counter, Gauge, generate_latest
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily
from prometheus_client.registry import Collector

from consumers.alerts.process import Tally
from infra.kafka.merging import Figures
from infra.postgres import parking, relay_progress
from infra.postgres.tape import PostgresTape
from ledger.errors import LedgerError, Unavailable

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from prometheus_client.core import Metric

    from consumers.runtime.source import Batch
    from infra.postgres.connection import Database
    from infra.postgres.parking import Parked

LOG = logging.getLogger("round_ledger.views")

SILENT_S_MAX = 30.0
"""How long the source may be silent until the process is not ready, seconds, without a setting."""

STUCK_S_MAX = 120.0
"""How long nothing may come round in the process until it is not alive, seconds: restart it."""

_COUNTED = {
    "records": "Records read from the feed.",
    "duplicates": "Facts met again on the feed, passed over.",
    "reordered": "Facts that came after a later one of their tape.",
    "gaps": "Holes in what was published, healed from the record.",
    "healed": "Facts read from the record because the feed lacked them.",
    "poisoned": "Records of the feed that are not what the record holds.",
    "offsets_lost": "Offsets that the topic does not have any more.",
}


_ASIDE = ("quarantined", "equivocation")

_TALLIED = {
    "read": "Records read by this process.",
    "raised": "Alerts that this process raised.",
    "delivered": "Alerts that a channel took, counted by channel.",
    "failed": "Tries of a channel that failed.",
    "dead": "Records put on the dead-letter topic.",
    "too_old": "Alerts not raised, of what came longer ago than the setting says.",
}

_STANDING = {
    "letters": "Dead letters that nobody has handled; more where offsets hold none.",
    "lag": "Records of the group's partitions that were not read yet.",
}


class Watch:
    """The figures of one process. `Figures` and `ticked` are written by one thread, read by any.

    Ready: it has its partitions, and a broker has answered within `ready_s` seconds; or it reads
    the record, and has read it within as long. How far it is behind does not matter for it.
    """

    def __init__(
        self,
        base: Database,
        *,
        feed: bool,
        ready_s: float = SILENT_S_MAX,
        views: Sequence[str] = (),
    ) -> None:
        self.figures = Figures()
        self.ticked_at = time.monotonic()
        self._ready_s = ready_s
        self._why = ""
        self.feed = feed
        self.registry = CollectorRegistry()
        self.registry.register(_FromRecord(base))
        if feed:
            of = partial(getattr, self.figures)
            self.registry.register(_Counted("feed", _COUNTED, of))
            _tell_silence(self.registry, "feed", lambda: self.figures.answered_at)
        self._facts = Counter(
            "round_ledger_view_facts",
            "Facts taken into a view.",
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
            "When a view last took in facts, Unix time.",
            ["view"],
            registry=self.registry,
        )

    def ticking(self, stop: Callable[[], bool]) -> Callable[[], bool]:
        """The same question, noting that it was asked: the loop comes round."""

        def asked() -> bool:
            self.ticked_at = time.monotonic()
            return stop()

        return asked

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

    def alive(self) -> str | None:
        """Why the process is not alive; None: it is."""
        silent = time.monotonic() - self.ticked_at
        return f"nothing came round for {silent:.0f} s" if silent > STUCK_S_MAX else None

    def ready(self) -> str | None:
        """Why the process is not ready; None: it is."""
        who = "no broker" if self.feed else "no record"
        return self.alive() or _unheard(who, self.figures.answered_at, self._ready_s, self._why)

    def doing(self) -> str:
        """As `Served`."""
        return ""

    def page(self) -> bytes:
        """The text format."""
        return generate_latest(self.registry)


class AlertWatch:
    """The figures of a process that raises alerts.

    Ready: its group has given it partitions, and a broker has answered within `ready_s` seconds.
    """

    def __init__(self, base: Database, *, ready_s: float = SILENT_S_MAX) -> None:
        self.tally = Tally()
        self.ticked_at = time.monotonic()
        self._ready_s = ready_s
        self.registry = CollectorRegistry()
        self.registry.register(_FromRecord(base))
        self.registry.register(_Counted("alerts", _TALLIED, self._of))
        for name, says in _STANDING.items():
            gauge = Gauge(f"round_ledger_alerts_{name}", says, registry=self.registry)
            gauge.set_function(partial(self._of, name))
        _tell_silence(self.registry, "alerts", lambda: self.tally.answered_at)

    def _of(self, name: str) -> float:
        return float(getattr(self.tally, name))

    def take(self, tally: Tally) -> None:
        """Tell these figures from here on."""
        self.tally = tally

    def ticking(self, stop: Callable[[], bool]) -> Callable[[], bool]:
        """As `Watch`."""

        def asked() -> bool:
            self.ticked_at = time.monotonic()
            return stop()

        return asked

    def alive(self) -> str | None:
        """As `Watch`."""
        silent = time.monotonic() - self.ticked_at
        return f"nothing came round for {silent:.0f} s" if silent > STUCK_S_MAX else None

    def ready(self) -> str | None:
        """As `Watch`."""
        return self.alive() or _unheard("no broker", self.tally.answered_at, self._ready_s)

    def doing(self) -> str:
        """As `Served`."""
        return ""

    def page(self) -> bytes:
        """The text format."""
        return generate_latest(self.registry)


def _tell_silence(
    registry: CollectorRegistry, whose: str, answered_at: Callable[[], float | None]
) -> None:
    """A gauge of how long brokers have been silent; all by the monotonic clock."""
    began_at = time.monotonic()

    def silent_s() -> float:
        at = answered_at()
        return time.monotonic() - (began_at if at is None else at)

    name = f"round_ledger_{whose}_silent_seconds"
    says = "Since a broker last answered this process, or it began."
    Gauge(name, says, registry=registry).set_function(silent_s)


def _unheard(who: str, answered_at: float | None, ready_s: float, why: str = "") -> str | None:
    """Why it cannot be relied on that the source is read; `answered_at` by the monotonic clock."""
    if answered_at is None:
        return f"{who} has answered yet{why}"
    silent = time.monotonic() - answered_at
    return f"{who} has answered for {silent:.0f} s{why}" if silent > ready_s else None


class Served(Protocol):
    """A process that tells of itself."""

    def alive(self) -> str | None:
        """Why it is not alive; None: it is."""

    def ready(self) -> str | None:
        """Why it is not ready; None: it is."""

    def doing(self) -> str:
        """What it does, said where it is ready; nothing where there is one thing to do."""

    def page(self) -> bytes:
        """Its figures, in Prometheus's text format."""


class _Counted(Collector):
    """What only grows while a process runs, counted elsewhere and read at each scrape."""

    def __init__(self, whose: str, says: dict[str, str], of: Callable[[str], float]) -> None:
        self._whose, self._says, self._of = whose, says, of

    def describe(self) -> Iterable[Metric]:
        return ()

    def collect(self) -> Iterable[Metric]:
        for name, says in self._says.items():
            yield CounterMetricFamily(
                f"round_ledger_{self._whose}_{name}", says, value=self._of(name)
            )


class _Read(NamedTuple):
    name: str
    says: str
    labels: tuple[str, ...]
    rows: Sequence[tuple[tuple[str, ...], float]]
    family: type[CounterMetricFamily | GaugeMetricFamily] = GaugeMetricFamily


class _FromRecord(Collector):
    """Read at each scrape; nothing where the database does not answer."""

    def __init__(self, base: Database) -> None:
        self._base = base

    def describe(self) -> Iterable[Metric]:
        return ()

    def collect(self) -> Iterable[Metric]:
        try:
            read = list(self._read())
        except Unavailable:
            return
        for each in read:
            name = f"round_ledger_{each.name}"
            family = each.family(name, each.says, labels=each.labels)
            for labels, value in each.rows:
                family.add_metric(labels, value)
            yield family

    def _read(self) -> Iterator[_Read]:
        with PostgresTape(self._base) as tape:
            lags = tape.view_lags()
            received = tape.counters()
        aside = [((name,), float(getattr(received, name))) for name in _ASIDE]
        says = "Inputs set aside, ever."
        yield _Read("quarantine_inputs", says, ("verdict",), aside, CounterMetricFamily)
        facts = [((lag.view,), float(lag.facts)) for lag in lags]
        seconds = [((lag.view,), lag.behind_us / 1_000_000) for lag in lags]
        view = ("view",)
        yield _Read("view_behind_facts", "Facts not in the view yet.", view, facts)
        says = "Since the oldest fact that is not in the view was received; 0 where all are."
        yield _Read("view_behind_seconds", says, view, seconds)
        parked = parking.shown(self._base)
        tapes = {lag.view: 0.0 for lag in lags}
        withheld = dict(tapes)
        for each in parked:
            tapes[each.view] += 1
            withheld[each.view] += each.withheld
        as_rows = [((name,), count) for name, count in tapes.items()]
        yield _Read("view_parked_tapes", "Tapes that the view withholds.", view, as_rows)
        as_rows = [((name,), count) for name, count in withheld.items()]
        yield _Read("view_withheld_facts", "Facts of those tapes.", view, as_rows)
        waiting = relay_progress.waiting(self._base)
        as_rows = [((w.topic,), float(w.records)) for w in waiting]
        says = "Records on the record or in the outbox that no broker has acknowledged yet."
        yield _Read("topic_behind_records", says, ("topic",), as_rows)
        as_rows = [((w.topic,), w.since_us / 1_000_000) for w in waiting]
        says = "How long the first of them has waited; 0 where none waits."
        yield _Read("topic_behind_seconds", says, ("topic",), as_rows)
        ended = [((each.error,), float(each.times)) for each in relay_progress.failures(self._base)]
        says = "Relays that ended with a failure, ever, by what it was."
        yield _Read("relay_failures", says, ("error",), ended, CounterMetricFamily)


@contextmanager
def served(watch: Served, host: str, port: int) -> Iterator[int]:
    """`/metrics`, `/healthz` and `/readyz` on an address until the block is left; the port."""

    class Answers(BaseHTTPRequestHandler):
        timeout = 10

        def do_GET(self) -> None:
            path = self.path.partition("?")[0]  # probes may add a query against caches
            if path == "/metrics":
                self._answer(200, watch.page(), "text/plain; version=0.0.4; charset=utf-8")
            elif path == "/healthz":
                self._say(watch.alive(), "")
            elif path == "/readyz":
                self._say(watch.ready(), watch.doing())
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
            """Scrapes are no events."""

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
        f"The port cannot be listened on: {error.strerror}",
        where=f"{host}:{port}",
        hint="Stop what uses it, or give another with --port.",
    )
