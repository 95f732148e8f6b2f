"""A finding names each change of chips in a clean round, or the list here says why none does.

Each ruling is on a simulated round with one change. A fact that moves chips is repeated, enlarged,
lessened, left out or moved to another place. Or a wager is taken back, or chips are added.
"""

from __future__ import annotations

import random
from collections import defaultdict
from functools import cache
from itertools import chain
from typing import TYPE_CHECKING, Any, NamedTuple

import pytest
from msgspec.structs import replace

from ledger.adjudication.adjudicate import RoundRecord, rule
from ledger.adjudication.submissions import FiledSubmission, filed
from ledger.facts import (
    CardsDealt,
    CardsTurned,
    DecisionMade,
    DecisionsLockedCalled,
    DiceThrown,
    FeePaid,
    HandSet,
    HandShown,
    HoleCardChecked,
    NoMoreBetsCalled,
    PotAwarded,
    WagerCollected,
    WagerPaid,
    WagerPlaced,
    WagerReturned,
    WagerWithdrawn,
)
from ledger.games import games
from ledger.rules.engine.order import in_order
from ledger.rules.engine.steps import POT
from ledger.simulate import deal, plan_of
from tests.suite.budget import budget

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from ledger.record.wire import Fact
    from ledger.rules.engine.ruling import Ruling
    from ledger.values import RoundId

PAYMENTS = (WagerPaid, WagerCollected, WagerReturned, PotAwarded)
CHIPS = (WagerPlaced, FeePaid, *PAYMENTS)
CLOSES = (NoMoreBetsCalled, DecisionsLockedCalled)
SHOWS = (CardsDealt, CardsTurned, DiceThrown, HandSet, HandShown, HoleCardChecked)
"""Facts that decide wagers: those of everybody, and those of the position itself."""
ADDED = (WagerPlaced, WagerPaid, WagerCollected, WagerReturned)
CENTS = 700  # a sum that no simulated wager comes to


class Change(NamedTuple):
    """A round with one change: how, of which fact, and what the fact passed on its way."""

    how: str
    fact: Fact
    facts: Sequence[Fact]
    passed: Sequence[Fact] = ()
    earlier: bool = False


# -- changes ---------------------------------------------------------------------------------------


def inserted(facts: Sequence[Fact], at: int, fact: Fact) -> list[Fact]:
    return [*facts[:at], fact, *facts[at:]]


def moved(facts: Sequence[Fact], at: int) -> Iterator[Change]:
    """A fact at each other place of the round."""
    fact, rest = facts[at], [*facts[:at], *facts[at + 1 :]]
    for to in range(1, len(rest)):
        if to != at:
            low, high = min(at, to), max(at, to)
            passed = rest[low:high]
            yield Change("moved", fact, inserted(rest, to, fact), passed, earlier=to < at)


def resized(facts: Sequence[Fact], at: int) -> Iterator[Change]:
    """A fact of twice its cents, of half of them, and left out."""
    fact: Any = facts[at]
    for how, cents in (("enlarged", fact.body.amount * 2), ("lessened", fact.body.amount // 2)):
        other = replace(fact, body=replace(fact.body, amount=cents))
        yield Change(how, fact, [*facts[:at], other, *facts[at + 1 :]])
    yield Change("left out", fact, [*facts[:at], *facts[at + 1 :]])


def repeated(facts: Sequence[Fact], at: int) -> Iterator[Change]:
    """A fact repeated at each place of the round."""
    fact = replace(facts[at], id=f"{facts[at].id}-again")
    for to in range(1, len(facts)):
        yield Change("repeated", fact, inserted(facts, to, fact))


def withdrawn(facts: Sequence[Fact], at: int) -> Iterator[Change]:
    """A wager taken back at each place of the round: the half of it, all of it, and more."""
    body = facts[at].body
    if not isinstance(body, WagerPlaced):
        return
    for cents in (body.amount // 2, body.amount, body.amount * 3):
        back = WagerWithdrawn(position=body.position, wager=body.wager, amount=cents)
        for to in range(1, len(facts)):
            fact = replace(facts[at], id="back", body=back)
            yield Change("withdrawn", fact, inserted(facts, to, fact))


def added(facts: Sequence[Fact], game_id: str) -> Iterator[Change]:
    """Chips of every wager and every kind that nobody owes, at each place of the round."""
    one = next(fact for fact in facts if isinstance(fact.body, WagerPlaced))
    seats = sorted({getattr(fact.body, "position", None) or 1 for fact in facts})
    for wager in games()[game_id].wagers:
        for kind in ADDED:
            for seat in (*seats, seats[-1] + 1):
                body = kind(position=seat, wager=wager.id, amount=CENTS)
                fact = replace(one, id="added", body=body)
                for to in range(1, len(facts)):
                    yield Change("added", fact, inserted(facts, to, fact))


def moves_chips(fact: Fact) -> bool:
    """Whether a fact moves chips; a decision at Poker may."""
    body = fact.body
    return isinstance(body, CHIPS) or (isinstance(body, DecisionMade) and bool(body.amount))


def changes(facts: Sequence[Fact], game_id: str) -> Iterator[Change]:
    """Every change of a round."""
    chips = [at for at, fact in enumerate(facts) if moves_chips(fact)]
    ways = (moved, resized, repeated, withdrawn)
    yield from chain.from_iterable(way(facts, at) for at in chips for way in ways)
    yield from added(facts, game_id)


# -- rulings ---------------------------------------------------------------------------------------


@cache
def clean(game_id: str) -> tuple[list[tuple[RoundId, list[Fact]]], list[FiledSubmission]]:
    """Rounds of a simulated floor that are complete and hold no finding."""
    facts, _ = deal(plan_of(tables=1, minutes=12, seats=4, seed=41, of=(game_id,)))
    rounds: dict[RoundId, list[Fact]] = defaultdict(list)
    for fact in facts:
        if fact.round:
            rounds[fact.round].append(fact)
    filings = filed(facts)
    whole = [(name, in_order(told)) for name, told in rounds.items()]
    return [each for each in whole if is_clean(ruled(*each, filings))], filings


def is_clean(said: Ruling) -> bool:
    return said.status == "complete" and not said.findings


def ruled(round_: RoundId, facts: Sequence[Fact], filings: Sequence[FiledSubmission]) -> Ruling:
    """The ruling on facts a second apart, so that no clock leaves their order in doubt."""
    told = [
        replace(fact, time_us=count * 1_000_000, sequence=None)
        for count, fact in enumerate(facts, 1)
    ]
    return rule(RoundRecord(round_, told), filings)


def is_named(change: Change, said: Ruling) -> bool:
    """Whether a finding is about the position, about everybody, or about a pot.

    A decision at Poker is everybody's. A finding about a clock does not count.
    """
    position = getattr(change.fact.body, "position", None)
    decided = isinstance(change.fact.body, DecisionMade)
    return any(
        decided or found.position in (None, position) or found.wager == POT
        for found in said.findings
        if found.code != "clock_skewed"
    )


# -- what sections allow ---------------------------------------------------------------------------


def allowed(change: Change, said: Ruling, before: Ruling) -> str | None:
    """Why nothing is found: the section, or the reason."""
    return next((why for why, holds in ALLOWED.items() if holds(change, said, before)), None)


def waits(change: Change) -> list[Fact]:
    """The facts passed that decide the chips of a fact, or close its wager."""
    return [
        fact
        for fact in change.passed
        if isinstance(fact.body, (*SHOWS, *CLOSES))
        and (
            isinstance(fact.body, DiceThrown)
            or isinstance(change.fact.body, (PotAwarded, DecisionMade))
            or getattr(fact.body, "position", None) is None
            or hand_of(fact) == hand_of(change.fact)
        )
    ]


def hand_of(fact: Fact) -> tuple[int, int]:
    return getattr(fact.body, "position", 0), getattr(fact.body, "hand", 1)


def paid_later(change: Change, said: Ruling, before: Ruling) -> bool:
    payment = isinstance(change.fact.body, PAYMENTS) and said.settlements == before.settlements
    return change.how == "moved" and payment and not change.earlier


def passes_nothing(change: Change, *_: Ruling) -> bool:
    return change.how == "moved" and not waits(change)


def turned_after_reading(change: Change, *_: Ruling) -> bool:
    facts = waits(change)
    read = any(
        isinstance(fact.body, HoleCardChecked) and fact.body.result == "blackjack"
        for fact in change.facts
    )
    return read and all(getattr(fact.body, "to", None) == "dealer" for fact in facts)


def with_winnings(change: Change, said: Ruling, _: Ruling) -> bool:
    body = change.fact.body
    return isinstance(body, WagerReturned) and any(
        (s.position, s.wager, s.outcome) == (body.position, body.wager, "win")
        and s.stake >= body.amount
        for s in said.settlements
    )


def lay_bet(change: Change, said: Ruling, before: Ruling) -> bool:
    wager = getattr(change.fact.body, "wager", None) or ""
    return wager.startswith("lay_") and said.settlements == before.settlements


def shows_his_own(change: Change, *_: Ruling) -> bool:
    return isinstance(change.fact.body, DecisionMade) and all(
        isinstance(fact.body, HandShown) and hand_of(fact) == hand_of(change.fact)
        for fact in waits(change)
    )


ALLOWED = {
    "no section gives these facts an order": passes_nothing,
    "no section says until when a wager is settled": paid_later,
    "633a.7(h): with a Blackjack that was read wagers are settled at once": turned_after_reading,
    "the stake of a winning wager goes back with its winnings": with_winnings,
    "637a.19-21(k): a player who shows his own hand too early learns nothing": shows_his_own,
    "623a.3(a)(42): a Lay Bet may be made, and taken down, before any throw": lay_bet,
}


# -- the search ------------------------------------------------------------------------------------


def silent(game_id: str, tried: int) -> list[str]:
    """Changes of chips that no finding names and no section allows, in words."""
    chance = random.Random(game_id)  # noqa: S311 - repeatable, guards nothing
    rounds, filings = clean(game_id)
    found = []
    for round_, facts in chance.sample(rounds, min(3, len(rounds))):
        before = ruled(round_, facts, filings)
        every = list(changes(facts, game_id))
        for change in chance.sample(every, min(tried, len(every))):
            said = ruled(round_, change.facts, filings)
            if not is_named(change, said) and not allowed(change, said, before):
                passed = [type(fact.body).__name__ for fact in waits(change)]
                found.append(f"{round_.subject} {change.how} {change.fact.body} {passed}")
    return found


@budget("tried", everyday=25, whole=1500)
@pytest.mark.parametrize("game_id", sorted(games()))
def test_chips_that_move_otherwise_are_named_or_move_as_their_section_lets_them(
    game_id: str, tried: int
) -> None:
    assert silent(game_id, tried) == []


@budget("tried", everyday=20, whole=400)
@pytest.mark.parametrize("game_id", ["asia_poker", "saigon_5_card"])
def test_one_payment_out_of_turn_is_not_blamed_on_a_clock(game_id: str, tried: int) -> None:
    """The sections of these games hardly put the facts of two devices in turn."""
    chance = random.Random(game_id)  # noqa: S311 - as above
    rounds, filings = clean(game_id)
    for round_, facts in rounds[:2]:
        paid = [at for at, fact in enumerate(facts) if isinstance(fact.body, PAYMENTS)]
        early = [each for at in paid for each in moved(facts, at) if each.earlier]
        for change in chance.sample(early, min(tried, len(early))):
            codes = {found.code for found in ruled(round_, change.facts, filings).findings}
            assert codes <= {"out_of_turn"}, change.fact.body


CONTROLS = {
    "a payment early": ("ledger.adjudication.adjudicate.review.paid_early", lambda *_: []),
    "chips taken back late": ("ledger.rules.engine.table.Table._taken_late", lambda *_: None),
    "sums": ("ledger.adjudication.adjudicate.compare", lambda *_: []),
}


@pytest.mark.parametrize("mechanism", CONTROLS)
def test_with_a_mechanism_switched_off_chips_move_in_silence(
    mechanism: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    name, off = CONTROLS[mechanism]
    clean("three_card_poker")  # by the whole program
    monkeypatch.setattr(name, off)
    assert silent("three_card_poker", 40)
