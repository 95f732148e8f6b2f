"""Printed cards, chips, dice and pucks as a camera would see each from straight above.

Each is drawn large once and made small, with its opacity: four numbers a pixel, colours already
multiplied by it.
"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

import cv2
import numpy as np

from ledger.simulate.cameras.felt import CARD_H, CARD_W, CHIP, DIE
from ledger.simulate.cameras.shot_list import ChipPile, LyingCard, LyingDie, Piece
from ledger.values import UNKNOWN_CARD

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Sprite = NDArray[np.float32]
    Colour = tuple[int, int, int]

# Blue, green, red, as in OpenCV.
_PAPER, _INK, _RED, _BACK = (236, 240, 240), (24, 22, 22), (34, 30, 176), (120, 48, 34)
_SUITS = {"c": ("♣", _INK), "d": ("♦", _RED), "h": ("♥", _RED), "s": ("♠", _INK)}
CHIP_COLOURS: dict[int, tuple[Colour, Colour]] = {
    100_000: ((40, 150, 235), (240, 240, 240)),  # orange: $1,000
    50_000: ((140, 50, 110), (230, 230, 230)),  # purple: $500
    10_000: ((34, 34, 34), (225, 225, 225)),  # black: $100
    2_500: ((70, 130, 30), (235, 235, 235)),  # green: $25
    500: ((40, 36, 190), (240, 240, 240)),  # red: $5
    100: ((225, 228, 228), (170, 110, 60)),  # white: $1
    50: ((190, 150, 235), (240, 240, 240)),  # pink: 50 cents
    25: ((60, 215, 235), (60, 60, 60)),  # yellow: 25 cents
    5: ((200, 170, 40), (240, 240, 240)),  # light blue: 5 cents
    1: ((90, 120, 150), (60, 60, 60)),  # brown: 1 cent
}
"""By denomination in cents: its colour, and that of the spots on its edge."""
_PUCKS: tuple[Colour, ...] = (
    (40, 200, 240), (235, 235, 235), (230, 160, 40), (240, 240, 240), (60, 60, 200), (30, 30, 30),
)  # fmt: skip
_PIPS = {
    1: ((1, 1),),
    2: ((0, 0), (2, 2)),
    3: ((0, 0), (1, 1), (2, 2)),
    4: ((0, 0), (0, 2), (2, 0), (2, 2)),
    5: ((0, 0), (0, 2), (1, 1), (2, 0), (2, 2)),
    6: ((0, 0), (0, 1), (0, 2), (2, 0), (2, 1), (2, 2)),
}
_LARGE = 6  # pixels a millimetre as drawn
_FONT = cv2.FontFace("sans")


def _small(picture: NDArray[np.uint8], mask: NDArray[np.uint8], size: tuple[int, int]) -> Sprite:
    """The drawing at one pixel a millimetre, with its opacity."""
    colours = cv2.resize(picture, size, interpolation=cv2.INTER_AREA).astype(np.float32)
    alpha = cv2.resize(mask, size, interpolation=cv2.INTER_AREA).astype(np.float32) / 255
    found: Sprite = np.dstack([colours * alpha[:, :, None], alpha])
    return found


def _rounded(wide: int, high: int, radius: int) -> NDArray[np.uint8]:
    mask = np.zeros((high, wide), dtype=np.uint8)
    cv2.rectangle(mask, (radius, 0), (wide - radius, high), 255, cv2.FILLED)
    cv2.rectangle(mask, (0, radius), (wide, high - radius), 255, cv2.FILLED)
    for x in (radius, wide - radius - 1):
        for y in (radius, high - radius - 1):
            cv2.circle(mask, (x, y), radius, 255, cv2.FILLED)
    return mask


def _write(
    picture: NDArray[np.uint8], text: str, left: int, foot: int, colour: Colour, size: int
) -> None:
    cv2.putText(picture, text, (left, foot), colour, _FONT, size, 800)


@cache
def card_sprite(card: str) -> Sprite:
    """A card's face with a large rank and suit in its corner, or the back of `??`."""
    wide, high = CARD_W * _LARGE, CARD_H * _LARGE
    picture = np.full((high, wide, 3), _PAPER, dtype=np.uint8)
    mask = _rounded(wide, high, 6 * _LARGE)
    if card == UNKNOWN_CARD:
        cv2.rectangle(picture, (24, 24), (wide - 24, high - 24), _BACK, cv2.FILLED)
        for across in range(-high, wide, 42):
            cv2.line(picture, (across, 24), (across + high, high - 24), (170, 110, 90), 8)
            cv2.line(picture, (across + high, 24), (across, high - 24), (170, 110, 90), 8)
        cv2.rectangle(picture, (0, 0), (wide, high), _PAPER, 44)
        return _small(picture, mask, (CARD_W, CARD_H))
    if card == "Jk":
        symbol, colour, rank = "★", _RED, "J"
    else:
        (symbol, colour), rank = _SUITS[card[1]], card[0].replace("T", "10")
    narrow = 0.8 if len(rank) > 1 else 1
    _write(picture, rank, 14, 250, colour, round(250 * narrow))
    _write(picture, symbol, 24, 440, colour, 190)
    _write(picture, symbol, wide - 250, high - 60, colour, 290)
    cv2.rectangle(picture, (0, 0), (wide - 1, high - 1), (150, 150, 150), 6)
    return _small(picture, mask, (CARD_W, CARD_H))


@cache
def chip_sprite(cents: int) -> Sprite:
    """A chip: its colour, eight spots on the edge, a pale ring."""
    side = CHIP * _LARGE
    colour, spots = CHIP_COLOURS[cents]
    picture = np.full((side, side, 3), colour, dtype=np.uint8)
    middle = (side // 2, side // 2)
    for turn in range(0, 360, 60):
        cv2.ellipse(picture, middle, middle, turn, -10, 10, spots, cv2.FILLED)
    cv2.circle(picture, middle, round(side * 0.37), colour, cv2.FILLED)
    cv2.circle(picture, middle, round(side * 0.3), spots, 7)
    cv2.circle(picture, middle, side // 2 - 4, (18, 18, 18), 12)
    mask = np.zeros((side, side), dtype=np.uint8)
    cv2.circle(mask, middle, side // 2 - 1, 255, cv2.FILLED)
    return _small(picture, mask, (CHIP, CHIP))


@cache
def die_sprite(die: int, *, red: bool) -> Sprite:
    """A die's upper side."""
    side = DIE * _LARGE
    colour = (40, 30, 190) if red else (50, 140, 50)
    picture = np.full((side, side, 3), colour, dtype=np.uint8)
    for column, row in _PIPS[die]:
        centre = (round(side * (0.24 + 0.26 * column)), round(side * (0.24 + 0.26 * row)))
        cv2.circle(picture, centre, round(side * 0.1), (245, 245, 245), cv2.FILLED)
    return _small(picture, _rounded(side, side, 3 * _LARGE), (DIE, DIE))


@cache
def puck_sprite(number: int) -> Sprite:
    """A puck with a pale rim."""
    side = CHIP * _LARGE
    colour = _PUCKS[number % len(_PUCKS)]
    picture = np.full((side, side, 3), colour, dtype=np.uint8)
    middle = (side // 2, side // 2)
    cv2.circle(picture, middle, round(side * 0.42), (20, 20, 20), 16)
    mask = np.zeros((side, side), dtype=np.uint8)
    cv2.circle(mask, middle, side // 2 - 1, 255, cv2.FILLED)
    return _small(picture, mask, (CHIP, CHIP))


def sprite_of(piece: Piece) -> Sprite:
    """The drawing of a piece; of chips, the first one's."""
    match piece:
        case LyingCard(card=card):
            return card_sprite(card)
        case LyingDie(die=die, red=red):
            return die_sprite(die, red=red)
        case ChipPile(cents=cents):
            return chip_sprite(cents)
    return puck_sprite(piece.number)


@cache
def shadow_sprite(high: int, wide: int) -> Sprite:
    """The soft shadow of something of this size, with a margin of six."""
    mask = np.zeros((high + 12, wide + 12), dtype=np.float32)
    mask[6:-6, 6:-6] = 0.42
    found: Sprite = np.zeros((high + 12, wide + 12, 4), dtype=np.float32)
    found[:, :, 3] = cv2.GaussianBlur(mask, (0, 0), 3)
    return found
