"""How long the wins of a gaming day of 200 tables take, with a year of days on record.

A plain SQL sum of the same rows stands beside it. Rows of rounds are made by arithmetic, since
playing a year takes days (`tests/benchmarks/tools/finance_year.py`). Run as `python -m
tests.benchmarks.bench_finance [--elsewhere 960]` for a year with every round: 17 GB of disk.
"""

from __future__ import annotations

import argparse
import json
import statistics
import sys
import tempfile
import time
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from psycopg import conninfo

from consumers.finance import journal, round_sums, variances, wins
from consumers.finance.sealed import sealed_journal, sealed_wins, seals
from consumers.registry import install
from consumers.rulings.tables import MONEY
from consumers.runtime.lifecycle import catch_up
from infra.postgres.connection import Database, create_database
from infra.postgres.migrations import migrate
from infra.postgres.server.embedded import embedded
from infra.postgres.tape import PostgresTape
from infra.postgres.view_tables import reading, tape_source
from ledger.facts import DaySealed
from ledger.finance import day_versions
from ledger.finance.groups import grouped
from ledger.finance.statistics.hold import LIMITS, VarianceAsked
from ledger.finance.win import REPORT
from ledger.record.tape import Received
from ledger.record.wire import encode, parse_line
from replay.shell.collector import collect_seldom
from tests.benchmarks.tools.finance_year import (
    ASKED,
    DAYS,
    ELSEWHERE,
    FIRST,
    HOUSE,
    ROUNDS,
    TABLES,
    fill_views,
    record_papers,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from ledger.finance.win import TableWin

T = TypeVar("T")

RUNS = 5
"""Measurements a figure is the median of."""

_SUM = (
    "SELECT table_name, sum(moved), sum(owed), sum(handle), sum(cage_paid)"  # noqa: S608 - our own name
    f" FROM {{schema}}.{MONEY.name} WHERE {{where}} GROUP BY table_name, gaming_day"
)


def run(elsewhere: int = ELSEWHERE) -> dict[str, object]:
    """Every figure, in seconds; some minutes, most of them to fill the views."""
    collect_seldom()
    with tempfile.TemporaryDirectory(prefix="round-ledger-bench-") as folder:
        home = Path(folder)
        with embedded(home) as server:
            database = prepared(server)
            filled = noted("filled", lambda: fill(database, elsewhere))
            parts: dict[str, Callable[[], dict[str, float]]] = {
                "day_s": lambda: of_day(database),
                "closed_day_s": lambda: of_closed_day(database, home / "kept"),
                "year_s": lambda: of_year(database),
                "seals_s": lambda: of_seals(database),
                "statistics_s": lambda: of_statistics(database, home / "kept"),
            }
            return {
                "tables": TABLES,
                "days": DAYS,
                "rounds_a_table": filled,
                **{name: noted(name, part) for name, part in parts.items()},
            }


def noted(name: str, part: Callable[[], T]) -> T:
    """What a part gives, with its figures on stderr at once: the whole takes many minutes."""
    found = part()
    print(f"{name} {json.dumps(found)}", file=sys.stderr, flush=True)  # noqa: T201 - a script's answer
    return found


def fill(database: Database, elsewhere: int) -> dict[str, int]:
    """A year of papers and rounds in the views; returns the rounds of a table and day."""
    record_papers(database)
    with tape_source(database) as source:
        catch_up(database, source, sealed_wins.VIEWS)
    fill_views(database, ROUNDS, elsewhere)
    return {"on_the_day": ROUNDS, "on_other_days": elsewhere}


def prepared(server: str) -> Database:
    """The database of the benchmark, migrated, its views installed."""
    create_database(server, "bench")
    url = conninfo.make_conninfo(server, dbname="bench")
    migrate(url)
    database = Database(url, url)
    install(database)
    return database


def of_day(database: Database) -> dict[str, float]:
    """Seconds that one day takes."""
    found = wins.read(database, gaming_day=ASKED)
    if len(found) != TABLES or any(each.missing for each in found):
        raise SystemExit("the benchmark's day is wrong")
    figures = {
        "wins": lambda: sealed_wins.read(database, gaming_day=ASKED),
        "one_table": lambda: sealed_wins.read(database, gaming_day=ASKED, table="T-007"),
        "pinned_to_close": lambda: sealed_wins.pinned_now(database, HOUSE, ASKED),
        "journal": lambda: journal.read(database, gaming_day=ASKED),
        "worked_out": lambda: worked_out(database),
        "plain_sum": lambda: summed(database, f"gaming_day = '{ASKED}'"),
    }
    took = {name: timed(work) for name, work in figures.items()}
    return {**took, "wins_to_plain_sum": took["wins"] / took["plain_sum"]}


def worked_out(database: Database) -> None:
    """All that closes a day: its wins at the pinned numbers, their sums, and its journal."""
    found = sealed_wins.pinned_now(database, HOUSE, ASKED).wins.tables
    grouped(found, "house")
    journal.read(database, gaming_day=ASKED)


def of_closed_day(database: Database, kept: Path) -> dict[str, float]:
    """Seconds that the wins of a closed day take, with what came later; `kept`: its version."""
    pinned = sealed_wins.pinned_now(database, HOUSE, ASKED)
    kept.mkdir()
    record(database, [sealed(kept, pinned.wins.tables, pinned.heads)])
    found = sealed_wins.read(database, gaming_day=ASKED, kept=kept)
    if any(each.version != 1 or each.late for each in found):
        raise SystemExit("the benchmark's closed day is wrong")
    return {"wins": timed(lambda: sealed_wins.read(database, gaming_day=ASKED, kept=kept))}


def sealed(kept: Path, found: Sequence[TableWin], heads: dict[str, int]) -> Received:
    """The fact that closes a day as it is; what it says is kept."""
    said = day_versions.sealed(found, 1)
    day = said[0].gaming_day
    seal = DaySealed(
        gaming_day=day,
        version=1,
        heads=heads,
        rules="1",
        report=REPORT,
        digest=day_versions.digest(said),
        by="F-1",
        second="F-2",
    )
    sealed_wins.keep(kept, seal.digest, said)
    octets = encode(seal, f"/{HOUSE}/office/desk", f"seal-{day}", 1_795_000_000_000_000)
    parsed = parse_line(octets)
    if not isinstance(parsed, Received):
        raise SystemExit(f"the benchmark's seal is wrong: {parsed}")
    return parsed


def record(database: Database, facts: Sequence[Received]) -> None:
    """Put facts on the tape, and let the views read them."""
    with PostgresTape(database) as tape:
        tape.append(facts)
    with tape_source(database) as source:
        catch_up(database, source, sealed_wins.VIEWS)


def of_seals(database: Database) -> dict[str, float]:
    """Seconds that the view `seals` takes for the entries of the closed day, in its transaction."""

    def entries() -> None:
        with reading(database, TABLES_READ) as store:
            found = seals.entries_of(store, HOUSE, ASKED)
            if not found or not list(sealed_journal.messages(found)):
                raise SystemExit("the benchmark's entries are wrong")

    return {"entries": timed(entries)}


TABLES_READ = [each.name for view in (*journal.VIEWS, seals.VIEW) for each in view.tables]


def of_statistics(database: Database, kept: Path) -> dict[str, float]:
    """Seconds that a year's hold beside its limits takes while its days are open, then closed."""
    asked = VarianceAsked(HOUSE, "table", "year", DAYS_LABELS[-1])

    def read() -> None:
        if len(variances.read(database, asked, LIMITS, kept)) != TABLES:
            raise SystemExit("the benchmark's statistics are wrong")

    took = timed(read, 1)
    found = (wins.read(database, gaming_day=day) for day in DAYS_LABELS if day != ASKED)
    record(database, [sealed(kept, its, {"T-001": 1}) for its in found])
    return {"every_open_day": took, "closed_days": timed(read, 1)}


DAYS_LABELS = [(FIRST + timedelta(days=nth)).isoformat() for nth in range(DAYS)]


def of_year(database: Database) -> dict[str, float]:
    """Seconds that the sums of every table and day of the year take, a day at a time."""

    def sums() -> None:
        with reading(database, [MONEY.name]) as store:
            for day in DAYS_LABELS:
                asked = {"property": None, "table": None, "days": [day]}
                round_sums.of_days(store, asked, recorded=False)

    def plain() -> None:
        for day in DAYS_LABELS:
            summed(database, f"gaming_day = '{day}'")

    return {"sums": timed(sums, 1), "plain_sum": timed(plain, 1)}


def summed(database: Database, where: str) -> None:
    """The plain sum of rounds."""
    with reading(database, [MONEY.name]) as store:
        store.query(_SUM.replace("{where}", where))


def timed(work: Callable[[], object], runs: int = RUNS) -> float:
    """The median of the seconds that a call takes."""
    took = []
    for _ in range(runs):
        start = time.perf_counter()
        work()
        took.append(time.perf_counter() - start)
    return statistics.median(took)


def main() -> None:
    """Run it alone."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--elsewhere", type=int, default=ELSEWHERE, help="rounds of other days")
    asked = parser.parse_args()
    print(json.dumps(run(asked.elsewhere), indent=2))  # noqa: T201 - a script's answer


if __name__ == "__main__":
    main()
