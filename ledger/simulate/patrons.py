"""Patrons by chance: how much they bet, what they decide, and when they fold.

No strategy: every wager and every payout turns up.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ledger.rules.hands.cards import RANK

if TYPE_CHECKING:
    import random
    from collections.abc import Sequence

    from ledger.rules.engine.game import PlayerModel

CHIP = 500  # the smallest chip patrons play, cents
_HIGHEST = "As"  # the value of a joker
_BOLD, _RAISES, _STAYS = 0.8, 0.2, 0.4  # chances with a good pair, with something, with nothing
_SIX = RANK["6c"]
_TEN = RANK["Tc"]


class Patron:
    """A patron at a position: an opaque token, chips in hand, his usual unit of bets."""

    __slots__ = ("chips", "rounds_left", "token", "unit")

    def __init__(self, token: str, unit: int, rounds_left: int) -> None:
        self.token = token
        self.unit = unit
        self.rounds_left = rounds_left
        self.chips = 0


def wagers(
    model: PlayerModel,
    patron: Patron,
    names: Sequence[str],
    chance: random.Random,
    *,
    opening: bool,
) -> list[tuple[str, int]]:
    """A patron's chips for these wagers now: name and cents, within his chips."""
    chosen = [(name, patron.unit) for name in model.always if name in names]
    chosen += [
        (name, patron.unit if name == model.otherwise else model.chips.get(name, CHIP))
        for name in names
        if chance.random() * 1000 < model.sometimes.get(name, 0)
    ]
    if opening and not chosen and model.otherwise and model.otherwise in names:
        chosen.append((model.otherwise, patron.unit))
    left, made = patron.chips, []
    for name, cents in chosen:
        if cents <= left:
            made.append((name, cents))
            left -= cents
    return made if len(made) >= len(model.always) or not opening else []


def bet(
    known: Sequence[str], choices: Sequence[int], chips: int, chance: random.Random
) -> int | None:
    """A player's bet when asked, None to fold. A pair makes him bold."""
    can = affordable(choices, chips)
    if not can:
        return None
    ranks = [RANK.get(card, RANK[_HIGHEST]) for card in known]
    paired = [rank for rank in ranks if ranks.count(rank) > 1]
    if any(rank >= _SIX for rank in paired):
        return can[-1] if chance.random() < _BOLD else can[0]
    if paired or any(rank >= _TEN for rank in ranks):
        return chance.choice(can) if chance.random() < _RAISES else can[0]
    return can[0] if chance.random() < _STAYS else None


def affordable(choices: Sequence[int], chips: int) -> list[int]:
    """The amounts a player can afford; of a range, chips of $5 and its end."""
    if isinstance(choices, range):
        most = choices[-1] if choices else 0
        least = choices[0] if choices else 0
        choices = sorted({*range(-(-least // CHIP) * CHIP, most + 1, CHIP), most})
    return [choice for choice in choices if choice <= chips]


def decision(
    model: PlayerModel, cards: Sequence[str], options: Sequence[str], chance: random.Random
) -> str:
    """A player's decision among those open to him, by the game's weights if it has some."""
    decision_weights = model.decision_weights(cards, options) if model.decision_weights else {}
    weights = [decision_weights.get(option, 0) for option in options]
    return chance.choices(options, weights if any(weights) else None)[0]


def unit(model: PlayerModel, chance: random.Random) -> int:
    """A new patron's bet, cents; a multiple of $5, so that odd payouts stay whole dollars."""
    least = 1000 if model.always else 500
    return least * chance.choice((1, 1, 1, 2, 2, 3, 5))
