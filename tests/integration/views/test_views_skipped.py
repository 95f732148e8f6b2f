"""A rebuild from the tape leaves out the facts that a view does not read (ADR 0189)."""

from __future__ import annotations

import dataclasses
import json
from typing import TYPE_CHECKING

import pytest

from consumers.registry import VIEWS, install, view
from consumers.runtime.lifecycle import Projection, RunnerOptions, catch_up, rebuild
from infra.postgres import tape
from infra.postgres.view_tables import tape_source
from ledger.record.wire import StoredFactError
from tests.scenes.coupons import USUAL
from tests.scenes.view_feeds import (
    Prefix,
    as_type,
    day,
    disturbed,
    dumped,
    of_finance,
    received,
    record,
)

if TYPE_CHECKING:
    from infra.postgres.connection import Database
    from ledger.record.tape import TapeRow
    from tests.fixtures.postgres import Scenes

SPARSE = [each for each in VIEWS if each.skipped]
COUNTING = [each for each in VIEWS if each.counts_all]


def told(database: Database) -> tuple[TapeRow, ...]:
    """A scene: minutes of play, closed days, coupons and a meter, in every view, none left out."""
    papers = [received(json.dumps(each).encode()) for each in USUAL]
    rows = record(database, disturbed([*day(6, planted=1), *of_finance(), *papers], 5))
    install(database)
    catch_up(database, Prefix(rows, len(rows)), VIEWS)
    return tuple(rows)


def rebuilt(database: Database, projection: Projection) -> list[int]:
    """Rebuild a view from the tape; the positions that it reached."""
    reached: list[int] = []
    options = RunnerOptions(lambda _, position: reached.append(position))
    with tape_source(database) as source:
        assert rebuild(database, source, projection, options=options)
    return reached


@pytest.mark.parametrize("span", [7, 50_000], ids=["short_reads", "long_reads"])
@pytest.mark.parametrize("projection", SPARSE, ids=[each.name for each in SPARSE])
def test_a_rebuild_that_leaves_facts_out_gives_the_same_rows(
    scenes: Scenes, monkeypatch: pytest.MonkeyPatch, projection: Projection, span: int
) -> None:
    monkeypatch.setattr(tape, "SPAN_ROWS", span)
    database, rows = scenes.copy(told)
    before = dumped(database, projection)
    assert before, "the view has rows"
    assert rebuilt(database, projection)[-1] == len(rows), "the end, whatever was left out"
    assert dumped(database, projection) == before


@pytest.mark.parametrize("projection", COUNTING, ids=[each.name for each in COUNTING])
def test_a_view_that_counts_every_fact_would_come_out_otherwise(
    scenes: Scenes, projection: Projection
) -> None:
    """The control: what happens to a view that is not marked so."""
    database, _ = scenes.copy(told)
    before = dumped(database, projection)
    rebuilt(database, dataclasses.replace(projection, counts_all=False))
    assert dumped(database, projection) != before


def test_a_fact_of_a_newer_version_is_never_left_out(database: Database) -> None:
    facts = day(2)
    at = next(at for at, each in enumerate(facts) if each.type == "table_opened.v1")
    record(database, [*facts[:at], as_type(facts[at], "table_opened.v9"), *facts[at + 1 :]])
    install(database)
    with pytest.raises(StoredFactError, match=r"table_opened\.v9"):
        rebuilt(database, view("openings"))
