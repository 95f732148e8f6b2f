"""The unmoving part of a simulated camera's picture: carpet, rail, felt, tray, shoe, rack, light.

Drawn once for a camera, from above, then seen through its lens. Marks on the felt are shapes: a
word would be read as if it were on record.
"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any

import cv2
import numpy as np

from ledger.simulate.cameras import felt
from replay.footage.simulated.sprites import CHIP_COLOURS

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from replay.footage.simulated.view import Lens

    Picture = NDArray[np.uint8]

_MARGIN = 520  # millimetres around the felt
_FELT, _LINE, _RAIL, _WOOD = (62, 96, 22), (120, 170, 110), (30, 34, 48), (40, 62, 96)
_DARK, _METAL = (22, 24, 24), (120, 122, 118)


def felt_picture(
    lens: Lens, size: tuple[int, int], seats: int, boxes: int, *, plain: bool
) -> NDArray[Any]:
    """The empty table through a lens. boxes: the wagers printed as boxes for all.

    plain: without weave, pattern and lamp, so that it takes little room and time.
    """
    width, height = size
    grid = np.stack(np.meshgrid(np.arange(width), np.arange(height)), axis=-1).reshape(-1, 2)
    ground = (
        (lens.places(grid.astype(float)) + _MARGIN).astype(np.float32).reshape(height, width, 2)
    )
    above = _from_above(seats, boxes, plain=plain)
    seen = cv2.remap(
        above, ground[..., 0], ground[..., 1], cv2.INTER_LINEAR, borderMode=cv2.BORDER_REFLECT
    )
    return seen if plain else _lit(seen)


@cache
def _from_above(seats: int, boxes: int, *, plain: bool) -> Picture:
    """The table at one pixel a millimetre, margins and all."""
    chance = np.random.default_rng(7)
    wide, high = felt.WIDTH + 2 * _MARGIN, felt.DEPTH + 2 * _MARGIN
    picture = np.full((high, wide, 3), (30, 24, 52), dtype=np.uint8)
    for across in range(0, 0 if plain else wide, 130):
        for down in range(across // 130 % 2 * 65, high, 130):
            cv2.circle(picture, (across, down), 44, (36, 34, 78), 9, cv2.LINE_AA)
            cv2.circle(picture, (across, down), 16, (34, 66, 96), cv2.FILLED, cv2.LINE_AA)
    _shape(picture, 95, _RAIL)
    _shape(picture, 78, (52, 58, 78))
    _shape(picture, 30, _WOOD)
    weave = np.zeros((256, 256))
    if not plain:
        weave += chance.normal(0, 5, (256, 256))
        weave += cv2.resize(chance.normal(0, 5, (10, 10)), (256, 256))
    cloth = np.clip(weave[:, :, None] + _FELT, 0, 255).astype(np.uint8)
    times = (-(-high // 256), -(-wide // 256), 1)
    mask = np.zeros((high, wide), dtype=np.uint8)
    _shape(mask, 0, (255,))
    cv2.copyTo(np.tile(cloth, times)[:high, :wide], mask, picture)
    _marks(picture, seats, boxes)
    _furniture(picture)
    return picture


def _shape(picture: Picture, out: int, colour: tuple[int, ...]) -> None:
    """The table's outline, this much larger: straight at the dealer, round at the players."""
    left, top = _MARGIN - out, _MARGIN - out
    right = _MARGIN + felt.WIDTH + out
    middle = (_MARGIN + felt.WIDTH // 2, _MARGIN + 330)
    axes = (felt.WIDTH // 2 + out, felt.DEPTH - 330 + out)
    cv2.ellipse(picture, middle, axes, 0, 0, 180, colour, cv2.FILLED)
    cv2.rectangle(picture, (left, top), (right, middle[1]), colour, cv2.FILLED)


def _marks(picture: Picture, seats: int, boxes: int) -> None:
    if boxes:
        for number in range(boxes):
            left, top, right, bottom = felt.box(number, boxes)
            corners = (left + _MARGIN, top + _MARGIN), (right + _MARGIN, bottom + _MARGIN)
            cv2.rectangle(picture, *corners, _LINE, 3, cv2.LINE_AA)
        return
    for position in range(1, seats + 1):
        for number in range(6):
            at = felt.wager(position, number, 1, seats)
            centre = (at.x + _MARGIN, at.y + _MARGIN)
            if number < 3:  # noqa: PLR2004 - the first row is circles
                cv2.circle(picture, centre, 34, _LINE, 3, cv2.LINE_AA)
            else:
                _turned(picture, centre, (60, 60), at.turn + 45)
        at = felt.card("player", position, 1, 0, 1, seats, crossed=False)
        _turned(picture, (at.x + _MARGIN, at.y + _MARGIN), (270, 122), at.turn)
    middle = (_MARGIN + 900, _MARGIN - 40)
    cv2.ellipse(picture, middle, (560, 600), 0, 30, 150, _LINE, 3, cv2.LINE_AA)


def _turned(picture: Picture, centre: tuple[int, int], size: tuple[int, int], turn: float) -> None:
    corners = cv2.boxPoints((centre, size, turn)).astype(np.int32)
    cv2.polylines(picture, [corners], isClosed=True, color=_LINE, thickness=3, lineType=cv2.LINE_AA)


def _furniture(picture: Picture) -> None:
    """The tray with its chips, the shoe and the discard rack."""
    x, y = felt.TRAY[0] + _MARGIN, felt.TRAY[1] + _MARGIN
    cv2.rectangle(picture, (x - 330, y - 62), (x + 330, y + 50), _DARK, cv2.FILLED)
    cv2.rectangle(picture, (x - 330, y - 62), (x + 330, y + 50), _METAL, 5)
    for column, cents in enumerate((10_000, 2_500, 2_500, 500, 500, 500, 500, 100, 100, 100, 100)):
        colour, spots = CHIP_COLOURS[cents]
        left = x - 316 + column * 58
        for row in range(14):
            top = y - 54 + row * 7
            shown = spots if row % 4 == column % 4 else colour
            cv2.rectangle(picture, (left, top), (left + 42, top + 5), shown, cv2.FILLED)
    for (at_x, at_y), colour in ((felt.SHOE, (18, 18, 20)), (felt.RACK, (40, 44, 110))):
        left, top = at_x + _MARGIN - 62, at_y + _MARGIN - 88
        cv2.rectangle(picture, (left + 14, top + 14), (left + 140, top + 172), _DARK, cv2.FILLED)
        cv2.rectangle(picture, (left, top), (left + 124, top + 156), colour, cv2.FILLED)
        cv2.rectangle(picture, (left + 8, top + 8), (left + 116, top + 90), _METAL, 4)


def _lit(picture: NDArray[Any]) -> Picture:
    """Under a lamp: brighter in the middle, darker at the edges of the lens."""
    height, width = picture.shape[:2]
    across, down = np.meshgrid(np.linspace(-1, 1, width), np.linspace(-1, 1, height))
    light = 1.12 - 0.34 * (across**2 + 0.8 * (down - 0.05) ** 2)
    lit: Picture = np.clip(picture * light[:, :, None], 0, 255).astype(np.uint8)
    return lit
