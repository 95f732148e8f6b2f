"""Hands that PokerKit deals and plays by chance end with the stacks that PokerKit ends with.

In amounts that always divide: of odd chips PokerKit knows no section, and it pools side pots first.
"""

from __future__ import annotations

import random
import warnings
from typing import TYPE_CHECKING, NamedTuple

import pytest
from msgspec.structs import replace
from pokerkit import games as kit
from pokerkit.hands import (
    BadugiHand,
    OmahaEightOrBetterLowHand,
    OmahaHoldemHand,
    RegularLowHand,
    StandardBadugiHand,
    StandardLowHand,
)
from pokerkit.notation import HandHistory
from pokerkit.state import Automation

from ledger.adjudication.adjudicate import RoundRecord, rule
from ledger.adjudication.submissions import FiledSubmission
from ledger.facts import Breakage, RoundStarted, RulesSubmissionFiled
from ledger.record.wire import Fact
from ledger.values import RoundId
from replay.recording.hand_history import facts_of, hands
from tests.suite.budget import budget

if TYPE_CHECKING:
    from pokerkit.state import State

    from ledger.rules.engine.ruling import Ruling

ROUND = RoundId("phh", "PHH-1", "2026-11-20", 1)
UNIT = 120  # chips: halves of it divide by two to five
SMALL, BIG = 2 * UNIT, 4 * UNIT


class Aces(kit.FixedLimitDeuceToSevenLowballTripleDraw):
    hand_types = (RegularLowHand,)


class Badeucey(kit.FixedLimitDeuceToSevenLowballTripleDraw):
    hand_types = (StandardLowHand, StandardBadugiHand)


class Badacey(kit.FixedLimitDeuceToSevenLowballTripleDraw):
    hand_types = (RegularLowHand, BadugiHand)


class FiveCards(kit.PotLimitOmahaHoldem):
    hole_dealing_count = 5


class FiveCardsSplit(FiveCards):
    hand_types = (OmahaHoldemHand, OmahaEightOrBetterLowHand)


PLAYED = {
    "triple_draw_2_7": (kit.FixedLimitDeuceToSevenLowballTripleDraw, "F2L3D", 6),
    "triple_draw_a_5": (Aces, "F2L3D", 6),
    "badeucey": (Badeucey, "F2L3D", 6),
    "badacey": (Badacey, "F2L3D", 6),
    "badugi": (kit.FixedLimitBadugi, "FB", 8),
    "omaha_5_high": (FiveCards, "PO", 8),
    "omaha_5_hi_lo": (FiveCardsSplit, "PO", 8),
}
"""Each game as PokerKit plays it, the notation's nearest variant, and most players."""


class Ended(NamedTuple):
    """A hand in the notation, and the stacks it ended with."""

    notation: str
    stacks: list[int]


def played(game_id: str, chance: random.Random) -> Ended:
    """A hand dealt and played by chance, with stacks that make side pots."""
    kind, variant, most = PLAYED[game_id]
    players = chance.randint(2, most)
    sizes = (SMALL,) if variant == "PO" else (SMALL, BIG)
    trimmed = True  # Antes
    automatic = tuple(each for each in Automation if "DEALING" not in each.name)
    game = kind(automatic, trimmed, chance.choice((0, UNIT)), (UNIT, SMALL), *sizes)
    had = [UNIT * chance.choice((3, 9, 25, 61, 200)) for _ in range(players)]
    state = game(had, players)
    deck = list(state.deck_cards)
    chance.shuffle(deck)
    state.deck_cards.clear()
    state.deck_cards.extend(deck)
    while state.status:
        move(state, chance)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(HandHistory, "variants", {**HandHistory.variants, kind: variant})
        return Ended(HandHistory.from_game_state(game, state).dumps(), list(state.stacks))


def move(state: State, chance: random.Random) -> None:
    """Whatever may happen next."""
    if state.can_deal_hole():
        state.deal_hole()
    elif state.can_deal_board():
        state.deal_board()
    elif state.can_stand_pat_or_discard():
        held = state.hole_cards[state.stand_patter_or_discarder_index or 0]
        state.stand_pat_or_discard(tuple(chance.sample(held, chance.choice((0, 1, 1, 2)))))
    elif state.can_complete_bet_or_raise_to() and chance.random() < 0.3:
        state.complete_bet_or_raise_to()
    elif state.can_fold() and chance.random() < 0.15:
        state.fold()
    else:
        state.check_or_call()


def ruled(game_id: str, notation: str) -> Ruling:
    """The ruling of a hand under the game it was, in whole chips."""
    (hand,) = hands(notation.encode(), game_id)
    bodies = [told.body for told in facts_of(hand)]
    bodies = [
        replace(body, game=game_id) if isinstance(body, RoundStarted) else body for body in bodies
    ]
    facts = [
        Fact(body, "/phh/PHH-1/phh", str(n), n * 1_000_000, ROUND, "PHH-1", None, None)
        for n, body in enumerate(bodies)
    ]
    readings = {"odd_chip": "first_left_of_button"}
    filed = RulesSubmissionFiled(
        game=game_id,
        effective_from="2026-01-01",
        offers=("ante", "straddle"),
        readings=readings,
        breakage=Breakage(unit=100),
    )
    return rule(RoundRecord(ROUND, facts), [FiledSubmission("phh", None, 0, filed)])


@budget("count", everyday=12, whole=40)
@pytest.mark.parametrize("game_id", PLAYED)
def test_hands_that_pokerkit_plays_end_with_its_stacks(game_id: str, count: int) -> None:
    chance = random.Random(game_id)  # noqa: S311 - no secret
    contested = 0
    for _ in range(count):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            notation, stacks = played(game_id, chance)
        ruling = ruled(game_id, notation)
        # PokerKit shuffles all discards in at once, those of a player who draws before it too.
        found = {finding.code for finding in ruling.findings} - {"duplicate_card"}
        assert (ruling.status, found) == ("complete", set()), notation
        net = {each.position: each.net // 100 for each in ruling.settlements}
        (hand,) = hands(notation.encode(), game_id)
        ended = [stack + net[n] for n, stack in enumerate(hand.fields["starting_stacks"], 1)]
        assert ended == stacks, notation
        contested += notation.count(" sm ") > 1
    assert contested > count // 4
