"""Reads a simulated camera's film by eye: cards and chips, from the picture and nothing else.

It knows what cards and chips look like and how the camera hangs, as a person who watches it does.
"""

from __future__ import annotations

from collections import Counter
from functools import cache
from itertools import pairwise
from math import cos, hypot, radians, sin
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
    from collections.abc import Iterable, Iterator, Mapping
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
PILE_MOST = 24
PAPER_MIN = 110  # of a card's upper edge
BONUSES = {"three_card_poker": ("ante_bonus",)}
"""What a game pays without a wager of its own."""

Holder = tuple[str, int | None]

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


def read_round(
    pictures: Iterable[Picture], table: TablePlan, hands: Mapping[str, tuple[int, ...]]
) -> Read:
    """Watch a round of cards to its end. hands: how many cards each kind of holder may have."""
    layout = Felt(table)
    held: dict[Holder, Counter[tuple[str, ...]]] = {}
    piles: dict[tuple[int, str], Counter[int]] = {}
    wagers = [*(wager.id for wager in games()[table.game].wagers), *BONUSES.get(table.game, ())]
    spots = [(seat, wager) for seat in range(1, table.seats + 1) for wager in wagers]
    for picture in pictures:
        for holder, counts in _holders(table, hands):
            cards = next(filter(None, (_hand_at(picture, table, holder, n) for n in counts)), None)
            if cards:
                held.setdefault(holder, Counter())[cards] += 1
        for spot in spots:
            cents = pile_at(picture, felt.paid(layout.spot((*spot, 1))))
            if cents:
                piles.setdefault(spot, Counter())[cents] += 1
    paid = {spot: seen.most_common(1)[0] for spot, seen in piles.items()}
    faces = {holder: _last(seen) for holder, seen in held.items()}
    return Read(
        {holder: each for holder, each in faces.items() if each},
        {spot: cents for spot, (cents, times) in paid.items() if times >= SEEN_MIN},
    )


def _last(seen: Counter[tuple[str, ...]]) -> tuple[str, ...]:
    """The faces of a hand as it was at last: with the most of them up."""
    sure = [cards for cards, times in seen.items() if times >= SEEN_MIN]
    known = [tuple(each for each in cards if each != UNKNOWN_CARD) for cards in sure]
    return max(known, key=len, default=())


def _holders(
    table: TablePlan, hands: Mapping[str, tuple[int, ...]]
) -> Iterator[tuple[Holder, tuple[int, ...]]]:
    for to, counts in hands.items():
        for seat in range(1, table.seats + 1) if to == "player" else (None,):
            yield (to, seat), counts


def _hand_at(
    picture: Picture, table: TablePlan, holder: Holder, count: int
) -> tuple[str, ...] | None:
    """The faces of a hand, if it lies there with so many cards; the left ones are half covered."""
    crossed = table.game == "criss_cross_poker"
    places = [
        felt.card(*holder, 1, index, count, table.seats, crossed=crossed) for index in range(count)
    ]
    apart = [hypot(here.x - there.x, here.y - there.y) for here, there in pairwise(places)]
    found = []
    for place, step in zip(places, (*apart, felt.CARD_W), strict=True):
        card = card_at(picture, place, felt.CARD_W if step >= felt.CARD_W else int(step) - 2)
        if card is None:
            return None
        found.append(card)
    return tuple(found)


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


def card_at(picture: Picture, place: FeltPlace, wide: int = felt.CARD_W) -> str | None:
    """The face or back of the card at a place, if one lies there. wide: how much of it is seen."""
    seen = patch(picture, place, felt.CARD_W, felt.CARD_H)[:, :wide]
    if seen[3:8, 8 : min(wide - 4, 72)].mean() < PAPER_MIN:
        return None
    cards, faces = _faces(wide)
    level = (seen - seen.mean(axis=(0, 1))).ravel()
    alike = faces @ (level / max(float(np.linalg.norm(level)), 1))
    best = int(alike.argmax())
    return cards[best] if alike[best] > CARD_SURE else None


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
def _faces(wide: int) -> tuple[tuple[str, ...], NDArray[np.float64]]:
    """Each face as a camera would see so much of it, and the back: as rows of length 1."""
    cards, rows = (*DECK, UNKNOWN_CARD), []
    for card in cards:
        face = cv2.GaussianBlur(card_sprite(card)[:, :, :3], (3, 3), 0.8).astype(float)[:, :wide]
        level = (face - face.mean(axis=(0, 1))).ravel()
        rows.append(level / np.linalg.norm(level))
    return cards, np.stack(rows)


@cache
def _chips() -> dict[int, Patch]:
    """Each chip on the felt under the lamp, by its cents."""
    found = {}
    for cents in CHIP_COLOURS:
        sprite = cv2.GaussianBlur(chip_sprite(cents), (3, 3), 0.8).astype(float)
        below = np.array([62.0, 96.0, 22.0]) * (1 - sprite[:, :, 3:])
        found[cents] = np.clip((sprite[:, :, :3] + below) * _LIGHT, 0, 255)
    return found
