"""Rebuilding a view with several processes, each applying the facts of its partitions.

It needs a view that names its parts, so that two processes never write the same row. Each process
reads what its part may hear (ADR 0208), and applies it. They fill shadow tables that have no
readers yet. The checkpoint moves once, when all have reached the end (ADR 0110). What several parts
depend on is heard by all processes, each as of its own position (ADR 0184).
"""

from __future__ import annotations

import signal
from contextlib import ExitStack
from multiprocessing import get_context
from multiprocessing.connection import wait
from typing import TYPE_CHECKING, Any, NamedTuple

from consumers import registry
from consumers.runtime.lifecycle import require_rebuild
from consumers.runtime.runner import REBUILD_ROWS, refused
from consumers.runtime.share_reader import ShareReader
from consumers.runtime.source import PARTITIONS, Batch, Feed, FencedError, Share
from infra.kafka.records import partition_of
from infra.postgres import view_tables
from infra.postgres.tape import heads
from infra.postgres.view_tables import SHADOW_SCHEMA, ViewStore, tape_source
from ledger.errors import LedgerError, Unavailable

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from contextlib import AbstractContextManager
    from multiprocessing.process import BaseProcess

    from consumers.runtime.source import Projection, RecordSource
    from infra.kafka.clients import Connection
    from infra.postgres.connection import AnyConnection, Database
    from ledger.record.tape import TapeRow

WORKERS_MAX = PARTITIONS

_LOOK_S = 0.1
_STOP_S = 1.0


class Work(NamedTuple):
    """The source and the share of one worker process."""

    database: Database
    kafka: Connection | None  # the feed to read; None: read the tape
    view: str
    share: Share  # before the processes are made: of how many
    until: int  # the position to reach
    by: int = 0  # the server process of the rebuild's connection, known when the workers are made
    tapes: tuple[str, ...] = ()  # those on record, known when the workers are made


def fill(
    connection: AnyConnection,
    work: Work,
    *,
    progress: Callable[[str, int], None],
    stop: Callable[[], bool],
) -> bool:
    """Fill a view's shadow tables up to `work.until` with `work.share.of` processes.

    `connection` holds the lock of the rebuild; the checkpoint moves when all workers are done.
    Returns False if stopped. Raises a worker's error, or `Unavailable` if a worker died.
    """
    context = get_context("spawn")
    reached = context.Array("q", work.share.of, lock=False)
    told: Any = context.SimpleQueue()
    halt = context.Event()
    workers = [
        context.Process(
            target=_work,
            args=(each, reached, told, halt),
            name=f"rebuild {work.view} {each.share.number}",
            daemon=True,
        )
        for each in _of_workers(connection, work)
    ]
    with ExitStack() as ending:
        for each in workers:
            each.start()
            ending.callback(_await, each, stop)
        ending.callback(halt.set)
        while any(each.is_alive() for each in workers) and not stop():
            if ended_badly(workers):
                break
            progress(work.view, min(reached))
            wait([each.sentinel for each in workers if each.is_alive()], _LOOK_S)
        stopped = stop()
    if stopped:
        return False
    if not told.empty():
        raise told.get()
    if died := ended_badly(workers):
        raise Unavailable(
            f"A worker of the rebuild ended unexpectedly (exit code {died[0].exitcode})",
            where=f"view {work.view}",
            hint="The live view is unchanged. Rebuild again with fewer workers.",
        )
    return _moved(connection, work)


def _of_workers(connection: AnyConnection, work: Work) -> list[Work]:
    by, of = connection.info.backend_pid, work.share.of
    with work.database.connect("ledger_reader") as reader:
        facts = {head.tape: head.table_seq for head in heads(reader)}
    return [
        work._replace(share=Share(number, of, its), by=by, tapes=tuple(facts))
        for number, its in enumerate(divided(facts, of))
    ]


def divided(facts: Mapping[str, int], of: int) -> list[frozenset[int]]:
    """The partitions of each of `of` workers, about as many facts each.

    facts: the number of facts on each tape, which is the part of nearly all rows of a view.
    """
    weights = [0] * PARTITIONS
    for tape, count in facts.items():
        weights[partition_of(tape.encode(), PARTITIONS)] += count
    shares: list[set[int]] = [set() for _ in range(of)]
    for partition in sorted(range(PARTITIONS), key=lambda each: -weights[each]):
        least = min(shares, key=lambda its: (sum(weights[each] for each in its), len(its)))
        least.add(partition)
    return [frozenset(its) for its in shares]


def ended_badly(workers: Sequence[BaseProcess]) -> list[BaseProcess]:
    """The workers that ended by a signal or an unexpected error."""
    return [each for each in workers if each.exitcode]


def _await(worker: BaseProcess, stop: Callable[[], bool]) -> None:
    """Return when a worker has ended. One that is to stop is ended in the middle of its batch."""
    worker.join(_STOP_S if stop() else None)
    if worker.is_alive():
        worker.terminate()
        worker.join()


def _moved(connection: AnyConnection, work: Work) -> bool:
    """Move the checkpoint of the whole view to the end."""
    store = ViewStore(connection, SHADOW_SCHEMA)
    tracking = store.tracking(work.view)
    return tracking is not None and store.advance(work.view, tracking, work.until)


def _work(work: Work, reached: Any, told: Any, halt: Any) -> None:  # noqa: ANN401 - shared memory
    """One worker: apply its rows of every batch, a transaction each."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent gets the signal and stops the workers
    try:
        projection = registry.view(work.view)
        at = work.share.number
        with ExitStack() as open_:
            source = open_.enter_context(_source(work))
            reader = ShareReader(source, projection, work.share, work.tapes)
            store = ViewStore(
                open_.enter_context(view_tables.writing(work.database, SHADOW_SCHEMA)),
                SHADOW_SCHEMA,
            )
            while reached[at] < work.until and not halt.is_set():
                batch = reader.read(reached[at], REBUILD_ROWS, work.until)
                if batch:
                    with store.transaction():
                        require_rebuild(store, projection, work.by)
                        take(store, projection, source, batch.rows, work.share)
                    reached[at] = batch.position
    except FencedError:  # the parent was killed: nobody waits, and the next rebuild has the tables
        return
    except LedgerError as error:
        told.put(error)


def _source(work: Work) -> AbstractContextManager[RecordSource]:
    if work.kafka is None:
        return tape_source(work.database)
    from infra.kafka.feed_source import feed_source  # noqa: PLC0415 - a third of a process's start

    return feed_source(work.database, work.kafka, [])


def take(
    store: ViewStore,
    projection: Projection,
    source: RecordSource,
    rows: Sequence[TapeRow],
    share: Share,
) -> None:
    """Apply to a view what one of its shares hears of these rows, in one transaction."""
    if not rows:
        return
    if isinstance(source, Feed) and (found := source.poisoned(rows[0].position, rows[-1].position)):
        raise refused(found[0])
    with store.connection.transaction():
        projection.take(store, Batch(rows), share)
