"""The places on a simulated table's felt: where each card, wager, payment and hand goes.

One table of numbers serves every game. Millimetres: x from the left as a camera sees it, y from
the dealer's edge to the players'.
"""

from __future__ import annotations

from math import cos, radians, sin
from typing import NamedTuple

WIDTH, DEPTH = 1800, 1000
CARD_W, CARD_H, CHIP, DIE = 80, 110, 46, 34
SPREAD = 16
"""From one chip of a spread pile to the next."""
SHOE, RACK, TRAY, DEALER_AT = (1590, 50), (210, 50), (900, 66), (900, -60)

_CENTRE = (900, -260)
_CARDS_R, _WAGERS_R, _SEAT_R = 1080, 868, 1330
_OUTER = 50  # degrees: the first and last seat
_WAGER_STEP, _ROW_STEP, _PER_ROW = 104, 112, 3
_PAID_DX = 49
_TIGHT, _SIDE_BY_SIDE = 42, 86  # from card to card
_CROSS = ((900, 182), (798, 293), (900, 293), (1002, 293), (900, 404))
_GRID = (330, 230, 1470, 740)  # left, top, right, bottom of the wagers of a dice table

CHIPS = (100_000, 50_000, 10_000, 2_500, 500, 100, 50, 25, 5, 1)
"""Denominations in cents, the highest first."""


class FeltPlace(NamedTuple):
    """A place on the felt, and how far a card there is turned."""

    x: int
    y: int
    turn: int = 0

    def beside(self, dx: float, dy: float = 0) -> FeltPlace:
        """A place so far to the right and below, as its player looks at it."""
        angle = radians(self.turn)
        x, y = dx * cos(angle) - dy * sin(angle), dx * sin(angle) + dy * cos(angle)
        return FeltPlace(round(self.x + x), round(self.y + y), self.turn)


def chips_of(cents: int) -> list[int]:
    """The chips of a sum, the highest first."""
    found: list[int] = []
    for value in CHIPS:
        found += [value] * (cents // value)
        cents %= value
    return found


def _around(position: int, seats: int, radius: int) -> FeltPlace:
    """A place before a seat: the first is at the dealer's left, so at the picture's right."""
    share = (position - 1) / max(1, seats - 1) if seats > 1 else 0.5
    angle = _OUTER - 2 * _OUTER * share
    x = _CENTRE[0] + radius * sin(radians(angle)) * 0.96
    return FeltPlace(round(x), round(_CENTRE[1] + radius * cos(radians(angle))), round(-angle))


def seat(position: int, seats: int) -> FeltPlace:
    """The player's edge of a position."""
    return _around(position, seats, _SEAT_R)


def card(
    to: str, position: int | None, hand: int, index: int, count: int, seats: int, *, crossed: bool
) -> FeltPlace:
    """The place of a holder's nth card of so many."""
    if to == "community" and crossed:
        return FeltPlace(*_CROSS[index % len(_CROSS)])
    if position:
        step = _SIDE_BY_SIDE if count <= 2 and hand == 1 else _TIGHT  # noqa: PLR2004 - a pair
        base = _around(position, seats, _CARDS_R).beside(110 * (hand - 1))
        return base.beside((index - (count - 1) / 2) * step)
    x, y = {
        "dealer": (900, 190), "community": (900, 330),
        "player_hand": (660, 300), "banker_hand": (1140, 300),
    }[to]  # fmt: skip
    return FeltPlace(round(x + (index - (count - 1) / 2) * _SIDE_BY_SIDE), y)


def wager(position: int, number: int, hand: int, seats: int) -> FeltPlace:
    """The betting spot of a position's nth wager."""
    base = _around(position, seats, _WAGERS_R)
    row, column = divmod(number, _PER_ROW)
    return base.beside((column - 1) * _WAGER_STEP - 12 + 40 * (hand - 1), -row * _ROW_STEP)


def grid(position: int, number: int, wagers: int) -> FeltPlace:
    """The spot of a position on a wager of a table whose wagers are boxes for all."""
    columns = max(1, round((wagers * 2) ** 0.5))
    rows = -(-wagers // columns)
    left, top, right, bottom = _GRID
    row, column = divmod(number, columns)
    x = left + (right - left) * (column + 0.18 + 0.16 * ((position - 1) % 5)) / columns
    y = top + (bottom - top) * (row + 0.3 + 0.3 * ((position - 1) // 5)) / rows
    return FeltPlace(round(x), round(y))


def box(number: int, wagers: int) -> tuple[int, int, int, int]:
    """Left, top, right, bottom of a wager's box on such a table."""
    columns = max(1, round((wagers * 2) ** 0.5))
    rows = -(-wagers // columns)
    left, top, right, bottom = _GRID
    row, column = divmod(number, columns)
    wide, high = (right - left) / columns, (bottom - top) / rows
    x, y = left + wide * column, top + high * row
    return round(x), round(y), round(x + wide), round(y + high)


def puck(number: int, along: int, most: int) -> tuple[int, int]:
    """The place of a marker in its row below such boxes."""
    return 480 + 840 * along // most, 775 + 44 * (number % 3)


def paid(spot: FeltPlace) -> FeltPlace:
    """The place of a payment, beside its wager."""
    return spot.beside(_PAID_DX)
