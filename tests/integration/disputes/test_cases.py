"""A dispute is folded from its facts; what may follow is checked here, whatever is on record."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from infra.postgres.recorder import identity
from ledger.errors import Refused, Usage
from ledger.facts import Attached, DisputeNoted, DisputeRaised, DisputeResolved, FactRef
from ledger.record.wire import fact_of
from ledger.values import RoundId
from replay.disputes.dispute import (
    Dispute,
    DisputeDecisions,
    adjusted,
    aggregate_id,
    dispute_of,
    noted,
    observed,
    raised,
    resolved,
    revealed,
    warning,
)
from replay.recording.house_facts import append_fact, build_fact, screen

if TYPE_CHECKING:
    from collections.abc import Iterator

    from infra.postgres.connection import Database
    from infra.postgres.tape import PostgresTape
    from ledger.facts import Body

ROUND = RoundId("hollywood", "CC-07", "2026-11-20", 231)
NEW = Dispute(property="hollywood", dispute="D-17")
CLAIM = raised(ROUND, "D-17", 3, "Paid short.", "F-330")


@pytest.fixture
def desk(database: Database) -> Iterator[DisputeDecisions]:
    with DisputeDecisions(database) as opened:
        yield opened


def case_on(tape: PostgresTape, name: str = "D-17") -> Dispute:
    return dispute_of("hollywood", name, map(fact_of, tape.read(0, 999)))


def told(tape: PostgresTape, desk: DisputeDecisions, *bodies: Body) -> Dispute:
    for body in bodies:
        desk.tell(case_on(tape), body)
    return case_on(tape)


def test_a_dispute_is_decided_step_by_step_as_facts_on_the_tape_of_surveillance(
    desk: DisputeDecisions, tape: PostgresTape
) -> None:
    assert desk.tell(NEW, CLAIM) == [1]
    case = told(tape, desk, observed(case_on(tape), "Two pairs.", "S-2"))
    case = told(tape, desk, revealed(case, "S-3"), resolved(case, "Upheld.", "S-1"))
    case = told(tape, desk, adjusted(case, 2500, "cage", "S-1"))
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


def test_two_who_decide_at_once_are_told_and_only_the_first_holds(
    desk: DisputeDecisions, tape: PostgresTape
) -> None:
    case = told(tape, desk, CLAIM)
    desk.tell(case, resolved(case, "Upheld.", "S-1"))
    with pytest.raises(Refused, match="Someone else"):
        desk.tell(case, resolved(case, "Dismissed.", "S-2"))
    assert [each.outcome for each in case_on(tape).resolutions] == ["Upheld."]
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
    case = case_on(tape)
    assert case.version == 0
    desk.tell(case, noted(case, "Watched.", "S-2"))
    append_fact(tape, DisputeNoted(dispute="D-17", note="At the pit.", by="F-1"), tablet)
    append_fact(tape, DisputeNoted(dispute="D-170", note="Another.", by="F-1"), tablet, id="D-17/9")
    case = case_on(tape)
    assert (case.version, len(case.notes)) == (1, 2)
    desk.tell(case, resolved(case, "Dismissed.", "S-1"))
    assert case_on(tape).version == 2


@pytest.mark.parametrize("name", ["D 17/a", "Einspruch Nr. 4", "x" * 128])
def test_a_dispute_that_others_named_freely_can_be_decided_here(
    desk: DisputeDecisions, tape: PostgresTape, name: str
) -> None:
    raise_ = DisputeRaised(dispute=name, round=str(ROUND), position=3, claim="x", by="F-1")
    append_fact(tape, raise_, screen("hollywood", "tablet"))
    case = case_on(tape, name)
    desk.tell(case, resolved(case, "Dismissed.", "S-1"))
    assert case_on(tape, name).version == 1
    assert len(identity(aggregate_id("hollywood", name), 1)[1]) < 80


def test_what_cannot_follow_is_refused_and_says_what_can(
    desk: DisputeDecisions, tape: PostgresTape
) -> None:
    for decide in (
        lambda case: observed(case, "x", "S-1"),
        lambda case: revealed(case, "S-1"),
        lambda case: resolved(case, "x", "S-1"),
        lambda case: adjusted(case, 1, "cage", "S-1"),
    ):
        with pytest.raises(Refused, match="Raise it first"):
            decide(NEW)
    case = told(tape, desk, CLAIM, resolved(_open(), "x", "S-1"))
    with pytest.raises(Refused, match="was resolved by S-1"):
        resolved(case, "again", "S-2")
    with pytest.raises(Refused, match="was resolved"):
        observed(case, "x", "S-2")
    with pytest.raises(Refused, match="was resolved"):
        revealed(case, "S-2")
    with pytest.raises(Usage, match="above 0"):
        adjusted(case, 0, "cage", "S-1")
    assert noted(case, "After all.", "S-2").note == "After all."
    with pytest.raises(Usage, match="cannot be the name"):
        raised(ROUND, "D 17", 3, "x", "S-1")


def _open() -> Dispute:
    return dispute_of("hollywood", "D-17", [fact_of(build_fact(CLAIM, screen("hollywood")))])


def folded(*bodies: Body) -> Dispute:
    facts = [fact_of(build_fact(body, screen("hollywood"))) for body in bodies]
    return dispute_of("hollywood", "D-17", facts)


def test_whoever_observes_before_knowing_the_claim_is_blind_and_nobody_else() -> None:
    case = folded(
        CLAIM,
        observed(_open(), "By who raised it.", "F-330"),
        observed(_open(), "Before.", "S-1"),
        observed(_open(), "Again.", "S-1"),
        revealed(_open(), "S-2"),
        observed(_open(), "After.", "S-2"),
        observed(_open(), "Another's reveal shows me nothing.", "S-3"),
        resolved(_open(), "Upheld.", "S-9"),
        DisputeResolved(dispute="D-17", outcome="Told twice.", by="S-9"),
    )
    assert [(each.by, each.blind) for each in case.observations] == [
        ("F-330", False),
        ("S-1", True),
        ("S-1", False),
        ("S-2", False),
        ("S-3", True),
    ]
    assert case.outcome is not None
    assert case.outcome.outcome == "Told twice."


def test_the_claim_is_known_to_who_wrote_it_saw_it_or_observed_and_to_all_in_the_end() -> None:
    case = folded(CLAIM, observed(_open(), "x", "S-1"), revealed(_open(), "S-2"))
    assert [case.knows(each) for each in ("F-330", "S-1", "S-2", "S-3")] == [True] * 3 + [False]
    assert folded(CLAIM, resolved(_open(), "x", "S-1")).knows("S-3")


def test_a_reveal_before_an_observation_and_an_observation_after_one_are_told() -> None:
    case = _open()
    assert "before observing" in (warning(case, revealed(case, "S-1")) or "")
    assert warning(case, observed(case, "x", "S-1")) is None
    shown = folded(CLAIM, revealed(case, "S-1"))
    assert "knew the claim" in (warning(shown, observed(shown, "x", "S-1")) or "")
    seen = folded(CLAIM, observed(case, "x", "S-1"))
    assert warning(seen, revealed(seen, "S-1")) is None
    assert "has observed before" in (warning(seen, observed(seen, "x", "S-1")) or "")
    paid = folded(CLAIM, adjusted(case, 100, "cage", "S-1"))
    assert "already" in (warning(paid, adjusted(paid, 100, "table", "S-1")) or "")


def test_a_note_keeps_the_moments_it_points_at() -> None:
    moments = (
        Attached(round=str(ROUND), fact=FactRef("/hollywood/CC-07/shoe", "run1-7")),
        Attached(camera="CC-07-1", camera_time="2026-11-20T19:04:11.204-05:00"),
    )
    case = folded(CLAIM, noted(_open(), "Here.", "S-1", moments))
    assert case.notes[0].moments == moments
