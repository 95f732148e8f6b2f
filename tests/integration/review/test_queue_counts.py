"""The queue reads one page of rows, and its counts are those of the findings after any batch."""

from __future__ import annotations

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
from replay.recording.house_facts import append_facts, build_fact, screen
from tests.scenes.findings import fill_findings
from tests.scenes.view_feeds import dumped, viewed

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

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
            f"SELECT {states}, many, groups FROM {{schema}}.finding_states ORDER BY {states}"  # noqa: S608 - as above
        ) == store.query(
            f"SELECT {states}, sum(many)::int, count(*)::int FROM {{schema}}.finding_groups"  # noqa: S608 - as above
            f" GROUP BY {states} ORDER BY {states}"
        )


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
