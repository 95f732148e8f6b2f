"""The view of the work on findings, and the queue over it: in any order, sorted and grouped."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING

from consumers.registry import install
from consumers.review import desk, queue
from consumers.rulings import finding_work as work
from consumers.rulings import rulings
from consumers.runtime.lifecycle import catch_up, rebuild
from infra.postgres.view_tables import reading, tape_source
from ledger.facts import (
    FindingClosed,
    FindingHanded,
    FindingRef,
    FindingReopened,
    FindingTaken,
    SampleDrawn,
)
from replay.recording.house_facts import append_facts, build_fact, screen
from tests.scenes.view_feeds import dumped, viewed

if TYPE_CHECKING:
    from infra.postgres.connection import Database
    from infra.postgres.tape import PostgresTape
    from ledger.facts import Body
    from ledger.record.tape import Received

T0_US = 1_795_000_000_000_000
ROUND = "hollywood:CC-07/2026-11-20/231"
FINDING = FindingRef(code="underpaid", round=ROUND, position=3, hand=1, wager="middle")


def told(second: int, body: Body, device: str = "screen") -> Received:
    return build_fact(body, screen("hollywood", device), time_us=T0_US + second * 1_000_000)


def worked(database: Database, tape: PostgresTape, *facts: Received) -> list[work.FindingWork]:
    append_facts(tape, facts)
    install(database)
    with tape_source(database) as source:
        catch_up(database, source, [rulings.VIEW, desk.VIEW], batch_rows=2)
    with reading(database, [work.WORK.name]) as store:
        return [work.FindingWork(*row) for row in store.page(work.WORK, None, 100)]


def test_work_on_a_finding_is_one_row_and_the_latest_fact_decides(
    database: Database, tape: PostgresTape
) -> None:
    [row] = worked(
        database,
        tape,
        told(4, FindingReopened(finding=FINDING, because="Look again.", by="S-3")),
        told(1, FindingTaken(finding=FINDING, by="S-1")),
        told(3, FindingClosed(finding=FINDING, outcome="right", because="Seen.", by="S-2")),
        told(2, FindingHanded(finding=FINDING, to="S-2", by="S-1")),
    )
    assert (row.holder, row.given_by, row.closed) == ("S-2", "S-1", False)
    assert (row.outcome, row.because, row.decided_by) == (None, "Look again.", "S-3")


def test_any_order_of_arrival_gives_the_same_rows(database: Database, tape: PostgresTape) -> None:
    bodies = (
        FindingTaken(finding=FINDING, by="S-1"),
        FindingClosed(finding=FINDING, outcome="wrong", because="Paid by hand.", by="S-1"),
        FindingReopened(finding=FINDING, because="By mistake.", by="S-2"),
    )
    states = set()
    for number, order in enumerate(itertools.permutations(range(3))):
        own = f"hollywood:T-{number}/2026-11-20/1"
        its = [
            type(bodies[at])(
                **{
                    name: getattr(bodies[at], name)
                    for name in bodies[at].__struct_fields__
                    if name != "finding"
                },
                finding=FindingRef(code="underpaid", round=own),
            )
            for at in order
        ]
        rows = worked(
            database, tape, *(told(at, body) for at, body in zip(order, its, strict=True))
        )
        row = next(each for each in rows if each.ref.startswith(f"T-{number}|"))
        states.add((row.holder, row.closed, row.because, row.held_us, row.decided_us))
    assert states == {("S-1", False, "By mistake.", T0_US, T0_US + 2_000_000)}
    before = dumped(database, rulings.VIEW)
    with tape_source(database) as source:
        rebuild(database, source, rulings.VIEW)
    assert dumped(database, rulings.VIEW) == before


def test_a_finding_has_one_name_with_or_without_its_property_and_its_first_hand() -> None:
    short = FindingRef(code="underpaid", round="CC-07/2026-11-20/231", position=3, wager="middle")
    assert work.ref_of(short, "hollywood") == work.ref_of(FINDING, "elsewhere")
    other = FindingRef(code="underpaid", round=ROUND, position=3, hand=2, wager="middle")
    assert work.ref_of(other, "hollywood") != work.ref_of(FINDING, "hollywood")


def test_a_sample_is_a_row_a_round(database: Database, tape: PostgresTape) -> None:
    drawn = SampleDrawn(sample="X", shift="S", rounds=(ROUND, "T/2026-11-20/1"), seed="7", by="S-9")
    worked(database, tape, told(0, drawn))
    with reading(database, [desk.SAMPLES.name]) as store:
        rows = store.page(desk.SAMPLES, None, 10)
    assert [row[:6] for row in rows] == [
        ("hollywood", "X", "hollywood", "CC-07", "2026-11-20", 231),
        ("hollywood", "X", "hollywood", "T", "2026-11-20", 1),
    ]


def test_the_queue_has_each_finding_until_it_is_closed(
    database: Database, tape: PostgresTape
) -> None:
    viewed(database, 30, tables=4)
    of_rounds = rulings.findings(database, limit=1000)
    of_tables = rulings.table_findings(database)
    counts = queue.counts(database, "S-1")
    assert counts == (len(of_rounds) + len(of_tables), 0, 0, counts.open)
    first = queue.page(database, "open", "S-1")
    members = [each for group in first.groups for each in group.members]
    assert {each.says for each in members} <= {f.says for f in of_rounds} | {
        f.says for each in of_tables for f in each.findings
    }
    heavy = [(-max(m.gravity for m in g.members), -(g.off or 0)) for g in first.groups]
    assert heavy == sorted(heavy)

    chosen = members[0]
    assert chosen.round is not None
    taken = FindingTaken(finding=chosen.ref, by="S-1")
    worked(database, tape, told(0, taken, "desk"))
    assert [g.members for g in queue.page(database, "mine", "S-1").groups] == [
        [chosen._replace(status="taken", holder="S-1")]
    ]
    closed = FindingClosed(finding=chosen.ref, outcome="known", because="Logged.", by="S-1")
    worked(database, tape, told(1, closed, "desk"))
    assert queue.counts(database, "S-1")[:3] == (counts.open - 1, 0, 1)
    [group] = queue.page(database, "closed", "S-1").groups
    assert (group.members[0].outcome, group.members[0].because) == ("known", "Logged.")
    assert queue.named(database, [chosen.name])[0].status == "closed"


def test_every_finding_is_named_in_facts_as_the_queue_names_it(database: Database) -> None:
    viewed(database, 30, tables=4)
    pages = (queue.page(database, "open", "S-1", number=number) for number in range(1, 9))
    members = [each for page in pages for group in page.groups for each in group.members]
    names = [each.name for each in members]
    assert len(set(names)) > 10
    for each in members:
        work_ref = work.ref_of(each.ref, each.property)
        assert work.name_of(*work_ref) == each.name


def test_a_withheld_round_is_not_in_the_queue_and_not_counted(database: Database) -> None:
    viewed(database, 30, tables=4)
    whole = queue.counts(database, "S-1").open
    hidden = next(
        m.round for g in queue.page(database, "open", "S-1").groups for m in g.members if m.round
    )
    less = queue.counts(database, "S-1", [hidden]).open
    assert less < whole
    left = queue.page(database, "open", "S-1", without=[hidden])
    assert all(m.round != hidden for g in left.groups for m in g.members)
