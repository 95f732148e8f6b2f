"""Laws every ruling keeps, over seeded rounds that chance dealt through the same rules."""

from __future__ import annotations

import random
from collections import Counter, defaultdict
from functools import cache
from itertools import takewhile
from typing import TYPE_CHECKING, NamedTuple

import msgspec
import pytest

from ledger.adjudication.adjudicate import RoundRecord, rule
from ledger.adjudication.feed import adjudicate
from ledger.adjudication.submissions import FiledSubmission, filed
from ledger.facts import (
    DecisionMade,
    DiceOffered,
    IrregularityCalled,
    MeterAdvanced,
    NoRollCalled,
    RakeTaken,
    RoundCompleted,
    StackCounted,
    StartingPositionDetermined,
    StubCounted,
    WagerCollected,
    WagerPaid,
    WagerPlaced,
    WagerReturned,
    type_name,
)
from ledger.games import games
from ledger.record.tape import Received
from ledger.record.wire import Fact, fact_of, parse_line
from ledger.rules.engine.order import in_order
from ledger.rules.engine.ruling import Awaiting, Ruling
from ledger.simulate.feed import deal, line
from ledger.simulate.plan import DEALT, Plan, plan_of
from tests.suite.budget import budget, cases

if TYPE_CHECKING:
    from ledger.values import RoundId

STEPS_RIGHT_MIN = 999  # permille of prefixes at which the next step is the recorded one
OTHERS = sorted(games().keys() - set(DEALT))


class Floor(NamedTuple):
    """What is dealt: four tables are the whole, one is enough for every day."""

    minutes: int
    of: tuple[str, ...] = DEALT
    tables: int = 4


@cache
def plan(floor: Floor) -> Plan:
    minutes, of, tables = floor
    return plan_of(tables=tables, minutes=minutes, seats=5, seed=20, of=of)


@cache
def dealt(floor: Floor) -> tuple[list[Fact], list[FiledSubmission], dict[RoundId, list[Fact]]]:
    facts, _ = deal(plan(floor))
    rounds: dict[RoundId, list[Fact]] = defaultdict(list)
    for fact in facts:
        if fact.round:
            rounds[fact.round].append(fact)
    return facts, filed(facts), {name: in_order(its) for name, its in rounds.items()}


def octets(facts: list[Fact]) -> list[bytes]:
    return [msgspec.json.encode(said) for said in adjudicate(facts)]


def is_free(fact: Fact, said: Awaiting) -> bool:
    """What may happen at any time and is nobody's next step: named here, one by one."""
    body = fact.body
    if isinstance(body, WagerPlaced):  # but for one that is asked for
        return said.wager is None or body.wager != said.wager
    if isinstance(body, DecisionMade):  # a player may, where none of his decisions is due
        due = said.step in ("decision_made", "wager_placed") or said.or_
        return not due or (body.decision == "stand" and body.position != said.position)
    # Some steps happen only sometimes. Stacks are counted and rake is taken in some rooms. An
    # invalid throw comes instead of a throw. Dice are offered if a device reports it. One stub in
    # five is counted. A meter goes up with its wagers. A card may be drawn for the button.
    drawn = isinstance(body, StartingPositionDetermined) and body.method == "card_draw"
    free = (NoRollCalled, DiceOffered, StubCounted, StackCounted, RakeTaken, MeterAdvanced)
    return drawn or isinstance(body, free)


def may_be_said(body: object) -> bool:
    """Whether a player decides what nobody asks of him."""
    return isinstance(body, DecisionMade) and body.decision in ("rescue", "void_hand")


def up_to_the_next_step(facts: list[Fact], said: Awaiting) -> list[Fact]:
    """What players do freely, up to and with the next step of the round."""
    free = list(takewhile(lambda fact: is_free(fact, said), facts))
    return facts[: len(free) + 1]


def answers(fact: Fact, said: Awaiting) -> bool:
    """Whether a fact is the step a ruling said must come."""
    name = type_name(type(fact.body)).partition(".")[0]  # type: ignore[arg-type]
    position = getattr(fact.body, "position", None)
    if isinstance(fact.body, DecisionMade):
        name = "wager_placed" if said.or_ == "decision_made" else name
    return name in (said.step, said.or_) and said.position in (None, position)


def next_steps_wrong(floor: Floor, every: int = 1) -> tuple[int, Counter[tuple[str, str]]]:
    """Prefixes of all rounds, and those whose next step was said wrongly, by what it was.

    Every so-many-eth prefix, each round's from another one on. None that ends in a throw called no
    roll afterwards: until then it decides wagers.
    """
    _, submissions, rounds = dealt(floor)
    prefixes, wrong = 0, Counter[tuple[str, str]]()
    for number, (round_, facts) in enumerate(rounds.items()):
        for cut in range(1 + number % every, len(facts), every):
            coming_body = facts[cut].body
            if isinstance(coming_body, NoRollCalled) and coming_body.of:
                continue
            if isinstance(coming_body, IrregularityCalled) or may_be_said(coming_body):
                continue  # from there on something else must come
            ruling = rule(RoundRecord(round_, facts[:cut]), submissions)
            prefixes += 1
            assert ruling is not None
            assert ruling.next is not None
            coming = up_to_the_next_step(facts[cut:], ruling.next)
            if not any(answers(fact, ruling.next) for fact in coming):
                wrong[type(coming[-1].body).__name__, ruling.next.step] += 1
    return prefixes, wrong


@pytest.mark.long
def test_a_record_cut_anywhere_says_what_must_come_next() -> None:
    prefixes, wrong = next_steps_wrong(Floor(90))
    assert prefixes > 10_000
    assert wrong.total() * 1000 <= prefixes * (1000 - STEPS_RIGHT_MIN), wrong


@budget("tried", everyday=(1, 5, 100), whole=(4, 1, 500))
@pytest.mark.parametrize("game_id", OTHERS)
def test_a_record_of_every_game_cut_anywhere_says_what_must_come_next(
    game_id: str, tried: tuple[int, int, int]
) -> None:
    tables, every, prefixes_min = tried
    prefixes, wrong = next_steps_wrong(Floor(20, (game_id,), tables), every)
    assert prefixes > prefixes_min
    assert wrong.total() * 1000 <= prefixes * (1000 - STEPS_RIGHT_MIN), wrong


@budget("tables", everyday=1, whole=4)
@pytest.mark.parametrize("game_id", OTHERS)
def test_a_round_of_every_game_is_ruled_on_alike_however_its_facts_arrive(
    game_id: str, tables: int
) -> None:
    facts, _, _ = dealt(Floor(20, (game_id,), tables))
    by_device = sorted(facts, key=lambda fact: fact.source)
    assert octets(by_device) == octets(facts)


@pytest.mark.long
def test_a_record_cut_anywhere_says_what_must_come_next_over_a_whole_day() -> None:
    prefixes, wrong = next_steps_wrong(Floor(480))
    assert prefixes > 60_000
    assert wrong.total() * 1000 <= prefixes * (1000 - STEPS_RIGHT_MIN), wrong


@budget("tried", everyday=(30, 60), whole=(90, 200))
def test_a_closed_round_awaits_nothing(tried: tuple[int, int]) -> None:
    minutes, rulings_min = tried
    facts, _, _ = dealt(Floor(minutes))
    rulings = [said for said in adjudicate(facts) if isinstance(said, Ruling)]
    assert len(rulings) > rulings_min
    assert {(said.awaiting, said.next) for said in rulings} == {(None, None)}
    assert {said.status for said in rulings} <= {"complete", "void"}


@pytest.mark.parametrize(
    ("minutes", "seed"), cases(everyday=[(30, 0)], whole=[(90, seed) for seed in range(5)])
)
def test_the_arrival_of_devices_facts_changes_no_ruling(minutes: int, seed: int) -> None:
    facts, _, _ = dealt(Floor(minutes))
    chance = random.Random(seed)  # noqa: S311
    by_device: dict[str, list[Fact]] = defaultdict(list)
    for fact in facts:
        by_device[fact.source].append(fact)
    lines = [source for source, its in by_device.items() for _ in its]
    chance.shuffle(lines)
    told = {source: iter(its) for source, its in by_device.items()}
    assert octets([next(told[source]) for source in lines]) == octets(facts)


@budget("minutes", everyday=30, whole=90)
def test_replaying_twice_and_from_the_wire_gives_identical_octets(minutes: int) -> None:
    facts, _, _ = dealt(Floor(minutes))
    lines = [line(plan(Floor(minutes)), fact) for fact in facts]
    read = [parse_line(each) for each in lines]
    assert all(isinstance(each, Received) for each in read)
    again = [fact_of(each) for each in read if isinstance(each, Received)]
    assert octets(facts) == octets(facts) == octets(again)


@budget("minutes", everyday=30, whole=90)
def test_money_is_conserved_at_every_fact(minutes: int) -> None:
    """Chips on the layout are those placed less those that left it; none are left at the end."""
    facts, _, rounds = dealt(Floor(minutes))
    rulings = {said.round: said for said in adjudicate(facts) if isinstance(said, Ruling)}
    for round_, its in rounds.items():
        ruling = rulings[round_.subject]
        won = {
            (s.position, s.wager, s.throw): s.stake
            for s in ruling.settlements
            if s.outcome == "win"
        }
        layout = house = 0
        for fact in its:
            body = fact.body
            if isinstance(body, WagerPlaced):
                layout += body.amount
            elif isinstance(body, WagerCollected):
                layout, house = layout - body.amount, house + body.amount
            elif isinstance(body, WagerReturned):
                layout -= body.amount
            elif isinstance(body, WagerPaid):
                house -= body.amount
                layout -= won.pop((body.position, body.wager, body.throw))
            assert layout >= 0, (round_, fact)
            if isinstance(body, RoundCompleted):
                assert layout == 0, round_
        assert house == -sum(s.net for s in ruling.settlements), round_


def test_a_changed_payment_breaks_conservation() -> None:
    """The negative control: the sums above do notice a cent."""
    _, submissions, rounds = dealt(Floor(30))
    for round_, its in rounds.items():
        paid = next((fact for fact in its if isinstance(fact.body, WagerPaid)), None)
        if paid is None:
            continue
        body = msgspec.structs.replace(paid.body, amount=paid.body.amount + 1)  # type: ignore[type-var,attr-defined]
        more = [msgspec.structs.replace(fact, body=body) if fact is paid else fact for fact in its]
        ruling = rule(RoundRecord(round_, more), submissions)
        assert ruling is not None
        assert [finding.code for finding in ruling.findings] == ["overpaid"]
        return
    pytest.fail("no round paid a wager")
