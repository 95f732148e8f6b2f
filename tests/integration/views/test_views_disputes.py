"""The view of disputes: the facts of each, from any place, in any order."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec.structs import replace

from consumers.disputes import disputes
from consumers.registry import install
from consumers.rounds.index import ROUND_INDEX
from consumers.rounds.search import Filters, search
from consumers.runtime.lifecycle import catch_up
from infra.postgres.view_tables import reading, tape_source
from ledger.facts import (
    AdjustmentPaid,
    ClaimRevealed,
    DisputeNoted,
    DisputeRaised,
    DisputeResolved,
    FootageLocked,
    ObservationRecorded,
    TaskDone,
    TaskSet,
)
from ledger.values import RoundId, parse_time
from replay.recording.house_facts import append_facts, build_fact, screen
from tests.fixtures.postgres import fact

if TYPE_CHECKING:
    from infra.postgres.connection import Database
    from infra.postgres.tape import PostgresTape
    from ledger.facts import Body
    from ledger.record.tape import Received

T0_US = 1_795_000_000_000_000
ROUND = RoundId("hollywood", "CC-07", "2026-11-20", 231)
RAISED = DisputeRaised(
    dispute="D-17", round=str(ROUND), position=3, claim="Paid short.", by="F-330"
)


def told(second: int, body: Body, device: str = "screen") -> Received:
    return build_fact(body, screen("hollywood", device), time_us=T0_US + second * 1_000_000)


def kept(database: Database, tape: PostgresTape, *facts: Received) -> list[disputes.DisputeRow]:
    append_facts(tape, facts)
    install(database)
    with tape_source(database) as source:
        catch_up(database, source, [disputes.VIEW, ROUND_INDEX], batch_rows=2)
    return disputes.read(database)


def test_a_dispute_is_one_row_from_claim_to_adjustment(
    database: Database, tape: PostgresTape
) -> None:
    span = {"from_": "2026-11-20T19:04:00Z", "to": "2026-11-20T19:05:00Z"}
    [row] = kept(
        database,
        tape,
        told(0, RAISED),
        told(1, FootageLocked(camera="C1", **span, by="S-1", because="D-17", dispute="D-17")),
        told(2, FootageLocked(camera="C2", **span, by="S-1", because="something else")),
        told(3, ObservationRecorded(dispute="D-17", round=str(ROUND), saw="A 9.", by="S-2")),
        told(4, ClaimRevealed(dispute="D-17", by="S-2")),
        told(5, DisputeNoted(dispute="D-17", note="Twice.", by="S-2")),
        told(6, DisputeResolved(dispute="D-17", outcome="Upheld.", by="S-3")),
        told(7, AdjustmentPaid(dispute="D-17", position=3, amount=2500, paid_from="cage")),
        told(8, AdjustmentPaid(dispute="D-17", position=3, amount=-500, paid_from="cage")),
    )
    assert row == disputes.DisputeRow(
        *("hollywood", "D-17", "resolved", "CC-07", "2026-11-20", 231, 3),
        *("Paid short.", "F-330", T0_US, "Upheld.", "S-3", T0_US + 6_000_000, 2000),
        *(1, 1, 1, 1, 0, T0_US + 8_000_000),
    )
    assert row.round == ROUND


def test_what_is_told_before_the_claim_or_without_one_is_kept(
    database: Database, tape: PostgresTape
) -> None:
    again = DisputeRaised(dispute="D-17", round=str(ROUND), position=4, claim="Me too.", by="F-1")
    rows = kept(
        database,
        tape,
        told(5, DisputeResolved(dispute="D-17", outcome="Upheld.", by="S-3"), "elsewhere"),
        told(0, RAISED),
        told(9, again, "elsewhere"),
        told(1, DisputeNoted(dispute="D-18", note="Who raised this?", by="S-2")),
    )
    found = {row.dispute: row for row in rows}
    assert (found["D-17"].status, found["D-17"].claim) == ("resolved", "Paid short.")
    assert (found["D-18"].status, found["D-18"].round) == ("not_raised", None)


def test_a_disputed_round_is_found_by_its_dispute(database: Database, tape: PostgresTape) -> None:
    started = b'{"game":"criss_cross_poker"}'
    rounds = [
        fact(n, name="round_started", data=started, subject=f"CC-07/2026-11-20/{230 + n}")
        for n in range(3)
    ]
    kept(database, tape, *rounds, told(0, RAISED))
    assert [each.id for each in search(database, Filters(dispute="D-17"))] == [ROUND]
    assert search(database, Filters(dispute="D-18")) == []


def test_open_disputes_without_any_lock_are_those_to_be_locked(
    database: Database, tape: PostgresTape
) -> None:
    span = {"from_": "2026-11-20T19:04:00Z", "to": "2026-11-20T19:05:00Z"}
    kept(
        database,
        tape,
        told(0, RAISED),
        told(1, replace(RAISED, dispute="D-18")),
        told(2, replace(RAISED, dispute="D-19")),
        told(3, FootageLocked(camera="C1", **span, by="S-1", because="x", dispute="D-18")),
        told(4, DisputeResolved(dispute="D-19", outcome="Dismissed.", by="S-3")),
    )
    assert [row.dispute for row in disputes.read(database, unlocked=True)] == ["D-17"]
    assert [row.dispute for row in disputes.read(database)] == ["D-19", "D-18", "D-17"]


def test_every_fact_of_a_dispute_is_found_by_key_in_order(
    database: Database, tape: PostgresTape
) -> None:
    kept(
        database,
        tape,
        told(0, RAISED),
        told(1, DisputeNoted(dispute="D-18", note="Not this one.", by="S-2")),
        told(2, DisputeNoted(dispute="D-17", note="Watched.", by="S-2"), "elsewhere"),
    )
    with reading(database, [table.name for table in disputes.VIEW.tables]) as store:
        rows = disputes.facts_about(store, "hollywood", "D-17")
        assert [row.type for row in rows] == ["dispute_raised.v1", "dispute_noted.v1"]
        assert [each.dispute for each in disputes.named(store, "D-17")] == ["D-17"]
        assert disputes.named(store, "D-17", "parx") == []
        assert sorted(disputes.names_like(store, "hollywood", "D-1")) == ["D-17", "D-18"]


def test_a_task_is_as_it_was_set_last_until_it_is_done(
    database: Database, tape: PostgresTape
) -> None:
    def task(name: str, due: str, to: str = "S-2") -> TaskSet:
        return TaskSet(dispute="D-17", task=name, what="Call.", to=to, due=due, by="S-1")

    kept(
        database,
        tape,
        told(0, RAISED),
        told(1, task("T-1", "2026-11-20T21:00:00Z")),
        told(2, task("T-2", "2026-11-20T20:00:00Z")),
        told(3, TaskDone(dispute="D-17", task="T-2", by="S-2", because="She agrees.")),
        told(4, TaskDone(dispute="D-17", task="T-9", by="S-2"), "elsewhere"),
        told(5, task("T-1", "2026-11-20T22:00:00Z", to="S-3"), "elsewhere"),
    )
    due_us = parse_time("2026-11-20T22:00:00Z") or 0
    assert disputes.overdue(database, due_us) == []
    [late] = disputes.overdue(database, due_us + 1)
    assert (late.dispute, late.task, late.to, late.due_us) == ("D-17", "T-1", "S-3", due_us)
    assert disputes.overdue(database, due_us + 1, property="parx") == []
