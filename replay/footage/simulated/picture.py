"""The picture of a simulated table: felt, printed areas, cards, dice, chips, and a clock bar."""

from __future__ import annotations

from typing import TYPE_CHECKING

import cv2
import numpy as np

from ledger.values import dollars
from replay.footage.decoding.timecode import STRIP_HEIGHT
from replay.text.times import date_and_time

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ledger.simulate.cameras.shot_list import FilmedArea, Shot

    Picture = NDArray[np.uint8]
    Colour = tuple[int, int, int]

WIDTH, HEIGHT = 480, 270

# Blue, green, red, as in OpenCV.
_FELT, _LINE, _BAR = (44, 78, 24), (92, 132, 74), (28, 32, 26)
_WHITE, _PALE, _INK, _RED = (245, 245, 245), (190, 220, 190), (30, 30, 30), (40, 40, 200)
_BACK, _DIE = (150, 70, 40), (60, 60, 205)
_CHIPS: tuple[tuple[int, Colour], ...] = (
    (10_000, (45, 45, 45)),  # black from $100
    (2_500, (80, 150, 60)),  # green from $25
    (500, (60, 60, 200)),  # red from $5
    (0, (225, 225, 225)),  # white
)

_HEAD, _CLOCK = 26, 20  # heights of the bars above and below the felt
_LEFT, _TOP, _ROW, _SPACE = 8, _HEAD + 6, 50, 5
_CARD_W, _CARD_H, _DIE_SIDE = 24, 30, 26
_ROWS_END = HEIGHT - STRIP_HEIGHT - _CLOCK
_SUITS = {"c": ("♣", _INK), "d": ("♦", _RED), "h": ("♥", _RED), "s": ("♠", _INK)}
_PIPS = {
    1: ((1, 1),),
    2: ((0, 0), (2, 2)),
    3: ((0, 0), (1, 1), (2, 2)),
    4: ((0, 0), (0, 2), (2, 0), (2, 2)),
    5: ((0, 0), (0, 2), (1, 1), (2, 0), (2, 2)),
    6: ((0, 0), (0, 1), (0, 2), (2, 0), (2, 1), (2, 2)),
}
_FONT = cv2.FontFace("sans")
_BOLD, _PLAIN = 700, 400


def draw_table(table: str, camera: str, shot: Shot | None) -> Picture:
    """The table without the clock, the same until the next shot. shot None: an empty table."""
    picture = np.full((HEIGHT, WIDTH, 3), _FELT, dtype=np.uint8)
    cv2.rectangle(picture, (0, 0), (WIDTH, _HEAD), _BAR, cv2.FILLED)
    right = _write(picture, table, (_LEFT, 18), _WHITE, 15, _BOLD)
    camera_x = WIDTH - _width(camera, 12) - _LEFT
    _write(picture, camera, (camera_x, 18), _PALE, 12)
    if shot:
        caption = _fit(shot.caption, 12, camera_x - right - 24)
        _write(picture, caption, (right + 12, 18), _PALE, 12)
    cv2.rectangle(picture, (0, _ROWS_END), (WIDTH, HEIGHT), _BAR, cv2.FILLED)
    x, y = _LEFT, _TOP
    for area in shot.areas if shot else ():
        width = _area_width(area)
        if x > _LEFT and x + width > WIDTH - _LEFT:
            x, y = _LEFT, y + _ROW
        if y + _ROW > _ROWS_END:
            _write(picture, "…", (WIDTH - 20, _ROWS_END - 4), _WHITE, 15, _BOLD)
            break
        _draw_area(picture, area, x, y, width)
        x += width + _SPACE
    return picture


def draw_clock(picture: Picture, clock_ms: int) -> None:
    """The camera's clock in its bar, to the millisecond."""
    shown = date_and_time(clock_ms * 1000).replace("T", "  ")
    _write(picture, f"{shown}  UTC, this camera's clock", (_LEFT, _ROWS_END + 15), _WHITE, 13)


def _draw_area(picture: Picture, area: FilmedArea, left: int, top: int, width: int) -> None:
    cv2.rectangle(picture, (left, top), (left + width, top + _ROW - 5), _LINE, 1, cv2.LINE_AA)
    _write(picture, area.label, (left + 4, top + 10), _PALE, 9)
    x, y = left + 4, top + 13
    for card in area.cards:
        _draw_card(picture, card, x, y)
        x += _CARD_W + 2
    for die in area.dice:
        _draw_die(picture, die, x, y + 2)
        x += _DIE_SIDE + 3
    if area.chips:
        _draw_chips(picture, area.chips, x + 10, y + 18)
        x = _write(picture, dollars(area.chips), (x + 24, y + 21), _WHITE, 12) + 4
    _write(picture, area.text, (x + 2, y + 21), _WHITE, 12)


def _area_width(area: FilmedArea) -> int:
    content = len(area.cards) * (_CARD_W + 2) + len(area.dice) * (_DIE_SIDE + 3)
    content += _width(dollars(area.chips), 12) + 28 if area.chips else 0
    content += _width(area.text, 12) + 4 if area.text else 0
    return max(content, _width(area.label, 9), 20) + 8


def _draw_card(picture: Picture, card: str, x: int, y: int) -> None:
    corner = (x + _CARD_W, y + _CARD_H)
    cv2.rectangle(picture, (x, y), corner, _WHITE, cv2.FILLED)
    cv2.rectangle(picture, (x, y), corner, _BAR, 1)
    if card == "??":
        cv2.rectangle(picture, (x + 3, y + 3), (corner[0] - 3, corner[1] - 3), _BACK, cv2.FILLED)
        return
    rank, suit = ("Jk", None) if card == "Jk" else (card[0].replace("T", "10"), card[1])
    symbol, colour = _SUITS[suit] if suit else ("★", _RED)
    _write(picture, rank, (x + 3, y + 13), colour, 13, _BOLD)
    _write(picture, symbol, (x + 8, y + 27), colour, 14, _BOLD)


def _draw_die(picture: Picture, die: int, x: int, y: int) -> None:
    corner = (x + _DIE_SIDE, y + _DIE_SIDE)
    cv2.rectangle(picture, (x, y), corner, _DIE, cv2.FILLED)
    cv2.rectangle(picture, (x, y), corner, _BAR, 1)
    for column, row in _PIPS[die]:
        centre = (x + 5 + column * 8, y + 5 + row * 8)
        cv2.circle(picture, centre, 2, _WHITE, cv2.FILLED, cv2.LINE_AA)


def _draw_chips(picture: Picture, cents: int, x: int, y: int) -> None:
    colour = next(colour for least, colour in _CHIPS if cents >= least)
    for height in (4, 0, -4):
        cv2.ellipse(picture, (x, y + height), (9, 5), 0, 0, 360, colour, cv2.FILLED, cv2.LINE_AA)
        cv2.ellipse(picture, (x, y + height), (9, 5), 0, 0, 360, _WHITE, 1, cv2.LINE_AA)


def _write(
    picture: Picture,
    text: str,
    at: tuple[int, int],
    colour: Colour,
    size: int,
    weight: int = _PLAIN,
) -> int:
    """Write a line from its lower left corner; the x of its end."""
    if not text:
        return at[0]
    (end_x, _), _ = cv2.putText(picture, text, at, colour, _FONT, size, weight)
    return end_x


def _fit(text: str, size: int, width: int) -> str:
    """The part of a line that fits: a longer one would continue into the picture."""
    if _width(text, size) <= width:
        return text
    while text and _width(text + "…", size) > width:
        text = text[:-1]
    return text + "…"


def _width(text: str, size: int) -> int:
    return cv2.getTextSize((WIDTH, HEIGHT), text, (0, 0), _FONT, size, _PLAIN)[2]
