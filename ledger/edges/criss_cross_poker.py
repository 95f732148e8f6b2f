"""Criss-Cross Poker: the Five Card Bonus over every cross, the two Antes over every deal.

The base game has decisions, so its edge is that of a named strategy with all later bets. Given a
player's two cards, the Across Hand depends on the row and the middle card. The Down Hand depends on
the column and the middle card. These are two tables, combined over every row and column.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction
from functools import cache
from itertools import combinations, combinations_with_replacement
from math import comb, prod
from typing import TYPE_CHECKING, Literal, NamedTuple

import numpy as np
import numpy.typing as npt

from ledger.edges import Edge
from ledger.games.criss_cross_poker import ANTE, BET, BONUS
from ledger.rules.hands.cards import DECK, RANKS, SUITS
from ledger.rules.hands.poker import hand_of

if TYPE_CHECKING:
    from ledger.rules.engine.game import InForce
    from ledger.rules.engine.odds import Paytable
    from ledger.rules.hands.poker import PokerHand

Ints = npt.NDArray[np.int32]
Readings = Mapping[str, str | bool]
Strategy = Literal["best", "pairs"]

STRATEGIES: dict[Strategy, str] = {
    "best": "best play: each bet 3 times, once or not at all, whichever is worth most",
    "pairs": "3 times with a pair in hand, or a pair of 6s or better on a line seen, else once",
}
ANTES = "ante_across and ante_down"
BASE_GAME: dict[tuple[Strategy, str], Fraction] = {
    ("best", "push"): Fraction(579091, 13378456),
    ("pairs", "push"): Fraction(556227017, 3511844700),
    ("best", "one_to_one"): Fraction(-339430603, 7023689400),
    ("pairs", "one_to_one"): Fraction(210433367, 3511844700),
}
"""The two Antes' edge by strategy and reading of 12(b), as `base_game` counts it (a minute)."""

BEST_SQUARE = Fraction(24_908_467_403, 270_141_900)
"""The mean of the squares of both Antes' gain, by best play where a pair of 10s pushes.

`base_square` counts it (three minutes).
"""

LEFT = len(DECK) - 2  # cards left without a player's two
TRIPLES = np.array(list(combinations(range(LEFT), 3)))
LINES = np.array(list(combinations(range(LEFT), 2)))  # a row, or a column, without its middle card
LINE = np.zeros((LEFT, LEFT), dtype=np.intp)
LINE[LINES[:, 0], LINES[:, 1]] = LINE[LINES[:, 1], LINES[:, 0]] = np.arange(len(LINES))
COLUMNS = comb(LEFT - 2, 2)
MIDDLES = LEFT - 4
NOT_DEALT = 10_000  # in a table of pays: the middle card is already in the line


def edges(rules: InForce) -> list[Edge]:
    """The edge of the Five Card Bonus, counted now, and of the two Antes, as counted before."""
    readings = rules.readings
    reading = str(readings["pair_of_tens"])
    return [
        Edge("five_card_bonus", five_card_bonus(readings), "2,598,960 crosses"),
        *(
            Edge(ANTES, edge, STRATEGIES[strategy])
            for (strategy, value), edge in BASE_GAME.items()
            if value == reading
        ),
    ]


def five_card_bonus(readings: Readings) -> Fraction:
    """The edge of the Five Card Bonus."""
    return five_card_bonus_moments(readings)[0]


def five_card_bonus_moments(readings: Readings) -> tuple[Fraction, Fraction]:
    """Its mean and variance: every class of hands, and the number of hands in it."""
    mean, square, hands = Fraction(0), Fraction(0), 0
    for ranks in combinations_with_replacement(RANKS, 5):
        copies = [ranks.count(rank) for rank in set(ranks)]
        if max(copies) > len(SUITS):
            continue
        suited = len(SUITS) if len(copies) == len(ranks) else 0
        mixed = prod(comb(len(SUITS), count) for count in copies) - suited
        for ways, cards in ((suited, _of_suits(ranks, "c")), (mixed, _of_suits(ranks, "cdhs"))):
            if ways:
                row = BONUS.pays(hand_of(cards), readings)
                gain = -row.ratio if row else Fraction(1)
                mean += ways * gain
                square += ways * gain**2
                hands += ways
    return mean / hands, square / hands - (mean / hands) ** 2


def _of_suits(ranks: tuple[str, ...], suits: str) -> list[str]:
    """Cards of these ranks. Neighbours have different suits if there are several."""
    return [rank + suits[index % len(suits)] for index, rank in enumerate(ranks)]


def holes() -> Iterator[tuple[tuple[str, str], int]]:
    """A player's two cards: one pair of each kind, and how many of the 1,326 are of that kind."""
    for index, high in enumerate(RANKS):
        yield (high + "c", high + "d"), 6
        for low in RANKS[:index]:
            yield (high + "c", low + "c"), 4
            yield (high + "c", low + "d"), 12


class Folded(NamedTuple):
    """Sums over the 46 middle cards for two known cards, by row and column; in stakes."""

    antes: Ints  # both Antes
    across: Ints  # the Across Bet, at one stake
    middle: Ints  # the Middle Bet, at one stake: the hand that pays more decides
    apart: npt.NDArray[np.bool_]  # the row and the column share no card


def folded(hole: tuple[str, str], readings: Readings) -> Folded:
    """Every row with every column. The Down Hand is the Across Hand with its lines swapped."""
    cards = [card for card in DECK if card not in hole]
    hands = [hand_of((*hole, cards[i], cards[j], cards[k])) for i, j, k in TRIPLES]
    pays = _by_line(hands, BET, readings, NOT_DEALT)
    middle = np.zeros((len(LINES), len(LINES)), dtype=np.int32)
    for column in pays.T:
        middle += np.maximum.outer(column, column)
    middle -= 4 * NOT_DEALT  # the two cards of a line are no middle card
    pays[pays == NOT_DEALT] = 0
    antes = _beside(_by_line(hands, ANTE, readings, 0))
    return Folded(antes + antes.T, _beside(pays), middle, _apart())


@cache
def _apart() -> npt.NDArray[np.bool_]:
    shared = [LINES[:, one][:, None] == LINES[:, two][None, :] for one in (0, 1) for two in (0, 1)]
    found: npt.NDArray[np.bool_] = ~np.logical_or.reduce(shared)
    return found


def _by_line(hands: list[PokerHand], table: Paytable, readings: Readings, absent: int) -> Ints:
    """The win of each line and middle card, in stakes; `absent` if the card is in the line."""
    won: dict[int, int] = {}
    for hand in hands:
        if hand.value not in won:
            row = table.pays(hand, readings)
            won[hand.value] = int(row.ratio) if row else -1
    found = np.full((len(LINES), LEFT), absent, dtype=np.int32)
    pays = np.array([won[hand.value] for hand in hands], dtype=np.int32)
    for one, two, middle in ((0, 1, 2), (0, 2, 1), (1, 2, 0)):
        found[LINE[TRIPLES[:, one], TRIPLES[:, two]], TRIPLES[:, middle]] = pays
    return found


def _beside(pays: Ints) -> Ints:
    """Sums over the middle cards by line, without those in the other line."""
    total: Ints = pays.sum(axis=1, dtype=np.int32)[:, None]
    return total - pays[:, LINES[:, 0]] - pays[:, LINES[:, 1]]


class BestPlay(NamedTuple):
    """The bets of two cards by best play, by the row and the column seen."""

    worth: int  # in stakes over every row, column and middle card
    first: int  # times the Ante; 0: the hand is given up
    second: npt.NDArray[np.int64]  # by row
    kept: npt.NDArray[np.bool_]  # by row and column
    third: Ints  # as above


def best(sums: Folded) -> BestPlay:
    """The best play of two cards."""
    antes, across, middle, apart = sums
    third = np.where(middle > 0, 3, 1).astype(np.int32)
    middle = third * middle
    folds = np.zeros(len(LINES), dtype=np.int64)
    found = [BestPlay(-2 * MIDDLES * COLUMNS * len(LINES), 0, folds, apart, third)]
    for first in (1, 3):
        by_row = [np.full(len(LINES), -(2 + first) * MIDDLES * COLUMNS, dtype=np.int64)]
        plays = {}
        for second in (1, 3):
            played = antes + first * across + second * across.T + middle
            least = -(2 + first + second) * MIDDLES
            plays[second] = played > least
            kept = np.maximum(played, least)
            by_row.append(np.where(apart, kept, 0).sum(axis=1, dtype=np.int64))
        chosen = np.array((0, 1, 3))[np.argmax(by_row, axis=0)]
        kept_by_row = np.where(chosen[:, None] == 1, plays[1], plays[3])
        worth = int(np.maximum.reduce(by_row).sum())
        found.append(BestPlay(worth, first, chosen, kept_by_row, third))
    return max(found, key=lambda play: play.worth)


def gains(
    hole: tuple[str, str], dealt: Sequence[tuple[int, int, int]], readings: Readings
) -> list[int]:
    """The gain of two cards by best play, in stakes, with each row, column and middle card."""
    play = best(folded(hole, readings))
    cards = [card for card in DECK if card not in hole]
    hands = [hand_of((*hole, cards[i], cards[j], cards[k])) for i, j, k in TRIPLES]
    antes, bets = (_by_line(hands, table, readings, 0) for table in (ANTE, BET))
    found = []
    for row, column, middle in dealt:
        second = int(play.second[row])
        staked = 2 + play.first + second
        if not (play.first and second and play.kept[row, column]):
            found.append(-staked)
            continue
        line, other = int(bets[row, middle]), int(bets[column, middle])
        won = int(antes[row, middle]) + int(antes[column, middle])
        won += play.first * line + second * other
        found.append(won + int(play.third[row, column]) * max(line, other))
    return found


def square(hole: tuple[str, str], readings: Readings) -> int:
    """The squares of two cards' gains by best play, over every row, column and middle card."""
    play = best(folded(hole, readings))
    if not play.first:
        return 4 * MIDDLES * COLUMNS * len(LINES)
    cards = [card for card in DECK if card not in hole]
    hands = [hand_of((*hole, cards[i], cards[j], cards[k])) for i, j, k in TRIPLES]
    antes, bets = (_by_line(hands, table, readings, 0) for table in (ANTE, BET))
    dealt = np.ones((len(LINES), LEFT), dtype=np.int32)
    dealt[np.arange(len(LINES))[:, None], LINES] = 0
    squares, with_antes, with_bets = _with_middle(antes, bets, dealt)
    row = antes + play.first * bets
    total = 0
    for second in (1, 3):
        column = antes + second * bets
        sums = (row**2) @ dealt.T + dealt @ (column**2).T + 2 * (row @ column.T)
        both = with_antes + play.first * with_bets + with_antes.T + second * with_bets.T
        third = play.third.astype(np.int64)
        sums = sums + third**2 * squares + 2 * third * both
        given_up = (2 + play.first + second) ** 2 * MIDDLES
        sums = np.where(play.kept, sums, given_up)
        total += int(np.where(play.second[:, None] == second, sums, 0)[_apart()].sum())
    return total + int((play.second == 0).sum()) * COLUMNS * (2 + play.first) ** 2 * MIDDLES


def _with_middle(antes: Ints, bets: Ints, dealt: Ints) -> tuple[Ints, Ints, Ints]:
    """Sums over the middle cards of the Middle Bet squared, and times the row's Ante and Bet."""
    found = [np.zeros((len(LINES), len(LINES)), dtype=np.int32) for _ in range(3)]
    for ante, bet, there in zip(antes.T, bets.T, dealt.T, strict=True):
        better = np.maximum.outer(bet, bet) * np.outer(there, there)
        found[0] += better * better
        found[1] += ante[:, None] * better
        found[2] += bet[:, None] * better
    squares, with_antes, with_bets = found
    return squares, with_antes, with_bets


def pairs(sums: Folded, hole: tuple[str, str]) -> int:
    """The gain of two cards if every hand is played, and raised with pairs that are seen."""
    antes, across, middle, apart = sums
    cards = [card for card in DECK if card not in hole]
    seen = [(*hole, cards[one], cards[two]) for one, two in LINES]
    paired = np.array([_paired(line) for line in seen])
    first = 3 if hole[0][0] == hole[1][0] else 1
    second = np.where(paired | (first == 3), 3, 1).astype(np.int32)[:, None]  # noqa: PLR2004 - times
    third = np.where(paired[:, None] | paired[None, :], 3, 1).astype(np.int32)
    played = antes + first * across + second * across.T + third * middle
    return int(np.where(apart, played, 0).sum(dtype=np.int64))


def _paired(cards: tuple[str, ...]) -> bool:
    """Whether four cards hold a pair of 6s or better. Two pairs of any rank are better."""
    ranks = [card[0] for card in cards]
    twice = {rank for rank in ranks if ranks.count(rank) > 1}
    return any(RANKS.index(rank) >= RANKS.index("6") for rank in twice) or sorted(
        ranks.count(rank) for rank in set(ranks)
    ) in ([2, 2], [1, 3], [4])


def base_square(readings: Readings) -> Fraction:
    """The mean of the squares of both Antes' gain by best play, counted over every deal."""
    total = sum(ways * square(hole, readings) for hole, ways in holes())
    deals = comb(len(DECK), 2) * len(LINES) * COLUMNS * MIDDLES
    return Fraction(total, deals)


def base_game(strategy: Strategy, readings: Readings) -> Fraction:
    """The edge of the two Antes with all later bets, counted over every deal."""
    gained = 0
    for hole, ways in holes():
        sums = folded(hole, readings)
        gained += ways * (best(sums).worth if strategy == "best" else pairs(sums, hole))
    deals = comb(len(DECK), 2) * len(LINES) * COLUMNS * MIDDLES
    return Fraction(-gained, 2 * deals)
