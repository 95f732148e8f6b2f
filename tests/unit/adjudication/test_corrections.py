"""A correction is a fact beside the record: both rulings stay visible."""

from __future__ import annotations

import msgspec
import pytest

from ledger.adjudication.corrections import corrections, corrections_of, without_effect
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


DESK = "/hollywood/surveillance/desk"


def correction(of: str, data: dict[str, object] | None, *, source: str = EYE, at: int = 99) -> Fact:
    people = {"because": "the picture shows", "by": "S-1", "second": "S-2"}
    body = FactCorrected(of=Of(source=source, id=of), data=data, **people)
    return Fact(body, DESK, f"c-{of}", at * 1_000_000, None, "surveillance", None, None)


def content(of: Fact, data: dict[str, object] | None) -> dict[str, object]:
    """The content of a correction with other data."""
    found: dict[str, object] = msgspec.to_builtins(of.body)
    return found | {"data": data}


def the_ruling(facts: list[Fact]) -> Ruling:
    rulings = [said for said in adjudicate(facts) if isinstance(said, Ruling)]
    assert len(rulings) == 1
    return rulings[0]


def codes(ruling: Ruling) -> list[str]:
    return [finding.code for finding in ruling.findings]


def test_without_a_correction_there_is_one_ruling() -> None:
    ruling = the_ruling(a_game())
    assert (codes(ruling), ruling.before) == ([], None)


def test_a_correction_by_another_property_changes_no_ruling() -> None:
    """A correction of it changes none either. The controls are in the other tests."""
    misread = correction("2", {"offensive": [4, 4], "defensive": 3})
    elsewhere = msgspec.structs.replace(misread, source="/parx/surveillance/desk")
    again = correction(elsewhere.id, content(elsewhere, None), source=elsewhere.source, at=100)
    theirs = msgspec.structs.replace(again, source=elsewhere.source)
    for told in ([elsewhere], [elsewhere, again], [elsewhere, theirs]):
        facts = a_game(*told)
        assert the_ruling(facts) == the_ruling(a_game())
        assert (EYE, "2") not in corrections(facts).keys() | corrections_of(facts).keys()


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


WITHOUT = correction("3", None)
BACK = correction("c-3", None, source=DESK, at=100)
AGAIN = correction("c-c-3", None, source=DESK, at=101)


@pytest.mark.parametrize(
    ("made", "found"),
    [([WITHOUT], ["underpaid"]), ([WITHOUT, BACK], []), ([WITHOUT, BACK, AGAIN], ["underpaid"])],
)
def test_a_correction_that_is_taken_back_is_not_in_force_in_any_order(
    made: list[Fact], found: list[str]
) -> None:
    for order in (made, made[::-1]):
        ruling = the_ruling([*order, *a_game()])
        assert (codes(ruling), ruling.before is not None) == (found, bool(found))


def test_a_correction_may_be_given_another_content() -> None:
    first = correction("3", {"position": 1, "wager": "trips_td", "throw": 1, "amount": 20_000})
    meant = content(first, {"position": 1, "wager": "trips_td", "throw": 1, "amount": 40_000})
    later = correction("c-3", meant, source=DESK, at=100)
    assert codes(the_ruling(a_game(first))) == ["underpaid"]
    assert codes(the_ruling(a_game(later, first))) == ["overpaid"]
    assert list(corrections_of([later, first])) == [(EYE, "3")]


@pytest.mark.parametrize("at", [98, 99])
def test_corrections_of_one_another_end_and_the_later_one_counts(at: int) -> None:
    """The earlier one is of a correction that comes after it, so it changes nothing."""
    one = correction("c-b", None, source=DESK, at=at)
    body = FactCorrected(
        of=Of(source=DESK, id="c-c-b"), because="x", by="S-1", second="S-2", data=None
    )
    two = Fact(body, DESK, "c-b", 100_000_000, None, "surveillance", None, None)
    assert corrections([one, two]) == corrections([two, one])
    assert list(corrections([one, two])) == [(DESK, "c-c-b")]
    assert sum(map(len, corrections_of([one, two]).values())) == 2


@pytest.mark.parametrize(
    ("data", "why"),
    [
        ({"position": 1, "wager": "trips_td", "throw": 1}, "`amount` is missing"),
        ({"slip": "F-1", "kind": "fill"}, "`position` is missing"),
        ({"position": 1, "wager": "trips_td", "amount": True}, "Expected `int`, got `bool`"),
        ({"position": 1, "wager": "trips_td", "amount": 10**30}, "Expected `int` <= "),
        ({"position": 1, "wager": "trips_td", "throw": 1, "amount": 20_000}, None),
        (None, None),
    ],
)
def test_a_correction_that_cannot_be_applied_is_found_with_why(
    data: dict[str, object] | None, why: str | None
) -> None:
    """So is one of a correction that gives it such a content, or names another fact."""
    paid = a_game()[3]
    made = correction("3", data)
    first = correction("3", None, at=98)
    inner = correction("c-3", content(made, data), source=DESK, at=100)
    stray = correction("c-3", msgspec.to_builtins(correction("2", None).body), source=DESK)
    for its in ([made], [first, inner]):
        found = list(without_effect(paid, its))
        assert [fact for fact, _ in found] == ([its[-1]] if why else [])
        assert all(why in says for _, says in found if why)
    assert list(without_effect(paid, [first, stray])) == [(stray, "it names another fact")]


def test_a_correction_of_a_correction_that_names_another_fact_changes_nothing() -> None:
    stray = msgspec.to_builtins(correction("2", None).body)
    assert codes(the_ruling(a_game(WITHOUT, correction("c-3", stray, source=DESK, at=100)))) == [
        "underpaid"
    ]
