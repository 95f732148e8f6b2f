"""How fast the record takes facts, as ratios measured in one run on one server.

Against the eventsourcing library's own recorder and against a bare psycopg insert into the same
tables and indexes. Run as `python -m tests.benchmarks.bench_tape [--json FILE]`; a figure means
something only beside the others of its run.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import statistics
import tempfile
import threading
import time
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Any

import psycopg
from eventsourcing.persistence import StoredEvent
from eventsourcing.postgres import PostgresApplicationRecorder, PostgresDatastore
from psycopg import conninfo

from infra import arrays
from infra.embedded import embedded
from infra.migrations import migrate
from infra.postgres import Database, create_database
from infra.tape import PostgresTape
from ledger.committer import Committer
from tests.fix_postgres import fact, postgres_version

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from ledger.tape import Received

ROUNDS = 5
"""Interleaved measurements a figure is the median of."""

_RAW = """
WITH kept AS (
    INSERT INTO ledger.tape (notification_id, originator_version, time_us, received_at_us,
           originator_id, topic, source, fact_id, subject, attributes, state, hash)
    SELECT * FROM unnest(%b, %b, %b, %b, %b, %b, %b, %b, %b, %b, %b, %b)
    RETURNING notification_id, source, fact_id)
INSERT INTO ledger.identity (position, source, fact_id, data_digest)
SELECT notification_id, source, fact_id, '\\x0000000000000000'::bytea FROM kept
"""


class Numbers:
    """Fact numbers never used before, for any number of threads."""

    def __init__(self) -> None:
        self._next = 0
        self._lock = threading.Lock()

    def take(self, count: int) -> range:
        with self._lock:
            first = self._next
            self._next += count
        return range(first, first + count)


def facts(numbers: range, place: str = "CC-07") -> list[Received]:
    return [fact(number, place=place, boot="run1", sequence=str(number)) for number in numbers]


def ours(tape: PostgresTape) -> Callable[[Sequence[Received]], object]:
    return tape.append


def raw(connection: psycopg.Connection[tuple[Any, ...]]) -> Callable[[Sequence[Received]], object]:
    """One INSERT from parallel arrays, numbered by the caller, nothing judged, nothing chained."""
    arrays.register(connection)
    position = 0

    def insert(batch: Sequence[Received]) -> None:
        nonlocal position
        tapes, types, sources, ids, times, subjects, attributes, datas = zip(*batch, strict=True)
        numbers = arrays.bigints(range(position + 1, position + len(batch) + 1))
        times_us = arrays.bigints(times)
        hashes = arrays.byteas([bytes(32)] * len(batch))
        texts = [arrays.texts(column) for column in (tapes, types, sources, ids, subjects)]
        octets = [arrays.byteas(attributes), arrays.byteas(datas), hashes]
        connection.execute(_RAW, (numbers, numbers, times_us, times_us, *texts, *octets))
        position += len(batch)

    return insert


def stock(recorder: PostgresApplicationRecorder) -> Callable[[Sequence[Received]], object]:
    """The library's recorder, given the same octets as the state of its events."""
    versions: dict[str, int] = {}

    def insert(batch: Sequence[Received]) -> None:
        events = []
        for one in batch:
            versions[one.tape] = version = versions.get(one.tape, 0) + 1
            events.append(StoredEvent(one.tape, version, one.type, one.attributes + one.data))
        recorder.insert_events(events)

    return insert


def rate(save: Callable[[Sequence[Received]], object], batches: list[list[Received]]) -> float:
    """Facts a second; building the batches is not counted."""
    began = time.perf_counter()
    for batch in batches:
        save(batch)
    return sum(map(len, batches)) / (time.perf_counter() - began)


def in_threads(
    save: Callable[[int, Received], object], threads: int, each: int, numbers: Numbers
) -> float:
    """Facts a second of `threads` places saving single facts at once, each waiting for its own."""
    given = [facts(numbers.take(each), f"T-{n:03d}") for n in range(threads)]
    ready = threading.Barrier(threads + 1)

    def work(n: int) -> None:
        ready.wait()
        for one in given[n]:
            save(n, one)

    workers = [threading.Thread(target=work, args=(n,)) for n in range(threads)]
    for worker in workers:
        worker.start()
    ready.wait()
    began = time.perf_counter()
    for worker in workers:
        worker.join()
    return threads * each / (time.perf_counter() - began)


class Bench:
    """One server with a database for each of the three, and the savers on them."""

    def __init__(self, stack: ExitStack) -> None:
        home = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="round-ledger-bench-")))
        server = stack.enter_context(embedded(home))
        self.numbers = Numbers()
        self.database = _database(server, "ours")
        self.tape = stack.enter_context(PostgresTape(self.database))
        bare = _database(server, "raw").url
        self.raw = raw(stack.enter_context(psycopg.connect(bare, autocommit=True)))
        self.recorder = _recorder(server, stack)
        self.stock = stock(self.recorder)

    def batches(self, count: int, size: int) -> list[list[Received]]:
        return [facts(self.numbers.take(size)) for _ in range(count)]


def _database(server: str, name: str) -> Database:
    create_database(server, name)
    url = conninfo.make_conninfo(server, dbname=name)
    migrate(url)
    return Database(url, url)


def _recorder(server: str, stack: ExitStack) -> PostgresApplicationRecorder:
    create_database(server, "stock")
    at = conninfo.conninfo_to_dict(server)
    datastore = PostgresDatastore(
        "stock",
        str(at["host"]),
        "5432",
        str(at["user"]),
        "",
        originator_id_type="text",
        pool_size=16,
    )
    stack.enter_context(datastore)
    recorder = PostgresApplicationRecorder(datastore)
    recorder.create_table()
    return recorder


def bench_append(bench: Bench, size: int, count: int) -> dict[str, float]:
    """`size` facts a call from one writer, the three interleaved."""
    savers = {"ours": ours(bench.tape), "raw": bench.raw, "stock": bench.stock}
    measured: dict[str, list[float]] = {name: [] for name in savers}
    for _ in range(ROUNDS):
        for name, save in savers.items():
            measured[name].append(rate(save, bench.batches(count, size)))
    medians = {f"{name}_per_s": statistics.median(runs) for name, runs in measured.items()}
    return {
        **medians,
        "ours_to_stock": medians["ours_per_s"] / medians["stock_per_s"],
        "ours_to_raw": medians["ours_per_s"] / medians["raw_per_s"],
    }


def bench_singles(bench: Bench, threads: int, each: int) -> dict[str, float]:
    """Single facts from many places at once: group commit against the library."""
    ours_runs, stock_runs = [], []
    for _ in range(ROUNDS):
        with Committer(bench.tape) as committer:
            ours_runs.append(
                in_threads(lambda _, one: committer.append([one]), threads, each, bench.numbers)
            )
        stock_runs.append(_stock_singles(bench, threads, each))
    ours_per_s, stock_per_s = statistics.median(ours_runs), statistics.median(stock_runs)
    return {
        "ours_per_s": ours_per_s,
        "stock_per_s": stock_per_s,
        "ours_to_stock": ours_per_s / stock_per_s,
    }


def _stock_singles(bench: Bench, threads: int, each: int) -> float:
    run = bench.numbers.take(1)[0]  # places of their own, so that versions begin at 1
    versions = [0] * threads

    def save(n: int, one: Received) -> None:
        versions[n] += 1
        state = one.attributes + one.data
        bench.recorder.insert_events(
            [StoredEvent(f"{one.tape}/{run}", versions[n], one.type, state)]
        )

    return in_threads(save, threads, each, bench.numbers)


def machine() -> dict[str, object]:
    return {
        "cpus": os.cpu_count(),
        "machine": platform.machine(),
        "python": platform.python_version(),
        "server": postgres_version(),
    }


def run() -> dict[str, object]:
    """Every figure of this file; about half a minute."""
    with ExitStack() as stack:
        bench = Bench(stack)
        return {
            "machine": machine(),
            "append_50_a_call": bench_append(bench, size=50, count=100),
            "append_1_a_call": bench_append(bench, size=1, count=500),
            "singles_from_200_threads": bench_singles(bench, threads=200, each=25),
        }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--json", type=Path, help="also write the figures to this file")
    results = run()
    text = json.dumps(results, indent=2)
    print(text)  # noqa: T201 - a script's answer
    if path := parser.parse_args().json:
        path.write_text(text + "\n")


if __name__ == "__main__":
    main()
