"""The views of the simulation: plain, so that what a runner makes of them is what is tested.

One depends on the order of all facts, one speaks, and the program of one fails on a fact.
"""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING, Any

from consumers.runtime.source import Batch, OutboxMapping, Projection
from infra.postgres.view_tables import Column, ViewStore, ViewTable

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ledger.record.tape import TapeRow

TOLD = "ledger.table-state.v1"
BAD = b'{"bad":1}'
"""What the program of one view fails on."""


def _table(name: str, *cells: str) -> ViewTable:
    return ViewTable(name, name, 1, tuple(Column(cell, "text", cell) for cell in ("key", *cells)))


CHAIN = _table("chain", "digest")
SUMS = _table("sums", "facts", "digest")
COUNTS = _table("counts", "facts")


def chained(digest: str, row: TapeRow) -> str:
    """Depends on every fact taken so far and on their order."""
    octets = f"{digest}/{row.position}/{row.id}/".encode() + row.data
    return hashlib.sha256(octets).hexdigest()[:16]


def _chain(store: ViewStore, batch: Batch) -> None:
    row = store.load(CHAIN, [("all",)]).get(("all",), ("all", ""))
    digest = row[1]
    for each in batch.rows:
        digest = chained(digest, each)
    store.save(CHAIN, [("all", digest)])


def _sums(store: ViewStore, batch: Batch) -> None:
    tapes = dict.fromkeys((each.tape,) for each in batch.rows)
    rows = {key: [*row] for key, row in store.load(SUMS, tapes).items()}
    for each in batch.rows:
        row = rows.setdefault((each.tape,), [each.tape, 0, ""])
        row[1], row[2] = row[1] + 1, chained(row[2], each)
    store.save(SUMS, [tuple(row) for row in rows.values()])


def _counts(store: ViewStore, batch: Batch) -> None:
    tapes = dict.fromkeys((each.tape,) for each in batch.rows)
    rows = {key: row[1] for key, row in store.load(COUNTS, tapes).items()}
    for each in batch.rows:
        if each.data == BAD:
            raise ZeroDivisionError("a program that fails on this fact")
        rows[each.tape,] = rows.get((each.tape,), 0) + 1
    store.save(COUNTS, [(key[0], count) for key, count in rows.items()])


def body(row: Sequence[Any]) -> str:
    return f'{{"facts":{row[1]},"digest":"{row[2]}"}}'


VIEWS = (
    Projection("chain", 1, (CHAIN,), _chain),
    Projection(
        "sums",
        1,
        (SUMS,),
        _sums,
        ordered=False,
        tells=(OutboxMapping(TOLD, SUMS, 1, body, compacted=True),),
    ),
    Projection("counts", 1, (COUNTS,), _counts, ordered=False),
)
NAMES = [each.name for each in VIEWS]
