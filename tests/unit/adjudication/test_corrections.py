"""A correction is a fact beside the record: both rulings stay visible."""

from __future__ import annotations

from ledger.adjudication.feed import adjudicate
from ledger.facts import (
    DiceThrown,
    FactCorrected,
    RoundCompleted,
    RoundStarted,
    WagerPaid,
    WagerPlaced,
)
from ledger.facts import FactRef as Of
from ledger.record.wire import Fact
from ledger.rules.engine.ruling import Ruling
from ledger.values import RoundId

ROUND = RoundId("hollywood", "TDF-01", "2026-11-20", 7)
EYE = "/hollywood/TDF-01/eye"


def a_game(*more: Fact) -> list[Fact]:
    """Trips TD on the first throw: position 1 has $10 on it and is paid 30 to 1."""
    bodies = (
        RoundStarted(game="three_dice_football"),
        WagerPlaced(position=1, wager="trips_td", amount=1000),
        DiceThrown(offensive=(4, 4), defensive=4),
        WagerPaid(position=1, wager="trips_td", throw=1, amount=30_000),
        RoundCompleted(),
    )
    facts = [
        Fact(body, EYE, str(number), number * 1_000_000, ROUND, ROUND.table, None, None)
        for number, body in enumerate(bodies)
    ]
    return [*facts, *more]


def correction(of: str, data: dict[str, object] | None) -> Fact:
    body = FactCorrected(
        of=Of(source=EYE, id=of), data=data, because="the picture shows", by="S-1", second="S-2"
    )
    source = "/hollywood/surveillance/desk"
    return Fact(body, source, f"c-{of}", 99_000_000, None, "surveillance", None, None)


def the_ruling(facts: list[Fact]) -> Ruling:
    rulings = [said for said in adjudicate(facts) if isinstance(said, Ruling)]
    assert len(rulings) == 1
    return rulings[0]


def codes(ruling: Ruling) -> list[str]:
    return [finding.code for finding in ruling.findings]


def test_without_a_correction_there_is_one_ruling() -> None:
    ruling = the_ruling(a_game())
    assert (codes(ruling), ruling.before) == ([], None)


def test_a_correction_shows_both_rulings() -> None:
    misread = correction("2", {"offensive": [4, 4], "defensive": 3})
    ruling = the_ruling(a_game(misread))
    # 8 - 3 = 5 yards, no trips: the wager loses and the game goes on, so nothing is settled whole.
    assert [s.outcome for s in ruling.settlements] == ["lose"]
    assert ruling.status == "awaiting"
    assert ruling.before is not None
    assert [s.net for s in ruling.before.settlements] == [30_000]


def test_a_fact_that_should_not_have_been_recorded_is_left_out() -> None:
    ruling = the_ruling(a_game(correction("3", None)))
    assert codes(ruling) == ["underpaid"]
    assert ruling.before is not None
    assert codes(ruling.before) == []


def test_a_correction_that_is_no_such_fact_corrects_nothing() -> None:
    ruling = the_ruling(a_game(correction("2", {"offensive": [4, 9], "defensive": 3})))
    assert [s.net for s in ruling.settlements] == [30_000]


def test_what_is_said_of_another_round_corrects_nothing_here() -> None:
    assert the_ruling(a_game(correction("41", None))).before is None
