"""The runner: applies batches to views; rows, checkpoint and offsets commit in one transaction.

A fact that cannot be applied parks its tape in that view; other tapes continue (ADR 0075). The
runner never skips a fact silently, and never moves a view that another process moved meanwhile.

A live view may be divided into parts, each with a checkpoint (ADR 0196). A runner moves the one
that it is given, or every part of a view that it finds divided.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, NamedTuple

from consumers.runtime import outbox
from consumers.runtime.source import WHOLE, Batch, Feed, FencedError, Share, next_batch
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
"""Rows of a transaction: enough to spread the cost of its flush, few enough to stop soon."""

REBUILD_ROWS = 10_000
"""The same in a rebuild, which nobody waits for: a round that is open is ruled on once a batch."""

FAILING_TAPES_MAX = 8
"""Tapes of a batch that may fail in `apply` and be parked; with more the runner ends instead."""


class RunnerListener:
    """Receives the events of views, for metrics and logs. This base class ignores them."""

    def read(self) -> None:
        """The source was read, with or without new rows."""

    def moved(self, view: str, batch: Batch) -> None:
        """A view has committed a batch."""

    def fenced(self, view: str) -> None:
        """Another process had moved the view; nothing was applied."""

    def parked(self, view: str, parked: Parked) -> None:
        """A view has parked a tape."""


@dataclass(frozen=True)
class RunnerOptions:
    """Options of a runner."""

    progress: Callable[[str, int], None] | None = None
    batch_rows: int = BATCH_ROWS
    parks: bool = False  # park a tape that `apply` fails on; else the error ends the runner
    listener: RunnerListener = field(default_factory=RunnerListener)
    share: Share | None = None  # the part to move; None: the whole view, in the parts it has


class _Seen(NamedTuple):
    """The checkpoint of a view, or of a part of it, and the view's parked tapes."""

    tracking: Tracking
    parked: dict[str, Parked]
    share: Share = WHOLE


class _UpTo(NamedTuple):
    """The record up to a position as a source, on the connection of a store."""

    store: ViewStore
    last: int

    def read(self, after: int, limit: int) -> Sequence[TapeRow]:
        """Rows with position > `after`, in order of position, at most `limit`."""
        return self.store.record(after, min(limit, self.last - after))

    def wait(self, after: int, timeout_s: float) -> None:
        """Return at once: it has no further rows."""


class Runner:
    """Views of one schema, live or shadow, with their checkpoints."""

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
        self._skipped = projections[0].skipped if len(projections) == 1 else ()
        self._seen: dict[str, list[_Seen]] = {}
        self.reload_checkpoint()

    @property
    def position(self) -> int:
        """The position that every view has reached."""
        return min(part.tracking.position for parts in self._seen.values() for part in parts)

    @property
    def at_end(self) -> bool:
        """Whether the source surely has no further rows; called after it returned none."""
        return self._feed is None or self._feed.at_end(self.position)

    def step(self) -> bool:
        """Apply the next rows to the views that lack them; False if there are none.

        If another process moved a view meanwhile, its checkpoint is read again.
        """
        batch = next_batch(self._source, self.position, self._options.batch_rows, self._skipped)
        self._options.listener.read()
        if batch is None:
            self._require_share()
            return False
        for projection in self._projections:
            try:
                self.apply(projection, batch)
            except FencedError:
                self._options.listener.fenced(projection.name)
                self._seen[projection.name] = self._parts(projection)
        return True

    def apply(self, projection: Projection, batch: Batch) -> None:
        """Apply a batch to one view, in one transaction for each part that lacks it.

        `FencedError`: nothing was applied to that part.
        """
        parts = self._seen[projection.name]
        for number, seen in enumerate(parts):
            if batch.position > seen.tracking.position:
                parts[number] = moved = self._apply(projection, seen, batch)
                if moved.parked != seen.parked and moved.share != WHOLE:
                    self._seen[projection.name] = self._parts(projection)
                    return  # the other parts withhold what this one has parked

    def _apply(self, projection: Projection, seen: _Seen, batch: Batch) -> _Seen:
        name = projection.name
        lacking = batch.after(seen.tracking.position)
        parked = seen.parked | self._unread(projection, lacking, seen.parked)
        withheld = len(parked)
        while True:
            try:
                self._transact(projection, seen, lacking, parked)
                break
            except Exception as error:  # `apply` may raise any error
                failing = len(parked) - withheld
                if not self._parks(error) or failing >= FAILING_TAPES_MAX:
                    raise
                parked = parked | self._failing(projection, seen.share, lacking, parked, error)
        for tape in parked.keys() - seen.parked.keys():
            self._options.listener.parked(name, parked[tape])
        self._options.listener.moved(name, lacking)
        if self._options.progress:
            self._options.progress(name, batch.position)
        tracking = seen.tracking._replace(position=batch.position)
        return seen._replace(tracking=tracking, parked=parked)

    def reload_checkpoint(self) -> None:
        """Read the checkpoints of all views from the database again."""
        self._seen = {each.name: self._parts(each) for each in self._projections}

    def catch_up_to(self, position: int) -> None:
        """Apply missing rows up to a position, inside the caller's transaction."""
        while self.position < position:
            if not self.step() and self.at_end:
                break

    def _parts(self, projection: Projection) -> list[_Seen]:
        """The checkpoints to move: of the whole view, of its parts, or of the part to move."""
        share, tracking = self._options.share, self._divided(projection)
        while share and share.of > 1 and not tracking.parts:  # a rebuild has made it whole
            divide(self._store, [projection], share.of, self._options, rebuilt=True)
            tracking = self._divided(projection)
        parked = self._store.parked(projection.name)
        if not tracking.parts:
            return [_Seen(tracking, parked)]
        parts = [
            _Seen(tracking._replace(position=at), parked, Share(number, len(tracking.parts)))
            for number, at in enumerate(tracking.parts)
        ]
        return [parts[share.number]] if share else parts

    def _divided(self, projection: Projection) -> Tracking:
        """A view's checkpoint. Raises `Refused` if it was divided into another number of parts."""
        share, tracking = self._options.share, _tracking(self._store, projection)
        if share and share.of != tracking.asked:
            how = f"divided into {tracking.asked} parts" if tracking.asked > 1 else "made whole"
            raise Refused(
                f"View {projection.name} was {how} by another process,"
                f" this one has part {share.number + 1} of {share.of}",
                where=f"schema {self._store.schema}",
                hint="Start every process of the view with the same number of parts. Stop those"
                " that have another number first.",
            )
        return tracking

    def _require_share(self) -> None:
        """Raise `Refused` if the part to move is one of another number by now."""
        if self._options.share:
            for projection in self._projections:
                self._divided(projection)

    def _transact(
        self, projection: Projection, seen: _Seen, batch: Batch, parked: dict[str, Parked]
    ) -> None:
        name, new = projection.name, [parked[tape] for tape in parked.keys() - seen.parked.keys()]
        with self._store.transaction():
            if not self._advance(name, seen, batch.position):
                raise FencedError(name)
            self._store.park(name, new)
            asked = outbox.capture_changes(self._store, projection)
            self._take(projection, seen.share, taken(batch, parked))
            settled = self._settle(name, seen, batch.position, refused=bool(new))
            outbox.enqueue(self._store, projection, batch.position, asked)
            if self._feed and settled == batch.position:
                self._store.keep_places(name, self._feed.places(batch.position))

    def _advance(self, name: str, seen: _Seen, to: int) -> bool:
        if seen.share == WHOLE:
            return self._store.advance(name, seen.tracking, to)
        return self._store.advance_part(name, seen.share.number, seen.tracking, to)

    def _settle(self, name: str, seen: _Seen, to: int, *, refused: bool) -> int:
        """Move the checkpoint of a divided view; returns the position that all of it has."""
        if seen.share == WHOLE:
            return to
        settled = self._store.settle(name)
        if refused:
            self._store.refuse_parts(name)
        return settled

    def _take(self, projection: Projection, share: Share, batch: Batch | None) -> None:
        if batch is None:
            return
        try:
            projection.take(self._store, batch, share)
        except Exception as error:
            first, last = batch.rows[0].position, batch.position
            error.add_note(f"View {projection.name}, at positions {first:,} to {last:,}")
            raise

    def _unread(
        self, projection: Projection, batch: Batch, known: dict[str, Parked]
    ) -> dict[str, Parked]:
        """Tapes to park: the feed contradicts the record, or only a newer version decodes the fact.

        The second kind may be as many as there are tables; it does not count as a failing view.
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
        """Tapes to park because the feed contradicts the record."""
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
        self,
        projection: Projection,
        share: Share,
        batch: Batch,
        parked: dict[str, Parked],
        error: Exception,
    ) -> dict[str, Parked]:
        """The first fact that `apply` fails on, found by bisecting the batch."""
        rows = (taken(batch, parked) or batch).rows
        # `apply` succeeds with the first `good` rows, and fails with the first `bad` rows.
        good, bad = 0, len(rows)
        while bad - good > 1:
            middle = (good + bad) // 2
            if self._tried(projection, share, batch.of(rows[:middle])):
                good = middle
            else:
                bad = middle
        row = rows[bad - 1]
        return {row.tape: _unappliable(projection, row, error)}

    def _tried(self, projection: Projection, share: Share, batch: Batch) -> bool:
        """Whether `apply` succeeds; the attempt is rolled back."""
        try:
            with self._store.transaction(force_rollback=True):
                projection.take(self._store, batch, share)
        except Exception as error:  # any error is a failure
            if parking.is_transient(error):
                raise
            return False
        return True


def divide(
    store: ViewStore,
    projections: Sequence[Projection],
    of: int,
    options: RunnerOptions,
    *,
    rebuilt: bool = False,
) -> None:
    """Divide live views into so many parts; first all that each had are brought to one position.

    For each view in one transaction, which the writers of its parts wait for. Those that have a
    part of another number end at their next poll. rebuilt: only views that had as many before.
    """
    whole = replace(options, share=None)
    for projection in projections:
        with store.transaction():
            live = store.hold(projection.name)
            if live is None or max(1, len(live.parts)) == live.asked == of:
                continue
            if rebuilt and live.asked != of:
                continue
            last = max(live.parts, default=live.position)
            Runner(store, _UpTo(store, last), [projection], whole).catch_up_to(last)
            store.divide(projection.name, of)


def _unappliable(projection: Projection, row: TapeRow, error: Exception) -> Parked:
    says = f"{type(error).__name__} in view {projection.name}: {error}"
    return Parked(row.tape, row.position, row.table_seq, "unappliable", says[:500], "")


def refused(poison: Parked) -> Refused:
    """The error for a rebuild from a feed that contradicts the record."""
    return Refused(
        f"The rebuild stopped: the feed contradicts the record. {poison.says}",
        where=poison.place,
        hint="Rebuild with `--from tape`, or publish that part again with `relay republish`.",
    )


def taken(batch: Batch, parked: dict[str, Parked]) -> Batch | None:
    """A batch without the rows of parked tapes; None if no row is left."""
    if not parked:
        return batch if batch.rows else None

    def withheld(row: TapeRow) -> bool:
        each = parked.get(row.tape)
        return each is not None and row.position >= each.position

    rows = [row for row in batch.rows if not withheld(row)]
    return batch.of(rows) if rows else None


def _tracking(store: ViewStore, projection: Projection) -> Tracking:
    """A view's checkpoint. Raises if it is missing or of another version."""
    tracking = store.tracking(projection.name)
    if tracking is None:
        raise NotFound(
            f"View {projection.name} does not exist in this database",
            where=f"schema {store.schema}",
            hint=f"Run `round-ledger rebuild {projection.name}`.",
        )
    if tracking.version != projection.version:
        raise Refused(
            f"View {projection.name} was written by version {tracking.version} of its code,"
            f" this is version {projection.version}",
            where=f"schema {store.schema}",
            hint=f"Run `round-ledger rebuild {projection.name}`; until then it is not updated.",
        )
    return tracking
