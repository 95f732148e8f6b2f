"""Low hands and five-card Omaha beside PokerKit's, on random hands: 637a.6, .19, .20 and .21."""

from __future__ import annotations

import random
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import pytest
from pokerkit import (
    BadugiHand,
    EightOrBetterLowHand,
    OmahaEightOrBetterLowHand,
    OmahaHoldemHand,
    RegularLowHand,
    StandardBadugiHand,
    StandardLowHand,
)

from ledger.rules.hands.best_five import omaha_high, omaha_low
from ledger.rules.hands.cards import DECK
from ledger.rules.hands.lowball import (
    ace_high_badugi_of,
    ace_to_five,
    badugi_of,
    deuce_to_seven,
    eight_or_better,
)

if TYPE_CHECKING:
    from collections.abc import Callable

Evaluate = tuple["Callable[[list[str]], Any]", "Callable[[list[str]], Any]", int]

EVALUATORS: dict[str, Evaluate] = {
    "deuce_to_seven": (deuce_to_seven, lambda cards: StandardLowHand("".join(cards)), 5),
    "ace_to_five": (ace_to_five, lambda cards: RegularLowHand("".join(cards)), 5),
    "badugi_of_four": (badugi_of, lambda cards: BadugiHand.from_game("".join(cards), ()), 4),
    "badugi_of_five": (badugi_of, lambda cards: BadugiHand.from_game("".join(cards), ()), 5),
    "badeucey_of_five": (
        ace_high_badugi_of,
        lambda cards: StandardBadugiHand.from_game("".join(cards), ()),
        5,
    ),
}

HANDS = [
    pytest.param(2_000, id="2000 hands"),
    pytest.param(100_000, id="100000 hands", marks=pytest.mark.long),
]
DEALS = [
    pytest.param(200, 0, id="200 deals"),
    *(pytest.param(5_000, n, id=f"5000 deals {n}", marks=pytest.mark.long) for n in range(1, 5)),
]


def in_one_order(pairs: list[tuple[Any, Any]]) -> bool:
    """Whether ours and theirs order the hands alike: less where less, equal where equal."""
    pairs.sort(key=lambda pair: pair[0].value)
    return all(
        low[1] == high[1] if low[0] == high[0] else low[1] < high[1]
        for low, high in pairwise(pairs)
    )


@pytest.mark.parametrize("count", HANDS)
@pytest.mark.parametrize("name", EVALUATORS)
def test_637a_20_low_hands_rank_as_another_library_ranks_them(name: str, count: int) -> None:
    ours, theirs, size = EVALUATORS[name]
    chance = random.Random(f"637a {name}")  # noqa: S311 - no secret
    hands = [chance.sample(DECK, size) for _ in range(count)]
    assert in_one_order([(ours(cards), theirs(cards)) for cards in hands])


def test_637a_20_an_order_that_is_wrong_at_the_ace_is_told_from_the_right_one() -> None:
    """The comparison above can fail: an ace-low badugi is not the Badeucey half."""
    chance = random.Random(637)  # noqa: S311 - no secret
    hands = [chance.sample(DECK, 5) for _ in range(500)]
    theirs = [StandardBadugiHand.from_game("".join(cards), ()) for cards in hands]
    pairs = [(badugi_of(cards), other) for cards, other in zip(hands, theirs, strict=True)]
    assert not in_one_order(pairs)


@pytest.mark.parametrize("count", HANDS)
def test_637a_19_l_1_the_same_lows_are_eight_or_better(count: int) -> None:
    chance = random.Random(19)  # noqa: S311 - no secret
    found = 0
    for _ in range(count):
        cards = chance.sample(DECK, 5)
        try:
            theirs = EightOrBetterLowHand("".join(cards)) is not None
        except ValueError:
            theirs = False
        assert eight_or_better(ace_to_five(cards)) is theirs, cards
        found += theirs
    assert found > count // 100


@pytest.mark.parametrize(("count", "seed"), DEALS)
def test_637a_19_k_five_card_omaha_ranks_as_another_library_ranks_it(count: int, seed: int) -> None:
    chance = random.Random(637019 + seed)  # noqa: S311 - no secret
    highs, lows = [], []
    for _ in range(count):
        cards = chance.sample(DECK, 10)
        hole, board = cards[:5], cards[5:]
        of_theirs = ("".join(hole), "".join(board))
        highs.append((omaha_high(hole, board), OmahaHoldemHand.from_game(*of_theirs)))
        low, their_low = (
            omaha_low(hole, board),
            OmahaEightOrBetterLowHand.from_game_or_none(*of_theirs),
        )
        assert eight_or_better(low) is (their_low is not None), cards
        if their_low is not None:
            lows.append((low, their_low))
    assert lows
    assert in_one_order(highs)
    assert in_one_order(lows)
