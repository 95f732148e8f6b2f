"""How long a device waits for its receipt over HTTP, and how many facts a server takes.

A real `round-ledger serve` process on the embedded database, loaded from this process, so that the
two and PostgreSQL share the machine. Latency counts from the moment a request was due (load.py).
"""

from __future__ import annotations

import os
import random
import statistics
import time
from pathlib import Path
from typing import TYPE_CHECKING

import psycopg

from tests.benchmarks.tools.load import Request
from tests.benchmarks.tools.load import run as send
from tests.benchmarks.tools.served import place, serving
from tests.fixtures.cli import lines
from tests.fixtures.http import BATCH, STRUCTURED, batch

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from tests.benchmarks.tools.load import Answer
    from tests.benchmarks.tools.served import Place, Served

SENDERS = {1: 200, 50: 20}
"""Kept-alive connections, by facts a request: a device of each table, or a computer of each pit."""

SECONDS = 10
TURNS = 3
RATES = (150, 1_500)
"""Facts a second: a property at its busiest, and ten of them."""


def run() -> dict[str, object]:
    """Every figure of this file; some two minutes."""
    with place() as at:
        with serving(at.home) as served:
            measure = Measure(at, served)
            figures = {
                **{f"singles_at_{rate}_per_s": measure.open_loop(rate, 1) for rate in RATES},
                f"batches_of_50_at_{RATES[-1]}_per_s": measure.open_loop(RATES[-1], 50),
                "singles_as_fast_as_answered": measure.closed_loop(1, each=50),
                "batches_of_50_as_fast_as_answered": measure.closed_loop(50, each=30),
            }
        return figures | {"singles_by_two_processes": by_two_processes(at)}


def by_two_processes(at: Place) -> dict[str, float]:
    """Single facts a second, as fast as answered, by one process and by two, by turns."""
    turns = [(closed_loop_of(at, 1), closed_loop_of(at, 2)) for _ in range(TURNS)]
    return {
        "one_facts_per_s": statistics.median(one for one, _ in turns),
        "two_facts_per_s": statistics.median(two for _, two in turns),
        "two_to_one": statistics.median(two / one for one, two in turns),
    }


def closed_loop_of(at: Place, workers: int) -> float:
    """Single facts a second of a server with so many processes."""
    with serving(at.home, workers) as served:
        told = Measure(at, served).closed_loop(1, each=50)
    return told["facts_per_s"]  # type: ignore[return-value] # a number


class Measure:
    """Loads on one server, each with facts never sent before."""

    def __init__(self, at: Place, served: Served) -> None:
        self._at = at
        self._served = served
        self._loads = 0
        self._send(self._requests([0.0] * SENDERS[1], 1))  # the first of all connects and plans

    def open_loop(self, rate: int, size: int) -> dict[str, object]:
        """`rate` facts a second at moments by chance, as independent tables send, `size` each."""
        chance = random.Random(rate)  # noqa: S311 - repeatable
        due = sorted(chance.uniform(0, SECONDS) for _ in range(rate * SECONDS // size))
        figures, answers, _ = self._send(self._requests(due, size))
        return {**figures, **_latency([one.took_s * 1000 for one in answers])}

    def closed_loop(self, size: int, each: int) -> dict[str, object]:
        """Every sender sends `each` requests, one as soon as the one before is answered."""
        figures, answers, took_s = self._send(self._requests([0.0] * SENDERS[size] * each, size))
        return {"facts_per_s": round(len(answers) * size / took_s), **figures}

    def _requests(self, due: Sequence[float], size: int) -> list[Request]:
        """Requests in turn from all senders, due at these seconds."""
        self._loads += 1
        senders = SENDERS[size]
        each = -(-len(due) // senders) * size
        device = f"load-{self._served.process.pid}-{self._loads}"
        told = [iter(lines(each, place=f"T-{n:03d}", device=device)) for n in range(senders)]
        return [
            Request(when, n % senders, _post(told[n % senders], size)) for n, when in enumerate(due)
        ]

    def _send(self, requests: list[Request]) -> tuple[dict[str, object], list[Answer], float]:
        """What came of it, with the share of one CPU that each process took."""
        before, kept = self._cpu_s(), self._kept()
        took_s, answers = send(self._served.port, requests)
        after = self._cpu_s()
        figures: dict[str, object] = {
            "requests": len(requests),
            "answered_200": sum(one.status == 200 for one in answers),
            "facts_appended": self._kept() - kept,
        }
        for name, seconds in before.items():
            figures[f"cpu_{name}"] = round((after[name] - seconds) / took_s, 2)
        return figures, answers, took_s

    def _kept(self) -> int:
        with psycopg.connect(self._at.url) as connection:
            row = connection.execute("SELECT position FROM ledger.record").fetchone()
        return int(row[0]) if row else 0

    def _cpu_s(self) -> dict[str, float]:
        """CPU seconds so far: of the server, of its writing connection, of this process."""
        with psycopg.connect(self._at.url) as connection:
            row = connection.execute(
                "SELECT pid FROM pg_stat_activity"
                " WHERE application_name = 'round-ledger ledger_writer'"
            ).fetchone()
        told = {"server": self._served.process.pid, "postgres": row[0] if row else None}
        return {
            **{name: _cpu_s(pid) for name, pid in told.items() if pid and Path("/proc").exists()},
            "this_load": time.process_time(),
        }


def _cpu_s(pid: int) -> float:
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def _post(told: Iterator[bytes], size: int) -> bytes:
    facts = [next(told) for _ in range(size)]
    body = facts[0] if size == 1 else batch(facts)
    headers = {
        "Host": "127.0.0.1",
        "Content-Length": str(len(body)),
        **(STRUCTURED if size == 1 else BATCH),
    }
    head = "".join(f"{name}: {text}\r\n" for name, text in headers.items())
    return f"POST /v1/facts HTTP/1.1\r\n{head}\r\n".encode() + body


def _latency(milliseconds: Sequence[float]) -> dict[str, float]:
    ordered = sorted(milliseconds)
    return {
        "p50_ms": round(statistics.median(ordered), 2),
        "p99_ms": round(ordered[int(len(ordered) * 0.99)], 2),
        "max_ms": round(ordered[-1], 2),
    }
