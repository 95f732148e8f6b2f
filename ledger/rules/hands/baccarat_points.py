"""Baccarat's points and third cards: the standard game of Chapters 627a, 629a and 631a.

The documents print only what House Money changes, so the third-card table is the common one.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ledger.rules.hands.cards import RANK, if_known

if TYPE_CHECKING:
    from collections.abc import Sequence

VALUE: dict[str, int] = {
    card: 1 if card[0] == "A" else rank + 2 if card[0] in "23456789" else 0
    for card, rank in RANK.items()
}
"""Points of a card: an ace is 1, tens and face cards are 0."""

PLAYER, BANKER, TIE = "player", "banker", "tie"

NATURAL = 8
_PLAYER_STANDS = 6
_BANKER_STANDS = 7
# For the Banker's points, the points of the Player's third card that make the Banker draw.
_BANKER_DRAWS: dict[int, frozenset[int]] = {
    3: frozenset(range(10)) - {8},
    4: frozenset(range(2, 8)),
    5: frozenset(range(4, 8)),
    6: frozenset((6, 7)),
}
_INITIAL = 2


def points_of(cards: Sequence[str]) -> int:
    """Points of a hand, 0 to 9: the last digit of the sum. Raises KeyError for an unknown card."""
    return sum(VALUE[card] for card in cards) % 10


def player_draws(player: Sequence[str], banker: Sequence[str]) -> bool:
    """Whether the Player's Hand takes a third card, by the first two of each hand.

    Raises KeyError for a card that is not one of 52.
    """
    points, against = points_of(player[:_INITIAL]), points_of(banker[:_INITIAL])
    return max(points, against) < NATURAL and points < _PLAYER_STANDS


def banker_draws(player: Sequence[str], banker: Sequence[str]) -> bool:
    """Whether the Banker's Hand takes a third card after a complete Player's Hand.

    Raises KeyError for a card that is not one of 52.
    """
    points, against = points_of(banker[:_INITIAL]), points_of(player[:_INITIAL])
    if max(points, against) >= NATURAL or points >= _BANKER_STANDS:
        return False
    if len(player) == _INITIAL:
        return points < _PLAYER_STANDS
    return points not in _BANKER_DRAWS or VALUE[player[_INITIAL]] in _BANKER_DRAWS[points]


def winner(player: Sequence[str], banker: Sequence[str]) -> str:
    """The winner of two complete hands: `player`, `banker` or `tie`. Raises KeyError."""
    points, against = points_of(player), points_of(banker)
    if points == against:
        return TIE
    return PLAYER if points > against else BANKER


def pairs(player: Sequence[str], banker: Sequence[str]) -> int:
    """How many of the two hands begin with a pair by rank, in any suits: 627a.7(a)(7)(i).

    A king and a queen are not a pair. Raises KeyError for a card that is not one of 52.
    """
    return sum(len({RANK[card] for card in hand[:_INITIAL]}) == 1 for hand in (player, banker))


points_if_known = if_known(points_of)
player_draws_if_known = if_known(player_draws)
banker_draws_if_known = if_known(banker_draws)
winner_if_known = if_known(winner)
pairs_if_known = if_known(pairs)
