"""Views that somebody changed by SQL: every edited, deleted or inserted row is named."""

from __future__ import annotations

from typing import TYPE_CHECKING

import psycopg
import pytest
from psycopg import sql

from consumers.registry import VIEWS, view
from consumers.runtime import compare_views
from consumers.runtime.compare_views import compare
from consumers.runtime.runner import RunnerOptions, divide
from infra.postgres.parking import Parked
from infra.postgres.view_tables import LIVE, opened, tape_source
from ledger.errors import Refused
from tests.scenes.view_feeds import day, dumped, record, viewed

if TYPE_CHECKING:
    from collections.abc import Iterator

    from consumers.runtime.source import Projection
    from infra.postgres.connection import Database
    from infra.postgres.view_tables import Column, ViewTable
    from tests.fixtures.postgres import Scenes

Superuser = psycopg.Connection[tuple[object, ...]]


@pytest.fixture
def changed(scenes: Scenes) -> Database:
    """A simulated day with every view at its end."""
    return scenes.copy(viewed, 30)[0]


@pytest.fixture
def superuser(changed: Database) -> Iterator[Superuser]:
    with psycopg.connect(changed.url, autocommit=True) as connection:
        yield connection


def breaks(database: Database, projection: Projection) -> list[tuple[str, str]]:
    with tape_source(database) as source:
        found = compare(database, source, projection)
    assert found is not None
    assert found.broken == len(found.breaks)
    return [(each.table, each.what) for each in found.breaks]


def other(column: Column) -> sql.Composable:
    """SQL: another value of a column."""
    name = sql.Identifier(column.name)
    if column.type in ("bigint", "integer", "smallint"):
        return sql.SQL("{} + 1").format(name)
    if column.type == "boolean":
        return sql.SQL("NOT {}").format(name)
    return sql.SQL("{} || '1'").format(name)


SIMPLE = ("bigint", "integer", "smallint", "boolean", "text")


def tamper(superuser: Superuser, table: ViewTable) -> list[tuple[str, str]]:
    """Edit, delete and insert a row of a table each, as far as it has rows; what was done."""
    name = sql.Identifier("views", table.name)
    done = []
    keys = sql.SQL(", ").join(sql.Identifier(column.name) for column in table.key)
    edited = next((c for c in table.columns[table.keys :] if c.type in SIMPLE and not c.null), None)
    rows = superuser.execute(
        sql.SQL("SELECT ctid FROM {} ORDER BY {} LIMIT 3").format(name, keys)
    ).fetchall()
    if len(rows) < 3:
        return []
    (first,), (second,), (third,) = rows
    key = next(
        c for c in reversed(table.key) if c.type in ("bigint", "integer", "smallint", "text")
    )
    cells = [sql.Identifier(c.name) if c != key else _far(key) for c in table.columns]
    names = [sql.Identifier(c.name) for c in table.columns]
    statement = sql.SQL("INSERT INTO {} ({}) SELECT {} FROM {} WHERE ctid = %s").format(
        name, sql.SQL(", ").join(names), sql.SQL(", ").join(cells), name
    )
    superuser.execute(statement, (third,))
    done.append((table.name, "inserted"))
    superuser.execute(sql.SQL("DELETE FROM {} WHERE ctid = %s").format(name), (second,))
    done.append((table.name, "deleted"))
    if edited:
        statement = sql.SQL("UPDATE {} SET {} = {} WHERE ctid = %s").format(
            name, sql.Identifier(edited.name), other(edited)
        )
        superuser.execute(statement, (first,))
        done.append((table.name, "edited"))
    return done


def _far(column: Column) -> sql.Composable:
    """SQL: a value of a key's column that no row has."""
    if column.type == "text":
        return sql.SQL("{} || '~'").format(sql.Identifier(column.name))
    return sql.SQL("{} + 30000").format(sql.Identifier(column.name))


FILLED = ("rounds", "table_board", "drop", "payouts", "rulings", "finds", "finance", "disputes")
"""Views of which a simulated day fills a table."""


@pytest.mark.parametrize("name", [each.name for each in VIEWS])
def test_every_changed_row_of_a_view_is_named_and_nothing_else(
    changed: Database, superuser: Superuser, name: str
) -> None:
    projection = view(name)
    assert breaks(changed, projection) == []
    done = [each for table in projection.tables for each in tamper(superuser, table)]
    assert done or name not in FILLED
    before = dumped(changed, projection)
    assert sorted(breaks(changed, projection)) == sorted(done)
    assert dumped(changed, projection) == before, "comparing changes nothing"
    assert superuser.execute("SELECT FROM views.tracking WHERE rebuilding").fetchall() == []


def test_a_view_that_lags_or_is_divided_is_compared_where_it_is(
    changed: Database, superuser: Superuser
) -> None:
    projection = view("rounds")
    record(changed, day(5, seed=9))
    assert breaks(changed, projection) == [], "it is brought to the end of the record first"
    with opened(changed, LIVE) as store:
        divide(store, [projection], 3, RunnerOptions())
    record(changed, day(5, seed=10))
    assert breaks(changed, projection) == []
    done = [each for table in projection.tables for each in tamper(superuser, table)]
    assert sorted(breaks(changed, projection)) == sorted(done) != []


def test_a_view_that_withholds_facts_is_refused(changed: Database) -> None:
    with opened(changed, LIVE) as store, store.transaction():
        store.park("rounds", [Parked("hollywood/CC-01", 5, 1, "apply", "It failed.", "here")])
    with pytest.raises(Refused, match="withholds facts of hollywood/CC-01"):
        breaks(changed, view("rounds"))


def test_the_list_of_a_views_breaks_ends_and_all_are_counted(
    changed: Database, superuser: Superuser, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(compare_views, "_PAGE_ROWS", 7)
    superuser.execute("UPDATE views.rounds SET number = number + 100000")
    (count,) = superuser.execute("SELECT count(*) FROM views.rounds").fetchall()[0]
    with tape_source(changed) as source:
        found = compare(changed, source, view("rounds"))
    assert found is not None
    assert (found.broken, len(found.breaks)) == (2 * int(str(count)), 100)
