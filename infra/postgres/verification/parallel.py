"""The chains of the record verified by several processes, a stretch of positions each.

They only ever say that all is well. If a row is unusual, or a process ends, nothing is said, and
one process reads the record from its beginning (ADR 0188).
"""

from __future__ import annotations

import signal
from contextlib import suppress
from multiprocessing import get_context
from multiprocessing.connection import wait
from typing import TYPE_CHECKING, NamedTuple

from infra.postgres import tape
from infra.postgres.connection import translated
from ledger.errors import LedgerError
from ledger.record.verify_parts import Stretch, VerifiedPart, joined, stretches, verify_part

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from multiprocessing.connection import Connection
    from multiprocessing.context import SpawnProcess

    from infra.postgres.connection import AnyConnection, Database
    from ledger.record.tape import Head
    from ledger.record.verify import Expected, Verified

WORKERS_MAX = 16

PART_ROWS_MIN = 20_000
"""A process verifies at least so many rows: it takes as long as that to start one."""


class _Work(NamedTuple):
    """What one process verifies."""

    database: Database
    stretch: Stretch
    kept: Sequence[Head]


def side_by_side(
    database: Database,
    expected: Expected,
    workers: int,
    progress: Callable[[int, int], None] | None = None,
    rows_min: int = PART_ROWS_MIN,
) -> Verified | None:
    """The result of `verify` for an unbroken record; None if there is anything unusual in it."""
    count = min(workers, expected.tip // rows_min)
    if count < 2:  # noqa: PLR2004 - one process needs no other
        return None
    with database.connect("ledger_reader") as connection:
        if any(tape.beyond(connection)):
            return None
    work = [_Work(database, each, expected.kept) for each in stretches(expected.tip, count)]
    return joined(_parts(work, lambda rows: progress and progress(rows, expected.tip)), expected)


def _parts(work: Sequence[_Work], progress: Callable[[int], object]) -> list[VerifiedPart | None]:
    """The part of each process; None of one that found something unusual, or ended."""
    context = get_context("spawn")
    begun: dict[Connection, SpawnProcess] = {}
    rows: dict[Connection, int] = {}
    parts: dict[Connection, VerifiedPart | None] = {}
    try:
        for each in work:
            ours, theirs = context.Pipe(duplex=False)
            process = context.Process(target=_work, args=(each, theirs), daemon=True)
            process.start()
            theirs.close()
            begun[ours] = process
        while len(parts) < len(work) and all(parts.values()):
            ready = wait(set(begun) - set(parts))
            for ours in [each for each in begun if each in ready]:
                told = _told(ours)
                if isinstance(told, int):
                    rows[ours] = told
                    progress(sum(rows.values()))
                else:
                    parts[ours] = told
    finally:
        for ours, process in begun.items():
            process.terminate()
            process.join()
            ours.close()
    return [parts.get(ours) for ours in begun]


def _told(ours: Connection) -> VerifiedPart | int | None:
    """What a process said: its part, or how many rows it has done; None: it ended."""
    with suppress(EOFError, OSError):
        said: VerifiedPart | int | None = ours.recv()
        return said
    return None


def _work(work: _Work, told: Connection) -> None:
    """One process."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent gets the signal and ends this one
    database = work.database
    with (
        suppress(LedgerError),
        translated(database),
        database.connect("ledger_reader") as connection,
    ):
        told.send(_part(work, connection, told.send))


def _part(
    work: _Work, connection: AnyConnection, progress: Callable[[int], None]
) -> VerifiedPart | None:
    def hash_of(name: str, table_seq: int) -> bytes | None:
        rows = tape.rows_of(connection, name, [(table_seq, table_seq)])
        return rows[0].hash if rows else None

    rows = tape.to_verify(connection, *work.stretch)
    return verify_part(rows, work.stretch, hash_of, work.kept, progress)
