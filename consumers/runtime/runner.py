"""Keeps views up with a source: each batch's rows, tracking and offsets in one transaction.

A fact that cannot be taken parks its tape in that view, and the other tapes go on (ADR 0075). The
runner never skips a fact silently, and never moves a view that somebody else has moved meanwhile.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple

from consumers.runtime import outbox
from consumers.runtime.source import Batch, Feed, FencedError
from infra.postgres import parking
from infra.postgres.parking import Parked
from infra.postgres.view_tables import SHADOW_SCHEMA, Tracking
from ledger.errors import NotFound, Refused
from ledger.record.wire import StoredFactError, fact_of

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from consumers.runtime.source import Projection, RecordSource
    from infra.postgres.view_tables import ViewStore
    from ledger.record.tape import TapeRow

BATCH_ROWS = 2_000
"""Rows a transaction takes in: enough to share its flush, few enough to stop soon."""

FAILING_TAPES_MAX = 8
"""Tapes of one batch that a view's program may fail on; with more, it is the program: it ends."""


class RunnerListener:
    """Told what becomes of views, to be counted and logged; this one does nothing of it."""

    def read(self) -> None:
        """The source was read, whether or not there was anything."""

    def moved(self, view: str, batch: Batch) -> None:
        """A view has taken in a batch."""

    def fenced(self, view: str) -> None:
        """A view had been moved by another; nothing was applied."""

    def parked(self, view: str, parked: Parked) -> None:
        """A view withholds a tape from here on."""


@dataclass(frozen=True)
class RunnerOptions:
    """How a runner goes about its work."""

    progress: Callable[[str, int], None] | None = None
    batch_rows: int = BATCH_ROWS
    parks: bool = False  # what a view's program fails on; else the failure ends the runner
    listener: RunnerListener = field(default_factory=RunnerListener)


class _Seen(NamedTuple):
    tracking: Tracking
    parked: dict[str, Parked]


class Runner:
    """Views of one generation, and how far each has read."""

    def __init__(
        self,
        store: ViewStore,
        source: RecordSource,
        projections: Sequence[Projection],
        options: RunnerOptions | None = None,
    ) -> None:
        self._store = store
        self._source = source
        self._feed = source if isinstance(source, Feed) else None
        self._projections = projections
        self._options = options or RunnerOptions()
        self._seen: dict[str, _Seen] = {}
        self.reload_checkpoint()

    @property
    def position(self) -> int:
        """What every view has reached."""
        return min(seen.tracking.position for seen in self._seen.values())

    @property
    def at_end(self) -> bool:
        """Whether the source has nothing more for certain; asked when it gave nothing."""
        return self._feed is None or self._feed.at_end(self.position)

    def step(self) -> bool:
        """Apply the next rows to the views that lack them; False where there are none.

        A view that somebody else moved meanwhile is looked up again and continued from there.
        """
        rows = self._source.read(self.position, self._options.batch_rows)
        self._options.listener.read()
        if not rows:
            return False
        batch = Batch(rows)
        for projection in self._projections:
            try:
                self.apply(projection, batch)
            except FencedError:
                self._options.listener.fenced(projection.name)
                self._seen[projection.name] = _seen(self._store, projection)
        return True

    def apply(self, projection: Projection, batch: Batch) -> None:
        """Rows and tracking of one view in one transaction. Raises FencedError, nothing applied."""
        name = projection.name
        seen = self._seen[name]
        if batch.position <= seen.tracking.position:
            return
        lacking = batch.after(seen.tracking.position)
        parked = seen.parked | self._unread(projection, lacking, seen.parked)
        withheld = len(parked)
        while True:
            try:
                self._transact(projection, lacking, parked)
                break
            except Exception as error:  # a view's program may fail with anything
                failing = len(parked) - withheld
                if not self._parks(error) or failing >= FAILING_TAPES_MAX:
                    raise
                parked = parked | self._failing(projection, lacking, parked, error)
        tracking = seen.tracking._replace(position=batch.position)
        self._seen[name] = _Seen(tracking, parked)
        for tape in parked.keys() - seen.parked.keys():
            self._options.listener.parked(name, parked[tape])
        self._options.listener.moved(name, lacking)
        if self._options.progress:
            self._options.progress(name, batch.position)

    def reload_checkpoint(self) -> None:
        """Take up the tracking as it is in the database."""
        self._seen = {each.name: _seen(self._store, each) for each in self._projections}

    def catch_up_to(self, position: int) -> None:
        """Apply what is missing up to a position, inside a transaction of the caller."""
        while self.position < position:
            if not self.step() and self.at_end:
                break

    def _transact(self, projection: Projection, batch: Batch, parked: dict[str, Parked]) -> None:
        name = projection.name
        seen = self._seen[name]
        with self._store.transaction():
            if not self._store.advance(name, seen.tracking, batch.position):
                raise FencedError(name)
            new = [parked[tape] for tape in parked.keys() - seen.parked.keys()]
            self._store.park(name, new)
            outbox.capture_changes(self._store, projection)
            self._take(projection, taken(batch, parked))
            outbox.enqueue(self._store, projection, batch.position)
            if self._feed:
                self._store.keep_places(name, self._feed.places(batch.position))

    def _take(self, projection: Projection, batch: Batch | None) -> None:
        if batch is None:
            return
        try:
            projection.take(self._store, batch)
        except Exception as error:
            first, last = batch.rows[0].position, batch.position
            error.add_note(f"View {projection.name}, at positions {first:,} to {last:,}")
            raise

    def _unread(
        self, projection: Projection, batch: Batch, known: dict[str, Parked]
    ) -> dict[str, Parked]:
        """Tapes to be withheld from here on: what the feed held, or a newer program alone reads.

        Of the latter there may be as many as there are tables: it is no fault of the view's.
        """
        first = self._poisoned(batch, known)
        for row in projection.unread(batch):
            earlier = known.get(row.tape) or first.get(row.tape)
            if earlier and earlier.position <= row.position:
                continue
            try:
                fact_of(row)
            except StoredFactError as error:
                if not self._parks(error):
                    raise
                first[row.tape] = _unappliable(projection, row, error)
        return first

    def _poisoned(self, batch: Batch, known: dict[str, Parked]) -> dict[str, Parked]:
        """Tapes to be withheld from here on because of what the feed held."""
        if self._feed is None:
            return {}
        found = self._feed.poisoned(batch.rows[0].position, batch.position)
        first: dict[str, Parked] = {}
        for each in sorted(found, key=lambda each: each.position):
            if each.tape not in known:
                first.setdefault(each.tape, each)
        if first and self._store.schema == SHADOW_SCHEMA:
            raise refused(next(iter(first.values())))
        return first

    def _parks(self, error: Exception) -> bool:
        passing = isinstance(error, FencedError) or parking.is_transient(error)
        return self._options.parks and not passing

    def _failing(
        self, projection: Projection, batch: Batch, parked: dict[str, Parked], error: Exception
    ) -> dict[str, Parked]:
        """The first fact that a view's program fails on, found by halving what it is given."""
        rows = (taken(batch, parked) or batch).rows
        good, bad = 0, len(rows)  # the first `good` rows are taken, the first `bad` are not
        while bad - good > 1:
            middle = (good + bad) // 2
            if self._tried(projection, batch.of(rows[:middle])):
                good = middle
            else:
                bad = middle
        row = rows[bad - 1]
        return {row.tape: _unappliable(projection, row, error)}

    def _tried(self, projection: Projection, batch: Batch) -> bool:
        """Whether rows can be taken; nothing is kept of the try."""
        try:
            with self._store.transaction(force_rollback=True):
                projection.take(self._store, batch)
        except Exception as error:  # whatever fails, fails
            if parking.is_transient(error):
                raise
            return False
        return True


def _unappliable(projection: Projection, row: TapeRow, error: Exception) -> Parked:
    says = f"{type(error).__name__} in view {projection.name}: {error}"
    return Parked(row.tape, row.position, row.table_seq, "unappliable", says[:500], "")


def refused(poison: Parked) -> Refused:
    """Why a view is not rebuilt from what the feed holds."""
    return Refused(
        f"A view is not rebuilt from a feed that is not the record: {poison.says}",
        where=poison.place,
        hint="Rebuild it from the tape, or publish that part again: `relay republish`.",
    )


def taken(batch: Batch, parked: dict[str, Parked]) -> Batch | None:
    """What of a batch a view takes that withholds these tapes; None where it takes nothing."""
    if not parked:
        return batch

    def withheld(row: TapeRow) -> bool:
        each = parked.get(row.tape)
        return each is not None and row.position >= each.position

    rows = [row for row in batch.rows if not withheld(row)]
    return batch.of(rows) if rows else None


def _seen(store: ViewStore, projection: Projection) -> _Seen:
    """Where a view stands. Raises where it is not this program's."""
    tracking = store.tracking(projection.name)
    if tracking is None:
        raise NotFound(
            f"There is no view {projection.name} in this database",
            where=f"schema {store.schema}",
            hint=f"Run `round-ledger rebuild {projection.name}`.",
        )
    if tracking.version != projection.version:
        raise Refused(
            f"View {projection.name} was written by version {tracking.version} of its program,"
            f" this is version {projection.version}",
            where=f"schema {store.schema}",
            hint=f"Run `round-ledger rebuild {projection.name}`; until then it stands still.",
        )
    return _Seen(tracking, store.parked(projection.name))
