"""The place of a simulated camera, and what its lens makes of a place on the felt.

A pinhole camera with a lens that bends straight lines outwards (ADR 0235).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from ledger.simulate.cameras.shot_list import View

    Points = NDArray[np.float64]

WIDE = 1280
"""The width that the focal lengths below are for."""


class Hanging(NamedTuple):
    """A camera's place and what it looks at, millimetres; z is above the felt."""

    eye: tuple[int, int, int]
    look: tuple[int, int]
    focal: int  # pixels
    bend: float  # of the lens, for a point at the distance of half the width


HANGING: dict[View, Hanging] = {
    "table": Hanging((960, 1320, 1900), (900, 455), 1350, -0.035),
    "end_left": Hanging((-120, 1150, 1500), (720, 480), 1180, -0.045),
    "end_right": Hanging((1920, 1150, 1500), (1080, 480), 1180, -0.045),
}

KNOCKED = (-260, 170)
"""How far a moved camera's look is off."""


class Lens(NamedTuple):
    """A camera's view as numbers: what turns a place on the felt into a place in the picture."""

    turn: NDArray[np.float64]  # three rows: right, down, away
    eye: NDArray[np.float64]
    focal: float
    centre: tuple[float, float]
    bend: float
    reach: float  # half the width

    def pixels(self, places: Sequence[tuple[float, float]] | Points, z: float = 0) -> Points:
        """The pixels of places on the felt, or above it by z."""
        flat = np.asarray(places, dtype=float)
        points = np.column_stack([flat, np.full(len(flat), float(z))]) - self.eye
        right, down, away = (points @ self.turn.T).T
        seen = np.column_stack([right / away, down / away]) * self.focal
        far = (seen**2).sum(axis=1, keepdims=True) / self.reach**2
        bent: Points = seen * (1 + self.bend * far) + self.centre
        return bent

    def places(self, pixels: Points) -> Points:
        """Which places on the felt lie at these pixels."""
        bent = (pixels - self.centre).astype(float)
        seen = bent.copy()
        for _ in range(4):
            far = (seen**2).sum(axis=1, keepdims=True) / self.reach**2
            seen = bent / (1 + self.bend * far)
        rays = np.column_stack([seen / self.focal, np.ones(len(seen))]) @ self.turn
        down = np.minimum(rays[:, 2:], -1e-6)
        ground: Points = self.eye[:2] - rays[:, :2] * self.eye[2] / down
        return ground


def lens(view: View, width: int, height: int, *, knocked: bool = False) -> Lens:
    """The lens of a view for a picture of this size; knocked: the camera was moved."""
    eye_at, look, focal, bend = HANGING[view]
    aim = np.array([*look, 0.0]) + ([*KNOCKED, 0.0] if knocked else [0.0, 0.0, 0.0])
    eye = np.array(eye_at, dtype=float)
    away = (aim - eye) / np.linalg.norm(aim - eye)
    right = np.cross(away, [0.0, 0.0, 1.0])
    right /= np.linalg.norm(right)
    if right[0] < 0:
        right = -right
    down = np.cross(away, right)
    if down[1] < 0:
        down = -down
    scale = width / WIDE
    return Lens(
        np.stack([right, down, away]), eye, focal * scale, (width / 2, height / 2), bend, width / 2
    )
