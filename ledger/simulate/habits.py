"""What patrons do by habit: which wagers they like, and when they fold. By chance, never by rule.

A player's habits are no strategy; they only make every wager and every payout turn up.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from ledger.rules.cards import RANK

if TYPE_CHECKING:
    import random
    from collections.abc import Mapping, Sequence

    from ledger.simulate.plan import TablePlan


class Habit(NamedTuple):
    """How one game is played: wagers everybody makes, and those some like (per mille)."""

    always: tuple[str, ...]
    sometimes: Mapping[str, int]
    otherwise: str | None  # for who made none of those the round opens with
    coupon: str | None  # the wager coupons are played on


HABITS: dict[str, Habit] = {
    "criss_cross_poker": Habit(
        always=("ante_across", "ante_down"),
        sometimes={"five_card_bonus": 350},
        otherwise=None,
        coupon=None,
    ),
    "three_dice_football": Habit(
        always=(),
        sometimes={
            "touchdown": 600,
            "defense": 250,
            "extra_point": 200,
            "quick_strike_td": 120,
            "game_changer": 90,
            "game_length_1": 30,
            "game_length_2": 30,
            "game_length_3": 90,
            "game_length_4": 50,
            "game_length_5": 50,
            "game_length_6": 40,
            "trips_td": 40,
            "penalty": 50,
            "turnover": 30,
            "cover_three": 40,
            "no_gain": 60,
            "big_play": 60,
            "over_four": 90,
            "under_four": 90,
        },
        otherwise="touchdown",
        coupon="touchdown",
    ),
}
"""By game. A game without a line here is not dealt."""

_SIDE_CENTS = 500
_BOLD, _RAISES, _STAYS = 0.8, 0.2, 0.4  # with a good pair, with something, with nothing
_SIX = RANK["6c"]
_TEN = RANK["Tc"]


class Patron:
    """Who sits at a position: an opaque token, chips in hand, the unit he likes to bet."""

    __slots__ = ("chips", "rounds_left", "token", "unit")

    def __init__(self, token: str, unit: int, rounds_left: int) -> None:
        self.token = token
        self.unit = unit
        self.rounds_left = rounds_left
        self.chips = 0


def wagers(
    habit: Habit, patron: Patron, names: Sequence[str], chance: random.Random, *, opening: bool
) -> list[tuple[str, int]]:
    """What a patron puts on these wagers now: name and cents, within his chips."""
    chosen = [(name, patron.unit) for name in habit.always if name in names]
    chosen += [
        (name, patron.unit if name == habit.otherwise else _SIDE_CENTS)
        for name in names
        if chance.random() * 1000 < habit.sometimes.get(name, 0)
    ]
    if opening and not chosen and habit.otherwise and habit.otherwise in names:
        chosen.append((habit.otherwise, patron.unit))
    left, made = patron.chips, []
    for name, cents in chosen:
        if cents <= left:
            made.append((name, cents))
            left -= cents
    return made if len(made) >= len(habit.always) or not opening else []


def bet(
    known: Sequence[str], choices: Sequence[int], chips: int, chance: random.Random
) -> int | None:
    """How much a player of a hand bets when asked, None to fold; a pair makes him bold."""
    can = [choice for choice in choices if choice <= chips]
    if not can:
        return None
    ranks = [RANK[card] for card in known]
    paired = [rank for rank in ranks if ranks.count(rank) > 1]
    if any(rank >= _SIX for rank in paired):
        return can[-1] if chance.random() < _BOLD else can[0]
    if paired or any(rank >= _TEN for rank in ranks):
        return chance.choice(can) if chance.random() < _RAISES else can[0]
    return can[0] if chance.random() < _STAYS else None


def unit(table: TablePlan, chance: random.Random) -> int:
    """What a new patron bets, cents; a multiple of $5, so that odd payouts stay whole dollars."""
    least = 1000 if HABITS[table.game].always else 500
    return least * chance.choice((1, 1, 1, 2, 2, 3, 5))
