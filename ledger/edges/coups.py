"""Every coup of a baccarat shoe, counted: the basis of the three games' edges.

Cards are drawn without replacement from whole decks. A coup of four or five cards is weighed as if
six had been drawn. Published for eight decks and a Tie at 8 to 1: Banker 1.0579 %, Player 1.2351 %,
Tie 14.3596 %; Banker of EZ Baccarat 1.0183 % (wizardofodds.com, Baccarat basics).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from fractions import Fraction
from functools import cache
from itertools import product
from typing import TYPE_CHECKING, NamedTuple

from ledger.edges import Edge
from ledger.rules.baccarat.coup import Coup, base
from ledger.rules.hands.baccarat_points import (
    BANKER,
    TIE,
    VALUE,
    banker_draws,
    pairs,
    player_draws,
    points_of,
    winner,
)
from ledger.rules.hands.cards import RANKS, SUITS
from ledger.rules.wagers.house_money import STAKE_TOO

if TYPE_CHECKING:
    from ledger.rules.baccarat.coup import Base, Printed
    from ledger.rules.engine.game import InForce

DRAGON, WHOLE = 7, 3
OF_POINTS = {VALUE[rank + "c"]: rank + "c" for rank in RANKS}
"""A card of each value."""

Ended = Mapping[Coup, int]


class Initial(NamedTuple):
    """The first four cards as far as they matter: points, and hands with a pair."""

    player: tuple[int, int]
    banker: tuple[int, int]
    pairs: int


def edges(rules: InForce, printed: Printed) -> list[Edge]:
    """The edges of one game under the rules in force."""
    counted, cards, tables = shoe(rules.decks), _cards(rules.decks, 6), base(printed.paid)
    ended: Counter[Coup] = Counter()
    for initial, ways in counted.items():
        for coup, more in tails(rules.decks, initial.player, initial.banker).items():
            ended[coup] += ways * more
    hands = f"every coup of {rules.decks} decks"
    return [
        *(
            Edge(wager, -_gained(ended, pays) / cards, hands)
            for wager, pays in stakes(rules, tables).items()
        ),
        *_house_money(rules, printed, tables),
    ]


def stakes(rules: InForce, tables: Base) -> dict[str, Callable[[Coup], Fraction]]:
    """The gain of each wager on the outcome, in stakes."""
    banker = rules.paytable(BANKER, tables.banker)
    if rules.options["vigorish"] == "none":
        banker = tables.free  # marked vigorish amounts to 19 to 20 as well

    def pays(wager: str) -> Callable[[Coup], Fraction]:
        table = rules.paytable(wager, getattr(tables, wager)) if wager != BANKER else banker

        def gained(coup: Coup) -> Fraction:
            tied = coup.winner == TIE and wager != TIE
            row = (tables.pushed if tied else table).pays(coup, rules.readings)
            return row.ratio if row else Fraction(-1)

        return gained

    return {wager: pays(wager) for wager in ("player", BANKER, TIE)}


def _gained(ended: Ended, pays: Callable[[Coup], Fraction]) -> Fraction:
    return sum((ways * pays(coup) for coup, ways in ended.items()), Fraction(0))


def _house_money(rules: InForce, printed: Printed, tables: Base) -> list[Edge]:
    """The edges of House Money alone, and pressed onto the better hand whenever that gains."""
    by_wager = stakes(rules, tables)
    won = pressed = Fraction(0)
    rest = _cards(rules.decks, 6) // _cards(rules.decks, 4)
    for initial, ways in shoe(rules.decks).items():
        row = printed.house_money.pays(initial.pairs, rules.readings)
        won += ways * (row.ratio if row else -1)
        if row is None:
            continue
        tail = tails(rules.decks, initial.player, initial.banker)
        best = max(_gained(tail, by_wager[hand]) for hand in ("player", BANKER))
        moved = row.ratio + bool(rules.readings[STAKE_TOO])
        pressed += ways * moved * max(best, Fraction(0)) / rest
    deals = _cards(rules.decks, 4)
    first = f"the first four cards of {rules.decks} decks"
    return [
        Edge("house_money", -won / deals, f"{first}; the payout taken, never pressed"),
        Edge(
            "house_money",
            -(won + pressed) / deals,
            f"{first}; beside wagers on both hands, all pressed onto the one that stands to gain",
        ),
    ]


def _cards(decks: int, drawn: int) -> int:
    """The number of ways to draw these cards, in order."""
    ways = 1
    for gone in range(drawn):
        ways *= decks * len(RANKS) * len(SUITS) - gone
    return ways


@cache
def shoe(decks: int) -> Mapping[Initial, int]:
    """Every first four cards in order, the Player's first and third, and their number."""
    found: Counter[Initial] = Counter()
    each = decks * len(SUITS)
    for ranks in product(RANKS, repeat=4):
        ways = 1
        for place, rank in enumerate(ranks):
            ways *= each - ranks[:place].count(rank)
        first, second, third, fourth = (rank + "c" for rank in ranks)
        player, banker = (first, third), (second, fourth)
        found[Initial(_points(player), _points(banker), pairs(player, banker))] += ways
    return found


def _points(hand: tuple[str, str]) -> tuple[int, int]:
    one, two = sorted(VALUE[card] for card in hand)
    return one, two


@cache
def tails(decks: int, player: tuple[int, int], banker: tuple[int, int]) -> Ended:
    """The endings of a coup after its first four cards: ways to draw two more, in order."""
    left = Counter(VALUE[rank + suit] for rank in RANKS for suit in SUITS for _ in range(decks))
    left.subtract((*player, *banker))
    rest = left.total()
    hands = [OF_POINTS[value] for value in player], [OF_POINTS[value] for value in banker]
    found: Counter[Coup] = Counter()
    if not player_draws(*hands):
        _banker(found, hands[0], hands[1], left, rest - 1)
        return found
    for third, ways in left.items():
        after = left - Counter({third: 1})
        _banker(found, [*hands[0], OF_POINTS[third]], hands[1], after, ways)
    return found


def _banker(
    found: Counter[Coup],
    player: list[str],
    banker: list[str],
    left: Counter[int],
    ways: int,
) -> None:
    """End a coup with or without the Banker's third card. The next card is drawn anyway."""
    if not banker_draws(player, banker):
        found[_ended(player, banker)] += ways * left.total()
        return
    for value, times in left.items():
        found[_ended(player, [*banker, OF_POINTS[value]])] += ways * times


def _ended(player: list[str], banker: list[str]) -> Coup:
    won = winner(player, banker)
    dragon = won == BANKER and len(banker) == WHOLE and points_of(banker) == DRAGON
    return Coup(won, dragon)
