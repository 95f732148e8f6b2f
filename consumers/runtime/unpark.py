"""Releasing a parked tape, so that views apply it again, once its fault is fixed.

The record's hash chain of the tape is recomputed from its bytes first; a broken tape is not
released. A view that depends on the order between tapes is rebuilt, since its other tapes have
advanced meanwhile. Any other view applies the facts that it lacks.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from consumers.runtime import outbox
from consumers.runtime.lifecycle import rebuild
from consumers.runtime.runner import BATCH_ROWS, RunnerOptions
from consumers.runtime.source import Batch
from infra.postgres import parking, relay_progress, view_tables
from infra.postgres.view_tables import LIVE, ViewStore, tape_source
from ledger.errors import NotFound, Refused
from ledger.record.tape import GENESIS, chain_hash

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from consumers.runtime.source import Projection
    from infra.postgres.connection import Database
    from infra.postgres.parking import ParkedSummary
    from infra.postgres.relay_progress import RelayStore
    from ledger.record.tape import TapeRow


class Released(NamedTuple):
    """The result of releasing a tape in one view."""

    view: str
    tape: str
    how: str  # "rebuilt", "caught up", or "parked again"
    facts: int  # facts that the view had lacked


def release(
    database: Database,
    projections: Sequence[Projection],
    tape: str,
    *,
    progress: Callable[[str, int], None] | None = None,
) -> list[Released]:
    """Release a tape in every view that has parked it. Raises `NotFound` if none has.

    Raises `Refused` if the record's own hash chain of the tape is broken.
    """
    found = {each.view: each for each in parking.shown(database) if each.tape == tape}
    chosen = [each for each in projections if each.name in found]
    if not chosen:
        raise NotFound(
            f"No view has parked tape {tape}",
            where="views.parked",
            hint="Run `round-ledger consume all --status`; a tape is <property>/<place>.",
        )
    with relay_progress.relay_store(database) as relay_store:
        _require_whole(relay_store, tape, min(each.table_seq for each in found.values()))
    return [_let_in(database, each, found[each.name], progress) for each in chosen]


def _let_in(
    database: Database,
    projection: Projection,
    was: ParkedSummary,
    progress: Callable[[str, int], None] | None,
) -> Released:
    if projection.ordered:
        how = "rebuilt"
        with tape_source(database) as source:
            rebuild(database, source, projection, options=RunnerOptions(progress, parks=True))
    else:
        how = "caught up"
        with view_tables.writing(database, LIVE) as connection:
            catch_up_in(ViewStore(connection, LIVE), projection, tape=was.tape, first=was.table_seq)
    still = any(s.view == was.view and s.tape == was.tape for s in parking.shown(database))
    return Released(was.view, was.tape, "parked again" if still else how, was.withheld)


def catch_up_in(store: ViewStore, projection: Projection, *, tape: str, first: int) -> None:
    """Apply the facts of one tape from `first` up to the view's checkpoint, in one transaction."""
    with store.transaction():
        live = store.hold(projection.name)
        asked = outbox.capture_changes(store, projection)
        begin = first
        while rows := store.rows_of(tape, [(begin, begin + BATCH_ROWS - 1)]):
            lacking = [row for row in rows if live and row.position <= live.position]
            if lacking:
                projection.take(store, Batch(lacking))
            begin += BATCH_ROWS
        outbox.enqueue(store, projection, live.position if live else 0, asked)
        store.release(projection.name, tape)


def _require_whole(relay_store: RelayStore, tape: str, first: int) -> None:
    """Recompute the hash chain of a tape from its bytes, from one fact on."""
    before = relay_store.at(tape, [first - 1])
    previous = before[0].hash if before else GENESIS
    at = first
    while rows := relay_store.at(tape, range(at, at + BATCH_ROWS)):
        for row in rows:
            if row.table_seq != at or chain_hash(previous, row) != row.hash:
                raise _not_whole(row, at)
            previous, at = row.hash, at + 1


def _not_whole(row: TapeRow, expected: int) -> Refused:
    return Refused(
        f"Fact {expected:,} of {row.tape} is missing or changed in the record itself",
        where=f"position {row.position:,}",
        hint="Nothing was released. Run `round-ledger verify` and keep its output.",
    )
