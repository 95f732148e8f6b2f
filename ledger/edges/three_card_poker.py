"""Three Card Poker: every hand of a player with every hand of the dealer, and every six cards.

Published for the same odds: Ante 3.37 % if queen-6-4 and better are played, Pair Plus 2.32 %. The
Six Card Bonus counts the best five of 20,358,520 sixes, by ranks and by how many share a suit.
"""

from __future__ import annotations

from collections import Counter
from fractions import Fraction
from functools import cache
from itertools import combinations, combinations_with_replacement
from math import comb, prod
from typing import TYPE_CHECKING

import numpy as np

from ledger.edges import Edge
from ledger.games.three_card_poker import (
    ANTE,
    ANTE_BONUS,
    PAIR_PLUS,
    PLAY,
    SIX_CARD_BONUS,
    Showdown,
    with_odds,
)
from ledger.rules.hands.cards import DECK, RANKS, SUITS
from ledger.rules.hands.short_hands import queen_high, six_card_hand, three_card_hand

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    import numpy.typing as npt

    from ledger.rules.engine.game import InForce
    from ledger.rules.hands.short_hands import SixCardHand

HANDS = tuple(combinations(DECK, 3))
DEALT = comb(len(DECK) - 3, 3)  # the dealer's hands for each of a player's
SIX = 6


def edges(rules: InForce) -> list[Edge]:
    """The edges of Ante (with Play Wager and Ante Bonus), Pair Plus and Six Card Bonus."""
    return [
        Edge("ante", ante(rules), "played where that is worth more than giving it up"),
        Edge("pair_plus", pair_plus(rules), "22,100 hands"),
        Edge("six_card_bonus", six_card_bonus(rules), "20,358,520 sixes"),
    ]


@cache
def alike() -> dict[tuple[tuple[str, ...], ...], tuple[tuple[str, ...], int]]:
    """Hands that differ only in the names of suits: one of each, and their number."""
    found: dict[tuple[tuple[str, ...], ...], tuple[tuple[str, ...], int]] = {}
    for cards in HANDS:
        key = suits_apart(cards)
        one, count = found.get(key, (cards, 0))
        found[key] = (one, count + 1)
    return found


def suits_apart(cards: Sequence[str]) -> tuple[tuple[str, ...], ...]:
    """The ranks held of each suit: the same for hands that differ only in the names of suits."""
    suits = {card[1] for card in cards}
    return tuple(sorted(tuple(c[0] for c in cards if c[1] == suit) for suit in suits))


def apart(cards: Sequence[str]) -> npt.NDArray[np.bool_]:
    """Which of all hands share no card with this one."""
    at = {card: place for place, card in enumerate(DECK)}
    found: npt.NDArray[np.bool_] = (_held() & np.uint64(sum(1 << at[card] for card in cards))) == 0
    return found


@cache
def _held() -> npt.NDArray[np.uint64]:
    """Every hand as a set of cards."""
    at = {card: place for place, card in enumerate(DECK)}
    return np.array([sum(1 << at[card] for card in cards) for cards in HANDS], dtype=np.uint64)


def ante(rules: InForce) -> Fraction:
    """The edge of the Ante by best play, over every two hands."""
    readings = rules.readings
    found = [three_card_hand(cards) for cards in HANDS]
    values = np.array([hand.value for hand in found])
    qualifies = np.array([queen_high(hand) for hand in found])
    gained = Fraction(0)
    for cards, count in alike().values():
        hand = three_card_hand(cards)
        dealt = apart(cards)
        worth = Fraction(0)
        for can in (False, True):
            for by in (-1, 0, 1):
                these = dealt & (qualifies == can) & (np.sign(hand.value - values) == by)
                for table in (ANTE, PLAY):
                    row = table.pays(Showdown(can, by), readings)
                    worth += int(these.sum()) * (row.ratio if row else -1)
        row = with_odds(rules, ANTE_BONUS, hand).pays(hand, readings)
        gained += count * max(Fraction(-1), worth / DEALT + (row.ratio if row else 0))
    return -gained / len(HANDS)


def pair_plus(rules: InForce) -> Fraction:
    """The edge of Pair Plus. A hand that it pays is always played."""
    gained = Fraction(0)
    for cards, count in alike().values():
        hand = three_card_hand(cards)
        row = with_odds(rules, PAIR_PLUS, hand).pays(hand, rules.readings)
        gained += count * (row.ratio if row else -1)
    return -gained / len(HANDS)


def _sixes() -> Iterator[tuple[list[str], int]]:
    """Six cards of each kind, and their number: by ranks, and by five or six of one suit."""
    for ranks in combinations_with_replacement(RANKS, SIX):
        copies = Counter(ranks)
        if max(copies.values()) > len(SUITS):
            continue
        every = prod(comb(len(SUITS), count) for count in copies.values())
        plain = list(copies)
        if len(plain) == SIX:
            yield [rank + "s" for rank in plain], len(SUITS)
            for other in plain:
                cards = [rank + ("h" if rank == other else "s") for rank in plain]
                yield cards, len(SUITS) * (len(SUITS) - 1)
            every -= len(SUITS) + SIX * len(SUITS) * (len(SUITS) - 1)
        elif len(plain) == SIX - 1:
            twice = next(rank for rank in plain if copies[rank] > 1)
            yield [*(rank + "s" for rank in plain), twice + "h"], len(SUITS) * (len(SUITS) - 1)
            every -= len(SUITS) * (len(SUITS) - 1)
        yield [rank + SUITS[at % len(SUITS)] for at, rank in enumerate(ranks)], every


@cache
def sixes() -> Counter[SixCardHand]:
    """The number of the 20,358,520 sixes for each Six Card Bonus hand, by its category alone."""
    found: Counter[SixCardHand] = Counter()
    one: dict[tuple[bool, str], SixCardHand] = {}
    for cards, count in _sixes():
        hand = six_card_hand(cards)
        found[one.setdefault((hand.super_royal, hand.category), hand)] += count
    return found


def six_card_bonus(rules: InForce) -> Fraction:
    """The edge of the Six Card Bonus, which stays in play whatever happens to the Ante."""
    gained = Fraction(0)
    for hand, count in sixes().items():
        row = with_odds(rules, SIX_CARD_BONUS, hand).pays(hand, rules.readings)
        gained += count * (row.ratio if row else -1)
    return -gained / sixes().total()
