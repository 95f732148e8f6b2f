"""Commands over an embedded server: the first, which starts it, and the next, which finds it.

Beside a Python that does nothing and one that imports the driver, since a command is at least that.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from statistics import median

from tests.fixtures.cli import ROOT, START, environ

RUNS = 7
"""Measurements a figure is the median of."""

HELD_S = 300
"""How long the server stays after a command; unset in the environment, it is the same."""


def run() -> dict[str, object]:
    """Seconds; about a minute."""
    with tempfile.TemporaryDirectory(prefix="round-ledger-bench-") as folder:
        home = Path(folder) / "home"
        environment = environ(home, ROUND_LEDGER_POSTGRES_STAYS_S=str(HELD_S))
        dealt = Path(folder) / "dealt"
        for args in (
            ("simulate", "--tables", "2", "--hours", "1", "--seed", "3", "--out", str(dealt)),
            ("ingest", str(dealt / "feed.jsonl")),
        ):
            _done(environment, *args)
        round_ = json.loads(_done(environment, "rounds", "--json").splitlines()[0])["round"]
        try:
            return {
                "python_s": _bare("pass"),
                "driver_s": _bare("import psycopg"),
                **{
                    f"{args[0]}_s": _both(environment, *args)
                    for args in (("rounds",), ("replay", round_), ("drop",))
                },
            }
        finally:
            _done(environment, "services", "down")


def _both(environment: dict[str, str], *args: str) -> dict[str, float]:
    first, again = [], []
    for _ in range(RUNS):
        _done(environment, "services", "down")
        first.append(_timed(environment, *args))
        again.append(_timed(environment, *args))
    return {"first": median(first), "again": median(again)}


def _timed(environment: dict[str, str], *args: str) -> float:
    start = time.perf_counter()
    _done(environment, *args)
    return time.perf_counter() - start


def _done(environment: dict[str, str], *args: str) -> str:
    """What the command prints, as a process of its own."""
    pipe = subprocess.PIPE
    with subprocess.Popen(
        [*START, *args], env=environment, cwd=ROOT, stdout=pipe, stderr=pipe, text=True
    ) as ran:
        out, err = ran.communicate()
    if ran.returncode:
        raise SystemExit(f"{' '.join(args)}: {err}")
    return out


def _bare(code: str) -> float:
    took = []
    for _ in range(RUNS):
        start = time.perf_counter()
        subprocess.run([sys.executable, "-c", code], check=True)
        took.append(time.perf_counter() - start)
    return median(took)
