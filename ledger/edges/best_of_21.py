"""The worth of a hand of 21 by best play, exactly, from a shoe of infinitely many decks.

A card drawn leaves the chances of the others unchanged. The result is within a few tenths of a per
cent of that for six or eight decks. Values are in stakes of one. The three games of 21 use it.
"""

from __future__ import annotations

from fractions import Fraction
from functools import cache
from typing import NamedTuple

ACE, TEN, LIMIT, STANDS = 1, 10, 21, 17
DRAWS = tuple(range(ACE, TEN + 1))
_SOFT = 10
_NEVER = Fraction(-100)  # below the worth of any play


class Game21(NamedTuple):
    """The rules of a game that decide the worth of a hand."""

    tens: int  # ranks that count 10: four, or three without 10s
    blackjack: Fraction
    hits_soft_17: bool = False
    double_any: bool = False  # double on any number of cards, else on two
    double_split: bool = True
    split_hands: int = 4
    resplit_aces: bool = False
    surrender: str = "first_two"  # or "any", "none"
    after_double: Fraction | None = None  # the cost of giving up a doubled hand, if allowed
    bust_ties: bool = False  # a player in excess of 21 ties with such a dealer
    wins_with_21: bool = False

    def chance(self, card: int) -> Fraction:
        """The chance of a card of this value; an ace is 1."""
        return Fraction(self.tens if card == TEN else 1, 9 + self.tens)


class State(NamedTuple):
    """A player's cards: their points with aces as 1, and whether there is an ace."""

    points: int
    ace: bool

    @property
    def total(self) -> int:
        """The points, with one ace at 11 if that is not in excess of 21."""
        soft = self.ace and self.points + _SOFT <= LIMIT
        return self.points + _SOFT if soft else self.points

    def plus(self, card: int) -> State:
        """The cards with one more."""
        return State(self.points + card, self.ace or card == ACE)


EMPTY = State(0, ace=False)


@cache
def dealer(game: Game21, up: int) -> dict[int, Fraction]:
    """The chances of the dealer's totals without a Blackjack; 22 is any in excess of 21."""
    never = {ACE: TEN, TEN: ACE}.get(up)
    holes = {card: game.chance(card) for card in DRAWS if card != never}
    all_ = sum(holes.values())
    found: dict[int, Fraction] = {}
    for card, chance in holes.items():
        for total, then in _drawn(game, EMPTY.plus(up).plus(card)).items():
            found[total] = found.get(total, Fraction(0)) + chance / all_ * then
    return found


@cache
def _drawn(game: Game21, cards: State) -> dict[int, Fraction]:
    total = cards.total
    soft = total != cards.points
    if total > LIMIT:
        return {LIMIT + 1: Fraction(1)}
    if total >= STANDS and not (game.hits_soft_17 and soft and total == STANDS):
        return {total: Fraction(1)}
    found: dict[int, Fraction] = {}
    for card in DRAWS:
        for ends, then in _drawn(game, cards.plus(card)).items():
            found[ends] = found.get(ends, Fraction(0)) + game.chance(card) * then
    return found


def blackjack_chance(game: Game21, up: int) -> Fraction:
    """The chance that the dealer has a Blackjack with this card up."""
    other = {ACE: TEN, TEN: ACE}.get(up)
    return game.chance(other) if other else Fraction(0)


@cache
def stand(game: Game21, cards: State, up: int) -> Fraction:
    """The worth of a hand that gets no further cards."""
    total, ends = cards.total, dealer(game, up)
    if total > LIMIT:
        return ends[LIMIT + 1] - 1 if game.bust_ties else Fraction(-1)
    if total == LIMIT and game.wins_with_21:
        return Fraction(1)
    won = sum(chance for his, chance in ends.items() if his > LIMIT or his < total)
    lost = sum(chance for his, chance in ends.items() if total < his <= LIMIT)
    return Fraction(won - lost)


@cache
def hit(game: Game21, cards: State, up: int) -> Fraction:
    """The worth with one more card, then best play."""
    return sum(
        (game.chance(card) * best(game, cards.plus(card), up, 0) for card in DRAWS), Fraction(0)
    )


@cache
def double(game: Game21, cards: State, up: int) -> Fraction:
    """The worth with twice the stake and one card."""
    found = Fraction(0)
    for card in DRAWS:
        held = cards.plus(card)
        worth = 2 * stand(game, held, up)
        if game.after_double is not None and held.total < LIMIT:
            worth = max(worth, game.after_double)
        found += game.chance(card) * worth
    return found


FIRST, OF_SPLIT = 1, 2
"""Two cards as dealt, and two cards after a split; 0 for any other hand."""


@cache
def choices(game: Game21, cards: State, up: int, kind: int) -> dict[str, Fraction]:
    """The worth of each decision except a split. A hand of 21 or more only stands."""
    found = {"stand": stand(game, cards, up)}
    if cards.total >= LIMIT:
        return found
    found["hit"] = hit(game, cards, up)
    if (game.double_any or kind) and (game.double_split or kind != OF_SPLIT):
        found["double_down"] = double(game, cards, up)
    if game.surrender == "any" or (game.surrender == "first_two" and kind == FIRST):
        found["surrender"] = Fraction(-1, 2)
    return found


@cache
def best(game: Game21, cards: State, up: int, kind: int) -> Fraction:
    """The worth of a hand by its best decision, without splits."""
    return max(choices(game, cards, up, kind).values())


@cache
def split(game: Game21, card: int, up: int) -> Fraction:
    """The worth of a pair that is split, and split again while that is worth more."""
    return pending(game, card, up, 2, game.split_hands - 2)


@cache
def pending(game: Game21, card: int, up: int, hands: int, left: int) -> Fraction:
    """The worth of hands that each start with one card, with the splits left."""
    if not hands:
        return Fraction(0)
    others = pending(game, card, up, hands - 1, left)
    again = left > 0 and (card != ACE or game.resplit_aces)
    found = Fraction(0)
    for drawn in DRAWS:
        held = EMPTY.plus(card).plus(drawn)
        if card == ACE:
            worth = stand(game, held, up)
            if game.surrender == "any" and held.total < LIMIT:
                worth = max(worth, Fraction(-1, 2))
        else:
            worth = best(game, held, up, OF_SPLIT)
        if drawn == card and again:
            worth = max(worth + others, pending(game, card, up, hands + 1, left - 1)) - others
        found += game.chance(drawn) * worth
    return found + others


def is_natural(one: int, two: int) -> bool:
    """Whether two cards are an ace and a 10."""
    return {one, two} == {ACE, TEN}


@cache
def first_two(game: Game21, one: int, two: int, up: int) -> Fraction:
    """The worth of two cards if the dealer has no Blackjack."""
    if is_natural(one, two):
        return game.blackjack
    worth = best(game, EMPTY.plus(one).plus(two), up, FIRST)
    return max(worth, split(game, one, up)) if one == two else worth


@cache
def without_blackjack(game: Game21, up: int) -> Fraction:
    """The worth of a stake against a card if the dealer has no Blackjack."""
    return sum(
        (
            game.chance(one) * game.chance(two) * first_two(game, one, two, up)
            for one in DRAWS
            for two in DRAWS
        ),
        Fraction(0),
    )


def beside_blackjack(game: Game21) -> Fraction:
    """The worth of a stake if the dealer has a Blackjack: 0 with a Blackjack, else it is lost."""
    natural = 2 * game.chance(ACE) * game.chance(TEN)
    return natural * (game.blackjack if game.wins_with_21 else 0) - (1 - natural)


def edge(game: Game21) -> Fraction:
    """The house edge of a stake of one."""
    gained = Fraction(0)
    for up in DRAWS:
        lost = blackjack_chance(game, up)
        worth = lost * beside_blackjack(game) + (1 - lost) * without_blackjack(game, up)
        gained += game.chance(up) * worth
    return -gained


def standard(
    options: dict[str, str | int | bool], *, tens: int, blackjack: Fraction, double_any: bool
) -> Game21:
    """The standard game under the options in force."""
    return Game21(
        tens=tens,
        blackjack=blackjack,
        hits_soft_17=options["soft_17"] == "hits",
        double_any=double_any,
        double_split=bool(options["double_split"]),
        split_hands=int(options["split_hands"]),
        resplit_aces=bool(options["resplit_aces"]),
        surrender=str(options["surrender"]),
        after_double=Fraction(-1) if double_any else None,
        wins_with_21=options.get("player_21") == "wins",
    )
