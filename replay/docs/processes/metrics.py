"""The tables of metrics, by process, from the collectors that the processes register.

Nothing is measured: a collector that reads a database is given values to show instead.
"""

from __future__ import annotations

from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, NoReturn

from consumers.alerts.metrics import AlertMetrics
from consumers.relay.metrics import RelayMetrics
from consumers.runtime.metrics import ConsumerMetrics
from consumers.sealer.metrics import SealerMetrics
from infra.metrics import consumer_lag, record_metrics, verdicts
from infra.postgres.parking import ParkedSummary
from infra.postgres.relay_progress import Failure, Strays, Waiting
from infra.postgres.tape import Lag
from ledger.errors import Unavailable
from ledger.record.group_commit import CommitBacklog
from ledger.record.tape import Counters
from replay.docs import markdown
from replay.footage.live.cameras import LiveFigures
from replay.web.api.metrics import Metrics, RequestMetrics

if TYPE_CHECKING:
    from collections.abc import Iterable

    from prometheus_client.core import Metric

_LAGS = [Lag("drop", 0, 0)]
_RECEIVED = Counters(*(0 for _ in Counters._fields))
_PARKED = [ParkedSummary("drop", "hollywood/CC-07", 1, 1, "", "", "", 0, 1)]
_WAITING = [Waiting("ledger.table-events.v1", 0)]
_FAILURES = [Failure("unavailable", 1, 0)]
_STRAYS = [Strays("ledger.table-events.v1", 0, 1, 0, 0, "")]


class _Away:
    """A database or tape that does not answer, so a collector that reads it yields nothing."""

    def __getattr__(self, name: str) -> NoReturn:
        raise Unavailable("No database", where=name, hint="This page needs none.")


def part() -> str:
    """The tables: one for each process, and one for what two processes share."""
    return "\n\n".join(f"#### {title}\n\n{_table(of)}" for title, of in processes().items())


def processes() -> dict[str, list[Metric]]:
    """Every metric by the process that exports it, each by its name."""
    nothing: Any = _Away()
    idle: Any = SimpleNamespace(waiting=CommitBacklog(0, 0), held=0, rows=(), running=0, restarts=0)
    requests, relay = RequestMetrics(idle, idle), RelayMetrics()
    requests.requests.labels("batch", "200")
    server = Metrics(nothing, requests, idle)
    server.watch_live(lambda: LiveFigures(0, 0, 0, 0))
    of_server = [*server.registry.collect(), *requests.registry.collect()]
    relay.passed("ledger.table-events.v1", 0)
    views = ConsumerMetrics(nothing, feed=True, views=["drop"])
    views.moved("drop", idle)
    alerts = AlertMetrics(nothing)
    lag = list(consumer_lag(_LAGS))
    record = list(record_metrics(_LAGS, _RECEIVED, _PARKED, _WAITING, _FAILURES, _STRAYS))
    return {
        "`serve`": _sorted([*verdicts(_RECEIVED), *lag, *of_server]),
        "`consume all` and `consume alerts`": _sorted(record),
        "`consume all`": _sorted(views.registry.collect()),
        "`consume alerts`": _sorted(alerts.registry.collect()),
        "`relay`": _sorted(relay.registry.collect()),
        "`log seal`": _sorted(SealerMetrics().registry.collect()),
    }


def _sorted(metrics: Iterable[Metric]) -> list[Metric]:
    return sorted(metrics, key=lambda metric: metric.name)


def _table(metrics: Iterable[Metric]) -> str:
    return markdown.table(("metric", "type", "labels", "meaning"), map(_row, metrics))


def _row(metric: Metric) -> tuple[str, str, str, str]:
    name = f"{metric.name}_total" if metric.type == "counter" else metric.name
    labels = {label for sample in metric.samples for label in sample.labels} - {"le"}
    shown = ", ".join(markdown.code(label) for label in sorted(labels))
    return markdown.code(name), metric.type, shown, metric.documentation
