"""Paints a simulated camera's pictures: the still table once a shot, then what moves over it.

The same plan, shots and capture give the same picture.
"""

from __future__ import annotations

from math import cos, radians, sin
from typing import TYPE_CHECKING, Any

import cv2
import numpy as np

from ledger.simulate.cameras import felt
from ledger.simulate.cameras.shot_list import CameraPlan, ChipPile, LyingCard, LyingDie
from replay.footage.decoding.timecode import STRIP_HEIGHT, Timecode, draw_strip
from replay.footage.simulated.felt_picture import felt_picture
from replay.footage.simulated.hands import ABOVE, outlines
from replay.footage.simulated.motion import table_at
from replay.footage.simulated.sprites import chip_sprite, shadow_sprite, sprite_of
from replay.footage.simulated.view import lens
from replay.text.times import date_and_time

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from ledger.simulate.cameras.shot_list import Piece, Shot, ShotList
    from replay.footage.simulated.motion import MovingHand
    from replay.footage.simulated.sprites import Sprite

    Picture = NDArray[Any]
    """Eight bits a colour; OpenCV's own types are wider."""

SIZE, STRIP_SIZE = (1280, 720), (480, 270)
"""Width and height of a picture, and of one with a strip."""

_NOISES, _DIM, _NOISE = 6, 6, 2.2  # pictures of noise in turn; its mean and standard deviation
_FONT = cv2.FontFace("sans")
_COVERED = (26, 30, 34)


class Painter:
    """The pictures of one camera."""

    def __init__(self, shot_list: ShotList, size: tuple[int, int] | None = None) -> None:
        self.plan: CameraPlan = shot_list.plan
        self.shots: Sequence[Shot] = shot_list.shots
        self.starts = [shot.at_us for shot in self.shots]
        self.size = size or (STRIP_SIZE if self.plan.strip else SIZE)
        chance = np.random.default_rng(self.plan.seed)
        shape = (self.size[1], self.size[0], 3)
        self.noise = [
            np.clip(chance.normal(_DIM, _NOISE, shape), 0, 2 * _DIM).astype(np.uint8)
            for _ in range(0 if self.plan.strip else _NOISES)
        ]
        self.knocked: bool | None = None
        self.drawn = (-2, False)

    def picture(self, true_us: int, clock_ms: int, capture: int) -> Picture:
        """The picture of a capture."""
        on = {each.kind for each in self.plan.faults if each.from_us <= true_us < each.to_us}
        if "blocked" in on:
            picture = self._covered()
        else:
            picture = self._table(true_us, knocked="moved" in on)
        if self.noise:
            picture = cv2.add(picture, self.noise[capture % len(self.noise)])
        self._overlay(picture, clock_ms)
        if self.plan.strip:
            draw_strip(picture, Timecode(clock_ms, capture))
        return picture

    def _covered(self) -> Picture:
        """A lens with a cloth over it: dark, with no edge in it."""
        down = np.linspace(0.7, 1.3, self.size[1])[:, None, None]
        rows: Picture = (np.array(_COVERED) * down).astype(np.uint8)
        return np.ascontiguousarray(np.broadcast_to(rows, (self.size[1], self.size[0], 3)))

    def _table(self, true_us: int, *, knocked: bool) -> Picture:
        if knocked != self.knocked:
            self.knocked = knocked
            self.lens = lens(self.plan.view, *self.size, knocked=knocked)
            self.empty = felt_picture(
                self.lens, self.size, self.plan.seats, self.plan.boxes, plain=self.plan.strip
            )
        now = table_at(self.shots, self.starts, true_us, self.plan.seats)
        if self.drawn != (now.shot, knocked):
            self.drawn = (now.shot, knocked)
            self.still = self._still(self.shots[now.shot] if now.shot >= 0 else None)
        picture = self.still.copy()
        for piece in now.moving:
            self._lay(picture, piece)
        for hand in now.hands:
            self._hand(picture, hand)
        return picture

    def _still(self, shot: Shot | None) -> Picture:
        picture = self.empty.copy()
        for piece in shot.pieces if shot else ():
            self._lay(picture, piece)
        if self.plan.strip:
            return picture
        blurred: Picture = cv2.GaussianBlur(picture, (3, 3), 0.55 * self.size[0] / SIZE[0])
        return blurred

    # -- pieces ------------------------------------------------------------------------------

    def _lay(self, picture: Picture, piece: Piece) -> None:
        """Lay a piece and its shadow on the felt."""
        if not isinstance(piece, ChipPile):
            turn = piece.turn if isinstance(piece, (LyingCard, LyingDie)) else 0
            self._put(picture, sprite_of(piece), (piece.x, piece.y), turn)
            return
        for number, cents in enumerate(felt.chips_of(piece.cents)[:24]):
            at = (piece.x, piece.y + number * felt.SPREAD)
            self._put(picture, chip_sprite(cents), at, 0, lifted=number * 1.5)

    def _put(
        self,
        picture: Picture,
        sprite: Sprite,
        at: tuple[float, float],
        turn: float,
        lifted: float = 0,
    ) -> None:
        high, wide = sprite.shape[:2]
        self._blend(picture, shadow_sprite(high, wide), (at[0] + 5, at[1] + 7), turn, 0)
        self._blend(picture, sprite, at, turn, lifted)

    def _blend(
        self,
        picture: Picture,
        sprite: Sprite,
        at: tuple[float, float],
        turn: float,
        z: float,
    ) -> None:
        """Blend a drawing into the picture, seen through the lens."""
        high, wide = sprite.shape[:2]
        c, s = cos(radians(turn)), sin(radians(turn))
        ends = ((-1, -1), (1, -1), (1, 1), (-1, 1))
        half = [(x * wide / 2, y * high / 2) for x, y in ends]
        places = [(at[0] + x * c - y * s, at[1] + x * s + y * c) for x, y in half]
        corners = self.lens.pixels(places, z)
        left, top = np.floor(corners.min(axis=0)).astype(int) - 1
        right, bottom = np.ceil(corners.max(axis=0)).astype(int) + 2
        if left < 0 or top < 0 or right > self.size[0] or bottom > self.size[1]:
            return  # partly out of the picture: too little to see
        source = np.array([(0, 0), (wide, 0), (wide, high), (0, high)], dtype=np.float32)
        goal = (corners - (left, top)).astype(np.float32)
        seen = cv2.warpPerspective(
            sprite, cv2.getPerspectiveTransform(source, goal), (right - left, bottom - top),
            flags=cv2.INTER_AREA if self.plan.strip else cv2.INTER_LINEAR,
        )  # fmt: skip
        part = picture[top:bottom, left:right]
        part[:] = part * (1 - seen[:, :, 3:]) + seen[:, :, :3]

    # -- hands -------------------------------------------------------------------------------

    def _hand(self, picture: Picture, hand: MovingHand) -> None:
        """A hand with a soft edge, and its shadow on what lies below."""
        drawn = outlines(hand, self.plan.seats)
        self._outlines(picture, [(self.lens.pixels(each, ABOVE), tint) for each, tint in drawn])

    def _outlines(
        self, picture: Picture, drawn: list[tuple[NDArray[np.float64], tuple[int, int, int]]]
    ) -> None:
        every = np.concatenate([points for points, _ in drawn])
        left, top = np.maximum(np.floor(every.min(axis=0)).astype(int) - 26, 0)
        right, bottom = np.minimum(np.ceil(every.max(axis=0)).astype(int) + 26, self.size)
        if right - left < 2 or bottom - top < 2:  # noqa: PLR2004 - out of the picture
            return
        part = picture[top:bottom, left:right]
        colours = np.zeros_like(part)
        mask = np.zeros(part.shape[:2], dtype=np.uint8)
        for points, colour in drawn:
            polygon = np.round((points - (left, top)) * 8).astype(np.int32)
            cv2.fillPoly(colours, [polygon], colour, cv2.LINE_AA, 3)
            cv2.fillPoly(mask, [polygon], 255, cv2.LINE_AA, 3)
        scale = self.size[0] / SIZE[0]
        shadow = cv2.GaussianBlur(mask, (0, 0), max(8 * scale, 1))
        moved = np.array([[1, 0, 14 * scale], [0, 1, 20 * scale]], dtype=np.float32)
        shadow = cv2.warpAffine(shadow, moved, (right - left, bottom - top))
        soft = cv2.blur(mask, (3, 3)).astype(np.float32)[:, :, None] / 255
        dark = part * (1 - shadow.astype(np.float32)[:, :, None] * (0.5 / 255))
        part[:] = dark * (1 - soft) + cv2.blur(colours, (3, 3)) * soft

    # -- the overlay -------------------------------------------------------------------------

    def _overlay(self, picture: Picture, clock_ms: int) -> None:
        """The camera's name and clock."""
        wide, high = self.size
        size = 13 if self.plan.strip else 26
        foot = high - (STRIP_HEIGHT + 6 if self.plan.strip else 16)
        shown = date_and_time(clock_ms * 1000).replace("T", "  ")
        for text, (x, y) in ((self.plan.camera, (10, size + 8)), (shown, (10, foot))):
            reach = cv2.getTextSize(self.size, text, (x, y), _FONT, size, 600)[2]
            picture[y - size : y + size // 3, x - 6 : min(reach + 6, wide)] //= 4
            cv2.putText(picture, text, (x, y), (245, 245, 245), _FONT, size, 600)
