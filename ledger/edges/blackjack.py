"""Blackjack: its wager by best play, House Money over every two cards, and Straight Jack.

Published for six decks, dealer standing on soft 17, doubling after splits and late surrender: about
0.33 % (wizardofodds.com, house edge calculator). From full decks, as here, it is a little more.
House Money, pressed with its stake if that gains: 2.6 % (discountgambling.net, six decks).
"""

from __future__ import annotations

from fractions import Fraction
from functools import cache
from itertools import combinations_with_replacement
from math import comb
from typing import TYPE_CHECKING, NamedTuple

from ledger.edges import Edge
from ledger.edges.best_of_21 import (
    DRAWS,
    EMPTY,
    FIRST,
    LIMIT,
    TEN,
    Game21,
    State,
    best,
    blackjack_chance,
    choices,
    edge,
    first_two,
    split,
    standard,
)
from ledger.games.blackjack import HANDS, HOUSE_MONEY, STRAIGHT_JACK
from ledger.rules.hands.cards import DECK, RANKS
from ledger.rules.hands.short_hands import two_card_hand
from ledger.rules.hands.twenty_one import VALUE, StraightJack, straight_jack
from ledger.rules.wagers.progressive import meter_share

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from ledger.rules.engine.game import InForce

FULL = "every card drawn from full decks (infinite deck)"
HOW = f"best play, all later wagers inside it, {FULL}"
HOW_STRAIGHT = (
    f"hands played best for the Blackjack Wager, $5 against a meter of $5,000 that is not shared, "
    f"{FULL}"
)
HOW_PRESSED = (
    "every two cards of the decks, all winnings pressed where the hand gains by best play, "
    f"{FULL} after that"
)
METER = 1000  # stakes of $5 in a meter just reset
SAME_RANK_SUITS = "scdh"
_SIX = 6


def edges(rules: InForce) -> list[Edge]:
    """The edges of the Blackjack Wager, House Money pressed if that gains, and Straight Jack."""
    game = game_of(rules)
    repeated = str(rules.readings["repeated_rank"])
    pressed = 1 if rules.readings["press_includes_stake"] else 0
    ace_king = bool(rules.readings["ace_king_is_straight"])
    return [
        Edge("blackjack", edge(game), HOW),
        Edge(
            "house_money", house_money(game, rules.decks, pressed, ace_king=ace_king), HOW_PRESSED
        ),
        Edge("straight_jack", straight_jack_edge(game, repeated), HOW_STRAIGHT),
    ]


def game_of(rules: InForce) -> Game21:
    """The game of 21 under the rules in force."""
    pays = rules.paytable("blackjack", HANDS)
    blackjack = pays.pays("blackjack", rules.readings)
    return standard(
        dict(rules.options),
        tens=4,
        blackjack=blackjack.ratio if blackjack else HANDS.rows[0].ratio,
        double_any=False,
    )


@cache
def house_money(game: Game21, decks: int, pressed: int, *, ace_king: bool) -> Fraction:
    """The edge of House Money, with all winnings pressed onto a hand if that gains.

    `pressed`: stakes that move with the winnings.
    """
    gained = Fraction(0)
    for (one, two), chance, ratio in _two_cards(decks, ace_king=ace_king):
        won = -1 if ratio is None else ratio + (ratio + pressed) * pressing(game, one, two)
        gained += chance * won
    return -gained


def house_money_paid(rules: InForce) -> Iterator[tuple[tuple[int, int], Fraction, Fraction]]:
    """The values of every two cards, their chance, and what the house gains of House Money."""
    ace_king = bool(rules.readings["ace_king_is_straight"])
    for values, chance, ratio in _two_cards(rules.decks, ace_king=ace_king):
        yield values, chance, Fraction(1) if ratio is None else -ratio


def _two_cards(
    decks: int, *, ace_king: bool
) -> Iterator[tuple[tuple[int, int], Fraction, Fraction | None]]:
    """The values of every two cards, their chance, and what House Money pays; None: it loses."""
    table = HOUSE_MONEY[0 if decks == 1 else 1]
    readings = {"ace_king_is_straight": ace_king}
    every = comb(decks * len(DECK), 2)
    for one, two in combinations_with_replacement(DECK, 2):
        ways = comb(decks, 2) if one == two else decks * decks
        if ways:
            row = table.pays(two_card_hand((one, two)), readings)
            yield (VALUE[one], VALUE[two]), Fraction(ways, every), row.ratio if row else None


@cache
def pressing(game: Game21, one: int, two: int) -> Fraction:
    """The gain of a stake added to the Blackjack Wager after the hole card was read; at least 0."""
    found = Fraction(0)
    for up in DRAWS:
        open_ = 1 - blackjack_chance(game, up)
        found += game.chance(up) * open_ * max(Fraction(0), first_two(game, one, two, up))
    return found


# -- Straight Jack -------------------------------------------------------------------------------


class DrawnCards(NamedTuple):
    """Cards in drawing order, by rank. `straight_jack` decides whether they run."""

    ranks: tuple[str, ...]

    @property
    def state(self) -> State:
        """The cards as a hand of 21."""
        found = EMPTY
        for rank in self.ranks:
            found = found.plus(VALUE[f"{rank}c"])
        return found


@cache
def pays_of(length: int) -> Fraction:
    """The pay of a run, in stakes. For six cards, its ace may be of each suit equally likely."""
    readings: Mapping[str, object] = {}
    suits = SAME_RANK_SUITS if length == _SIX else "s"
    found = Fraction(0)
    for suit in suits:
        row = STRAIGHT_JACK.pays(StraightJack(length, suit), readings)
        found += (row.ratio + meter_share(row.odds) * METER) if row else Fraction(-1)
    return found / len(suits)


@cache
def straight_jack_edge(game: Game21, repeated: str) -> Fraction:
    """The edge of Straight Jack: two cards in a row, and the gain of later cards by best play."""
    gained = Fraction(0)
    each = Fraction(1, len(RANKS) ** 2)
    for one in RANKS:
        for two in RANKS:
            run = DrawnCards((one, two))
            first = straight_jack([f"{one}c", f"{two}c"], repeated).length
            if not first:
                gained -= each
                continue
            for up in DRAWS:
                lost = blackjack_chance(game, up)
                played = _first(game, run, up, repeated)
                worth = lost * pays_of(first) + (1 - lost) * played
                gained += each * game.chance(up) * worth
    return -gained


def _first(game: Game21, run: DrawnCards, up: int, repeated: str) -> Fraction:
    """The worth of two cards in a row. Split 10s stay a straight of two."""
    state = run.state
    one, two = (VALUE[f"{rank}c"] for rank in run.ranks)
    if one == two == TEN and split(game, TEN, up) > best(game, state, up, FIRST):
        return pays_of(len(run.ranks))
    return _played(game, run, up, repeated, FIRST)


@cache
def _played(game: Game21, run: DrawnCards, up: int, repeated: str, kind: int) -> Fraction:
    """The worth of a run while its hand is played best."""
    open_ = choices(game, run.state, up, kind)
    chosen = max(open_, key=lambda name: (open_[name], name))
    if chosen not in ("hit", "double_down"):
        return pays_of(straight_jack([f"{rank}c" for rank in run.ranks], repeated).length)
    found = Fraction(0)
    for rank in RANKS:
        more = DrawnCards((*run.ranks, rank))
        length = straight_jack([f"{each}c" for each in more.ranks], repeated).length
        broken = length < len(set(more.ranks) if repeated == "ignored" else more.ranks)
        over = broken or chosen == "double_down" or more.state.total >= LIMIT
        worth = pays_of(length) if over else _played(game, more, up, repeated, 0)
        found += Fraction(1, len(RANKS)) * worth
    return found
