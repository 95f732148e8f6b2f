"""The queue reads one page of rows, and its counts are those of the findings after any batch."""

from __future__ import annotations

import itertools
import json
from typing import TYPE_CHECKING, Any

import pytest

from consumers.registry import VIEWS, install
from consumers.review import queue
from consumers.rulings import finding_work as work
from consumers.rulings import rulings
from consumers.runtime.lifecycle import catch_up, rebuild
from infra.postgres.view_tables import ViewStore, reading, tape_source
from ledger.facts import FactCorrected, FactRef, FindingClosed, FindingReopened, FindingTaken
from ledger.values import RoundId
from replay.recording.house_facts import append_facts, build_fact, screen
from tests.scenes.findings import fill_findings, multiply_findings
from tests.scenes.view_feeds import dumped, viewed

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from infra.postgres.connection import Database
    from infra.postgres.tape import PostgresTape
    from ledger.facts import Body

T0_US = 1_795_000_000_000_000
KEY = "property, table_name, code, wager, hour_us, status, holder, outcome"
COUNTED = f"""
SELECT {KEY}, count(*)::int, count(off)::int, coalesce(sum(off), 0)::bigint FROM (
SELECT property, table_name, code, coalesce(wager, '') AS wager,
       time_us / 3600000000 * 3600000000 AS hour_us, status, holder, outcome, off
  FROM {{schema}}.ruling_findings
 UNION ALL
SELECT property, table_name, code, '', time_us / 3600000000 * 3600000000, status, holder, outcome,
       NULL FROM {{schema}}.ruling_table_findings) f GROUP BY {KEY} ORDER BY {KEY}
"""  # noqa: S608 - our own names


IS_DONE = "w.closed AND w.decided_us >= %(from)s AND w.decided_us < %(to)s"
RECOUNTED = f"""
SELECT count(*) FILTER (WHERE is_new)::int, coalesce(sum(off) FILTER (WHERE is_new), 0)::bigint,
       count(*) FILTER (WHERE is_done)::int, coalesce(sum(off) FILTER (WHERE is_done), 0)::bigint,
       count(*) FILTER (WHERE is_open)::int, coalesce(sum(off) FILTER (WHERE is_open), 0)::bigint,
       count(*) FILTER (WHERE status = 'unseen')::int,
       count(*) FILTER (WHERE is_done AND outcome = 'right')::int,
       count(*) FILTER (WHERE is_done AND outcome = 'wrong')::int,
       count(*) FILTER (WHERE is_done AND outcome = 'not_visible')::int,
       count(*) FILTER (WHERE is_done AND outcome = 'known')::int
  FROM (SELECT f.off, f.status, f.outcome, f.status <> 'closed' AS is_open,
               f.time_us >= %(from)s AND f.time_us < %(to)s AS is_new,
               coalesce({IS_DONE}, false) AS is_done
          FROM (SELECT property, table_name, gaming_day, number, ref, off, status, outcome, time_us
                  FROM {{schema}}.ruling_findings
                 UNION ALL
                SELECT property, table_name, gaming_day, NULL, ref, NULL, status, outcome, time_us
                  FROM {{schema}}.ruling_table_findings) f
          LEFT JOIN {{schema}}.finding_work w USING (property, ref)
         WHERE property = 'hollywood' AND NOT (
               table_name = %(table)s AND coalesce(gaming_day, %(day)s) = %(day)s
               AND coalesce(number, %(number)s) = %(number)s)) found
"""  # noqa: S608 - our own names
"""What happened in a span, from every finding of the property. table, day, number: withheld."""


def rows_read(plan: dict[str, Any]) -> Iterator[int]:
    """The rows that each scan of a plan reads from a table or its index."""
    if "Relation Name" in plan:
        rows = plan["Actual Rows"] + plan.get("Rows Removed by Filter", 0)
        yield int(rows * plan["Actual Loops"])
    for each in plan.get("Plans", ()):
        yield from rows_read(each)


@pytest.fixture
def read(monkeypatch: pytest.MonkeyPatch) -> Callable[[Callable[[], object]], int]:
    """How many rows a function's queries read."""
    plain, found = ViewStore.query, []

    def query(store: ViewStore, statement: str, parameters: Any = None) -> Any:  # noqa: ANN401 - as it is
        [(plan,)] = plain(store, f"EXPLAIN (ANALYZE, FORMAT JSON) {statement}", parameters)
        plan = json.loads(plan) if isinstance(plan, str) else plan
        found.extend(rows_read(plan[0]["Plan"]))
        return plain(store, statement, parameters)

    def counted(function: Callable[[], object]) -> int:
        found.clear()
        with monkeypatch.context() as patched:
            patched.setattr(ViewStore, "query", query)
            function()
        return sum(found)

    return counted


def test_a_page_reads_as_many_rows_of_many_findings_as_of_few(
    database: Database, read: Callable[[Callable[[], object]], int]
) -> None:
    install(database)
    fill_findings(database, 4_000)
    assert queue.counts(database, "S-1") == (3_000, 400, 1_000, 2_600)
    page = queue.page(database, "open", "S-1")
    shown = sum(group.many for group in page.groups)
    assert page.groups_all > 500
    assert read(lambda: queue.page(database, "open", "S-1")) < 500 + 3 * shown
    assert read(lambda: queue.page(database, "closed", "S-1")) < 500 + 3 * shown
    assert read(lambda: queue.counts(database, "S-1")) < 100
    assert read(lambda: queue.named(database, [page.groups[0].members[0].name])) < 10
    first = page.groups[0]
    hidden = first.members[0].round
    assert hidden is not None
    less = queue.page(database, "open", "S-1", without=[hidden])
    assert less.groups_all == page.groups_all
    assert first.many - 1 in [group.many for group in less.groups]
    alone = [m.round for m in first.members if m.round]
    assert queue.page(database, "open", "S-1", without=alone).groups_all == page.groups_all - 1
    assert queue.counts(database, "S-1", alone).open == 3_000 - len(alone)
    assert read(lambda: queue.counts(database, "S-1", [hidden])) < 100


def counted(database: Database) -> None:
    """Check groups and states against the findings themselves."""
    with reading(database, queue.TABLES) as store:
        groups = store.query(
            f"SELECT {KEY}, many, priced, off FROM {{schema}}.finding_groups ORDER BY {KEY}"  # noqa: S608 - our own names
        )
        assert groups == store.query(COUNTED)
        states = "property, table_name, code, status, holder"
        assert store.query(
            f"SELECT {states}, many, groups, off FROM {{schema}}.finding_states ORDER BY {states}"  # noqa: S608 - as above
        ) == store.query(
            f"SELECT {states}, sum(many)::int, count(*)::int, sum(off)::bigint"  # noqa: S608 - as above
            f" FROM {{schema}}.finding_groups GROUP BY {states} ORDER BY {states}"
        )


def during_recounted(database: Database, spans: Iterable[tuple[int, int]], hidden: RoundId) -> int:
    """Check what happened in each span against every finding; how many differ from nothing."""
    several = set()
    for from_us, to_us in spans:
        given: dict[str, object] = {"from": from_us, "to": to_us}
        for without in ((), (hidden,)):
            named = without[0] if without else RoundId("", "", "", 0)
            cells = {"table": named.table, "day": named.gaming_day, "number": named.number}
            with reading(database, queue.TABLES) as store:
                [plain] = store.query(RECOUNTED, given | cells)
            new, done, open_, *rest = queue.during(database, "hollywood", from_us, to_us, without)
            unseen, outcomes = rest
            assert (*new, *done, *open_, unseen, *outcomes) == plain
            several.add(plain)
    return len(several)


@pytest.mark.long
def test_what_happened_in_a_shift_reads_its_own_rows_of_100_000_findings(
    database: Database, read: Callable[[Callable[[], object]], int]
) -> None:
    install(database)
    fill_findings(database, 1_000)
    multiply_findings(database, 100)
    with reading(database, queue.TABLES) as store:
        [(many, first_us, last_us)] = store.query(
            "SELECT count(*), min(time_us), max(time_us) FROM {schema}.ruling_findings"
        )
    assert many == 100_000
    middle_us = (first_us + last_us) // 2
    shift = (middle_us, middle_us + 8 * work.HOUR_US)
    found = queue.during(database, "hollywood", *shift)
    assert found.new.many > 100
    assert found.done.many > 100
    assert found.open.many == 75_000
    hidden = RoundId("hollywood", "T-1", "2026-11-20", 1)
    assert during_recounted(database, [shift, (first_us, last_us), (0, 1)], hidden) == 6
    for without in ((), (hidden,)):
        its = read(lambda without=without: queue.during(database, "hollywood", *shift, without))
        assert its < 3 * (found.new.many + found.done.many) + 1_000


@pytest.mark.long
def test_counts_follow_work_corrections_and_late_facts(
    database: Database, tape: PostgresTape
) -> None:
    rows = viewed(database, 10, tables=2, planted=2)
    counted(database)
    members = [m for g in queue.page(database, "open", "S-1").groups for m in g.members]
    of_rounds = [each for each in members if each.round]
    assert len(of_rounds) > 1
    bodies: list[Body] = []
    for nth, each in enumerate(members):
        bodies.append(FindingTaken(finding=each.ref, by=f"S-{nth % 3}"))
        if nth % 2:
            bodies.append(FindingClosed(finding=each.ref, outcome="right", because="", by="S-1"))
        if nth % 4 == 3:
            bodies.append(FindingReopened(finding=each.ref, because="Again.", by="S-2"))
    dropped = next(row for row in rows if row.type.startswith("wager_paid"))
    bodies.append(
        FactCorrected(
            of=FactRef(dropped.source, dropped.id), because="Not made.", by="S-1", second="S-2"
        )
    )
    facts = [
        build_fact(body, screen("hollywood", "desk"), time_us=T0_US + nth)
        for nth, body in enumerate(bodies)
    ]
    for size in (1, 2, len(facts)):
        append_facts(tape, facts[:size])
        del facts[:size]
        with tape_source(database) as source:
            catch_up(database, source, VIEWS, batch_rows=5)
        counted(database)
    times = [0, T0_US, T0_US + 3, *(each.time_us for each in members[::3]), 2 * T0_US]
    [hidden, *_] = (each.round for each in of_rounds if each.round)
    assert during_recounted(database, itertools.combinations(sorted(times), 2), hidden) > 10
    found = queue.named(database, [each.name for each in members])
    assert {each.status for each in found} == {"taken", "closed"}
    before = dumped(database, rulings.VIEW)
    with tape_source(database) as source:
        rebuild(database, source, rulings.VIEW)
    assert dumped(database, rulings.VIEW) == before


def test_work_is_kept_before_its_finding_is_known() -> None:
    row = work.FindingWork("p", "T|2026-11-20|1|overpaid||1||", "S-1", closed=True, outcome="right")
    assert work._state(("p", row.ref), row)[2:] == ("closed", "S-1", "right")
    assert work._state(("p", row.ref), None)[2:] == ("unseen", "", "")
