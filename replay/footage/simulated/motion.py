"""What moves on a simulated table at an instant: hands, and the pieces under them.

Pure: from the shots alone. A hand reaches out before a shot and draws back after it; what the shot
brings comes with it, and what it takes away goes with it.
"""

from __future__ import annotations

from bisect import bisect_right
from typing import TYPE_CHECKING, NamedTuple

from msgspec.structs import replace

from ledger.simulate.cameras import felt
from ledger.simulate.cameras.shot_list import DEALER, ChipPile, LyingCard, LyingDie, Piece, Shot

if TYPE_CHECKING:
    from collections.abc import Sequence

REACH_US = 420_000
"""How long a hand takes to reach a place, and to draw back."""

_WINDOW = 8  # shots before and after that may still move something


class MovingHand(NamedTuple):
    """A hand: whose, and where its fingers are."""

    who: int
    x: float
    y: float


class TableAt(NamedTuple):
    """A table at an instant: the shot that lies still, what moves over it, and the hands."""

    shot: int  # index, -1 before the first
    moving: tuple[Piece, ...] = ()
    hands: tuple[MovingHand, ...] = ()


def table_at(shots: Sequence[Shot], starts: Sequence[int], at_us: int, seats: int) -> TableAt:
    """The table of these shots at a true time; starts: their times."""
    current = bisect_right(starts, at_us) - 1
    moving: list[Piece] = []
    hands: dict[tuple[int, bool], MovingHand] = {}
    for index in range(max(1, current + 1 - _WINDOW), min(len(shots), current + 1 + _WINDOW)):
        shot, away_us = shots[index], at_us - starts[index]
        if abs(away_us) >= REACH_US:
            continue
        near = 1 - abs(away_us) / REACH_US
        near = near * near * (3 - 2 * near)
        came, went = changed(shots[index - 1], shot)
        if away_us < 0:
            moving += [_on_the_way(each, _origin(each, shot, seats), near) for each in came]
        else:
            moving += [_on_the_way(each, _goal(each, shot, seats), near) for each in went]
        if shot.reach:
            who, x, y = shot.reach.who, shot.reach.x, shot.reach.y
            home = _home(who, seats)
            hand = MovingHand(who, home[0] + (x - home[0]) * near, home[1] + (y - home[1]) * near)
            hands.setdefault((who, index % 2 == 0), hand)
    return TableAt(current, tuple(moving), tuple(hands.values()))


def changed(before: Shot, after: Shot) -> tuple[list[Piece], list[Piece]]:
    """What a shot brings, and what it takes away. A card that is only turned over stays."""
    old, new = before.pieces, after.pieces
    kept = set(old) & set(new)
    places = [{(type(each), each.x, each.y) for each in pieces} for pieces in (old, new)]
    came: list[Piece] = [each for each in new if each not in kept and _place(each) not in places[0]]
    went: list[Piece] = [each for each in old if each not in kept and _place(each) not in places[1]]
    for card in [each for each in came if isinstance(each, LyingCard)]:
        if other := next((each for each in went if _shoved(card, each)), None):
            came.remove(card)
            went.remove(other)
    return came, went


def _shoved(card: LyingCard, other: Piece) -> bool:
    """Whether a card is another one that only made room for one more beside it."""
    alike = isinstance(other, LyingCard) and other.card == card.card
    return alike and abs(other.x - card.x) + abs(other.y - card.y) < felt.CARD_W


def _place(piece: Piece) -> tuple[type, int, int]:
    return type(piece), piece.x, piece.y


def _on_the_way(piece: Piece, away: tuple[int, int], near: float) -> Piece:
    x = round(away[0] + (piece.x - away[0]) * near)
    y = round(away[1] + (piece.y - away[1]) * near)
    return replace(piece, x=x, y=y)


def _home(who: int, seats: int) -> tuple[int, int]:
    return felt.DEALER_AT if who == DEALER else felt.seat(who, seats)[:2]


def _origin(piece: Piece, shot: Shot, seats: int) -> tuple[int, int]:
    """The place that a piece comes from."""
    if isinstance(piece, LyingCard):
        return felt.SHOE
    who = shot.reach.who if shot.reach else DEALER
    if isinstance(piece, ChipPile) and who == DEALER:
        return felt.TRAY
    return _home(who, seats)


def _goal(piece: Piece, shot: Shot, seats: int) -> tuple[int, int]:
    """The place that a piece goes to."""
    if isinstance(piece, LyingCard):
        return felt.RACK
    who = shot.reach.who if shot.reach else DEALER
    if isinstance(piece, LyingDie):
        return piece.x, piece.y
    return felt.TRAY if who == DEALER else _home(who, seats)
