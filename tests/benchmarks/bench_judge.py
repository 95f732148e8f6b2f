"""A feed read and ruled on in memory, beside `json.loads` of the same lines.

By processor time and by turns: what else the machine does moves both alike.
"""

from __future__ import annotations

import gc
import json
import time
from statistics import median
from typing import TYPE_CHECKING

from ledger.adjudication.feed import adjudicate
from ledger.record.tape import Received
from ledger.record.wire import fact_of, parse_line
from ledger.simulate import line, plan_of, simulate
from replay.shell.collector import collect_seldom

if TYPE_CHECKING:
    from collections.abc import Callable

RUNS = 5
"""Measurements a figure is the median of."""

TABLES, MINUTES = 20, 120


def run() -> dict[str, object]:
    """Facts a second, and each to `json.loads`; about a minute."""
    plan = plan_of(tables=TABLES, minutes=MINUTES, seed=1)
    lines = [line(plan, emitted.fact) for emitted in simulate(plan)]
    works: dict[str, Callable[[list[bytes]], object]] = {
        "loaded": _loaded, "parsed": _parsed, "judged": _judged,
    }  # fmt: skip
    took: dict[str, list[float]] = {name: [] for name in works}
    collect_seldom()
    for _ in range(RUNS):
        for name, work in works.items():
            gc.collect()
            start = time.process_time()
            work(lines)
            took[name].append(time.process_time() - start)
    rates = {name: len(lines) / median(its) for name, its in took.items()}
    return {
        "facts": len(lines),
        "loaded_per_s": round(rates["loaded"]),
        "parsed_per_s": round(rates["parsed"]),
        "judged_per_s": round(rates["judged"]),
        "parsed_to_loaded": _ratio(took, "parsed"),
        "judged_to_loaded": _ratio(took, "judged"),
    }


def _ratio(took: dict[str, list[float]], name: str) -> float:
    """The median of the runs' own ratios of rates."""
    return median(loaded / its for loaded, its in zip(took["loaded"], took[name], strict=True))


def _loaded(lines: list[bytes]) -> object:
    return [json.loads(each) for each in lines]


def _parsed(lines: list[bytes]) -> list[Received]:
    return [each for each in map(parse_line, lines) if isinstance(each, Received)]


def _judged(lines: list[bytes]) -> object:
    return list(adjudicate([fact_of(each) for each in _parsed(lines)]))
