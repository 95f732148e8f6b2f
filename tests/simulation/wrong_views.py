"""Wrong designs of sources, runners and rebuilds, put in the place of the right ones."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from consumers.runtime import lifecycle as projecting
from consumers.runtime import outbox
from consumers.runtime.runner import Runner, taken
from consumers.runtime.source import Batch
from infra.kafka import topics
from infra.kafka.feed_source import FeedSource, _fact
from infra.kafka.merging import Merge, Poison
from infra.kafka.records import Fed
from tests.simulation.database import Session
from tests.simulation.stores import SimViewStore

if TYPE_CHECKING:
    from collections.abc import Callable

    import pytest

    from consumers.runtime.source import Projection
    from infra.postgres.parking import Parked


def no_compare_and_set(patch: pytest.MonkeyPatch) -> None:
    def advance(self: SimViewStore, view: str, seen: Any, to: int) -> bool:
        self.session.do("advance")
        self.session.lock(("tracking", view, self._beside))
        now = self.session.get("tracking", (view, self._beside))
        self.session.put("tracking", (view, self._beside), now._replace(position=to))
        return True

    patch.setattr(SimViewStore, "advance", advance)


def generation_not_compared(patch: pytest.MonkeyPatch) -> None:
    def advance(self: SimViewStore, view: str, seen: Any, to: int) -> bool:
        self.session.do("advance")
        self.session.lock(("tracking", view, self._beside))
        now = self.session.get("tracking", (view, self._beside))
        if now is None or now.position != seen.position:
            return False
        self.session.put("tracking", (view, self._beside), now._replace(position=to))
        return True

    patch.setattr(SimViewStore, "advance", advance)


def _transact(order: str) -> Callable[..., None]:
    def transact(
        self: Runner, view: Projection, seen: Any, batch: Batch, parked: dict[str, Parked]
    ) -> None:
        def move() -> None:
            with self._store.transaction():
                if not self._store.advance(view.name, seen.tracking, batch.position):
                    raise projecting.FencedError(view.name)
                self._store.park(view.name, [parked[t] for t in parked.keys() - seen.parked.keys()])

        def take() -> None:
            with self._store.transaction():
                asked = outbox.capture_changes(self._store, view)
                self._take(view, seen.share, taken(batch, parked))
                outbox.enqueue(self._store, view, batch.position, asked)

        for each in (move, take) if order == "first" else (take, move):
            each()

    return transact


def tracking_before_rows(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(Runner, "_transact", _transact("first"))


def tracking_after_rows(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(Runner, "_transact", _transact("last"))


def feed_believed(patch: pytest.MonkeyPatch) -> None:
    """Takes what comes, as it comes."""

    def read(self: FeedSource, after: int, limit: int) -> Any:
        merge = self._merge or self._begin(after)
        found = [_fact(each) for each in self._partitions.poll(merge.wanted()[0], [], 1.0)]
        return [each.row for each in found if not isinstance(each, Poison)]

    patch.setattr(FeedSource, "read", read)


def duplicates_taken(patch: pytest.MonkeyPatch) -> None:
    put = Merge.put

    def again(self: Merge, partition: int, offset: int, row: Any) -> None:
        if row.position <= self.delivered:
            self.delivered = row.position - 1
        put(self, partition, offset, row)

    patch.setattr(Merge, "put", again)
    patch.setattr(Runner, "step", _step_with_all)


def _step_with_all(self: Runner) -> bool:
    """Applies whatever comes to every view."""
    rows = self._source.read(self.position, self._options.batch_rows)
    for view in self._projections if rows else ():
        [seen] = self._seen[view.name]
        self._transact(view, seen, Batch(rows), seen.parked)
        moved = seen.tracking._replace(position=rows[-1].position)
        self._seen[view.name] = [seen._replace(tracking=moved)]
    return bool(rows)


def gaps_passed_over(patch: pytest.MonkeyPatch) -> None:
    def look(self: FeedSource, merge: Merge, limit: int) -> None:
        if self._relay_store.tracked(topics.FACTS) > merge.delivered and merge.lowest:
            merge.skip_to(merge.lowest - 1)

    patch.setattr(FeedSource, "_look_for_gap", look)


def hash_not_recomputed(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(Fed, "is_whole", True)


def record_not_asked(patch: pytest.MonkeyPatch) -> None:
    """Whatever is whole is believed, and holes are healed from it."""

    def take(self: FeedSource, merge: Merge, read: Any) -> None:
        for each in read:
            fact = _fact(each)
            if isinstance(fact, Poison):
                merge.poison(fact)
            else:
                merge.put(each.partition, each.offset, fact.row)

    patch.setattr(FeedSource, "_take", take)


def nothing_withheld(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(Merge, "poisoned", lambda *_: [])


def everything_withheld(patch: pytest.MonkeyPatch) -> None:
    poisoned = Runner._poisoned

    def all_of_it(self: Runner, batch: Batch, known: dict[str, Parked]) -> dict[str, Parked]:
        found = poisoned(self, batch, known)
        for each in list(found.values()):
            for row in batch.rows:
                if row.tape not in known:
                    found.setdefault(row.tape, each._replace(tape=row.tape, position=row.position))
        return found

    patch.setattr(Runner, "_poisoned", all_of_it)


def poison_forgotten_at_once(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(Merge, "settle", lambda self, _: self._poison.clear())


def parked_not_kept(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(SimViewStore, "park", lambda *_: None)


def outbox_outside_the_transaction(patch: pytest.MonkeyPatch) -> None:
    leave = SimViewStore.enqueue

    def at_once(self: SimViewStore, position: int, messages: Any) -> None:
        session, self.session = self.session, Session(self.session.database, self.session.world)
        try:
            leave(self, position, messages)
        finally:
            self.session = session

    patch.setattr(SimViewStore, "enqueue", at_once)


def offsets_of_what_was_read(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(Merge, "places", lambda self, _: dict(self._next))


def ends_asked_first(patch: pytest.MonkeyPatch) -> None:
    def look(self: FeedSource, merge: Merge, limit: int) -> None:
        ends = self._partitions.ends()
        tracked = self._relay_store.tracked(topics.FACTS)
        if tracked > merge.delivered and merge.has_passed(ends):
            upto = min(tracked, merge.lowest - 1 if merge.lowest else tracked)
            rows = self._relay_store.rows(merge.delivered, min(limit, upto - merge.delivered))
            merge.fill_gap(rows, self._count)

    patch.setattr(FeedSource, "_look_for_gap", look)


def swapped_as_it_is(patch: pytest.MonkeyPatch) -> None:
    def swap(book: Any, view: Projection, runner: Runner) -> bool:
        with book.transaction():
            book.hold(view.name)
            book.swap(view.name, view.tables)
        return True

    patch.setattr(projecting, "_swap", swap)


def live_view_not_held(patch: pytest.MonkeyPatch) -> None:
    def hold(self: SimViewStore, view: str) -> Any:
        self.session.do("hold")
        return self.session.get("tracking", (view, False))

    patch.setattr(SimViewStore, "hold", hold)


def said_again_as_it_was_read_before(patch: pytest.MonkeyPatch) -> None:
    """A page is read, and left in a transaction that holds the view only afterwards."""

    def standing(book: Any, view: Any, each: Any, _stop: Any, limit: int, after: Any) -> Any:
        rows = book.page(each.table, after, limit)
        with book.transaction():
            live = book.hold(view.name)
            outbox._leave(book, each, live.position, rows)
        return rows

    patch.setattr(outbox, "_standing", standing)


def swap_unspoken(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(outbox, "enqueue_swap", lambda *_: None)
