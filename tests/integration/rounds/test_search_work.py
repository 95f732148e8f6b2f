"""The work of the drop and of the search for rounds: rows read and steps taken, never seconds.

A ledger is filled by direct rows: four tables, so many gaming days, so many rounds on each.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

import pytest

from consumers.money import drop
from consumers.registry import install
from consumers.rounds.search import Filters, round_details, search
from infra.postgres.view_tables import ViewStore

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from types import FrameType

    from infra.postgres.connection import Database
    from infra.postgres.view_tables import Row
    from tests.fixtures.postgres import Scenes

DROP = """
INSERT INTO views.drop_days (property, table_name, gaming_day, cash)
SELECT 'p', 'T-' || t, to_char(date '2020-01-01' + d, 'YYYY-MM-DD'), 100
  FROM generate_series(1, 4) t, generate_series(0, {days} - 1) d;
INSERT INTO views.drop_wagers (property, table_name, gaming_day, wager, collected)
SELECT property, table_name, gaming_day, 'w' || n, 5 FROM views.drop_days, generate_series(1, 4) n;
INSERT INTO views.drop_boxes
SELECT '/p/count/d', table_name || gaming_day || n, property, table_name, gaming_day, n,
       'b', n, 5, 0, NULL, 0, 0, NULL, '{{}}', 0
  FROM views.drop_days, generate_series(1, 2) n;
INSERT INTO views.drop_papers
SELECT '/p/T/d', table_name || gaming_day || n, property, table_name, 1, gaming_day, n < 2, n < 1,
       extract(epoch FROM gaming_day::date)::bigint * 1000000 + n,
       CASE WHEN n < 2 THEN 'box' ELSE 'cash' END, '', n, CASE WHEN n < 2 THEN 'b' END,
       'p/' || table_name, n + 1, NULL, NULL
  FROM views.drop_days, generate_series(0, 9) n
"""

ROUNDS = """
INSERT INTO views.rounds
SELECT property, table_name, gaming_day, n, 'g', 'completed', us + n * minute,
       us + n * minute + minute / 2, '{{1,2}}', '{{ante}}', 1000, 2000, 40
  FROM (SELECT *, extract(epoch FROM gaming_day::date)::bigint * 1000000 AS us,
               60000000::bigint AS minute FROM views.drop_days) d, generate_series(1, 30) n;
INSERT INTO views.round_wagers
SELECT property, table_name, gaming_day, number, 1, 'ante', 1,
       CASE WHEN gaming_day = '2020-01-02' AND number = 3 THEN 990000 ELSE 1000 END,
       NULL, 1000, NULL FROM views.rounds;
INSERT INTO views.find_posts
SELECT d.property, 'p/' || d.table_name, n * 10000 + (d.gaming_day::date - date '2020-01-01'),
       d.table_name,
       CASE WHEN n = 2 THEN NULL
            WHEN d.gaming_day IN ('2020-01-02', '2020-01-03') THEN 'D-1'
            ELSE 'D-' || (2 + (d.gaming_day::date - date '2020-01-01') % 50) END,
       CASE WHEN n < 2 THEN 'dealer' END, n = 0,
       extract(epoch FROM gaming_day::date)::bigint * 1000000 + n * 1700000000::bigint
  FROM views.drop_days d, generate_series(0, 2) n;
INSERT INTO views.find_seats
SELECT property, 'p/' || table_name, n * 10000 + (gaming_day::date - date '2020-01-01'), 1,
       table_name,
       CASE WHEN gaming_day = '2020-01-02' THEN 'P-1' ELSE 'P-2' || gaming_day END, n = 0,
       extract(epoch FROM gaming_day::date)::bigint * 1000000 + n * 1700000000::bigint
  FROM views.drop_days, generate_series(0, 1) n;
INSERT INTO views.find_hands
SELECT property, table_name, gaming_day, number, 'player', 1,
       CASE WHEN gaming_day = '2020-01-02' AND number = 3 THEN '{{As,Kd}}'::text[]
            ELSE '{{2c,3d}}' END FROM views.rounds;
INSERT INTO views.ruling_settlements
SELECT property, table_name, gaming_day, number, 0, 1, 1, 'ante', NULL, 500, 'win', 1, '1',
       'table', CASE WHEN gaming_day = '2020-01-02' AND number = 3 THEN 'Royal flush'
                     ELSE 'Pair' END FROM views.rounds;
INSERT INTO views.ruling_findings
SELECT property, table_name, gaming_day, number, 0,
       CASE WHEN gaming_day = '2020-01-02' THEN 'overpaid' ELSE 'underpaid' END,
       1, 'ante', '5', '4', '1', 'It is short.', 1, NULL, 1, 1, '', '', 'unseen', '', ''
  FROM views.rounds
 WHERE number % 10 = 3;
ANALYZE
"""

FILTERS = {
    "a day": {"gaming_day": "2020-01-02"},
    "a table's day": {"gaming_day": "2020-01-02", "table": "T-2"},
    "a dealer": {"dealer": "D-1"},
    "a patron": {"patron": "P-1"},
    "cards": {"cards": ("As", "Kd")},
    "a printed row": {"row": "royal"},
    "a finding": {"finding": "overpaid"},
    "an amount": {"amount_min": 990_000},
    "a patron, cards and a row": {"patron": "P-1", "cards": ("As", "Kd"), "row": "royal"},
}

_SCANNED = {"an amount"}
"""Filters that read one row a wager of the whole ledger."""


def filled(database: Database, days: int, *parts: str) -> None:
    """A scene."""
    install(database)
    with database.connect("ledger_owner") as connection:
        for statement in ";".join(parts).format(days=days).split(";"):
            connection.execute(statement.encode())


def steps(work: Callable[[], object]) -> int:
    """The instructions that the views' own code takes in a call."""
    count = 0

    def each(frame: FrameType, event: str, _: object) -> Any:  # noqa: ANN401 - as sys.settrace
        nonlocal count
        if "/consumers/" not in frame.f_code.co_filename:
            return None
        frame.f_trace_opcodes = True
        count += event == "opcode"
        return each

    before = sys.gettrace()
    sys.settrace(each)
    try:
        work()
    finally:
        sys.settrace(before)
    return count


def rows_read(monkeypatch: pytest.MonkeyPatch, work: Callable[[], object]) -> int:
    """The rows that the server's plans touch for all queries of a call."""
    found = 0
    query = ViewStore.query

    def explained(
        self: ViewStore, statement: str, parameters: Mapping[str, object] | None = None
    ) -> list[Row]:
        nonlocal found
        ((plan,),) = query(self, f"EXPLAIN (ANALYZE, FORMAT JSON) {statement}", parameters)
        found += touched(plan[0]["Plan"])
        return query(self, statement, parameters)

    with monkeypatch.context() as patched:
        patched.setattr(ViewStore, "query", explained)
        work()
    return found


def touched(plan: Mapping[str, Any]) -> int:
    """The rows a plan's nodes return or reject, each as often as it does."""
    names = ("Actual Rows", "Rows Removed by Filter", "Rows Removed by Join Filter")
    own = sum(plan.get(name, 0) for name in names) * plan["Actual Loops"]
    return round(own) + sum(touched(each) for each in plan.get("Plans", ()))


def test_the_drop_of_twice_as_many_days_takes_twice_the_steps(scenes: Scenes) -> None:
    few, many = (scenes.read(filled, days, DROP)[0] for days in (8, 16))
    small, large = (steps(lambda: drop.read(each)) for each in (few, many))  # noqa: B023 - called at once
    assert len(drop.read(many)) == 64
    assert 1.9 < large / small < 2.1


@pytest.mark.long
def test_what_a_search_reads_does_not_grow_with_the_ledger(
    scenes: Scenes, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The second ledger has three times the days; the rounds that match are the same."""
    few, many = (scenes.read(filled, days, DROP, ROUNDS)[0] for days in (150, 450))
    for name, given in FILTERS.items():
        filters = Filters(**given)
        found = search(few, filters)
        assert found, name
        assert search(many, filters) == found, name
        small, large = (
            rows_read(monkeypatch, lambda: search(each, filters))  # noqa: B023 - called at once
            for each in (few, many)
        )
        assert large <= (3.1 if name in _SCANNED else 1.2) * small, (name, small, large)
        details = [
            rows_read(monkeypatch, lambda: round_details(each, found))  # noqa: B023 - as above
            for each in (few, many)
        ]
        assert details[1] <= 1.2 * details[0], (name, details)
    day = [
        rows_read(monkeypatch, lambda: drop.read(each, gaming_day="2020-01-02"))  # noqa: B023 - as above
        for each in (few, many)
    ]
    assert day[0] == day[1]
