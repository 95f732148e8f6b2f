"""A feed read and ruled on in memory, beside `json.loads` of the same lines.

By processor time and by turns: what else the machine does moves both alike.
"""

from __future__ import annotations

import gc
import json
import os
import subprocess
import tempfile
import time
from itertools import islice
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING

from ledger.adjudication.feed import adjudicate
from ledger.record.tape import Received
from ledger.record.wire import fact_of, parse_line
from ledger.simulate import line, plan_of, simulate
from replay.shell.collector import collect_seldom
from tests.benchmarks.bench_views import days
from tests.fixtures.cli import START, environ

if TYPE_CHECKING:
    from collections.abc import Callable

RUNS = 5
"""Measurements a figure is the median of."""

TABLES, MINUTES = 20, 120
LONG = 1_000_000
"""Facts of the feed that `adjudicate` is to rule on in less than a GiB."""

_KIB_A_MIB = 1_024


def run() -> dict[str, object]:
    """Facts a second, each to `json.loads`, and the memory a long feed takes; some five minutes."""
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
        "adjudicate_of_a_million": _long_feed(),
    }


def _long_feed() -> dict[str, object]:
    """The command over a long feed: the most memory that it held, and facts a second."""
    with tempfile.TemporaryDirectory(prefix="round-ledger-bench-") as folder:
        feed = Path(folder) / "feed.jsonl"
        with feed.open("wb") as file:
            file.writelines(each + b"\n" for each in islice(days(), LONG))
        start = time.perf_counter()
        with subprocess.Popen(
            [*START, "adjudicate", str(feed), "--json"],
            env=environ(Path(folder)),
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        ) as ran:
            _, status, used = os.wait4(ran.pid, 0)
            ran.returncode = os.waitstatus_to_exitcode(status)
    if ran.returncode not in (0, 1):  # 1: there are findings
        raise SystemExit(f"adjudicate failed: {ran.returncode}")
    took = time.perf_counter() - start
    return {"peak_mib": used.ru_maxrss // _KIB_A_MIB, "facts_per_s": round(LONG / took)}


def _ratio(took: dict[str, list[float]], name: str) -> float:
    """The median of the runs' own ratios of rates."""
    return median(loaded / its for loaded, its in zip(took["loaded"], took[name], strict=True))


def _loaded(lines: list[bytes]) -> object:
    return [json.loads(each) for each in lines]


def _parsed(lines: list[bytes]) -> list[Received]:
    return [each for each in map(parse_line, lines) if isinstance(each, Received)]


def _judged(lines: list[bytes]) -> object:
    return list(adjudicate([fact_of(each) for each in _parsed(lines)]))
