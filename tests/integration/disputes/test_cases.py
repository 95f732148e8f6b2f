"""A dispute is folded from its facts; what may follow is checked here, whatever is on record."""

from __future__ import annotations

from typing import TYPE_CHECKING, get_args

import psycopg
import pytest

from consumers.disputes import disputes
from consumers.registry import install
from consumers.runtime.lifecycle import up_to_date
from infra.postgres.connection import IDLE_S_MAX
from infra.postgres.recorder import identity
from ledger.errors import Refused, Usage
from ledger.facts import Attached, DisputeNoted, DisputeRaised, DisputeResolved, FactRef
from ledger.facts.cases import DisputeCategory
from ledger.record.wire import fact_of
from ledger.values import RoundId
from replay.disputes.dispute import CATEGORIES, Dispute, DisputeDecisions, dispute_of
from replay.disputes.watched import how_seen, typed_spans
from replay.recording.house_facts import append_fact, build_fact, screen

if TYPE_CHECKING:
    from collections.abc import Iterator

    from infra.postgres.connection import Database
    from infra.postgres.tape import PostgresTape
    from ledger.facts import Body

ROUND = RoundId("hollywood", "CC-07", "2026-11-20", 231)
NEW = Dispute(property="hollywood", dispute="D-17")
CLAIM = NEW.raise_(ROUND, 3, "Paid short.", "F-330")


@pytest.fixture
def desk(database: Database) -> Iterator[DisputeDecisions]:
    install(database)
    with DisputeDecisions(database) as opened:
        yield opened


def case_on(desk: DisputeDecisions, name: str = "D-17") -> Dispute:
    up_to_date(desk.database, [disputes.VIEW])
    return desk.case("hollywood", name)


def told(desk: DisputeDecisions, *bodies: Body) -> Dispute:
    for body in bodies:
        desk.decide(case_on(desk), body)
    return case_on(desk)


def test_a_dispute_is_decided_step_by_step_as_facts_on_the_tape_of_surveillance(
    desk: DisputeDecisions, tape: PostgresTape
) -> None:
    assert desk.decide(NEW, CLAIM) == [1]
    case = told(desk, case_on(desk).observe("Two pairs.", "S-2"))
    case = told(desk, case.reveal("S-3"), case.resolve("Upheld.", "S-1"))
    case = told(desk, case.adjust(2500, "cage", "S-1"))
    rows = tape.rows_of("hollywood/surveillance", [(1, 99)])
    assert [row.id for row in rows] == [f"D-17/{n}" for n in range(1, 6)]
    assert {row.source for row in rows} == {"/hollywood/surveillance/disputes"}
    assert (case.version, case.adjusted) == (5, 2500)
    assert case.claim is not None
    assert case.outcome is not None
    assert (case.claim.round, case.claim.claim, case.outcome.outcome) == (
        ROUND,
        "Paid short.",
        "Upheld.",
    )
    assert case.adjustments[0].position == 3


def test_a_case_is_read_and_decided_after_the_server_ended_the_connections_of_the_pool(
    desk: DisputeDecisions,
) -> None:
    case = told(desk, CLAIM)
    with psycopg.connect(desk.database.url, autocommit=True) as superuser:
        ended = superuser.execute(
            "SELECT pg_terminate_backend(pid, 10000) FROM pg_stat_activity"
            " WHERE datname = current_database() AND application_name LIKE '%ledger_desk'"
        )
        assert ended.fetchall()
    case = desk.case("hollywood", "D-17")
    assert desk.decide(case, case.observe("Two pairs.", "S-2")) == [2]


def test_a_decision_may_wait_as_long_within_a_transaction_as_any_other_part(
    desk: DisputeDecisions,
) -> None:
    with desk.factory.datastore.transaction() as cursor:  # type: ignore[attr-defined]
        cursor.execute("SELECT current_setting('idle_in_transaction_session_timeout') AS found")
        assert cursor.fetchone() == {"found": f"{IDLE_S_MAX // 60}min"}


def test_two_who_decide_at_once_are_told_and_only_the_first_holds(
    desk: DisputeDecisions, tape: PostgresTape
) -> None:
    case = told(desk, CLAIM)
    desk.decide(case, case.resolve("Upheld.", "S-1"))
    with pytest.raises(Refused, match="Someone else"):
        desk.decide(case, case.resolve("Dismissed.", "S-2"))
    assert [each.outcome for each in case_on(desk).resolutions] == ["Upheld."]
    assert tape.counters().equivocation == 0


def test_what_is_told_elsewhere_counts_and_moves_no_version(
    desk: DisputeDecisions, tape: PostgresTape
) -> None:
    tablet = screen("hollywood", "tablet")
    append_fact(
        tape,
        DisputeRaised(dispute="D-17", round=str(ROUND), position=3, claim="x", by="F-1"),
        tablet,
    )
    case = case_on(desk)
    assert case.version == 0
    desk.decide(case, case.note("Watched.", "S-2"))
    append_fact(tape, DisputeNoted(dispute="D-17", note="At the pit.", by="F-1"), tablet)
    append_fact(tape, DisputeNoted(dispute="D-170", note="Another.", by="F-1"), tablet, id="D-17/9")
    case = case_on(desk)
    assert (case.version, len(case.notes)) == (1, 2)
    desk.decide(case, case.resolve("Dismissed.", "S-1"))
    assert case_on(desk).version == 2


def test_a_dispute_is_folded_in_the_order_of_the_record_and_past_a_view_that_lags(
    desk: DisputeDecisions, tape: PostgresTape
) -> None:
    told(desk, CLAIM)
    append_fact(tape, _open().reveal("S-1"), screen("hollywood", "tablet"))
    case = told(desk, _open().observe("After.", "S-1"))
    assert [each.blind for each in case.observations] == [False]
    desk.decide(case, case.resolve("Upheld.", "S-1"))
    lagging = desk.case("hollywood", "D-17")
    assert (lagging.version, lagging.outcome is not None) == (3, True)
    assert desk.repository.get(case.id, projector_func=lambda _, own: list(own)[-1]).position == 4


def test_an_outcome_has_a_category_of_the_contract_or_none(desk: DisputeDecisions) -> None:
    told(desk, CLAIM)
    with pytest.raises(Usage):
        _open().resolve("Upheld.", "S-1", "luck")
    case = told(desk, case_on(desk).resolve("Upheld.", "S-1", "paid_short"))
    assert case.outcome is not None
    assert case.outcome.category == "paid_short"
    assert set(CATEGORIES) == set(get_args(DisputeCategory))


@pytest.mark.parametrize("name", ["D 17/a", "Einspruch Nr. 4", "x" * 128])
def test_a_dispute_that_others_named_freely_can_be_decided_here(
    desk: DisputeDecisions, tape: PostgresTape, name: str
) -> None:
    raise_ = DisputeRaised(dispute=name, round=str(ROUND), position=3, claim="x", by="F-1")
    append_fact(tape, raise_, screen("hollywood", "tablet"))
    case = case_on(desk, name)
    desk.decide(case, case.resolve("Dismissed.", "S-1"))
    assert case_on(desk, name).version == 1
    assert len(identity(case.id, 1)[1]) < 80


def test_what_cannot_follow_is_refused_and_says_what_can(
    desk: DisputeDecisions, tape: PostgresTape
) -> None:
    for decide in (
        lambda case: case.observe("x", "S-1"),
        lambda case: case.reveal("S-1"),
        lambda case: case.resolve("x", "S-1"),
        lambda case: case.adjust(1, "cage", "S-1"),
    ):
        with pytest.raises(Refused, match="Raise it first"):
            decide(NEW)
    case = told(desk, CLAIM, _open().resolve("x", "S-1"))
    with pytest.raises(Refused, match="was resolved by S-1"):
        case.resolve("again", "S-2")
    with pytest.raises(Refused, match="was resolved"):
        case.observe("x", "S-2")
    with pytest.raises(Refused, match="was resolved"):
        case.reveal("S-2")
    with pytest.raises(Usage, match="above 0"):
        case.adjust(0, "cage", "S-1")
    assert case.note("After all.", "S-2").note == "After all."
    with pytest.raises(Usage, match="cannot be the name"):
        Dispute(property="hollywood", dispute="D 17").raise_(ROUND, 3, "x", "S-1")
    with pytest.raises(Refused, match="already a dispute D-17"):
        case.raise_(ROUND, 3, "Again.", "S-1")


def _open() -> Dispute:
    return dispute_of("hollywood", "D-17", [fact_of(build_fact(CLAIM, screen("hollywood")))])


WATCHED = typed_spans(
    f"{camera}@2026-11-20T21:{span}Z"
    for camera, span in (
        ("cam1", "14:00Z/2026-11-20T21:14:30"),
        ("cam1", "14:20.5Z/2026-11-20T21:14:54.5"),  # half of it for the second time
        ("cam2", "14:00Z/2026-11-20T21:14:01"),
    )
)


def folded(*bodies: Body) -> Dispute:
    facts = [fact_of(build_fact(body, screen("hollywood"))) for body in bodies]
    return dispute_of("hollywood", "D-17", facts)


def test_whoever_watches_and_observes_before_knowing_the_claim_is_blind_and_nobody_else() -> None:
    case = folded(
        CLAIM,
        _open().observe("By who raised it.", "F-330", WATCHED),
        _open().observe("Before.", "S-1", WATCHED),
        _open().observe("Again.", "S-1", WATCHED),
        _open().reveal("S-2"),
        _open().observe("After.", "S-2", WATCHED),
        _open().observe("Another's reveal shows me nothing.", "S-3", WATCHED),
        _open().observe("I never opened the footage.", "S-4"),
        _open().resolve("Upheld.", "S-9"),
        DisputeResolved(dispute="D-17", outcome="Told twice.", by="S-9"),
    )
    knew = "knew the claim"
    saw = "claim unknown, watched 54.5 s on cam1, 1.0 s on cam2"
    assert [(each.by, each.blind, how_seen(each)) for each in case.observations] == [
        ("F-330", False, knew),
        ("S-1", True, saw),
        ("S-1", False, knew),
        ("S-2", False, knew),
        ("S-3", True, saw),
        ("S-4", False, "claim unknown, no footage watched"),
    ]
    assert case.outcome is not None
    assert case.outcome.outcome == "Told twice."


def test_the_claim_is_known_to_who_wrote_it_saw_it_or_observed_and_to_all_in_the_end() -> None:
    case = folded(CLAIM, _open().observe("x", "S-1"), _open().reveal("S-2"))
    assert [case.knows(each) for each in ("F-330", "S-1", "S-2", "S-3")] == [True] * 3 + [False]
    assert folded(CLAIM, _open().resolve("x", "S-1")).knows("S-3")


def test_a_reveal_before_an_observation_and_an_observation_after_one_are_told() -> None:
    case = _open()
    assert "before observing" in (case.warning(case.reveal("S-1")) or "")
    assert case.warning(case.observe("x", "S-1", WATCHED)) is None
    assert "watched no footage" in (case.warning(case.observe("x", "S-1")) or "")
    shown = folded(CLAIM, case.reveal("S-1"))
    assert "knew the claim" in (shown.warning(shown.observe("x", "S-1")) or "")
    seen = folded(CLAIM, case.observe("x", "S-1"))
    assert seen.warning(seen.reveal("S-1")) is None
    assert "has observed before" in (seen.warning(seen.observe("x", "S-1")) or "")
    paid = folded(CLAIM, case.adjust(100, "cage", "S-1"))
    assert "already" in (paid.warning(paid.adjust(100, "table", "S-1")) or "")


def test_a_note_keeps_the_moments_it_points_at() -> None:
    moments = (
        Attached(round=str(ROUND), fact=FactRef("/hollywood/CC-07/shoe", "run1-7")),
        Attached(camera="CC-07-1", camera_time="2026-11-20T19:04:11.204-05:00"),
    )
    case = folded(CLAIM, _open().note("Here.", "S-1", moments))
    assert case.notes[0].moments == moments
