"""Well-formed facts that no table would tell: every one gives a ruling, none an exception.

Each round of a simulated floor is ruled on again with a fact dropped, sent twice, or altered.
Alterations are unknown cards, more cards than a hand has, other holders, absurd amounts, and
positions the table lacks.
"""

from __future__ import annotations

import random
from collections import defaultdict
from functools import cache
from typing import TYPE_CHECKING, Any

import msgspec
import pytest

from ledger.adjudication.adjudicate import RoundRecord, rule
from ledger.adjudication.submissions import FiledSubmission, filed
from ledger.facts import CardsTurned, DiceThrown, WagerPlaced, WagerWithdrawn
from ledger.games import games
from ledger.simulate import deal, plan_of
from ledger.values import UNKNOWN_CARD
from tests.suite.budget import budget

if TYPE_CHECKING:
    from ledger.record.wire import Fact
    from ledger.values import RoundId


@cache
def rounds_of(game_id: str) -> tuple[list[tuple[RoundId, list[Fact]]], list[FiledSubmission]]:
    facts, _ = deal(plan_of(tables=1, minutes=20, seats=4, seed=31, of=(game_id,)))
    rounds: dict[RoundId, list[Fact]] = defaultdict(list)
    for fact in facts:
        if fact.round:
            rounds[fact.round].append(fact)
    return list(rounds.items()), filed(facts)


def altered(body: Any, chance: random.Random) -> Any:  # noqa: ANN401 - any fact
    """The same fact, saying something else that it may say."""
    cards = getattr(body, "cards", None) or ()
    changes: list[dict[str, Any]] = []
    if getattr(body, "amount", None) is not None:
        changes += [{"amount": each} for each in (1, body.amount + 1, 10**13)]
    if getattr(body, "position", None) is not None:
        changes += [{"position": each} for each in (1, 7, 50)]
    if cards:
        changes += [{"cards": (UNKNOWN_CARD,) * len(cards)}, {"cards": (*cards, *cards)}]
    if cards and isinstance(body, CardsTurned):
        return CardsTurned(to=body.to, position=body.position, hand=body.hand, cards=cards, from_=6)
    if getattr(body, "discards", None):
        changes += [{"discards": (*body.discards, "2c", "2c", "3d")}, {"discards": ()}]
    if getattr(body, "decision", None):
        changes += [{"decision": each} for each in ("fold", "split", "draw", "declare", "nonsense")]
    if getattr(body, "to", None) and not isinstance(body, DiceThrown):
        changes += [{"to": each} for each in ("dealer", "community", "banker_hand")]
    if isinstance(body, DiceThrown):
        changes += [{"dice": (1, 1, 1, 1), "offensive": None, "defensive": None}]
    return msgspec.structs.replace(body, **chance.choice(changes)) if changes else body


def disturbed(facts: list[Fact], chance: random.Random) -> list[Fact]:
    """A round with one to three facts dropped, sent again, or altered."""
    found = list(facts)
    for _ in range(chance.randint(1, 3)):
        at = chance.randrange(1, len(found))
        way = chance.randrange(4)
        if way == 0:
            del found[at]
        elif way == 1:
            found.insert(at, msgspec.structs.replace(found[at], id=f"{found[at].id}-again"))
        else:
            body = altered(found[at].body, chance)
            found[at] = msgspec.structs.replace(found[at], body=body)
        if len(found) < 3:
            break
    return found


@budget("tried", everyday=60, whole=300)
@pytest.mark.parametrize("game_id", games())
def test_whatever_well_formed_facts_say_of_a_round_it_is_ruled_on(game_id: str, tried: int) -> None:
    rounds, submissions = rounds_of(game_id)
    chance = random.Random(game_id)  # noqa: S311 - repeatable, guards nothing
    for _ in range(tried):
        round_, facts = chance.choice(rounds)
        ruling = rule(RoundRecord(round_, disturbed(facts, chance)), submissions)
        assert ruling.status in ("complete", "awaiting", "void")
        assert all(each.stake >= 0 for each in ruling.settlements)


@pytest.mark.parametrize("back", [500, 1000, 50_000])
def test_chips_taken_back_late_are_at_stake_as_they_lay_and_no_more(back: int) -> None:
    """Whatever a late withdrawal says, the stake is what was placed."""
    rounds, submissions = rounds_of("minibaccarat")
    for round_, facts in rounds:
        placed = [f for f in facts if isinstance(f.body, WagerPlaced) and f.body.wager == "player"]
        closed = next((f for f in facts if type(f.body).__name__ == "NoMoreBetsCalled"), None)
        if len(placed) != 1 or closed is None:
            continue
        body = placed[0].body
        assert isinstance(body, WagerPlaced)
        taken = WagerWithdrawn(position=body.position, wager="player", amount=back)
        late = msgspec.structs.replace(
            placed[0], id="late", body=taken, time_us=closed.time_us + 900_000, sequence=None
        )
        ruling = rule(RoundRecord(round_, [*facts, late]), submissions)
        stakes = {s.wager: s.stake for s in ruling.settlements if s.position == body.position}
        assert stakes["player"] == body.amount
        assert {"late_wager", "wager_not_permitted"} & {found.code for found in ruling.findings}
        return
    pytest.fail("no round with one wager on the Player's Hand")
