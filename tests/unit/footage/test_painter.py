"""The pictures of simulated cameras: repeatable, each camera's own, with its faults."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

import numpy as np
import pytest

from ledger.simulate.cameras import felt
from ledger.simulate.cameras.shot_list import (
    DEALER,
    CameraFault,
    CameraPlan,
    ChipPile,
    LyingCard,
    LyingDie,
    Puck,
    Reach,
    Shot,
    ShotList,
)
from replay.footage.decoding.timecode import Timecode, read_timecode
from replay.footage.simulated.camera import _captures, _pictures
from replay.footage.simulated.motion import REACH_US, changed, table_at
from replay.footage.simulated.painter import Painter
from replay.footage.simulated.sprites import CHIP_COLOURS, card_sprite
from replay.footage.simulated.view import HANGING, lens

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Picture = NDArray[np.uint8]

S = 1_000_000
START = 1_795_000_000 * S
SMALL = (480, 270)
DEALT = Shot(START + S, (LyingCard("As", 900, 300),), reach=Reach(DEALER, 900, 300))
PAID = Shot(START + 3 * S, DEALT.cards, (ChipPile(3500, 800, 600),), reach=Reach(DEALER, 800, 600))


def plan(**told: object) -> CameraPlan:
    fixed = {"camera": "CC-07-A", "table": "CC-07", "from_us": START, "to_us": START + 8 * S}
    return CameraPlan(**{**fixed, **told})  # type: ignore[arg-type]  # fields by name


@cache
def painter(*shots: Shot, size: tuple[int, int] | None = SMALL, **told: object) -> Painter:
    return Painter(ShotList(plan(**told), shots or (Shot(START), DEALT, PAID)), size)


def seen(at_s: float, *shots: Shot, **told: object) -> Picture:
    at_us = START + round(at_s * S)
    return painter(*shots, **told).picture(at_us, at_us // 1000, 7)


def apart(one: Picture, other: Picture) -> float:
    """The share of the picture, without the overlay, that differs by more than its noise."""
    rows = slice(30, -40)
    return float((np.abs(one[rows].astype(int) - other[rows]).max(axis=2) > 30).mean())


def test_the_same_capture_is_the_same_picture_and_another_seed_has_other_noise() -> None:
    again = Painter(ShotList(plan(), (Shot(START), DEALT, PAID)), SMALL)
    at_us = START + 2 * S
    assert np.array_equal(again.picture(at_us, at_us // 1000, 7), seen(2))
    other = seen(2, seed=5)
    assert not np.array_equal(other, seen(2))
    assert apart(other, seen(2)) < 0.001


def test_each_camera_has_its_own_view_of_one_table() -> None:
    pictures = [seen(2, view=view) for view in HANGING]
    for number, one in enumerate(pictures):
        for other in pictures[:number]:
            assert apart(one, other) > 0.2


def test_a_place_seen_through_a_lens_is_found_again_from_its_pixel() -> None:
    for view in HANGING:
        through = lens(view, 1280, 720)
        places = np.array([(300.0, 200.0), (900.0, 500.0), (1500.0, 700.0)])
        assert np.abs(through.places(through.pixels(places)) - places).max() < 2


def test_a_hand_brings_a_card_out_of_the_shoe_and_draws_back() -> None:
    shots = (Shot(START), DEALT, PAID)
    starts = [each.at_us for each in shots]
    on_the_way = table_at(shots, starts, START + S - REACH_US // 2, 5)
    assert (on_the_way.shot, len(on_the_way.hands)) == (0, 1)
    [card] = on_the_way.moving
    assert felt.SHOE[0] > card.x > 900
    there = table_at(shots, starts, START + S, 5)
    assert (there.shot, there.moving, there.hands[0][1:]) == (1, (), (900, 300))
    assert table_at(shots, starts, START + 2 * S, 5) == (1, (), ())
    assert apart(seen(1), seen(2)) > 0.01  # the hand itself


def test_a_card_turned_over_or_making_room_is_not_taken_away() -> None:
    down = Shot(0, (LyingCard("??", 900, 300),))
    assert changed(down, Shot(1, (LyingCard("As", 900, 300),))) == ([], [])
    room = Shot(1, (LyingCard("??", 880, 300), LyingCard("??", 960, 300)))
    came, went = changed(down, room)
    assert (len(came), went) == (1, [])
    assert changed(room, Shot(2)) == ([], list(room.cards))


def test_every_kind_of_thing_on_a_table_is_drawn() -> None:
    things = [
        Shot(START),
        Shot(START, (LyingCard("Jk", 900, 400),)),
        Shot(START, (LyingCard("Td", 900, 400),)),
        Shot(START, (LyingCard("??", 900, 400),)),
        *(Shot(START, piles=(ChipPile(cents, 900, 400),)) for cents in CHIP_COLOURS),
        *(Shot(START, dice=(LyingDie(die, 900, 400),)) for die in range(1, 7)),
        Shot(START, pucks=(Puck(2, 900, 400),)),
    ]
    seen(0)  # opens the lens
    pictures = {painter()._still(each).tobytes() for each in things}
    assert len(pictures) == len(things)
    deck = [rank + suit for rank in "23456789TJQKA" for suit in "cdhs"]
    assert len({card_sprite(card).tobytes() for card in deck}) == 52


@pytest.mark.parametrize("kind", ["blocked", "moved", "frozen"])
def test_a_fault_is_seen_while_it_lasts_and_not_after_it(kind: str) -> None:
    fault = CameraFault(kind, START + 2 * S, START + 5 * S)  # type: ignore[arg-type]  # one of three
    told = {"dropped_permille": 0, "jitter_us": 0}
    good, bad = (
        Painter(ShotList(plan(**told, faults=faults), (Shot(START), DEALT, PAID)), SMALL)
        for faults in ((), (fault,))
    )
    captures = list(_captures(good.plan))
    pictures = [list(_pictures(each, captures)) for each in (good, bad)]
    for capture, right, wrong in zip(captures, *pictures, strict=True):
        at_us = capture.true_us
        if not fault.from_us <= at_us < fault.to_us:
            assert np.array_equal(right, wrong)
        elif kind == "frozen":
            assert np.array_equal(wrong, pictures[1][20])
        else:
            assert apart(right, wrong) > 0.2


def test_a_strip_is_drawn_only_where_it_is_asked_for() -> None:
    clock_ms = (START + 2 * S) // 1000
    assert read_timecode(seen(2, size=None, strip=True)) == Timecode(clock_ms, 7)
    assert read_timecode(seen(2)) is None
    assert seen(2, size=None).shape == (720, 1280, 3)
