"""The record verified, beside only reading the same rows and hashing what they hold.

By turns on one server: what else the machine does moves all alike.
"""

from __future__ import annotations

import time
from hashlib import sha256
from itertools import islice
from statistics import median
from typing import TYPE_CHECKING

from infra.postgres.tape import PostgresTape
from infra.postgres.verification.parallel import side_by_side
from ledger.record.verify import Expected, verify
from tests.benchmarks.bench_views import fill, floor, prepared
from tests.benchmarks.tools.served import place
from tests.scenes.dossiers import chained

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from infra.postgres.connection import Database
    from ledger.record.tape import TapeRow

FACTS, FACTS_DIVIDED = 100_000, 300_000
RUNS = 5
"""Measurements a figure is the median of."""


def run() -> dict[str, object]:
    """Rows a second; some two minutes."""
    held = list(islice(floor(), FACTS))
    copy = chained(held)
    expected = Expected(FACTS, copy.heads)
    beside = [(row, None) for row in copy.rows]
    with place() as at:
        database = prepared(at.url)
        fill(database, iter(held), FACTS)
        with PostgresTape(database) as tape:
            return {
                "rows": FACTS,
                "in_memory": _beside(
                    "hashed", lambda: _hashed(copy.rows),
                    lambda: verify(beside, expected, identities_listed=False).broken,
                ),
                "with_the_database": _beside(
                    "read", lambda: _read(tape), lambda: tape.verify().broken
                ),
                "by_two_processes": _by_two(database),
            }  # fmt: skip


def _by_two(database: Database) -> dict[str, float]:
    """Seconds of `verify` by one process and by two, by turns, over a longer record."""
    fill(database, islice(floor(), FACTS, None), FACTS_DIVIDED - FACTS)
    turns = [(_verified_s(database, 1), _verified_s(database, 2)) for _ in range(RUNS)]
    return {
        "rows": FACTS_DIVIDED,
        "one_s": median(one for one, _ in turns),
        "two_s": median(two for _, two in turns),
        "two_to_one": median(one / two for one, two in turns),
    }


def _verified_s(database: Database, workers: int) -> float:
    with PostgresTape(database) as tape:
        start = time.perf_counter()
        seen = tape.verify((), None, lambda expected: side_by_side(database, expected, workers))
        took = time.perf_counter() - start
    if seen.broken:
        raise SystemExit(f"the record does not hold: {seen.broken}")
    return took


def _beside(
    bare: str, other: Callable[[], object], verified: Callable[[], object]
) -> dict[str, float]:
    """Both by turns: rows a second of each, and the median of the turns' own ratios."""
    others, ours = [], []
    for _ in range(RUNS):
        start = time.perf_counter()
        other()
        between = time.perf_counter()
        if broken := verified():
            raise SystemExit(f"the record does not hold: {broken}")
        others.append(between - start)
        ours.append(time.perf_counter() - between)
    return {
        "verified_per_s": round(FACTS / median(ours)),
        f"{bare}_per_s": round(FACTS / median(others)),
        f"verified_to_{bare}": median(a / b for a, b in zip(others, ours, strict=True)),
    }


def _hashed(rows: Sequence[TapeRow]) -> None:
    """As many bytes hashed as often as a chain needs, and nothing compared."""
    for row in rows:
        sha256(sha256(row.data).digest() + sha256(row.attributes).digest())


def _read(tape: PostgresTape) -> None:
    after = 0
    while rows := tape.read(after, 2_000):
        after = rows[-1].position
