"""The drop and the search over a ledger and one twice as long; the queue of 10,000 findings.

Ledgers are filled by direct rows: four tables, 30 rounds a table and gaming day.
"""

from __future__ import annotations

import time
from functools import partial
from statistics import median, quantiles
from typing import TYPE_CHECKING

from consumers.money import drop
from consumers.registry import install
from consumers.review import queue
from consumers.rounds.search import Filters, search
from infra.postgres.connection import Database
from infra.postgres.migrations import migrate
from tests.benchmarks.tools.served import place
from tests.integration.rounds.test_search_work import DROP, FILTERS, ROUNDS, filled
from tests.scenes.findings import fill_findings

if TYPE_CHECKING:
    from collections.abc import Callable

DAYS = (750, 1_500)
"""Gaming days of four tables: 3,000 and 6,000 table-days."""

DAY = "2020-01-02"
RUNS = 5
"""Measurements a figure is the median of."""

PAGES = 100
"""Pages of the queue that its figures are of."""


def run() -> dict[str, object]:
    """Seconds for each ledger, and of the longer to the shorter; about a minute."""
    short, long = (_measured(days) for days in DAYS)
    figures: dict[str, object] = {
        f"table_days_{4 * days}": found for days, found in zip(DAYS, (short, long), strict=True)
    }
    ratios = {name: long[name] / short[name] for name in short}
    return figures | {"longer_to_shorter": ratios, "queue_of_10000": _queue()}


def _measured(days: int) -> dict[str, float]:
    with place() as at:
        migrate(at.url)
        database = Database(at.url, at.url)
        filled(database, days, DROP, ROUNDS)
        searches = [partial(search, database, Filters(**given)) for given in FILTERS.values()]
        return {
            "drop_of_all_s": _seconds(lambda: drop.read(database)),
            "drop_of_a_day_s": _seconds(lambda: drop.read(database, gaming_day=DAY)),
            "slowest_filter_s": max(map(_seconds, searches)),
        }


def _seconds(work: Callable[[], object]) -> float:
    took = []
    for _ in range(RUNS):
        start = time.perf_counter()
        work()
        took.append(time.perf_counter() - start)
    return median(took)


def _queue() -> dict[str, object]:
    """Milliseconds of pages of Review over 10,000 findings, and of the header's counts."""
    with place() as at:
        migrate(at.url)
        database = Database(at.url, at.url)
        install(database)
        fill_findings(database, 10_000)
        assert queue.counts(database, "S-1") == (7500, 1000, 2500, 6500)
        return {
            "page_ms": _milliseconds(lambda: queue.page(database, "open", "S-1")),
            "page_20_ms": _milliseconds(lambda: queue.page(database, "open", "S-1", number=20)),
            "mine_ms": _milliseconds(lambda: queue.page(database, "mine", "S-1")),
            "counts_ms": _milliseconds(lambda: queue.counts(database, "S-1")),
        }


def _milliseconds(work: Callable[[], object]) -> dict[str, float]:
    took = []
    for _ in range(PAGES):
        start = time.perf_counter()
        work()
        took.append(1_000 * (time.perf_counter() - start))
    cuts = quantiles(took, n=100)
    return {"p50": cuts[49], "p99": cuts[98]}
