"""Reads a simulated camera's film by eye: cards and chips, from the picture and nothing else.

It knows what cards and chips look like and how the camera hangs, as a person who watches it does.
"""

from __future__ import annotations

from collections import Counter
from functools import cache
from math import cos, radians, sin
from typing import TYPE_CHECKING, NamedTuple

import cv2
import numpy as np

from ledger.games import games
from ledger.simulate.cameras import felt
from ledger.simulate.cameras.scenes import Felt
from ledger.values import UNKNOWN_CARD
from replay.footage.simulated.sprites import CHIP_COLOURS, card_sprite, chip_sprite
from replay.footage.simulated.view import lens

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from pathlib import Path

    from numpy.typing import NDArray

    from ledger.simulate.cameras.felt import FeltPlace
    from ledger.simulate.cameras.shot_list import View
    from ledger.simulate.plan import TablePlan

    Picture = NDArray[np.uint8]
    Patch = NDArray[np.float64]

DECK = tuple(rank + suit for rank in "23456789TJQKA" for suit in "cdhs")
CARD_SURE, CHIP_SURE = 0.6, 2_600.0  # correlation at least; mean squared difference at most
SEEN_MIN = 3  # pictures that must agree
PILE_MOST = 14
_LIGHT = 1.06  # of the lamp over the wagers


class Read(NamedTuple):
    """What the film of a round shows."""

    cards: dict[tuple[str, int | None], tuple[str, ...]]  # faces by holder
    paid: dict[tuple[int, str], int]  # cents by position and wager


def pictures_of(paths: Iterable[Path]) -> Iterator[Picture]:
    """The pictures of files, in order."""
    for path in paths:
        film = cv2.VideoCapture(str(path))
        read, picture = film.read()
        while read:
            yield picture
            read, picture = film.read()


def read_round(pictures: Iterable[Picture], table: TablePlan, hole: int) -> Read:
    """Watch a round of cards to its end. hole: the cards that each player holds."""
    layout = Felt(table)
    faces: dict[tuple[str, int | None, int], Counter[str]] = {}
    piles: dict[tuple[int, str], Counter[int]] = {}
    held = _card_places(table, hole)
    spots = [
        (seat, wager.id)
        for seat in range(1, table.seats + 1)
        for wager in games()[table.game].wagers
    ]
    for picture in pictures:
        for key, place in held.items():
            card = card_at(picture, place)
            if card:
                faces.setdefault(key, Counter())[card] += 1
        for spot in spots:
            cents = pile_at(picture, felt.paid(layout.spot((*spot, 1))))
            if cents:
                piles.setdefault(spot, Counter())[cents] += 1
    cards: dict[tuple[str, int | None], list[str]] = {}
    for (to, seat, _), seen in sorted(faces.items(), key=lambda each: (each[0][1] or 0, each[0])):
        [(card, times)] = seen.most_common(1)
        if times >= SEEN_MIN:
            cards.setdefault((to, seat), []).append(card)
    paid = {spot: seen.most_common(1)[0] for spot, seen in piles.items()}
    return Read(
        {holder: tuple(each) for holder, each in cards.items()},
        {spot: cents for spot, (cents, times) in paid.items() if times >= SEEN_MIN},
    )


def _card_places(table: TablePlan, hole: int) -> dict[tuple[str, int | None, int], FeltPlace]:
    found: dict[tuple[str, int | None, int], FeltPlace] = {}
    for index in range(5):
        found["community", None, index] = felt.card(
            "community", None, 1, index, 5, table.seats, crossed=True
        )
    for seat in range(1, table.seats + 1):
        for index in range(hole):
            found["player", seat, index] = felt.card(
                "player", seat, 1, index, hole, table.seats, crossed=True
            )
    return found


@cache
def _pixels(view: View, place: FeltPlace, wide: int, high: int, z: float) -> NDArray[np.float32]:
    """The pixels of a piece of the felt, one a millimetre."""
    across, down = np.meshgrid(np.arange(wide) - (wide - 1) / 2, np.arange(high) - (high - 1) / 2)
    c, s = cos(radians(place.turn)), sin(radians(place.turn))
    places = np.column_stack(
        [(place.x + across * c - down * s).ravel(), (place.y + across * s + down * c).ravel()]
    )
    return lens(view, 1280, 720).pixels(places, z).astype(np.float32).reshape(high, wide, 2)


def patch(picture: Picture, place: FeltPlace, wide: int, high: int, z: float = 0) -> Patch:
    """A piece of the felt as if seen from straight above."""
    pixels = _pixels("table", place, wide, high, z)
    return cv2.remap(picture, pixels[..., 0], pixels[..., 1], cv2.INTER_LINEAR).astype(float)


def card_at(picture: Picture, place: FeltPlace) -> str | None:
    """The face of the card that lies at a place, if one does."""
    seen = patch(picture, place, felt.CARD_W, felt.CARD_H)
    if seen[4:20, 56:76].mean() < 110:
        return None
    seen -= seen.mean(axis=(0, 1))
    norm = np.linalg.norm(seen)
    alike = {card: float((seen * face).sum() / (norm * length)) for card, face, length in _faces()}
    best = max(alike, key=lambda card: alike[card])
    return best if alike[best] > CARD_SURE and best != UNKNOWN_CARD else None


def pile_at(picture: Picture, place: FeltPlace) -> int:
    """The sum of the chips at a place: each shows its upper edge, the last one all of it."""
    total = 0
    for number in range(PILE_MOST):
        at = place._replace(y=place.y + number * felt.SPREAD, turn=0)
        chip = patch(picture, at, felt.CHIP, felt.CHIP, number * 1.5)
        edge = chip[: felt.SPREAD, 12:34]
        off = {
            cents: float(((edge - colour[: felt.SPREAD, 12:34]) ** 2).mean())
            for cents, colour in _chips().items()
        }
        best = min(off, key=lambda cents: off[cents])
        if off[best] > CHIP_SURE:
            break
        total += best
    return total


@cache
def _faces() -> tuple[tuple[str, Patch, float], ...]:
    """Each face as a camera would see it, and how strong it is."""
    found = []
    for card in (*DECK, UNKNOWN_CARD):
        face = cv2.GaussianBlur(card_sprite(card)[:, :, :3], (3, 3), 0.8).astype(float)
        face -= face.mean(axis=(0, 1))
        found.append((card, face, float(np.linalg.norm(face))))
    return tuple(found)


@cache
def _chips() -> dict[int, Patch]:
    """Each chip on the felt under the lamp, by its cents."""
    found = {}
    for cents in CHIP_COLOURS:
        sprite = cv2.GaussianBlur(chip_sprite(cents), (3, 3), 0.8).astype(float)
        below = np.array([62.0, 96.0, 22.0]) * (1 - sprite[:, :, 3:])
        found[cents] = np.clip((sprite[:, :, :3] + below) * _LIGHT, 0, 255)
    return found
