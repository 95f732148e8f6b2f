"""How long nobody gets a receipt when a process of the record is killed with SIGKILL.

The server process, or all of PostgreSQL, each started again at once; or one backend, after which
PostgreSQL starts itself again. From the kill to the first receipt for a fact sent after it; every
fact acknowledged meanwhile is looked for on the record at the end.
"""

from __future__ import annotations

import http.client
import itertools
import os
import signal
import statistics
import threading
import time
from contextlib import ExitStack
from typing import TYPE_CHECKING, Self

import psycopg

from infra.postgres.server.embedded import embedded
from tests.benchmarks.tools.served import place, start
from tests.fixtures.cli import lines
from tests.fixtures.http import BATCH, STRUCTURED, batch

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.benchmarks.tools.served import Place

KILLS = 5
"""Kills of each kind."""

FACTS_BEFORE = 10_000
"""Facts kept before each kill of PostgreSQL, so that it has a log to play again."""

FACTS_A_DEVICE = 50_000
PAUSE_S = 0.005
"""Between one receipt and the next fact, and before a fact is sent again."""

WAIT_S_MAX = 60.0
"""How long a receipt is waited for after a kill."""

WRITER = """
SELECT pid, pg_wal_lsn_diff(pg_current_wal_lsn(), (pg_control_checkpoint()).redo_lsn)
  FROM pg_stat_activity WHERE application_name = 'round-ledger ledger_writer'
"""


def run() -> dict[str, object]:
    """Every figure of this file; about a minute."""
    with place() as at, Floor(at) as floor:
        return {
            "server_process": floor.killed(floor.kill_server),
            "postgresql": floor.killed(floor.kill_postgresql, FACTS_BEFORE),
            "postgresql_backend": floor.killed(floor.kill_backend, FACTS_BEFORE),
            **floor.compared(),
        }


class Floor:
    """A server, a device that never stops sending to it, and the ways to kill what it needs."""

    def __init__(self, at: Place) -> None:
        self._at = at
        self._served = start(at.home)
        self._servers = ExitStack()
        self._fills = itertools.count(1)
        self._acknowledged: list[int] = []
        self._newest = (0.0, 0.0)  # when the newest fact with a receipt was sent, and had it
        self._ends = threading.Event()
        self._device = threading.Thread(target=self._send_on)

    def __enter__(self) -> Self:
        self._device.start()
        return self

    def __exit__(self, *error: object) -> None:
        self._stop_device()
        self._served.process.terminate()
        self._served.process.wait(60)
        self._servers.close()

    def killed(self, kill: Callable[[int], None], facts_before: int = 0) -> dict[str, object]:
        """Seconds without receipts, over some kills, and the log there was to play again."""
        seconds, logs = [], []
        for _ in range(KILLS):
            self._fill(facts_before)
            time.sleep(1)  # kills come in the middle of ordinary sending
            writer, log_octets = self._writer()
            logs.append(log_octets / 2**20)
            began = time.perf_counter()
            kill(writer)
            seconds.append(self._first_receipt_after(began) - began)
        return {
            "kills": KILLS,
            **({"log_mib": round(statistics.median(logs), 1)} if facts_before else {}),
            "seconds_median": round(statistics.median(seconds), 2),
            "seconds_max": round(max(seconds), 2),
        }

    def _first_receipt_after(self, began: float) -> float:
        """When the first fact sent after that moment had its receipt."""
        while True:
            sent_s, had_s = self._newest
            if sent_s > began:
                return had_s
            if time.perf_counter() - began > WAIT_S_MAX:
                raise SystemExit(f"no receipt in {WAIT_S_MAX:.0f} s after a kill")
            time.sleep(PAUSE_S / 5)

    def kill_server(self, _: int) -> None:
        """End the server process and start another on the same port."""
        self._served.process.kill()
        self._served.process.wait()
        self._served = start(self._at.home, self._served.port)

    def kill_postgresql(self, _: int) -> None:
        """End PostgreSQL's first process, which ends the others; commands start it again.

        More than one, where the first comes while the killed process is still counted as running.
        """
        pid = (self._at.home / "postgres" / "postmaster.pid").read_text().split()[0]
        os.kill(int(pid), signal.SIGKILL)
        while not self._answers():
            self._servers.enter_context(embedded(self._at.home))

    def kill_backend(self, writer: int) -> None:
        """End the process that writes; PostgreSQL ends the others and starts over by itself."""
        os.kill(writer, signal.SIGKILL)

    def compared(self) -> dict[str, int]:
        """What was acknowledged to the device, beside what is on the record."""
        self._stop_device()
        with psycopg.connect(self._at.url) as connection:
            kept = connection.execute(
                "SELECT fact_id FROM ledger.tape WHERE source = '/hollywood/CC-07/layout'"
            ).fetchall()
        ids = [int(name.rpartition("-")[2]) for (name,) in kept]
        return {
            "acknowledged": len(self._acknowledged),
            "acknowledged_and_lost": len(set(self._acknowledged) - set(ids)),
            "kept_twice": len(ids) - len(set(ids)),
        }

    def _writer(self) -> tuple[int, int]:
        """The backend that writes, and the bytes of log a crash now would have to play again."""
        with psycopg.connect(self._at.url) as connection:
            row = connection.execute(WRITER).fetchone()
        assert row
        return int(row[0]), int(row[1])

    def _answers(self) -> bool:
        try:
            psycopg.connect(self._at.url).close()
        except psycopg.OperationalError:
            return False
        return True

    def _fill(self, facts: int) -> None:
        told = lines(facts, place="T-001", device=f"fill-{next(self._fills)}")
        connection = self._connection()
        for first in range(0, len(told), 200):
            status = _post(connection, batch(told[first : first + 200]), BATCH)
            assert status == 200, status

    def _connection(self) -> http.client.HTTPConnection:
        return http.client.HTTPConnection("127.0.0.1", self._served.port, timeout=WAIT_S_MAX)

    def _send_on(self) -> None:
        """One fact after the other; each is sent until it has its receipt."""
        told = lines(FACTS_A_DEVICE, device="layout")
        connection = self._connection()
        for number, fact in enumerate(told):
            while not self._ends.wait(PAUSE_S):
                sent_s = time.perf_counter()
                try:
                    status = _post(connection, fact, STRUCTURED)
                except (OSError, http.client.HTTPException):
                    connection.close()
                    continue
                if status == 200:
                    self._acknowledged.append(number)
                    self._newest = (sent_s, time.perf_counter())
                    break

    def _stop_device(self) -> None:
        self._ends.set()
        self._device.join()


def _post(connection: http.client.HTTPConnection, body: bytes, headers: dict[str, str]) -> int:
    """The status of the answer."""
    connection.request("POST", "/v1/facts", body, headers)
    answer = connection.getresponse()
    answer.read()
    return answer.status
