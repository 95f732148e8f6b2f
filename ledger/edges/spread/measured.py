"""Covariances that are measured: by seeded rounds of two positions against one dealer.

`python -m ledger.edges.spread.measured` deals the rounds again and prints `measured.json`: for
each two wagers their covariance in one position, in two positions, and the standard errors.
"""

from __future__ import annotations

import json
import sys
from fractions import Fraction
from math import isqrt
from random import Random
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ledger.edges import criss_cross_poker as criss_cross
from ledger.edges.lunar_poker import lunar_round
from ledger.games.asia_poker import ASIA_POKER
from ledger.games.asia_poker import BONUS as ASIA_BONUS
from ledger.games.criss_cross_poker import BONUS as CROSS_BONUS
from ledger.games.lunar_poker import SUPER
from ledger.games.three_card_poker import (
    ANTE,
    ANTE_BONUS,
    PAIR_PLUS,
    PLAY,
    SIX_CARD_BONUS,
    Showdown,
)
from ledger.rules.hands.asia import Ranking, hands_higher, highest_high
from ledger.rules.hands.cards import DECK, RANKS, SUITS
from ledger.rules.hands.joker import JOKER, asia_bonus
from ledger.rules.hands.lunar import super_hand
from ledger.rules.hands.poker import hand_of
from ledger.rules.hands.short_hands import queen_high, six_card_hand, three_card_hand

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    import numpy.typing as npt

    from ledger.rules.engine.odds import Paytable

    Ints = npt.NDArray[np.int64]

SEED = 18
Scaled = list[dict[str, int]]
"""What the house gains of each position's wagers in one round, in twentieths of a stake."""

SCALE = 20
PLACES = 10**6


def _gain(table: Paytable, outcome: object, readings: Mapping[str, object]) -> int:
    row = table.pays(outcome, readings)
    return int(-row.ratio * SCALE) if row else SCALE


# -- the rounds ------------------------------------------------------------------------------------


def asia_poker(chance: Random, rounds: int) -> Iterator[Scaled]:
    """Both sides set the highest high hand, then the highest medium hand."""
    deck, by = [*DECK, JOKER], Ranking()
    for _ in range(rounds):
        cards = chance.sample(deck, 21)
        theirs, _ = highest_high(cards[:7], by)
        found = []
        for seven in (cards[7:14], cards[14:]):
            higher = hands_higher(highest_high(seven, by)[0], theirs) or 0
            gains = {"asia_poker": _gain(ASIA_POKER, higher, {})}
            hand = asia_bonus(seven)
            gains |= {f"bonus {table.letter}": _gain(table, hand, {}) for table in ASIA_BONUS}
            found.append(gains)
        yield found


def lunar_poker(chance: Random, rounds: int) -> Iterator[Scaled]:
    """The strategy of `ledger.edges.lunar_poker`, which buys nothing."""
    for _ in range(rounds):
        cards = chance.sample(DECK, 15)
        found = []
        for five in (cards[5:10], cards[10:]):
            played = lunar_round(five, cards[:5])
            gains = {f"ante {reading}": -SCALE * net for reading, net in played.items()}
            hand = super_hand(five)
            for reading in SUPER_READINGS:
                readings = {"super_ace_king": reading}
                for table in SUPER:
                    gains[f"super {table.letter} {reading}"] = _gain(table, hand, readings)
            found.append(gains)
        yield found


SUPER_READINGS = ("ace_king", "ace_king_queen")


def three_card_poker(chance: Random, rounds: int) -> Iterator[Scaled]:
    """Queen, 6 and 4 or better is played, which is best at the printed odds."""
    least = three_card_hand(("Qs", "6d", "4h")).value
    for _ in range(rounds):
        cards = chance.sample(DECK, 9)
        dealer = three_card_hand(cards[:3])
        found = []
        for held in (cards[3:6], cards[6:]):
            hand = three_card_hand(held)
            by = Showdown(queen_high(dealer), (hand > dealer) - (hand < dealer))
            bonus = _printed(ANTE_BONUS).pays(hand, {})
            played = sum(_gain(table, by, {}) for table in (ANTE, PLAY))
            paid = int(bonus.ratio * SCALE) if bonus else 0
            found.append(
                {
                    "ante": played - paid if hand.value >= least else SCALE - paid,
                    "pair_plus": _gain(_printed(PAIR_PLUS), hand, {}),
                    "six_card_bonus": _gain(
                        _printed(SIX_CARD_BONUS), six_card_hand([*cards[:3], *held]), {}
                    ),
                }
            )
        yield found


def _printed(table: Paytable) -> Paytable:
    """A table without its first row, which only a submission chooses."""
    return table._replace(rows=table.rows[1:])


# -- Criss-Cross Poker -----------------------------------------------------------------------------


class CrossDealt(NamedTuple):
    """A position's cards under the names of suits that its kind of hand has."""

    number: int  # of the round
    seat: int
    row: int
    column: int
    middle: int


def criss_cross_poker(chance: Random, rounds: int) -> Iterator[Scaled]:
    """Best play: each bet 3 times, once or not at all. Hands are played kind by kind."""
    kinds: dict[tuple[str, str], list[CrossDealt]] = {}
    found: list[Scaled] = []
    for number in range(rounds):
        cards = chance.sample(DECK, 9)
        cross = cards[:5]
        bonus = _gain(CROSS_BONUS, hand_of(cross), READINGS)
        found.append([{"five_card_bonus": bonus}, {"five_card_bonus": bonus}])
        for seat, hole in enumerate((cards[5:7], cards[7:])):
            kind, dealt = _of_kind(hole, cross)
            kinds.setdefault(kind, []).append(CrossDealt(number, seat, *dealt))
    for kind, its in sorted(kinds.items()):
        gained = criss_cross.gains(kind, [each[2:] for each in its], READINGS)
        for each, gain in zip(its, gained, strict=True):
            found[each.number][each.seat]["antes"] = -SCALE * gain // 2
    yield from found


READINGS = {"pair_of_tens": "push"}


def _of_kind(hole: list[str], cross: list[str]) -> tuple[tuple[str, str], tuple[int, int, int]]:
    """Two cards as one hand of each kind has them, with row, column and middle card renamed."""
    high, low = sorted(hole, key=lambda card: DECK_RANK[card[0]], reverse=True)
    names = {high[1]: "c"}
    names.setdefault(low[1], "d")
    left = [suit for suit in SUITS if suit not in names]
    names |= dict(zip(left, (s for s in "cdhs" if s not in names.values()), strict=True))
    kind = (high[0] + "c", low[0] + names[low[1]])
    cards = [card for card in DECK if card not in kind]
    at = [cards.index(card[0] + names[card[1]]) for card in cross]
    line = criss_cross.LINE
    return kind, (int(line[at[1], at[3]]), int(line[at[0], at[4]]), at[2])


DECK_RANK = {rank: place for place, rank in enumerate(RANKS)}


# -- sums ------------------------------------------------------------------------------------------

ROUNDS: dict[str, tuple[Callable[[Random, int], Iterator[Scaled]], int]] = {
    "asia_poker": (asia_poker, 15_000),
    "criss_cross_poker": (criss_cross_poker, 100_000),
    "lunar_poker": (lunar_poker, 200_000),
    "three_card_poker": (three_card_poker, 200_000),
}
"""The rounds of each game, and how many."""


def measure(game: str, rounds: int | None = None) -> dict[str, Any]:
    """The covariances of a game from its rounds, in millionths, with their standard errors."""
    deal, usual = ROUNDS[game]
    count = rounds or usual
    dealt = list(deal(Random(f"{SEED}/{game}"), count))  # noqa: S311 - repeatable, not for security
    wagers = sorted(dealt[0][0])
    gains = np.array([[[seat[w] for w in wagers] for seat in each] for each in dealt], np.int64)
    own: dict[str, list[int]] = {}
    other: dict[str, list[int]] = {}
    for one in range(len(wagers)):
        for two in range(one, len(wagers)):
            name = f"{wagers[one]}, {wagers[two]}"
            own[name] = _covariance([(gains[:, seat, one], gains[:, seat, two]) for seat in (0, 1)])
            other[name] = _covariance(
                [(gains[:, seat, one], gains[:, 1 - seat, two]) for seat in (0, 1)]
            )
    return {"seed": SEED, "rounds": count, "own": own, "other": other}


def _covariance(pairs: list[tuple[Ints, Ints]]) -> list[int]:
    """A covariance and its standard error in millionths, over the rounds of two positions."""
    count = len(pairs[0][0])
    products, ones, twos = np.zeros(count, np.int64), 0, 0
    for one, two in pairs:
        products += one * two
        ones, twos = ones + int(one.sum()), twos + int(two.sum())
    seen, square = 2 * count, SCALE * SCALE
    found = Fraction(int(products.sum()), seen) - Fraction(ones * twos, seen * seen)
    spread = (
        Fraction(sum(int(p) ** 2 for p in products), count)
        - Fraction(int(products.sum()), count) ** 2
    )
    error = isqrt(int(spread * PLACES**2 / count)) // 2
    return [round(found * PLACES / square), error // square]


if __name__ == "__main__":
    games = {game: measure(game) for game in sys.argv[1:] or ROUNDS}
    print(json.dumps(games, indent=1))  # noqa: T201 - the figures to keep
