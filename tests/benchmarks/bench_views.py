"""How fast views follow the record, and how long fetching and ruling on one round takes.

Rates are on one simulated floor, each view alone, as ratios to plain decoding in the same run.
Latencies are measured as the record grows, warm and after a restart of the server. Run as `python
-m tests.benchmarks.bench_views [--facts N]`, where 10000000 takes about half an hour.
"""

from __future__ import annotations

import argparse
import json
import random
import statistics
import subprocess
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING

from psycopg import conninfo

from consumers.registry import VIEWS, install
from consumers.rounds.index import ROUND_INDEX, TAPES, facts_of
from consumers.rulings import rulings
from consumers.runtime.lifecycle import catch_up
from infra.postgres.connection import Database, create_database
from infra.postgres.migrations import migrate
from infra.postgres.server.embedded import embedded
from infra.postgres.tape import PostgresTape
from infra.postgres.view_tables import reading, tape_source
from ledger.facts import RulesSubmissionFiled
from ledger.record.tape import Received
from ledger.record.wire import fact_of, parse_line
from ledger.simulate import line, plan_of, simulate
from ledger.values import RoundId

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from consumers.runtime.lifecycle import Projection
    from infra.postgres.view_tables import ViewStore

FACTS = (100_000, 1_000_000)
"""Sizes of the record at which a round is fetched."""

TABLES, MINUTES = 20, 2 * 60
ROUNDS_COLD, ROUNDS_WARM = 200, 1_000
RUNS = 3
"""Measurements a rate is the median of."""


def run(sizes: Sequence[int] = FACTS) -> dict[str, object]:
    """Every figure, at these sizes of the record."""
    figures: dict[str, object] = {}
    feed = floor()
    with tempfile.TemporaryDirectory(prefix="round-ledger-bench-") as folder:
        home = Path(folder)
        held = 0
        for size in sizes:
            with embedded(home) as server:
                database = prepared(server)
                fill(database, feed, size - held)
                held = size
                if size == sizes[0]:
                    figures["facts_per_s"] = rates(database, held)
                follow_up(database)
                rounds = some_rounds(database)
                checkpoint(database)
            figures[f"round_ms_at_{size}"] = latencies(home, rounds)
    return figures


def floor() -> Iterator[Received]:
    """Gaming days of simulated facts as received, one after the other, for ever."""
    for parsed in map(parse_line, days()):
        if isinstance(parsed, Received):
            yield parsed


def days() -> Iterator[bytes]:
    """The lines of gaming days of simulated facts, one after the other, for ever."""
    for day in range(1, 1000):
        plan = plan_of(
            tables=TABLES,
            minutes=MINUTES,
            seed=day,
            opens_minute=600,
            gaming_day=f"{2026 + day // 336}-{day // 28 % 12 + 1:02d}-{day % 28 + 1:02d}",
        )
        for emitted in simulate(plan):
            # The office files once: one more filing rules on every round since its day again.
            if day == 1 or not isinstance(emitted.fact.body, RulesSubmissionFiled):
                yield line(plan, emitted.fact)


def prepared(server: str) -> Database:
    """The database of the benchmark, migrated, its views installed."""
    create_database(server, "bench")
    url = conninfo.make_conninfo(server, dbname="bench")
    migrate(url)
    database = Database(url, url)
    install(database)
    return database


def fill(database: Database, feed: Iterator[Received], count: int) -> None:
    """Put so many more facts on the tape."""
    with PostgresTape(database) as tape:
        batch: list[Received] = []
        for number, fact in enumerate(feed, 1):
            batch.append(fact)
            if len(batch) == 1000 or number == count:
                tape.append(batch)
                batch = []
            if number == count:
                return


def rates(database: Database, facts: int) -> dict[str, object]:
    """Facts a second of decoding alone, and of each view alone from an empty view."""
    found: dict[str, object] = {}
    with tape_source(database) as source:
        decoding = statistics.median(timed(lambda: decode_all(source, facts)) for _ in range(RUNS))
        found["read_and_decoded"] = facts / decoding
        for view in VIEWS:
            seconds = [timed_from_empty(database, source, view) for _ in range(RUNS)]
            rate = facts / statistics.median(seconds)
            found[view.name] = rate
            found[f"{view.name}_to_decoding"] = rate / (facts / decoding)
    return found


def decode_all(source: object, facts: int) -> None:
    """Read the record and decode every fact."""
    after = 0
    while after < facts:
        rows = source.read(after, 2000)  # type: ignore[attr-defined] # a RecordSource
        for row in rows:
            fact_of(row)
        after = rows[-1].position


def timed_from_empty(database: Database, source: object, view: Projection) -> float:
    """Seconds a view takes from nothing to the end of the record."""
    emptied(database, view)
    return timed(lambda: catch_up(database, source, [view]))  # type: ignore[arg-type] # as above


def emptied(database: Database, view: Projection) -> None:
    """Leave a view whole, and as it was before the first fact."""
    with database.connect("ledger_owner") as connection:
        for table in view.tables:
            connection.execute(f"TRUNCATE views.{table.name}".encode())
        connection.execute("DELETE FROM views.parts WHERE view = %s", (view.name,))
        connection.execute("UPDATE views.tracking SET position = 0 WHERE view = %s", (view.name,))


def timed(work: object) -> float:
    """Seconds that a call takes."""
    start = time.perf_counter()
    work()  # type: ignore[operator] # a callable without arguments
    return time.perf_counter() - start


def follow_up(database: Database) -> None:
    """Bring the two views that a round is fetched with to the end of the record."""
    with tape_source(database) as source:
        catch_up(database, source, [ROUND_INDEX, rulings.VIEW])


def some_rounds(database: Database) -> list[RoundId]:
    """Rounds from all over the record, by chance."""
    with reading(database, [ROUND_INDEX.tables[0].name]) as store:
        rows = store.query("SELECT property, table_name, gaming_day, number FROM {schema}.rounds")
    return random.Random(1).sample([RoundId(*row) for row in rows], ROUNDS_WARM)  # noqa: S311 - repeatable


def checkpoint(database: Database) -> None:
    """Leave the server nothing to catch up with after its restart."""
    with database.connect("ledger_owner") as connection:
        connection.execute("SET ROLE NONE")
        connection.execute("VACUUM ANALYZE")
        connection.execute("CHECKPOINT")


def latencies(home: Path, rounds: Sequence[RoundId]) -> dict[str, object]:
    """Milliseconds of fetching a round's facts, and of fetching and ruling on it."""
    cold = drop_caches()
    with embedded(home) as server:
        database = prepared(server)
        with reading(database, [*rulings.tables_to_read(), TAPES.name]) as store:
            first = [ruled_ms(store, round_) for round_ in rounds[:ROUNDS_COLD]]
            for round_ in rounds:
                ruled_ms(store, round_)
            warm = [ruled_ms(store, round_) for round_ in rounds]
            fetched = [fetched_ms(store, round_) for round_ in rounds]
    return {
        "caches": "server restarted, page cache dropped" if cold else "server restarted",
        "cold_fetch_and_rule": spread(first),
        "warm_fetch_and_rule": spread(warm),
        "warm_fetch": spread(fetched),
    }


def ruled_ms(store: ViewStore, round_: RoundId) -> float:
    """Milliseconds to fetch a round with what stands around it, and rule on it."""
    start = time.perf_counter()
    ruling = rulings.again(store, round_)
    took = time.perf_counter() - start
    if ruling is None:
        raise SystemExit(f"no ruling on {round_}: the benchmark's feed is wrong")
    return took * 1000


def fetched_ms(store: ViewStore, round_: RoundId) -> float:
    """Milliseconds to fetch and decode a round's own facts."""
    start = time.perf_counter()
    for row in facts_of(store, round_):
        fact_of(row)
    return (time.perf_counter() - start) * 1000


def drop_caches() -> bool:
    """Empty the kernel's page cache where that is allowed."""
    subprocess.run(["/bin/sync"], check=True)
    try:
        Path("/proc/sys/vm/drop_caches").write_text("3\n")
    except OSError:
        return False
    return True


def spread(milliseconds: Sequence[float]) -> dict[str, float]:
    """Median, 99th percentile and longest."""
    ordered = sorted(milliseconds)
    return {
        "p50": round(statistics.median(ordered), 2),
        "p99": round(ordered[int(len(ordered) * 0.99)], 2),
        "max": round(ordered[-1], 2),
    }


def main() -> None:
    """Run it alone."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--facts", type=int, default=FACTS[-1], help="size of the largest record")
    parser.add_argument("--json", type=Path)
    asked = parser.parse_args()
    sizes = [size for size in (10**5, 10**6, 10**7) if size < asked.facts] + [asked.facts]
    text = json.dumps(run(sizes), indent=2)
    print(text)  # noqa: T201 - a script's answer
    if asked.json:
        asked.json.write_text(text + "\n")


if __name__ == "__main__":
    main()
