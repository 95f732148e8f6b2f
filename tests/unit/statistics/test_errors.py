"""Whose an error is: which codes are a dealer's, which line a finding is of, who stood there."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from ledger.facts import CardsDealt, DecisionMade, RoundCompleted, WagerPaid
from ledger.record.wire import Fact
from ledger.rules.engine.finding_codes import CODES
from ledger.rules.engine.ruling import FactRef, Finding, Ruling, Settlement
from ledger.statistics.errors import MONEY, NOT_A_DEALERS, PROCEDURE, LineError, lines_of
from ledger.statistics.standing import (
    STAY_US_MAX,
    ShiftMark,
    StaffMark,
    Standing,
    TableMarks,
)

PAGE = Path(__file__).parents[3] / "docs" / "explanation" / "errors.md"
SECOND = 1_000_000


def fact(id_: str, second: int, body: object) -> Fact:
    return Fact(body, "/p/CC-07/terminal", id_, second * SECOND, None, "CC-07", None, None)  # type: ignore[arg-type]


PAID = fact("paid", 20, WagerPaid(position=3, wager="ante", amount=500))
OVER = fact("over", 30, RoundCompleted())


def ruling(*findings: Finding, wagers: tuple[str, ...] = ("ante", "play")) -> Ruling:
    settled = [
        Settlement(
            position=3, wager=wager, stake=500, outcome="win", net=500, exact_net="500", section="1"
        )
        for wager in wagers
    ]
    return Ruling(
        round="CC-07/2026-11-20/1",
        property="p",
        game="criss_cross_poker",
        edition="592",
        status="complete",
        settlements=settled,
        findings=list(findings),
        awaiting=None,
    )


def finding(code: str, wager: str | None = "ante", **more: object) -> Finding:
    return Finding(code=code, position=3, hand=1, wager=wager, says=".", **more)  # type: ignore[arg-type]


def errors(of: Ruling, *facts: Fact) -> dict[str, tuple[LineError, ...]]:
    return {e.wager: e.errors for e in lines_of(of, [PAID, OVER, *facts]).lines if e.errors}


def test_every_code_is_a_dealers_or_not_with_a_reason_and_the_page_says_so() -> None:
    assert {*MONEY, *PROCEDURE, *NOT_A_DEALERS} == set(CODES)
    assert len(MONEY) + len(PROCEDURE) + len(NOT_A_DEALERS) == len(CODES)
    rows = [line for line in PAGE.read_text(encoding="utf-8").splitlines() if line[:3] == "| `"]
    named = {code: row.split("|")[2].strip() != "no" for row in rows for code in
             re.findall(r"`(\w+)`", row.split("|")[1])}  # fmt: skip
    assert {code for code, own in named.items() if own} == {*MONEY, *PROCEDURE}
    assert {code for code, own in named.items() if not own} <= NOT_A_DEALERS.keys()


def test_a_line_with_two_findings_is_one_error_with_the_dollars_of_both_sides() -> None:
    found = lines_of(
        ruling(
            finding("overpaid", expected=500, recorded=800),
            finding("not_returned", expected=500, recorded=0),
        ),
        [PAID, OVER],
    )
    [line] = [each for each in found.lines if each.errors]
    assert line.errors == (LineError("overpaid", 0, 300), LineError("not_returned", 500, 0))
    assert line.time_us == 20 * SECOND
    assert [each.time_us for each in found.lines if not each.errors] == [30 * SECOND]


def test_a_lost_stake_that_is_given_back_costs_its_sum_once() -> None:
    found = errors(
        ruling(
            finding("not_collected", expected=500, recorded=0),
            finding("over_returned", expected=0, recorded=500),
        )
    )
    assert found == {"ante": (LineError("not_collected", 0, 500), LineError("over_returned", 0, 0))}


def test_a_round_played_on_though_it_is_void_is_one_error_of_its_misdeal() -> None:
    dealt = fact("dealt", 5, CardsDealt(to="player", position=3, cards=("As",), face="up"))
    told = ruling(
        finding("misdeal", None, facts=[FactRef(dealt.source, dealt.id)]),
        finding("should_have_been_void", None),
        finding("wrongly_collected", expected=0, recorded=500),
        finding("overpaid", "play", expected=0, recorded=900),
    )
    found = lines_of(told, [PAID, OVER, dealt])
    assert errors(told, dealt) == {"ante": (LineError("misdeal", 500, 900),)}
    assert [each.time_us for each in found.lines if each.errors] == [5 * SECOND]


@pytest.mark.parametrize(
    ("code", "more", "is_own"),
    [
        ("step_missing", {"expected": "decision_made"}, True),
        ("step_missing", {"expected": "wager_placed"}, False),
        ("late_wager", {}, False),
        ("should_have_been_void", {}, False),
        ("order_uncertain", {}, False),
    ],
)
def test_what_a_patron_or_a_clock_does_is_no_dealers(
    code: str, more: dict[str, object], *, is_own: bool
) -> None:
    assert bool(errors(ruling(finding(code, None, **more)))) == is_own


def test_a_step_out_of_turn_is_of_the_one_who_makes_it() -> None:
    dealt = fact("dealt", 5, CardsDealt(to="player", position=3, cards=("As",), face="up"))
    chosen = fact("chosen", 6, DecisionMade(position=3, decision="fold"))
    for its, is_own in ((dealt, True), (chosen, False)):
        of = finding("out_of_turn", None, facts=[FactRef(its.source, its.id)])
        assert bool(errors(ruling(of), its)) == is_own


@pytest.mark.parametrize("code", ["fact_missing", "clock_skewed"])
def test_a_round_that_a_device_may_have_spoiled_is_not_judged(code: str) -> None:
    of_money = finding("overpaid", expected=0, recorded=5)
    assert not lines_of(ruling(finding(code, None), of_money), [OVER]).is_judged
    assert lines_of(ruling(of_money), [OVER]).is_judged


def test_money_where_no_wager_was_is_a_line_of_its_own() -> None:
    found = lines_of(ruling(finding("overpaid", "bonus", expected=0, recorded=5)), [OVER])
    assert [each.wager for each in found.lines] == ["ante", "play", "bonus"]
    assert lines_of(ruling(finding("misdeal", None), wagers=()), [OVER]).lines == []


# -- who stood there ------------------------------------------------------------------------------


def came(second: int, name: str, role: str = "dealer") -> StaffMark:
    return StaffMark(second * SECOND, name, role, comes=True)


def left(second: int, name: str, role: str = "dealer") -> StaffMark:
    return StaffMark(second * SECOND, name, role, comes=False)


def test_a_line_is_the_one_dealers_who_stood_there() -> None:
    marks = TableMarks(
        [left(60, "D-1"), came(0, "D-1"), came(60, "D-2"), came(1, "S-1", "stickperson")]
    )
    assert marks.at(30 * SECOND) == Standing("D-1", "D-1 (dealer), S-1 (stickperson)")
    assert marks.at(61 * SECOND).dealer == "D-2"
    assert marks.at(60 * SECOND + 200_000).dealer is None, "within the clocks' uncertainty"
    assert marks.at(60 * SECOND - 300_000).dealer == "D-1"
    assert marks.at(-SECOND) == Standing(None, "")


def test_a_closed_table_has_no_dealer_and_nobody_stands_for_longer_than_a_day() -> None:
    closed = StaffMark(50 * SECOND, None, None, comes=False)
    assert TableMarks([came(0, "D-1"), closed]).at(60 * SECOND).dealer is None
    marks = TableMarks([came(0, "D-1")])
    assert marks.at(STAY_US_MAX - SECOND).dealer == "D-1"
    assert marks.at(STAY_US_MAX + SECOND).dealer is None


def test_a_days_first_shift_has_what_came_before_it() -> None:
    day = "2026-11-20"
    marks = TableMarks([ShiftMark(20 * SECOND, day, "2"), ShiftMark(10 * SECOND, day, "1")])
    assert [marks.shift(day, at * SECOND) for at in (5, 10, 19, 20)] == ["1", "1", "1", "2"]
    assert marks.shift("2026-11-21", 20 * SECOND) is None
