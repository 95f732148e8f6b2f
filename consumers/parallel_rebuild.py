"""Rebuilding a view with several processes, each applying the facts of its partitions.

It needs a view with `part_of`, so that two processes never write the same row. Each process reads
the whole record, which is cheap, and applies its part. They fill shadow tables that have no readers
yet. The checkpoint moves once, when all have reached the end (ADR 0110).
"""

from __future__ import annotations

import signal
from contextlib import ExitStack
from multiprocessing import get_context
from time import sleep
from typing import TYPE_CHECKING, Any, NamedTuple

from consumers import registry
from consumers.runtime.runner import BATCH_ROWS, refused
from consumers.runtime.source import Batch, Feed
from infra.kafka.feed_source import feed_source
from infra.kafka.records import partition_of
from infra.postgres import view_tables
from infra.postgres.view_tables import SHADOW_SCHEMA, ViewStore, tape_source
from ledger.errors import LedgerError, Unavailable

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from multiprocessing.process import BaseProcess

    from consumers.runtime.source import Projection, RecordSource
    from infra.kafka.clients import Connection
    from infra.postgres.connection import AnyConnection, Database
    from ledger.record.tape import TapeRow

PARTITIONS = 24
"""The partitions of a record: as many as the facts' topic has, by the same hash."""

WORKERS_MAX = PARTITIONS

_LOOK_S = 0.1
_STOP_S = 1.0


class Share(NamedTuple):
    """The source and the part of one worker process."""

    database: Database
    kafka: Connection | None  # the feed to read; None: read the tape
    view: str
    number: int
    workers: int
    until: int  # the position to reach


def fill(
    connection: AnyConnection,
    share: Share,
    *,
    progress: Callable[[str, int], None],
    stop: Callable[[], bool],
) -> bool:
    """Fill a view's shadow tables up to `share.until` with `share.workers` processes.

    `connection` holds the lock of the rebuild; the checkpoint moves when all workers are done.
    Returns False if stopped. Raises a worker's error, or `Unavailable` if a worker died.
    """
    context = get_context("spawn")
    reached = context.Array("q", share.workers, lock=False)
    told: Any = context.SimpleQueue()
    halt = context.Event()
    workers = [
        context.Process(
            target=_work,
            args=(share._replace(number=number), reached, told, halt),
            name=f"rebuild {share.view} {number}",
            daemon=True,
        )
        for number in range(share.workers)
    ]
    with ExitStack() as ending:
        for each in workers:
            each.start()
            ending.callback(_await, each, stop)
        ending.callback(halt.set)
        while any(each.is_alive() for each in workers) and not stop():
            if any(each.exitcode for each in workers):
                break
            progress(share.view, min(reached))
            sleep(_LOOK_S)
        stopped = stop()
    if stopped:
        return False
    if not told.empty():
        raise told.get()
    if died := [each for each in workers if each.exitcode]:
        raise Unavailable(
            f"A worker of the rebuild ended unexpectedly (exit code {died[0].exitcode})",
            where=f"view {share.view}",
            hint="The live view is unchanged. Rebuild again with fewer workers.",
        )
    return _moved(connection, share)


def _await(worker: BaseProcess, stop: Callable[[], bool]) -> None:
    """Return when a worker has ended. One that is to stop is ended amid its batch."""
    worker.join(_STOP_S if stop() else None)
    if worker.is_alive():
        worker.terminate()
        worker.join()


def takes(projection: Projection, number: int, workers: int) -> Callable[[TapeRow], bool]:
    """A test for the rows that one of several workers applies."""
    part_of = projection.part_of
    if part_of is None:
        raise ValueError(f"view {projection.name} cannot be split: it has no part_of")

    def mine(row: TapeRow) -> bool:
        part = part_of(row)
        return part is not None and partition_of(part.encode(), PARTITIONS) % workers == number

    return mine


def _moved(connection: AnyConnection, share: Share) -> bool:
    """Move the checkpoint of the whole view to the end."""
    store = ViewStore(connection, SHADOW_SCHEMA)
    tracking = store.tracking(share.view)
    return tracking is not None and store.advance(share.view, tracking, share.until)


def _work(share: Share, reached: Any, told: Any, halt: Any) -> None:  # noqa: ANN401 - shared memory
    """One worker: apply its rows of every batch, a transaction each."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent gets the signal and stops the workers
    try:
        projection = registry.view(share.view)
        mine = takes(projection, share.number, share.workers)
        with ExitStack() as open_:
            source: RecordSource = (
                open_.enter_context(feed_source(share.database, share.kafka, []))
                if share.kafka
                else open_.enter_context(tape_source(share.database))
            )
            store = ViewStore(
                open_.enter_context(view_tables.writing(share.database, SHADOW_SCHEMA)),
                SHADOW_SCHEMA,
            )
            while reached[share.number] < share.until and not halt.is_set():
                rows = source.read(reached[share.number], BATCH_ROWS)
                if rows:
                    _take(
                        store, projection, source, rows[: share.until - rows[0].position + 1], mine
                    )
                    reached[share.number] = rows[-1].position
    except LedgerError as error:
        told.put(error)


def _take(
    store: ViewStore,
    projection: Projection,
    source: RecordSource,
    rows: Sequence[TapeRow],
    mine: Callable[[TapeRow], bool],
) -> None:
    if isinstance(source, Feed) and (found := source.poisoned(rows[0].position, rows[-1].position)):
        raise refused(found[0])
    batch = Batch(rows)
    projection.require_read(batch)  # of every part: an unknown fact's part is unknown
    wanted = [row for row in rows if mine(row)]
    if wanted:
        with store.connection.transaction():
            projection.apply(store, batch.of(wanted))
