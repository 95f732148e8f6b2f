"""Ledgers that tests begin with: built once, one of its own for who writes, one for who reads."""

from __future__ import annotations

from typing import TYPE_CHECKING

import psycopg
import pytest

from tests.fixtures.postgres import fact
from tests.scenes.view_feeds import record

if TYPE_CHECKING:
    from infra.postgres.connection import Database
    from tests.fixtures.postgres import Scenes

built: list[int] = []


def told(database: Database, facts: int) -> int:
    """A scene of some facts."""
    built.append(facts)
    return len(record(database, [fact(number) for number in range(facts)]))


def test_a_scene_is_built_once_and_what_one_copy_is_told_no_other_has(scenes: Scenes) -> None:
    built.clear()
    for _ in range(2):
        database, known = scenes.copy(told, 3)
        assert known == 3
        assert len(record(database, [fact(9)])) == 4
    assert scenes.read(told, 3)[1] == 3
    assert scenes.copy(told, 2)[1] == 2
    assert built == [3, 2]


def test_nobody_writes_in_the_copy_that_others_read(scenes: Scenes) -> None:
    database, _ = scenes.read(told, 5)
    assert scenes.read(told, 5)[0] == database
    with (
        database.connect("ledger_owner") as connection,
        pytest.raises(psycopg.errors.ReadOnlySqlTransaction),
    ):
        connection.execute("UPDATE views.tracking SET position = 0")
    with database.connect("ledger_reader") as connection:
        assert connection.execute("SELECT count(*) FROM ledger.tape").fetchone() == (5,)
