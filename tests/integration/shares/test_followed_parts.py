"""Live views followed in parts, at any pace and killed anywhere, are those of one process.

A part moves its own checkpoint. A process without a part moves every part, so that a command which
reads a view may catch it up while parts are followed.
"""

from __future__ import annotations

import random
import subprocess
import sys
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest
from psycopg import errors

from consumers.disputes import disputes
from consumers.money import drop
from consumers.registry import VIEWS
from consumers.runtime import outbox, unpark
from consumers.runtime.lifecycle import RunnerOptions, catch_up, dump, rebuild
from consumers.runtime.runner import Runner, _UpTo, divide
from consumers.runtime.source import Share
from infra.postgres import parking
from infra.postgres.outbox import Message
from infra.postgres.view_tables import LIVE, ViewStore, opened, writing
from ledger.errors import Refused
from tests.integration.shares.test_shared_views import (
    DIVIDED,
    asked,
    crossed,
    crossed_in_views,
    waiting,
)
from tests.scenes.view_feeds import Prefix, dumped
from tests.until import until

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from consumers.runtime.source import Batch, Projection
    from infra.postgres.connection import Database
    from infra.postgres.view_tables import Tracking
    from ledger.record.tape import TapeRow
    from tests.fixtures.postgres import Scenes

KILLS = 8


def step(
    database: Database, views: Sequence[Projection], rows: Sequence[TapeRow], share: Share | None
) -> None:
    """One batch of a process that begins, and is gone after it."""
    with running(database, views, rows, share) as runner:
        runner.step()


@contextmanager
def running(
    database: Database,
    views: Sequence[Projection],
    rows: Sequence[TapeRow],
    share: Share | None,
    batch_rows: int = 300,
) -> Iterator[Runner]:
    """A process that begins: it first asks for its number of parts."""
    options = RunnerOptions(batch_rows=batch_rows, share=share)
    with opened(database, LIVE) as store:
        if share:
            divide(store, views, share.of, options)
        yield Runner(store, Prefix(rows, len(rows)), views, options)


def tracking(database: Database, projection: Projection) -> Tracking:
    with writing(database, LIVE) as connection:
        found = ViewStore(connection, LIVE).tracking(projection.name)
    assert found
    return found


def mixed(database: Database, views: Sequence[Projection], rows: Sequence[TapeRow]) -> None:
    """Batches by parts of changing numbers, and by processes without a part, in any order."""
    chance = random.Random(len(rows))  # noqa: S311 - repeatable, guards nothing
    of = 2
    while any(tracking(database, each).position < len(rows) for each in views):
        if chance.random() < 0.2:
            of = chance.randrange(1, 5)
        share = None if chance.random() < 0.2 else Share(chance.randrange(of), of)
        step(database, views, rows, share)


def untold(database: Database) -> set[tuple[str, str, str | None]]:
    """Messages of the rows of the divided views that were not enqueued as the rows changed."""
    told = set(waiting(database))
    with database.connect("ledger_owner") as connection:
        connection.execute("DELETE FROM views.outbox")
    outbox.restate(database, outbox.topics_of(DIVIDED), DIVIDED)
    restated = set(waiting(database))
    assert restated
    return restated - told


@pytest.mark.long
@pytest.mark.parametrize("view", [drop.DROP, disputes.VIEW], ids=["drop", "disputes"])
def test_parts_in_changing_numbers_give_the_rows_of_one_process(
    scenes: Scenes, view: Projection
) -> None:
    database, rows = scenes.copy(crossed, 2, 4)
    mixed(database, [view], rows)
    whole, _ = scenes.read(crossed_in_views, 2, 4)
    assert dumped(database, view) == dumped(whole, view)


@pytest.mark.long
@pytest.mark.parametrize("seed", range(1, 4))
def test_all_divided_views_and_their_messages_are_those_of_one_process(
    scenes: Scenes, seed: int
) -> None:
    database, rows = scenes.copy(crossed, seed, 4)
    for projection in DIVIDED:
        asked(database, projection)
    mixed(database, DIVIDED, rows)
    whole, _ = scenes.read(crossed_in_views, seed, 4)
    for projection in DIVIDED:
        assert dumped(database, projection) == dumped(whole, projection), projection.name
    assert untold(database) == set()


def test_without_its_parts_checkpoints_a_divided_view_would_count_twice(
    scenes: Scenes, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The control: a part that is ahead is taken for one at the checkpoint of all."""
    database, rows = scenes.copy(crossed, 2, 4)
    step(database, [drop.DROP], rows, Share(0, 2))
    held = ViewStore.tracking

    def blind(store: ViewStore, name: str) -> Tracking | None:
        found = held(store, name)
        return found and found._replace(parts=())

    monkeypatch.setattr(ViewStore, "tracking", blind)
    catch_up(database, Prefix(rows, len(rows)), [drop.DROP])
    whole, _ = scenes.read(crossed_in_views, 2, 4)
    assert dumped(database, drop.DROP) != dumped(whole, drop.DROP)


def test_a_division_that_does_not_level_first_would_leave_rows_out(
    scenes: Scenes, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The control: parts of another number begin at the checkpoint of the first of the others."""
    database, rows = scenes.copy(crossed, 2, 4)
    for _ in range(3):
        step(database, [drop.DROP], rows, Share(0, 2))
    monkeypatch.setattr(_UpTo, "read", lambda *_: [])
    step(database, [drop.DROP], rows, Share(0, 3))
    mixed(database, [drop.DROP], rows)
    whole, _ = scenes.read(crossed_in_views, 2, 4)
    assert dumped(database, drop.DROP) != dumped(whole, drop.DROP)


def test_a_division_that_is_broken_off_leaves_parts_and_rows_as_they_were(
    scenes: Scenes, monkeypatch: pytest.MonkeyPatch
) -> None:
    """All had been brought to one position by then. The parts of the old number go on."""
    database, rows = scenes.copy(crossed, 2, 4)
    for _ in range(3):
        step(database, [drop.DROP], rows, Share(0, 2))
    before = tracking(database, drop.DROP), dumped(database, drop.DROP)
    held: list[int] = []

    def killed(store: ViewStore, name: str, of: int) -> None:
        assert dump(store, drop.DROP) != before[1], "it had levelled"
        held.append(of)
        raise KeyboardInterrupt(name)

    with monkeypatch.context() as broken:
        broken.setattr(ViewStore, "divide", killed)
        with opened(database, LIVE) as store, pytest.raises(KeyboardInterrupt):
            divide(store, [drop.DROP], 3, RunnerOptions())
    assert held == [3]
    assert (tracking(database, drop.DROP), dumped(database, drop.DROP)) == before
    step(database, [drop.DROP], rows, Share(1, 2))
    assert tracking(database, drop.DROP).parts == (900, 300)


def test_a_rebuild_makes_a_divided_view_whole_and_its_parts_go_on(scenes: Scenes) -> None:
    database, rows = scenes.copy(crossed, 2, 4)
    for _ in range(2):
        step(database, [drop.DROP], rows, Share(1, 2))
    ahead = max(tracking(database, drop.DROP).parts)
    assert 0 < ahead < len(rows)
    assert rebuild(database, Prefix(rows, ahead), drop.DROP)
    now = tracking(database, drop.DROP)
    assert (now.position, now.parts) == (ahead, ())
    mixed(database, [drop.DROP], rows)
    whole, _ = scenes.read(crossed_in_views, 2, 4)
    assert dumped(database, drop.DROP) == dumped(whole, drop.DROP)


@pytest.mark.parametrize(("of", "says"), [(3, "divided into 3 parts"), (1, "made whole")])
def test_a_part_whose_view_was_divided_otherwise_is_refused(
    scenes: Scenes, of: int, says: str
) -> None:
    """The last that was started decides; one that runs on says so, and ends."""
    database, rows = scenes.copy(crossed, 2, 4)
    with running(database, [drop.DROP], rows, Share(0, 2), 100) as runner:
        runner.step()
        step(database, [drop.DROP], rows, Share(0, of))
        with pytest.raises(Refused, match=says):
            runner.step()
    assert len(tracking(database, drop.DROP).parts) == (of if of > 1 else 0)


@pytest.mark.parametrize(("of", "says"), [(3, "divided into 3 parts"), (1, "made whole")])
def test_a_part_of_an_old_number_ends_although_no_fact_comes(
    scenes: Scenes, monkeypatch: pytest.MonkeyPatch, of: int, says: str
) -> None:
    """It must not wait for a fact to say so. The control: without its look it stays."""
    database, rows = scenes.copy(crossed, 2, 4)
    with running(database, [drop.DROP], rows[:200], Share(0, 2)) as runner:
        assert runner.step()
        assert not runner.step()
        with opened(database, LIVE) as store:
            divide(store, [drop.DROP], of, RunnerOptions())
        with monkeypatch.context() as blind:
            blind.setattr(Runner, "_require_share", lambda _: None)
            assert not runner.step()
        with pytest.raises(Refused, match=says):
            runner.step()


def test_a_part_that_lost_its_connection_does_not_ask_for_its_number_again(
    scenes: Scenes,
) -> None:
    """Else one that was cut off would take the view from those that were started meanwhile."""
    database, rows = scenes.copy(crossed, 2, 4)
    step(database, [drop.DROP], rows, Share(0, 2))
    step(database, [drop.DROP], rows, Share(0, 3))
    again = RunnerOptions(share=Share(0, 2))
    with opened(database, LIVE) as store, pytest.raises(Refused, match="divided into 3 parts"):
        Runner(store, Prefix(rows, len(rows)), [drop.DROP], again)


def test_after_a_rebuild_only_parts_of_the_number_asked_for_last_go_on(scenes: Scenes) -> None:
    database, rows = scenes.copy(crossed, 2, 4)
    with running(database, [drop.DROP], rows, Share(0, 2), 100) as old:
        old.step()
        with running(database, [drop.DROP], rows, Share(0, 3), 100) as new:
            new.step()
            assert rebuild(database, Prefix(rows, 300), drop.DROP)
            with pytest.raises(Refused, match="divided into 3 parts"):
                old.step()
            new.step()
    assert tracking(database, drop.DROP).parts == (300, 300, 300)


def test_a_tape_that_one_part_parks_is_withheld_from_all_until_the_view_is_rebuilt(
    scenes: Scenes,
) -> None:
    database, rows = scenes.copy(crossed, 2, 4)
    tape = next(row.tape for row in rows if row.type == "wager_placed.v1")

    def failing(store: ViewStore, batch: Batch) -> None:
        if any(row.tape == tape and row.position > 200 for row in batch.rows):
            raise ValueError(tape)
        drop.DROP.apply(store, batch)

    with opened(database, LIVE) as store:
        source = Prefix(rows, len(rows))
        wrong = replace(drop.DROP, apply=failing)
        divide(store, [drop.DROP], 2, RunnerOptions())
        parts = [
            Runner(store, source, [wrong], RunnerOptions(None, 150, True, share=Share(number, 2)))  # noqa: FBT003 - parks
            for number in range(2)
        ]
        while lowest(database, drop.DROP) < len(rows):
            for each in parts:
                each.step()
        assert {seen.parked.keys() == {tape} for each in parts for seen in each._seen["drop"]} == {
            True
        }
    assert [(each.view, each.tape) for each in parking.shown(database)] == [("drop", tape)]
    told = unpark.release(database, [drop.DROP], tape)
    assert [each.how for each in told] == ["rebuilt"]
    whole, _ = scenes.read(crossed_in_views, 2, 4)
    assert dumped(database, drop.DROP) == dumped(whole, drop.DROP)


def test_parts_number_their_messages_in_the_order_in_which_they_commit(scenes: Scenes) -> None:
    """A relay that has published a number never looks below it."""
    database, rows = scenes.copy(crossed, 2, 4)
    step(database, [drop.DROP], rows, Share(0, 2))
    seen = tracking(database, drop.DROP)
    with writing(database, LIVE) as one, writing(database, LIVE) as two:
        first, second = ViewStore(one, LIVE), ViewStore(two, LIVE)
        with one.transaction():
            assert first.advance_part("drop", 0, seen._replace(position=seen.parts[0]), 500)
            first.settle("drop")
            first.enqueue(500, [Message("t", "k", None)])
            with two.transaction(force_rollback=True):
                two.execute("SET LOCAL lock_timeout = '50ms'")
                assert second.advance_part("drop", 1, seen._replace(position=seen.parts[1]), 500)
                with pytest.raises(errors.LockNotAvailable):
                    second.settle("drop")


def test_messages_are_of_rows_that_one_part_writes() -> None:
    """A row of a log is written by every part, and each would enqueue it."""
    told = [each.table for projection in VIEWS for each in projection.tells]
    assert [table.name for table in told if table.is_log] == []


@contextmanager
def part_process(database: Database, *part: str) -> Iterator[subprocess.Popen[str]]:
    """A process that follows one part of the divided views from the tape."""
    command = [sys.executable, "-m", "tests.processes.view_process", database.url, *part]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout
            assert process.stdout.readline() == "up\n"
            yield process
        finally:
            process.kill()


@pytest.mark.long
@pytest.mark.parametrize("seed", range(1, 3))
def test_parts_killed_anywhere_are_the_view_of_one_process_that_never_was(
    scenes: Scenes, seed: int
) -> None:
    """A part is killed while the others go on, and later its work is done by another number."""
    chance = random.Random(seed)  # noqa: S311 - repeatable, guards nothing
    database, rows = scenes.copy(crossed, seed, 4)
    for projection in DIVIDED:
        asked(database, projection)
    amidst = 0
    for end in sorted(chance.sample(range(1, len(rows)), KILLS)):
        of = chance.choice((2, 2, 3))
        with ExitStack() as running:
            parts = [
                running.enter_context(part_process(database, f"{number + 1}/{of}"))
                for number in range(of)
            ]
            until(lambda end=end: furthest(database) >= end)
            killed = chance.choice(parts)
            killed.kill()
            killed.wait()
            amidst += lowest(database) < len(rows)
    assert amidst > 1, "kills must come amidst work"
    with ExitStack() as running:
        for number in range(2):
            running.enter_context(part_process(database, f"{number + 1}/2"))
        until(lambda: lowest(database) == len(rows))
    whole, _ = scenes.read(crossed_in_views, seed, 4)
    for projection in DIVIDED:
        assert dumped(database, projection) == dumped(whole, projection), projection.name
    assert untold(database) == set()


@pytest.mark.long
def test_a_part_killed_after_its_checkpoint_and_before_its_rows_would_leave_rows_out(
    scenes: Scenes,
) -> None:
    """The control: one SIGKILL is seen, if a part's checkpoint and rows do not commit together."""
    database, rows = scenes.copy(crossed, 1, 4)
    for _ in range(5):  # each loses a batch
        with part_process(database, "1/2", "early") as mutant:
            assert mutant.stdout
            assert mutant.stdout.readline() == "early\n"
            mutant.kill()
            mutant.wait()
    with part_process(database, "1/2"), part_process(database, "2/2"):
        until(lambda: lowest(database) == len(rows))
    whole, _ = scenes.read(crossed_in_views, 1, 4)
    assert any(dumped(database, each) != dumped(whole, each) for each in DIVIDED)


def furthest(database: Database) -> int:
    return max(max((0, *tracking(database, each).parts)) for each in DIVIDED)


def lowest(database: Database, *views: Projection) -> int:
    return min(tracking(database, each).position for each in views or DIVIDED)
