"""The floor that deals itself: its plan, its devices, its tape, and mistakes made one by one."""

from __future__ import annotations

import ast
from collections import Counter, defaultdict
from functools import cache
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from msgspec.structs import replace

import ledger.simulate
from ledger.adjudication.adjudicate import RoundRecord, rule
from ledger.adjudication.feed import adjudicate
from ledger.adjudication.submissions import filed
from ledger.facts import (
    FACTS,
    CardsDealt,
    CardsTurned,
    CashBoughtIn,
    CounterCheckIssued,
    CreditAccepted,
    DropBoxCounted,
    FillAccepted,
    HandDiscarded,
    InventoryCounted,
    NoMoreBetsCalled,
    RoundCompleted,
    SeatTaken,
    VoucherBoughtIn,
    WagerCollected,
    WagerPaid,
    WagerPlaced,
    WagerReturned,
    type_name,
)
from ledger.record.tape import Received
from ledger.record.wire import fact_of, parse_line
from ledger.rules.engine.order import gaps, in_order
from ledger.simulate import MISTAKES, Plan, TablePlan, deal, line, plan_of, simulate

if TYPE_CHECKING:
    from ledger.record.wire import Fact

FINDERS = (
    "ledger.rules.engine.review",
    "ledger.rules.engine.money_moved",
    "ledger.rules.engine.record",
    "ledger.rules.engine.order",
    "ledger.rules.engine.clock_skew",
    "ledger.rules.engine.ruling",
    "ledger.rules.procedures.table_procedures",
    "ledger.adjudication.adjudicate",
    "ledger.adjudication.feed",
)
ON_A_TAPE = """
    table_opened table_closed seat_taken seat_left rules_submission_filed dealer_assigned
    dealer_relieved floorperson_assigned camera_mapped clock_checked decks_received cards_inspected
    inspection_verified cards_spread cards_washed cards_shuffled cards_cut stub_counted
    decks_removed dice_received dice_inspected dice_offered dice_removed inventory_counted
    fill_requested fill_dispatched fill_accepted credit_requested credit_dispatched credit_accepted
    cash_bought_in voucher_bought_in counter_check_issued coupons_issued coupon_dropped tip_dropped
    drop_box_attached drop_box_removed drop_box_counted round_started round_completed round_voided
    irregularity_called no_roll_called wager_placed wager_paid wager_collected wager_returned
    cards_dealt cards_turned hand_discarded decision_made dice_thrown marker_placed
    no_more_bets_called
"""
LOSABLE = (CardsDealt, CardsTurned, HandDiscarded, WagerPaid, WagerCollected, WagerReturned)


@cache
def floor(minutes: int = 60, tables: int = 8, seed: int = 5) -> list[Fact]:
    facts, planted = deal(plan_of(tables=tables, minutes=minutes, seed=seed))
    assert not planted
    return facts


def by_round(facts: list[Fact]) -> list[list[Fact]]:
    rounds: dict[object, list[Fact]] = defaultdict(list)
    for fact in facts:
        if fact.round:
            rounds[fact.round].append(fact)
    return list(rounds.values())


def codes(facts: list[Fact]) -> Counter[str]:
    return Counter(finding.code for said in adjudicate(facts) for finding in said.findings)


def test_the_same_plan_gives_the_same_bytes_and_another_seed_gives_others() -> None:
    plan = plan_of(tables=2, minutes=30, seed=3, mistakes={"overpay": 2, "lost_fact": 1})
    once = [(line(plan, each.fact), each.arrives_us, each.planted) for each in simulate(plan)]
    again = [(line(plan, each.fact), each.arrives_us, each.planted) for each in simulate(plan)]
    assert once == again
    other = plan_of(tables=2, minutes=30, seed=4)
    assert [line(other, each.fact) for each in simulate(other)] != [each[0] for each in once]


def test_a_table_is_dealt_the_same_whichever_tables_stand_beside_it() -> None:
    both = plan_of(tables=2, minutes=30, seed=3)
    alone = replace(both, tables=both.tables[:1])
    mine = [line(both, each.fact) for each in simulate(both) if each.fact.table == "CC-01"]
    assert mine == [
        line(alone, each.fact) for each in simulate(alone) if each.fact.table == "CC-01"
    ]


@pytest.mark.long
def test_every_line_is_received_and_reads_back_as_the_fact_that_was_dealt() -> None:
    plan = plan_of(tables=4, minutes=60, seed=9)
    for each in simulate(plan):
        received = parse_line(line(plan, each.fact))
        assert isinstance(received, Received), received
        assert fact_of(received) == each.fact


@pytest.mark.long
def test_facts_arrive_in_order_and_each_device_counts_without_a_gap() -> None:
    arrived = [each.arrives_us for each in simulate(plan_of(tables=4, minutes=60))]
    assert arrived == sorted(arrived)
    facts = floor()
    assert not gaps(facts)
    assert len({(fact.source, fact.id) for fact in facts}) == len(facts)


def test_steps_of_different_devices_stand_further_apart_than_clocks_may_err() -> None:
    for facts in by_round(floor()):
        ordered = in_order(facts)
        for fact, following in pairwise(ordered):
            if fact.source != following.source:
                assert following.time_us - fact.time_us > 300_000, following


@pytest.mark.long
def test_devices_clocks_differ_and_every_device_tells_facts() -> None:
    devices: dict[str, set[str]] = defaultdict(set)
    for fact in floor(480, 8, 2):
        _, _, place, device = fact.source.split("/")
        devices[place].add(device)
    assert devices["CC-01"] == {"shoe", "eye", "layout", "terminal"}
    assert devices["CC-02"] == {"eye", "layout", "terminal"}  # dealt from the hand
    assert devices["TDF-01"] == {"eye", "layout", "terminal"}
    assert {"office", "cage", "count-room", "surveillance"} <= set(devices)


@pytest.mark.long
def test_the_day_holds_what_a_tape_holds() -> None:
    told = {type_name(type(fact.body)) for fact in floor(480, 8, 2)}  # type: ignore[arg-type]
    expected = {f"{name}.v1" for name in ON_A_TAPE.split()}
    assert expected <= set(FACTS)
    assert expected - told == set()


@pytest.mark.long
def test_a_long_day_changes_its_cards_drops_its_box_and_adds_up_to_the_cent() -> None:
    facts = floor(1000, 4, 6)
    assert not codes(facts)
    for table in {fact.table for fact in facts if isinstance(fact.body, RoundCompleted)}:
        its = [fact for fact in facts if fact.table == table]
        assert _moved(its) == 0
        counts = [fact.body for fact in its if isinstance(fact.body, InventoryCounted)]
        assert [each.kind for each in counts] == ["open", "drop", "drop", "close"]


def _moved(facts: list[Fact]) -> int:
    """Closer - opener - fills + credits + what was sold - losses + payouts, and the box."""
    off = box = 0
    for fact in facts:
        match fact.body:
            case InventoryCounted(kind="open", total=cents):
                off -= cents
            case InventoryCounted(kind="close", total=cents) | CreditAccepted(total=cents):
                off += cents
            case FillAccepted(total=cents) | WagerCollected(amount=cents):
                off -= cents
            case WagerPaid(amount=cents):
                off += cents
            case (
                CashBoughtIn(amount=cents)
                | VoucherBoughtIn(amount=cents)
                | CounterCheckIssued(amount=cents)
            ):
                off += cents
                box += cents
            case DropBoxCounted(count=1) as counted:
                box -= sum(int(note) * pieces for note, pieces in counted.currency.items())
                box -= sum(each.amount for each in counted.counter_checks)
                box -= sum(getattr(each, "amount", 0) or 0 for each in counted.vouchers)
    assert box == 0
    return off


def test_no_patron_ever_bets_chips_that_he_does_not_have() -> None:
    chips: Counter[object] = Counter()
    staked: Counter[object] = Counter()
    for fact in in_order(floor()):
        body = fact.body
        seat = (fact.table, getattr(body, "position", None))
        wager = (*seat, getattr(body, "wager", None))
        if isinstance(body, SeatTaken):
            chips[fact.table, body.positions[0]] = 0
        elif isinstance(body, (CashBoughtIn, VoucherBoughtIn, CounterCheckIssued)):
            chips[seat] += body.amount
        elif isinstance(body, WagerPlaced):
            chips[seat] -= body.amount
            staked[wager] += body.amount
            assert chips[seat] >= 0, fact
        elif isinstance(body, WagerPaid):
            chips[seat] += body.amount + staked.pop(wager)
        elif isinstance(body, WagerCollected):
            assert body.amount == staked.pop(wager)
        elif isinstance(body, WagerReturned):
            chips[seat] += staked.pop(wager)
    assert not staked, "nothing is left on the layout"


@pytest.mark.long
def test_losing_any_one_fact_is_found_as_that_and_as_nothing_else() -> None:
    tried: Counter[str] = Counter()
    submissions = filed(floor(40, 8, 5))
    for facts in by_round(floor(40, 8, 5)):
        for number, fact in enumerate(facts):
            without = facts[:number] + facts[number + 1 :]
            beside = [gap for gap in gaps(without) if gap.before.source == fact.source]
            if isinstance(fact.body, LOSABLE) and beside:
                tried[type(fact.body).__name__] += 1
                assert fact.round
                ruling = rule(RoundRecord(fact.round, without, beside), submissions)
                assert ruling
                assert [each.code for each in ruling.findings] == ["fact_missing"], (fact, ruling)
    assert set(tried) == {kind.__name__ for kind in LOSABLE}
    assert min(tried.values()) > 20


@pytest.mark.parametrize("late_us", [1_000_000, 2_400_000, 4_000_000])
def test_one_late_wager_is_late_and_no_clock_is_blamed_for_it(late_us: int) -> None:
    tried, submissions = 0, filed(floor())
    for facts in by_round(floor()):
        bonus = next((f for f in facts if getattr(f.body, "wager", "") == "five_card_bonus"), None)
        closed = next((f for f in facts if isinstance(f.body, NoMoreBetsCalled)), None)
        if bonus is None or closed is None or not bonus.round:
            continue
        tried += 1
        # Without a counter, so that only the clock shows when it came.
        counterless = [replace(f, sequence=None) if f.source == bonus.source else f for f in facts]
        told = [
            replace(f, time_us=closed.time_us + late_us) if f.id == bonus.id else f
            for f in counterless
        ]
        ruling = rule(RoundRecord(bonus.round, told), submissions)
        assert ruling
        assert [each.code for each in ruling.findings] == ["late_wager"]
    assert tried > 20


@pytest.mark.long
def test_a_planted_mistake_that_is_taken_out_of_the_truth_would_be_missed() -> None:
    """Negative control: the same floor without its mistakes has no finding at all."""
    plan = plan_of(tables=2, minutes=60, seed=8, mistakes={"overpay": 3, "not_collected": 3})
    facts, planted = deal(plan)
    assert sorted(each.mistake for each in planted) == ["not_collected"] * 3 + ["overpay"] * 3
    assert codes(facts) == {"overpaid": 3, "not_collected": 3}
    assert not codes(deal(replace(plan, mistakes={}))[0])


def test_a_plan_that_cannot_be_is_refused_in_words() -> None:
    with pytest.raises(ValueError, match="no such mistake: theft"):
        plan_of(mistakes={"theft": 1})
    with pytest.raises(ValueError, match="one name"):
        Plan(tables=(TablePlan(table="CC-01"), TablePlan(table="CC-01")))
    with pytest.raises(ValueError, match="room for 6"):
        Plan(tables=(TablePlan(table="CC-01", seats=7),))
    assert [table.seats for table in plan_of(tables=2, seats=16).tables] == [6, 16]
    with pytest.raises(ValueError, match="month must be"):
        plan_of(gaming_day="2026-13-01")
    with pytest.raises(ValueError, match="roulette"):
        list(simulate(Plan(tables=(TablePlan(table="R-01", game="roulette"),))))


def test_the_simulator_shares_nothing_with_what_finds_mistakes() -> None:
    for path in sorted(Path(ledger.simulate.__file__).parent.rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text())):
            names = []
            if isinstance(node, ast.ImportFrom):
                names = [node.module or "", *(f"{node.module}.{each.name}" for each in node.names)]
            elif isinstance(node, ast.Import):
                names = [each.name for each in node.names]
            for name in names:
                assert not name.startswith(FINDERS), f"{path.name} imports {name}"


def test_every_mistake_has_its_words() -> None:
    assert all(says and says == says.strip(".") for says in MISTAKES.values())
