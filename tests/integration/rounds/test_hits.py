"""Rounds found by decisions, amounts and differences; their order, their sums and their money."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from consumers.registry import VIEWS, install
from consumers.rounds import hits
from consumers.rounds.search import (
    AmountRange,
    Filters,
    Totals,
    house_names,
    ordered,
    search,
    totals,
)
from consumers.runtime.lifecycle import catch_up
from infra.postgres.view_tables import reading
from tests.scenes.view_feeds import Prefix, day, record

if TYPE_CHECKING:
    from collections.abc import Iterator

    from consumers.rounds.index import Round
    from infra.postgres.connection import Database
    from tests.fixtures.postgres import Scenes


def dealt(database: Database) -> None:
    """Half an hour of four tables with their mistakes, in every view."""
    rows = record(database, day(30, planted=1))
    install(database)
    catch_up(database, Prefix(rows, len(rows)), VIEWS)


@pytest.fixture
def floor(scenes: Scenes) -> Database:
    database, _ = scenes.copy(dealt)
    return database


def found(database: Database, **filters: object) -> list[Round]:
    return search(database, Filters(limit=1000, **filters))  # type: ignore[arg-type]


def differences(database: Database) -> Iterator[tuple[str, int]]:
    """Code and cents of every finding about what was paid."""
    with reading(database, ("ruling_findings",)) as store:
        yield from store.query(
            "SELECT code, recorded::bigint - expected::bigint FROM {schema}.ruling_findings"
            " WHERE code IN ('overpaid', 'underpaid')",
            {},
        )


@pytest.mark.long
def test_any_finding_is_every_round_with_one(floor: Database) -> None:
    with reading(floor, ("ruling_findings",)) as store:
        rows = store.query(
            "SELECT DISTINCT property, table_name, gaming_day, number"
            " FROM {schema}.ruling_findings",
            {},
        )
    assert {tuple(each.id) for each in found(floor, finding="any")} == set(rows) != set()


def test_a_difference_is_that_of_the_finding_asked_for(floor: Database) -> None:
    for code, cents in differences(floor):
        exact = {"findings": (code,), "difference_min": abs(cents), "difference_max": abs(cents)}
        assert found(floor, **exact)
        assert len(found(floor, **exact)) <= len(found(floor, findings=(code,)))
        beyond = found(floor, findings=(code,), difference_min=10**9)
        assert beyond == []


def test_orders_are_what_they_say(floor: Database) -> None:
    asked = Filters(limit=1000)
    values = {
        order: [place.value for _, place in ordered(floor, asked, order)]
        for order in ("newest", "oldest", "amount", "difference")
    }
    assert values["oldest"] == sorted(values["newest"])
    assert values["amount"] == sorted(values["amount"])
    assert values["difference"] == sorted(values["difference"])
    largest = max(abs(cents) for _, cents in differences(floor))
    assert -values["difference"][0] >= largest


def test_sums_are_those_of_the_rounds_found(floor: Database) -> None:
    of_all = totals(floor, Filters())
    assert of_all.rounds == len(found(floor))
    parts = [totals(floor, Filters(table=name)) for name in house_names(floor).tables]
    assert of_all == Totals(*(sum(each) for each in zip(*parts, strict=True)))  # type: ignore[arg-type]
    lines = hits.lines(floor, found(floor), Filters())
    over = sum(max(line.difference, 0) for each in lines.values() for line in each)
    short = sum(max(-line.difference, 0) for each in lines.values() for line in each)
    assert (of_all.short, of_all.over) == (short, over)


def test_a_hit_shows_what_was_owed_and_paid_where_it_went_wrong(floor: Database) -> None:
    asked = Filters(findings=("overpaid",))
    for id_, lines in hits.lines(floor, search(floor, asked), asked).items():
        assert lines, id_
        assert lines[0].difference == (lines[0].paid or 0) - (lines[0].owed or 0) > 0, id_


def test_decisions_and_amounts_find_the_rounds_that_have_them(floor: Database) -> None:
    folded = found(floor, calls=("fold",))
    with reading(floor, ("find_calls",)) as store:
        rows = store.query("SELECT DISTINCT call FROM {schema}.find_calls", {})
    assert ("fold",) in rows
    assert 0 < len(folded) < len(found(floor))
    for kind in ("placed", "paid", "collected", "owed"):
        low = found(floor, amounts=(AmountRange(kind, 1, None),))  # type: ignore[arg-type]
        high = found(floor, amounts=(AmountRange(kind, 10**9, None),))  # type: ignore[arg-type]
        assert low, kind
        assert high == [], kind
    wrong = found(floor, amounts=(AmountRange("owed", 0, 0), AmountRange("paid", 1, None)))
    assert {each.id for each in wrong} <= {each.id for each in found(floor, findings=("overpaid",))}
