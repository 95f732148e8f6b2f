"""The drop and the search for rounds over a ledger, and over one twice as long.

Ledgers are filled by direct rows: four tables, 30 rounds a table and gaming day.
"""

from __future__ import annotations

import time
from functools import partial
from statistics import median
from typing import TYPE_CHECKING

from consumers.money import drop
from consumers.rounds.search import Filters, search
from infra.postgres.connection import Database
from infra.postgres.migrations import migrate
from tests.benchmarks.tools.served import place
from tests.integration.rounds.test_search_work import DROP, FILTERS, ROUNDS, filled

if TYPE_CHECKING:
    from collections.abc import Callable

DAYS = (750, 1_500)
"""Gaming days of four tables: 3,000 and 6,000 table-days."""

DAY = "2020-01-02"
RUNS = 5
"""Measurements a figure is the median of."""


def run() -> dict[str, object]:
    """Seconds for each ledger, and of the longer to the shorter; about a minute."""
    short, long = (_measured(days) for days in DAYS)
    figures: dict[str, object] = {
        f"table_days_{4 * days}": found for days, found in zip(DAYS, (short, long), strict=True)
    }
    return figures | {"longer_to_shorter": {name: long[name] / short[name] for name in short}}


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
