"""What every view must do, whichever it is: a new one is tested here without being listed."""

from __future__ import annotations

import random
import re
from typing import TYPE_CHECKING, Any

import pytest

from consumers.registry import VIEWS, install, view
from consumers.runtime.lifecycle import (
    Batch,
    FencedError,
    Runner,
    RunnerOptions,
    catch_up,
    rebuild,
)
from infra.postgres.view_tables import LIVE, ViewStore, writing
from ledger.errors import NotFound, Refused
from tests.scenes.view_feeds import (
    Prefix,
    day,
    disturbed,
    dumped,
    of_finance,
    record,
    recorded,
    viewed,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from consumers.runtime.lifecycle import Projection
    from infra.postgres.connection import Database
    from ledger.record.tape import TapeRow
    from ledger.record.wire import Fact
    from tests.fixtures.postgres import Scenes

every_view = pytest.mark.parametrize("projection", VIEWS, ids=[each.name for each in VIEWS])


@pytest.mark.long
@pytest.mark.parametrize("seed", [1, 2])
def test_every_view_is_the_same_at_any_prefix_whatever_the_batches_and_however_it_was_built(
    database: Database, seed: int
) -> None:
    """Kept up in batches of chance sizes; at each prefix rebuilt at once, and compared."""
    chance = random.Random(seed)  # noqa: S311 - repeatable, guards nothing
    rows = record(database, disturbed(day(12, seed=seed, planted=1), seed))
    install(database)
    prefixes = [*sorted(chance.sample(range(1, len(rows)), 3)), len(rows)]
    for prefix in prefixes:
        source = Prefix(rows, prefix)
        for projection in VIEWS:
            size = chance.choice((3, 17, 120, 700))
            reached = catch_up(database, source, [projection], batch_rows=size)
            assert reached == prefix
            incremental = dumped(database, projection)
            assert rebuild(database, source, projection)
            assert dumped(database, projection) == incremental, (projection.name, prefix, size)


@pytest.mark.long
def test_replaying_twice_gives_identical_bytes(database: Database) -> None:
    rows = record(database, [*day(6), *of_finance()])
    install(database)
    catch_up(database, Prefix(rows, len(rows)), VIEWS)
    first = {each.name: dumped(database, each) for each in VIEWS}
    for projection in VIEWS:
        rebuild(database, Prefix(rows, len(rows)), projection)
    assert {each.name: dumped(database, each) for each in VIEWS} == first
    assert all(first.values())


@every_view
def test_a_view_names_every_fact_that_it_takes(
    scenes: Scenes, projection: Projection, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What it takes and does not name it would pass over in a version that is not known here."""
    asked: set[str] = set()
    fact, body, facts = Batch.fact, Batch.body, Batch.facts

    def of(took: Callable[..., Any]) -> Callable[[Batch, TapeRow], Any]:
        def noted(batch: Batch, row: TapeRow) -> Any:  # noqa: ANN401 - as the two
            asked.add(row.type)
            return took(batch, row)

        return noted

    def all_of(batch: Batch, types: frozenset[str]) -> Iterator[tuple[TapeRow, Fact]]:
        asked.update(types)
        return facts(batch, types)

    monkeypatch.setattr(Batch, "fact", of(fact))
    monkeypatch.setattr(Batch, "body", of(body))
    monkeypatch.setattr(Batch, "facts", all_of)
    database, rows = scenes.copy(recorded, 12, planted=1)
    catch_up(database, Prefix(rows, len(rows)), [projection])
    assert asked
    assert asked <= (projection.reads or {row.type for row in rows})


@every_view
def test_a_batch_applied_twice_changes_nothing(scenes: Scenes, projection: Projection) -> None:
    database, rows = scenes.copy(viewed, 6)
    before = dumped(database, projection)
    assert catch_up(database, Prefix(rows, len(rows)), [projection]) == len(rows)
    assert dumped(database, projection) == before


@every_view
def test_a_runner_that_was_overtaken_is_refused_and_writes_nothing(
    scenes: Scenes, projection: Projection
) -> None:
    database, rows = scenes.copy(recorded, 6)
    with writing(database, LIVE) as connection:
        store = ViewStore(connection, LIVE)
        seen = store.tracking(projection.name)
        assert seen is not None
        catch_up(database, Prefix(rows, len(rows)), [projection])
        before = dumped(database, projection)
        with connection.transaction():
            assert not store.advance(projection.name, seen, 500)
        runner = Runner(
            ViewStore(connection, LIVE),
            Prefix(rows, len(rows)),
            [projection],
            RunnerOptions(batch_rows=500),
        )
        runner._seen[projection.name] = [runner._seen[projection.name][0]._replace(tracking=seen)]
        with pytest.raises(FencedError):
            runner.apply(projection, Batch(rows[:500]))
    assert dumped(database, projection) == before


@pytest.mark.parametrize("name", ["drop", "payouts", "rounds"])
def test_without_the_comparison_an_overtaken_runner_would_count_twice(
    scenes: Scenes, name: str
) -> None:
    """The control: what the test above would look like if the tracking did not refuse."""
    projection = view(name)
    database, rows = scenes.copy(viewed, 6)
    before = dumped(database, projection)
    with writing(database, LIVE) as connection, connection.transaction():
        projection.apply(ViewStore(connection, LIVE), Batch(rows))
    assert dumped(database, projection) != before


@every_view
def test_every_column_of_a_view_says_what_it_holds(scenes: Scenes, projection: Projection) -> None:
    database, _ = scenes.read(viewed, 6)
    with writing(database, LIVE) as connection:
        for table in projection.tables:
            missing = connection.execute(
                "SELECT a.attname FROM pg_attribute a WHERE a.attrelid = %s::regclass"
                " AND a.attnum > 0 AND NOT a.attisdropped"
                " AND col_description(a.attrelid, a.attnum) IS NULL",
                (f"views.{table.name}",),
            ).fetchall()
            assert missing == []


def test_no_two_views_share_a_table() -> None:
    names = [table.name for each in VIEWS for table in each.tables]
    assert len(names) == len(set(names))
    assert all(re.fullmatch(r"[a-z_]+", name) for name in names)


@every_view
def test_a_view_of_another_version_stands_still_until_it_is_rebuilt(
    scenes: Scenes, projection: Projection
) -> None:
    database, rows = scenes.copy(recorded, 3)
    with database.connect("ledger_owner") as connection:
        connection.execute(
            "UPDATE views.tracking SET version = 99 WHERE view = %s", (projection.name,)
        )
    with pytest.raises(Refused, match="rebuild"):
        catch_up(database, Prefix(rows, len(rows)), [projection])
    assert rebuild(database, Prefix(rows, len(rows)), projection)
    assert catch_up(database, Prefix(rows, len(rows)), [projection]) == len(rows)


def test_a_view_that_is_not_there_says_how_to_get_it(bare_database: Database) -> None:
    with pytest.raises(NotFound, match="rebuild rounds"):
        catch_up(bare_database, Prefix([], 0), [view("rounds")])
    with pytest.raises(NotFound, match="Name one of"):
        view("no_such_view")


def test_a_worker_of_views_may_write_their_rows_and_nothing_else(database: Database) -> None:
    install(database)
    for statement in (
        "CREATE TABLE views.mine (a int)",
        "DROP TABLE views.rounds",
        "INSERT INTO ledger.heads VALUES (1, 1, 'x', '')",
    ):
        with writing(database, LIVE) as connection, pytest.raises(Exception, match=r"denied|owner"):
            connection.execute(statement.encode())
