"""The outline of a hand and its sleeve over a simulated table: pure geometry, in millimetres."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ledger.simulate.cameras import felt
from ledger.simulate.cameras.shot_list import DEALER

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from replay.footage.simulated.motion import MovingHand

    Colour = tuple[int, int, int]
    Outline = tuple[NDArray[np.float64], Colour]

ABOVE = 70
"""Millimetres of a hand above the felt."""

# Blue, green, red, as in OpenCV.
_SKIN: tuple[Colour, ...] = (
    (128, 158, 205),
    (92, 120, 168),
    (60, 84, 128),
    (142, 172, 218),
)
_DEALERS: Colour = (28, 26, 28)
_SLEEVES: tuple[Colour, ...] = (
    (110, 70, 40),
    (60, 60, 120),
    (120, 120, 125),
    (50, 90, 60),
    (140, 110, 60),
)
_CUFF: Colour = (225, 225, 228)

# Millimetres from the middle of the palm: along the fingers, and to the right.
_SLEEVE = ((-900, 69), (-70, 46), (-70, -46), (-900, -69))
_WRIST = ((-70, 46), (-54, 46), (-54, -46), (-70, -46))
_PALM = ((-56, 32), (0, 44), (34, 44), (34, -44), (0, -44), (-56, -32))
_THUMB = ((-20, 44), (26, 70), (34, 58), (12, 44))
_FINGERS = tuple(
    ((28, at + 12), (28 + long, at + 8), (28 + long, at - 8), (28, at - 12))
    for at, long in ((-34.5, 50), (-11.5, 62), (11.5, 62), (34.5, 50))
)
_TIP = 104  # from the middle of the palm to the place that is reached for


def outlines(hand: MovingHand, seats: int) -> list[Outline]:
    """What a hand is drawn of, the lower first: each an outline and its colour."""
    home = felt.DEALER_AT if hand.who == DEALER else felt.seat(hand.who, seats)[:2]
    along = np.array([hand.x - home[0], hand.y - home[1]], dtype=float)
    length = float(np.linalg.norm(along))
    along = along / length if length > 1 else np.array([0.0, 1.0 if hand.who == DEALER else -1.0])
    turn = np.stack([along, [-along[1], along[0]]])
    palm = np.array([hand.x, hand.y]) - along * _TIP
    skin = _SKIN[hand.who % len(_SKIN)]
    sleeve = _DEALERS if hand.who == DEALER else _SLEEVES[hand.who % len(_SLEEVES)]
    lower = ((_SLEEVE, sleeve), (_WRIST, _CUFF), (_PALM, skin), (_THUMB, skin))
    parts = (*lower, *((finger, skin) for finger in _FINGERS))
    return [(palm + np.array(points) @ turn, colour) for points, colour in parts]
