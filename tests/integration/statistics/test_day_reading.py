"""What reading one gaming day costs: pages of the views, however long the record is."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest

from consumers.finance import day_facts, wins
from consumers.finance.day_facts import WinsAsked
from consumers.finance.sealed.pins import late_facts
from consumers.finance.wins import records_of
from consumers.registry import install
from consumers.runtime.lifecycle import catch_up
from infra.postgres.view_tables import ViewStore, reading
from tests.scenes.view_feeds import Prefix, day, record

if TYPE_CHECKING:
    from collections.abc import Mapping

    from infra.postgres.connection import Database
    from infra.postgres.view_tables import Row
    from tests.fixtures.postgres import Scenes

# Tables before and after those of the scene; each day of each starts, and has a slip of two steps.
_OTHER_DAYS = """
INSERT INTO views.finance_facts
SELECT '/p/' || name || '/d', day || '-' || n, 0, 'hollywood', name,
       CASE WHEN n < 3 THEN day::text END, extract(epoch FROM day)::bigint * 1000000 + n, n = 0,
       CASE WHEN n IN (3, 4) THEN 'fill' END, CASE WHEN n IN (3, 4) THEN name || day END,
       CASE n WHEN 3 THEN 'requested' WHEN 4 THEN 'accepted' END, NULL, NULL,
       'hollywood/' || name, n + 1, NULL, NULL
  FROM (SELECT 'A-' || t FROM generate_series(1, 20) t UNION ALL SELECT 'Z-1') AS t (name),
       (SELECT date '2020-01-01' + d FROM generate_series(1, {days}) d) AS days (day),
       generate_series(0, 9) n;
ANALYZE views.finance_facts;
INSERT INTO views.coupon_check_uses
SELECT '/p/' || name || '/d', day || '-' || n, 'coupon', 'hollywood', name || day || n, name,
       CASE WHEN n < 3 THEN day::text END, extract(epoch FROM day)::bigint * 1000000 + n
  FROM (SELECT 'A-' || t FROM generate_series(1, 20) t UNION ALL SELECT 'Z-1') AS t (name),
       (SELECT date '2020-01-01' + d FROM generate_series(1, {days}) d) AS days (day),
       generate_series(0, 9) n;
ANALYZE views.coupon_check_uses
"""


def filled(database: Database, days: int) -> None:
    """A scene: half an hour at four tables, with rows of other days beside."""
    rows = record(database, day())
    install(database)
    catch_up(database, Prefix(rows, len(rows)), wins.VIEWS)
    with database.connect("ledger_owner") as connection:
        for statement in _OTHER_DAYS.format(days=days).split(";"):
            connection.execute(statement.encode())


def pages_read(monkeypatch: pytest.MonkeyPatch, database: Database, **asked: str) -> int:
    """The pages that the queries of a day's wins touch."""
    with monkeypatch.context() as patched:
        found = counted(patched)
        assert len(wins.read(database, **asked)) == 4
    return found[0]


def counted(patched: pytest.MonkeyPatch) -> list[int]:
    """The pages that queries touch from now on, in one number."""
    found = [0]
    query = ViewStore.query

    def explained(
        self: ViewStore, statement: str, parameters: Mapping[str, object] | None = None
    ) -> list[Row]:
        ((plan,),) = query(self, f"EXPLAIN (ANALYZE, BUFFERS, FORMAT JSON) {statement}", parameters)
        top = plan[0]["Plan"]
        found[0] += top["Shared Hit Blocks"] + top["Shared Read Blocks"]
        return query(self, statement, parameters)

    patched.setattr(ViewStore, "query", explained)
    return found


@pytest.mark.parametrize("house", [{}, {"property": "hollywood"}])
def test_a_day_is_read_by_index_however_many_days_are_on_record(
    scenes: Scenes, monkeypatch: pytest.MonkeyPatch, house: dict[str, str]
) -> None:
    few, many = (scenes.read(filled, days)[0] for days in (40, 160))
    small, large = (
        pages_read(monkeypatch, each, gaming_day="2026-11-20", **house) for each in (few, many)
    )
    assert large <= 1.3 * small, (small, large)


_CORRECTIONS = """
INSERT INTO views.finance_corrections_made
SELECT '/hollywood/A-1/d', 'c-' || n, n, n, '/hollywood/office/d', 'made-' || n,
       'hollywood/office', 1000000 + n, false FROM generate_series({first}, {last}) n;
ANALYZE views.finance_corrections_made
"""


def test_late_facts_are_found_by_index_however_many_corrections_the_house_made(
    scenes: Scenes, monkeypatch: pytest.MonkeyPatch
) -> None:
    database, _ = scenes.copy(filled, 1)
    names = [each.name for view in wins.VIEWS for each in view.tables]

    def pages() -> int:
        with reading(database, names) as store:
            asked = WinsAsked("hollywood", None, "2026-11-20")
            papers = records_of(store, asked).papers("hollywood", "2026-11-20")
            with monkeypatch.context() as patched:
                found = counted(patched)
                late_facts(store, ("hollywood", "2026-11-20"), {}, papers)
        return found[0]

    read = []
    for first, last in ((1, 10_000), (10_001, 40_000)):
        with database.connect("ledger_owner") as connection:
            for statement in _CORRECTIONS.format(first=first, last=last).split(";"):
                connection.execute(statement.encode())
        read.append(pages())
    assert read[1] <= 2 * read[0], f"four times as many corrections: {read}"


def test_pages_of_a_query_that_reads_all_are_counted(
    scenes: Scenes, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A control: with its comparison of rows made to begin at the property, the day costs more."""
    many, _ = scenes.read(filled, 160)
    usual = pages_read(monkeypatch, many, gaming_day="2026-11-20", property="hollywood")
    slow = re.sub(
        r"(\(t\.property, t\.table_name\))",
        r"\1 AND f.property = 'hollywood'",
        day_facts._WITHOUT_DAY,
    )
    monkeypatch.setattr(day_facts, "_WITHOUT_DAY", slow)
    assert pages_read(monkeypatch, many, gaming_day="2026-11-20", property="hollywood") > 3 * usual
