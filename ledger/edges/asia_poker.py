"""Asia Poker: the Bonus Wager over all 154,143,080 hands of seven, the other by simulation.

`python -m ledger.edges.asia_poker` counts the hands again, suits taken as alike, and deals the
seeded rounds. Hands are counted here by the ranks in each suit, not by the game's ranking.
"""

from __future__ import annotations

import random
from collections import Counter
from fractions import Fraction
from itertools import combinations_with_replacement, product
from math import factorial, prod
from typing import TYPE_CHECKING

from ledger.edges import Edge
from ledger.games.asia_poker import ASIA_POKER, BONUS
from ledger.rules.hands.asia import Ranking, hands_higher, highest_high
from ledger.rules.hands.cards import DECK
from ledger.rules.hands.joker import (
    ASIA_BONUS,
    EIGHTS_AND_TRIPS,
    EIGHTS_AND_TRIPS_WITH_JOKER,
    FIVE_ACES,
    JOKER,
    NATURAL_STRAIGHT_FLUSH,
    NINE_HIGH,
    NO_BONUS,
    STRAIGHT_FLUSH_WITH_JOKER,
    BonusHand,
)
from ledger.rules.hands.poker import (
    FLUSH,
    FOUR_OF_A_KIND,
    FULL_HOUSE,
    ROYAL_FLUSH,
    STRAIGHT,
    THREE_OF_A_KIND,
)

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from ledger.rules.engine.game import InForce
    from ledger.rules.engine.odds import Paytable

HANDS = {
    EIGHTS_AND_TRIPS: 48,
    EIGHTS_AND_TRIPS_WITH_JOKER: 6,
    FIVE_ACES: 1_128,
    ROYAL_FLUSH: 26_132,
    NATURAL_STRAIGHT_FLUSH: 38_728,
    STRAIGHT_FLUSH_WITH_JOKER: 146_104,
    FOUR_OF_A_KIND: 307_418,
    NINE_HIGH: 32_768,
    FULL_HOUSE: 4_188_528,
    FLUSH: 6_170_400,
    THREE_OF_A_KIND: 7_672_500,
    STRAIGHT: 11_034_204,
    NO_BONUS: 124_525_116,
}
"""The number of hands of seven out of 53 for each row of the Bonus Wager, from `counted`."""

ROUNDS, EVEN = 60_000, 3_382
"""The rounds of `dealt`, and those in which neither side wins two hands."""

PAYS = ASIA_POKER.rows[0].ratio

SUITS, RANKS = 4, 13
ACE, EIGHT, WHOLE = 1 << 12, 1 << 6, 5
ROYAL = 0b1111100000000
NINE_HIGHS = (0b0000011110111, 0b0000011101111)  # 9 8 7 6 4 3 2 and 9 8 7 5 4 3 2
MASKS = range(1 << RANKS)
SIZE = [mask.bit_count() for mask in MASKS]
ROYALS = [SIZE[mask & ROYAL] for mask in MASKS]
OF_SIZE = [[mask for mask in MASKS if SIZE[mask] == size] for size in range(8)]


def _run(mask: int) -> int:
    """The most ranks held of one run of five. The ace also counts below the deuce."""
    both = mask << 1 | mask >> 12
    return max((both >> low & 31).bit_count() for low in range(10))


RUN = [_run(mask) for mask in MASKS]


def edges(rules: InForce) -> list[Edge]:
    """The edges of both wagers. For the Asia Poker Wager, both sides set their hands alike."""
    kept, _ = bonus_moments(rules.paytable("bonus", *BONUS), rules)
    base = 1 - chance_to_win() * (1 + PAYS)
    how = (
        f"{ROUNDS:,} rounds by chance, seeded, within 0.3 of a per cent; player and dealer both "
        "set the highest high hand, then the highest medium hand"
    )
    return [
        Edge("asia_poker", base, how),
        Edge("bonus", kept, f"{sum(HANDS.values()):,} hands of seven"),
    ]


def chance_to_win() -> Fraction:
    """The chance that the player wins two hands, as the dealer does; he wins all other rounds."""
    return (1 - Fraction(EVEN, ROUNDS)) / 2


def bonus_moments(table: Paytable, rules: InForce) -> tuple[Fraction, Fraction]:
    """The mean and the variance of what the house gains of the Bonus Wager by a table."""
    mean = square = Fraction(0)
    for name, hands in HANDS.items():
        row = table.pays(BonusHand(ASIA_BONUS.index(name), name), rules.readings)
        gain = -row.ratio if row else Fraction(1)
        mean += gain * Fraction(hands, sum(HANDS.values()))
        square += gain**2 * Fraction(hands, sum(HANDS.values()))
    return mean, square - mean**2


def counted() -> Counter[str]:
    """The number of hands of seven by name: seven cards of the deck, or six and the joker."""
    found: Counter[str] = Counter()
    for jokers in (0, 1):
        for ways, suits in _alike(7 - jokers):
            found[named(suits, jokers)] += ways
    return found


def _alike(cards: int) -> Iterator[tuple[int, tuple[int, ...]]]:
    """The ranks held of each suit, in any order of suits, and the number of such orders."""
    for sizes in combinations_with_replacement(range(cards + 1), SUITS):
        if sum(sizes) != cards:
            continue
        groups = [
            combinations_with_replacement(OF_SIZE[size], count)
            for size, count in Counter(sizes).items()
        ]
        for chosen in product(*groups):
            suits = tuple(mask for group in chosen for mask in group)
            alike = prod(factorial(count) for count in Counter(suits).values())
            yield factorial(SUITS) // alike, suits


def named(suits: Sequence[int], jokers: int) -> str:
    """The name in 659a.6(d) of the ranks held of each suit, with or without the joker."""
    a, b, c, d = suits
    once, fours = a | b | c | d, a & b & c & d
    twice = a & b | c & d | (a | b) & (c | d)
    trips = a & b & (c | d) | c & d & (a | b)
    aces = ACE * jokers
    three, two = trips | twice & aces, twice | once & aces
    royal = max(ROYALS[a], ROYALS[b], ROYALS[c], ROYALS[d]) + jokers
    run = max(RUN[a], RUN[b], RUN[c], RUN[d])
    eights = fours & EIGHT and three & ~EIGHT
    tests = (
        (EIGHTS_AND_TRIPS, eights and not jokers),
        (EIGHTS_AND_TRIPS_WITH_JOKER, eights),
        (FIVE_ACES, fours & aces),
        (ROYAL_FLUSH, royal >= WHOLE),
        (NATURAL_STRAIGHT_FLUSH, run == WHOLE),
        (STRAIGHT_FLUSH_WITH_JOKER, run + jokers >= WHOLE),
        (FOUR_OF_A_KIND, fours or trips & aces),
        (NINE_HIGH, once in NINE_HIGHS),
        (FULL_HOUSE, three and SIZE[two] > 1),
        (FLUSH, max(SIZE[a], SIZE[b], SIZE[c], SIZE[d]) + jokers >= WHOLE),
        (THREE_OF_A_KIND, three),
        (STRAIGHT, RUN[once] + jokers >= WHOLE),
    )
    return next((name for name, holds in tests if holds), NO_BONUS)


def dealt(rounds: int = ROUNDS) -> int:
    """The seeded rounds in which neither side wins two of three hands."""
    chance = random.Random(659)  # noqa: S311 - repeatable, not for security
    deck, by, even = [*DECK, JOKER], Ranking(), 0
    for _ in range(rounds):
        cards = chance.sample(deck, 14)
        mine, _ = highest_high(cards[:7], by)
        theirs, _ = highest_high(cards[7:], by)
        one, other = hands_higher(mine, theirs) or 0, hands_higher(theirs, mine) or 0
        even += one < 2 and other < 2  # noqa: PLR2004 - two of three
    return even


if __name__ == "__main__":
    print(dict(counted()), f"{dealt()} of {ROUNDS}")  # noqa: T201 - a command
