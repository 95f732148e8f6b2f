"""A film drawn with a camera's fault shows it, in pictures decoded from the file."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import cv2
import numpy as np
import pytest
from msgspec.structs import replace

from ledger.simulate import CAMERA_FAULTS, FilmedWindow, plan_of, read_shots, write
from ledger.simulate.cameras.cameras import WRONG_CLOCK_US
from ledger.simulate.floor_files import shot_lists
from ledger.values import parse_time
from replay.footage.decoding.timecode import STRIP_HEIGHT, read_timecode
from replay.footage.simulated.camera import draw
from tests.footage.film_reader import pictures_of

if TYPE_CHECKING:
    from pathlib import Path

    from numpy.typing import NDArray

    from ledger.simulate import Plan
    from ledger.simulate.cameras.shot_list import CameraPlan

    Picture = NDArray[np.uint8]

S = 1_000_000
CAMERA, LENGTH_US = "CC-01-cam1", 12 * S
OVERLAY = 40  # pixels
SAME_MAX, MOVED_MIN = 0.01, 0.2  # shares of a picture


class Film(NamedTuple):
    """A drawn film: when it starts by its fact, its pictures, and the clock drawn in each."""

    start_us: int
    pictures: list[Picture]
    clock_ms: list[int]


def film(folder: Path, *faults: str) -> Film:
    """Twelve seconds of play at a table, on one file, with faults of its camera."""
    plan = plan_of(tables=1, minutes=12, seed=4, mistakes={}, of=("criss_cross_poker",))
    from_us = plan.opens_us + 364 * S
    window = FilmedWindow("CC-01", from_us, from_us + LENGTH_US)
    written = write(plan, folder, film=[window], strip=True, faults={CAMERA: faults})
    shots = read_shots(written.shots[0])
    whole = replace(shots.plan, gap=None, segment_us=2 * LENGTH_US, dropped_permille=0)
    [drawn] = draw(replace(shots, plan=whole), folder)
    pictures = list(pictures_of([folder / drawn.fact.path]))
    codes = [code.clock_ms for code in map(read_timecode, pictures) if code]
    assert len(codes) == len(pictures) == drawn.fact.frames
    start_us = parse_time(drawn.fact.start)
    assert start_us is not None
    return Film(start_us, pictures, codes)


@pytest.fixture(scope="module")
def well(tmp_path_factory: pytest.TempPathFactory) -> Film:
    return film(tmp_path_factory.mktemp("well"))


def apart(one: Picture, other: Picture) -> float:
    """The share of the table's picture, without overlay and strip, that differs by eye."""
    rows = slice(OVERLAY, -OVERLAY - STRIP_HEIGHT)
    return float((np.abs(one[rows].astype(int) - other[rows]).max(axis=2) > 40).mean())


def detail(picture: Picture) -> float:
    """How much of a table is seen: the variance of the picture's edges."""
    rows = slice(OVERLAY, -OVERLAY - STRIP_HEIGHT)
    return float(cv2.Laplacian(picture[rows], cv2.CV_64F).var())


def rest(film: Film) -> list[int]:
    """The pictures of the first and the last third."""
    inside = range(middle(film).start - 2, middle(film).stop + 2)
    return [each for each in range(len(film.pictures)) if each not in inside]


def middle(film: Film) -> range:
    """The pictures of the middle third, without those at its borders."""
    third = len(film.pictures) // 3
    return range(third + 2, 2 * third - 2)


@pytest.mark.long
def test_a_film_without_a_fault_runs_on(well: Film) -> None:
    assert well.clock_ms == sorted(set(well.clock_ms))
    assert well.start_us // 1000 == well.clock_ms[0]


@pytest.mark.long
@pytest.mark.parametrize("fault", ["blocked", "moved", "frozen"])
def test_a_fault_of_the_picture_is_seen_in_the_middle_third(
    well: Film, tmp_path: Path, fault: str
) -> None:
    bad = film(tmp_path, fault)
    assert len(bad.pictures) == len(well.pictures)
    for number in rest(bad):
        assert apart(bad.pictures[number], well.pictures[number]) < SAME_MAX
        assert bad.clock_ms[number] == well.clock_ms[number]
    shown = [bad.pictures[number] for number in middle(bad)]
    usual = [well.pictures[number] for number in middle(bad)]
    if fault == "blocked":
        assert max(detail(each) for each in shown) < min(detail(each) for each in usual) / 20
    elif fault == "moved":
        assert min(apart(*pair) for pair in zip(shown, usual, strict=True)) > MOVED_MIN
        assert min(detail(each) for each in shown) > min(detail(each) for each in usual) / 2
    else:
        assert max(apart(each, shown[0]) for each in shown) < SAME_MAX
        assert max(apart(each, usual[0]) for each in usual) > SAME_MAX
    stands = len({bad.clock_ms[number] for number in middle(bad)}) == 1
    assert stands == (fault == "frozen"), "a frozen camera's clock stands with its picture"


@pytest.mark.long
def test_a_wrong_clock_is_in_overlay_and_file_and_the_picture_is_sound(
    well: Film, tmp_path: Path
) -> None:
    bad = film(tmp_path, "clock")
    ahead_ms = WRONG_CLOCK_US // 1000
    assert [each - ahead_ms for each in bad.clock_ms] == well.clock_ms
    assert bad.start_us - WRONG_CLOCK_US == well.start_us
    pairs = zip(bad.pictures, well.pictures, strict=True)
    assert max(apart(*pair) for pair in pairs) < SAME_MAX


def test_every_fault_goes_to_the_camera_that_is_named() -> None:
    plan = plan_of(tables=1, minutes=12, seed=4, mistakes={}, of=("three_dice_football",))
    first, second = plans(plan, {"TDF-01-cam2": CAMERA_FAULTS})
    assert first == plans(plan, {})[0]
    assert [each.kind for each in second.faults] == ["blocked", "moved", "frozen"]
    assert second.offset_us == plans(plan, {})[1].offset_us + WRONG_CLOCK_US


def plans(plan: Plan, faults: dict[str, tuple[str, ...]]) -> list[CameraPlan]:
    """The plans of a table's two cameras."""
    table = plan.tables[0].table
    window = FilmedWindow(table, plan.opens_us, plan.opens_us + LENGTH_US)
    lists = shot_lists(plan, {table: []}, [window], cameras_max=2, faults=faults)
    return [each.plan for each in lists]
