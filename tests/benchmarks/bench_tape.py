"""How fast the record takes facts, as ratios measured in one run on one server.

Against the eventsourcing library's own recorder and against a bare psycopg insert into the same
tables and indexes; single facts also where a flush is made to take 2 ms. Run as
`python -m tests.benchmarks.bench_tape [--json FILE]`; a figure means something only beside the
others of its run.
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
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import psycopg
from eventsourcing.application import Application
from eventsourcing.persistence import StoredEvent
from psycopg import conninfo

from infra.postgres import arrays
from infra.postgres.connection import Database, create_database
from infra.postgres.migrations import migrate
from infra.postgres.server.embedded import embedded
from infra.postgres.tape import PostgresTape
from ledger.record.group_commit import Committer
from ledger.record.tape import unframe_attributes
from tests.benchmarks.tools.slow_flush import Flushes, NotHereError, slowed
from tests.fixtures.postgres import fact, postgres_version

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from contextlib import AbstractContextManager

    from eventsourcing.persistence import ApplicationRecorder

    from ledger.record.tape import Received

ROUNDS = 15
"""Interleaved rounds. A rate and a ratio are their medians, so that a burst of other work on the
machine does not decide."""

THREADED_ROUNDS = 3
THREADS = 200

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


@dataclass(frozen=True)
class FactTold:
    """A fact as an application of the library holds it: a domain event of plain values."""

    originator_id: str
    originator_version: int
    attributes: dict[str, str]
    data: dict[str, object]


class Stock(Application[str]):
    """The library as it comes: its own application, JSON transcoder, mapper and recorder."""


def stock(application: Stock) -> Callable[[Sequence[Received]], object]:
    """Save the same facts as domain events; taking them apart beforehand is not counted."""
    versions: dict[str, int] = {}

    def save(batch: Sequence[FactTold]) -> None:
        application.save(*batch)

    def told(batch: Sequence[Received]) -> list[FactTold]:
        events = []
        for one in batch:
            versions[one.tape] = version = versions.get(one.tape, 0) + 1
            attributes = unframe_attributes(one.attributes)
            events.append(FactTold(one.tape, version, attributes, json.loads(one.data)))
        return events

    save.prepare = told  # type: ignore[attr-defined] # read by `rate`
    return save  # type: ignore[return-value] # it takes what `prepare` gives


def stock_recorder(
    recorder: ApplicationRecorder,
) -> Callable[[Sequence[Received]], object]:
    """The library's recorder alone, given the same bytes as the state of its events."""
    versions: dict[str, int] = {}

    def insert(batch: Sequence[Received]) -> None:
        events = []
        for one in batch:
            place = f"recorder/{one.tape}"
            versions[place] = version = versions.get(place, 0) + 1
            events.append(StoredEvent(place, version, one.type, one.attributes + one.data))
        recorder.insert_events(events)

    return insert


def rate(save: Callable[[Sequence[Received]], object], batches: list[list[Received]]) -> float:
    """Facts a second; building the batches is not counted."""
    prepare = getattr(save, "prepare", list)
    prepared = [prepare(batch) for batch in batches]
    began = time.perf_counter()
    for batch in prepared:
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

    def __init__(
        self, stack: ExitStack, start: Callable[[Path], AbstractContextManager[str]] = embedded
    ) -> None:
        home = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="round-ledger-bench-")))
        self.server = server = stack.enter_context(start(home))
        self.numbers = Numbers()
        self.database = _database(server, "ours")
        self.tape = stack.enter_context(PostgresTape(self.database))
        bare = _database(server, "raw").url
        self.raw = raw(stack.enter_context(psycopg.connect(bare, autocommit=True)))
        self.application = _application(server, stack)
        self.recorder = self.application.recorder
        self.savers = {
            "ours": self.tape.append,
            "raw": self.raw,
            "stock": stock(self.application),
            "stock_recorder": stock_recorder(self.recorder),
        }

    def batches(self, count: int, size: int) -> list[list[Received]]:
        return [facts(self.numbers.take(size)) for _ in range(count)]


def _database(server: str, name: str) -> Database:
    create_database(server, name)
    url = conninfo.make_conninfo(server, dbname=name)
    migrate(url)
    return Database(url, url)


def _application(server: str, stack: ExitStack) -> Stock:
    create_database(server, "stock")
    at = conninfo.conninfo_to_dict(server)
    env = {
        "PERSISTENCE_MODULE": "eventsourcing.postgres",
        "ORIGINATOR_ID_TYPE": "text",
        "POSTGRES_DBNAME": "stock",
        "POSTGRES_HOST": str(at["host"]),
        "POSTGRES_PORT": "5432",
        "POSTGRES_USER": str(at["user"]),
        "POSTGRES_PASSWORD": "",
    }
    return stack.enter_context(Stock(env=env))


def bench_append(bench: Bench, size: int, count: int) -> dict[str, float]:
    """`size` facts a call from one writer, all interleaved.

    "stock" is the library as it comes, "stock_recorder" its recorder without application, mapper
    and JSON, "raw" a bare INSERT into the record's own tables and indexes. `flush_ms` is what the
    server says a flush of its log took: where that is long, all of them only wait for it.
    """
    flushes = Flushes(bench.server)
    rounds = [
        {name: rate(save, bench.batches(count, size)) for name, save in bench.savers.items()}
        for _ in range(ROUNDS)
    ]
    return {
        "flush_ms": flushes.mean_ms(),
        **{f"{name}_per_s": _median(rounds, name) for name in bench.savers},
        "ours_to_stock": _median(rounds, "ours", "stock"),
        "ours_to_stock_recorder": _median(rounds, "ours", "stock_recorder"),
        "ours_to_raw": _median(rounds, "ours", "raw"),
    }


def _median(rounds: list[dict[str, float]], name: str, to: str | None = None) -> float:
    """The median rate, or the median of each round's own ratio."""
    return round(statistics.median(one[name] / (one[to] if to else 1) for one in rounds), 2)


def bench_singles(bench: Bench, each: int, stock_each: int) -> dict[str, float]:
    """Single facts from many places at once: group commit against the library."""
    rounds = []
    flushes = Flushes(bench.server)
    for _ in range(THREADED_ROUNDS):
        with Committer(bench.tape) as committer:
            mine = in_threads(_alone(committer), THREADS, each, bench.numbers)
        rounds.append({"ours": mine, "stock": _stock_singles(bench, THREADS, stock_each)})
    return {
        "flush_ms": flushes.mean_ms(),
        "ours_per_s": _median(rounds, "ours"),
        "stock_recorder_per_s": _median(rounds, "stock"),
        "ours_to_stock_recorder": _median(rounds, "ours", "stock"),
    }


def _alone(committer: Committer) -> Callable[[int, Received], object]:
    return lambda _, one: committer.append([one])


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


def bench_slowed() -> dict[str, object]:
    """The same where a flush takes 2 ms: fewer of the library's, which waits for one each."""
    with ExitStack() as stack:
        try:
            bench = Bench(stack, slowed)
        except NotHereError as error:
            return {"skipped": str(error)}
        return dict(bench_singles(bench, each=50, stock_each=5))


def machine() -> dict[str, object]:
    return {
        "cpus": os.cpu_count(),
        "machine": platform.machine(),
        "python": platform.python_version(),
        "server": postgres_version(),
    }


def run() -> dict[str, object]:
    """Every figure of this file; about a minute."""
    with ExitStack() as stack:
        bench = Bench(stack)
        figures = {
            "machine": machine(),
            "append_1000_a_call": bench_append(bench, size=1_000, count=4),
            "append_50_a_call": bench_append(bench, size=50, count=40),
            "append_1_a_call": bench_append(bench, size=1, count=150),
            "singles_from_200_tables": bench_singles(bench, each=50, stock_each=25),
        }
    return {**figures, "singles_from_200_tables_flush_2_ms": bench_slowed()}


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
