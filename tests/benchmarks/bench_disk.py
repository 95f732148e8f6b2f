"""What a fact takes on disk: rows, each index, the log that PostgreSQL writes first, the views.

One simulated day of play, kept 50 facts a call and then one a call, which costs more log. Bytes
that came in are beside it, so that a ratio can be read.
"""

from __future__ import annotations

import itertools
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

import psycopg
from psycopg import conninfo

from consumers.registry import VIEWS, install
from consumers.runtime.lifecycle import catch_up
from infra.postgres.connection import Database, create_database
from infra.postgres.migrations import migrate
from infra.postgres.server.embedded import embedded
from infra.postgres.tape import PostgresTape
from infra.postgres.view_tables import tape_source
from ledger.record.tape import Received
from ledger.record.wire import parse_line
from ledger.simulate import line, plan_of, simulate

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

FACTS, SINGLES = 100_000, 5_000
"""Facts kept 50 a call, and of these so many more one a call."""

TABLES, MINUTES = 20, 8 * 60

SIZES = """
SELECT n.nspname || '.' || c.relname, pg_table_size(c.oid)
  FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
 WHERE n.nspname IN ('ledger', 'views') AND c.relkind = 'r'
UNION ALL
SELECT n.nspname || '.' || c.relname, pg_relation_size(c.oid)
  FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
 WHERE n.nspname IN ('ledger', 'views') AND c.relkind = 'i'
"""


def run() -> dict[str, object]:
    """Every figure of this file; about half a minute."""
    with tempfile.TemporaryDirectory(prefix="round-ledger-bench-") as folder:
        home = Path(folder)
        with embedded(home) as server:
            create_database(server, "bench")
            url = conninfo.make_conninfo(server, dbname="bench")
            migrate(url)
            database = Database(url, url)
            feed = floor()
            log = {
                "log_at_50_a_call": kept(database, list(itertools.islice(feed, FACTS)), 50),
                "log_at_1_a_call": kept(database, list(itertools.islice(feed, SINGLES)), 1),
            }
            install(database)
            with tape_source(database) as source:
                catch_up(database, source, VIEWS)
            return {"facts": FACTS + SINGLES, "octets_a_fact": {**log, **sizes(url)}}


def floor() -> Iterator[Received]:
    """The facts of a simulated day, as they are received. Raises SystemExit where it is short."""
    plan = plan_of(tables=TABLES, minutes=MINUTES, seed=1)
    for emitted in simulate(plan):
        parsed = parse_line(line(plan, emitted.fact))
        if isinstance(parsed, Received):
            yield parsed
    raise SystemExit("the simulated day has too few facts for this benchmark")


def kept(database: Database, facts: Sequence[Received], size: int) -> float:
    """Keep them, `size` a call; bytes of PostgreSQL's log a fact."""
    with (
        PostgresTape(database) as tape,
        psycopg.connect(database.url, autocommit=True) as connection,
    ):
        connection.execute(
            "CHECKPOINT"
        )  # each begins alike: the first touch of a page is logged whole
        before = _log_octets(connection)
        for first in range(0, len(facts), size):
            tape.append(facts[first : first + size])
        return round((_log_octets(connection) - before) / len(facts), 1)


def sizes(url: str) -> dict[str, float]:
    """Bytes a fact of each table and index of the record, of all views, and as received."""
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute("VACUUM")  # page maps are of the size they keep
        received, count = connection.execute(
            "SELECT sum(octet_length(attributes) + octet_length(state)), count(*) FROM ledger.tape"
        ).fetchone() or (0, 0)
        octets = {name: int(size) / int(count) for name, size in connection.execute(SIZES)}
    record = {name: each for name, each in octets.items() if name.startswith("ledger.")}
    told = {name.partition(".")[2]: each for name, each in record.items() if each >= 1}
    told["record_in_all"] = sum(record.values())
    told["views_in_all"] = sum(octets.values()) - told["record_in_all"]
    told["received"] = int(received) / int(count)
    told["record_to_received"] = told["record_in_all"] / told["received"]
    return {name: round(each, 2) for name, each in told.items()}


def _log_octets(connection: psycopg.Connection[tuple[object, ...]]) -> int:
    row = connection.execute("SELECT pg_wal_lsn_diff(pg_current_wal_lsn(), '0/0')").fetchone()
    return int(str(row[0])) if row else 0
