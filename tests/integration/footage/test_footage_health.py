"""Pictures that are dark, still, blurred or moved, in real files; and healthy ones beside them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import cv2
import numpy as np
import pytest

from replay.cameras.health import TimedPicture, picture_faults
from replay.footage.decoding.decoder import sha256_of
from replay.footage.decoding.reader import index
from replay.footage.decoding.sampling import Look, look
from tests.footage.video_kinds import HEIGHT, KINDS, WIDTH, write

if TYPE_CHECKING:
    from pathlib import Path

    from numpy.typing import NDArray

    from replay.cameras.health import Ailing

Picture = "NDArray[np.uint8]"
S = 1_000_000
KIND = KINDS["gop60"]._replace(options=KINDS["gop60"].options | {"g": "30", "crf": "28"})
FINE = KIND._replace(options=KIND.options | {"crf": "16"})
BUSY = tuple(range(0, 60 * S, S // 2))


def table(seed: int = 0) -> NDArray[np.uint8]:
    """A table from above: felt with a weave, printed lines, cards and chips."""
    chance = np.random.default_rng(seed)
    felt = np.full((HEIGHT, WIDTH, 3), (44, 78, 24), np.int16)
    felt += chance.integers(-14, 14, (HEIGHT, WIDTH, 1), dtype=np.int16)
    drawn = np.clip(felt, 0, 255).astype(np.uint8)
    for at in range(12):
        left, top = (int(each) for each in chance.integers(10, (WIDTH - 60, HEIGHT - 60)))
        cv2.rectangle(drawn, (left, top), (left + 34, top + 48), (245, 245, 245), cv2.FILLED)
        cv2.putText(drawn, "A9K"[at % 3], (left + 6, top + 32), 0, 0.9, (20, 20, 200), 2)
        cv2.circle(drawn, (left + 44, top + 10), 9, (200, 60, 60), cv2.FILLED)
    return drawn


def live(frames: int, seed: int = 0) -> list[NDArray[np.uint8]]:
    """A hand going over the table, and the noise of a sensor."""
    still, chance = table(seed), np.random.default_rng(9)
    shown = []
    for number in range(frames):
        noisy = still.astype(np.int16) + chance.integers(-6, 6, still.shape, dtype=np.int16)
        picture = np.clip(noisy, 0, 255).astype(np.uint8)
        cv2.circle(picture, (40 + number * 7 % 400, 150), 26, (120, 150, 190), cv2.FILLED)
        shown.append(picture)
    return shown


def noisy(picture: NDArray[np.uint8], frames: int) -> list[NDArray[np.uint8]]:
    """The same view with nothing but the sensor's noise: a quiet table."""
    chance = np.random.default_rng(5)
    return [
        np.clip(picture + chance.integers(-6, 6, picture.shape, dtype=np.int16), 0, 255).astype(
            np.uint8
        )
        for _ in range(frames)
    ]


def looked(path: Path, against: bytes | None = None) -> list[TimedPicture]:
    keys = index(path).keys
    (seen,) = look([Look(str(path), sha256_of(path), keys, against=against)])
    assert seen.problem is None
    return [TimedPicture(each.pts_us, each) for each in seen.looked]


def wrong(
    folder: Path, pictures: list[NDArray[np.uint8]], happened: tuple[int, ...] = BUSY
) -> list[Ailing]:
    """What is wrong after 4 s of a healthy view, by which the camera's usual is known."""
    well, path = folder / "well.mp4", folder / "shown.mp4"
    write(well, KIND, 120, pictures=live(120))
    write(path, KIND, len(pictures), pictures=pictures)
    usual = looked(well)
    assert picture_faults(usual, BUSY) == []
    sharp = sorted(each.looked.sharpness for each in usual)[len(usual) // 2]
    return picture_faults(looked(path, usual[0].looked.small), happened, sharp)


@pytest.mark.long
def test_a_healthy_camera_ails_nothing(tmp_path: Path) -> None:
    assert wrong(tmp_path, live(180)) == []


@pytest.mark.long
@pytest.mark.parametrize("level", [0, 60])
def test_a_dark_or_covered_lens_is_called_black(tmp_path: Path, level: int) -> None:
    covered = [np.full((HEIGHT, WIDTH, 3), level, np.uint8)] * 90
    (found,) = wrong(tmp_path, live(60) + covered)
    assert (found.fault, found.from_us, found.to_us) == ("black", 2 * S, 4 * S)


def overlaid(picture: NDArray[np.uint8]) -> NDArray[np.uint8]:
    """The picture with what a recorder writes into it: it stays, whatever the camera sees."""
    for text, down in (("CC-01-cam1", 16), ("2026-11-20 15:03:01.439", HEIGHT - 8)):
        cv2.putText(picture, text, (6, down), cv2.FONT_HERSHEY_SIMPLEX, 0.5, (250, 250, 250), 1)
    return picture


@pytest.mark.long
def test_a_cloth_over_the_lens_is_called_black_though_an_overlay_is_lit(tmp_path: Path) -> None:
    cloth = np.full((HEIGHT, WIDTH, 3), 26, np.uint8)
    cloth += np.linspace(0, 16, HEIGHT).astype(np.uint8)[:, np.newaxis, np.newaxis]
    seen = [overlaid(each) for each in [*live(60), *noisy(cloth, 90)]]
    (found,) = wrong(tmp_path, seen)
    assert (found.fault, found.from_us, found.to_us) == ("black", 2 * S, 4 * S)


@pytest.mark.long
def test_a_lens_out_of_focus_is_called_blurred(tmp_path: Path) -> None:
    soft = [cv2.GaussianBlur(each, (0, 0), 5).astype(np.uint8) for each in live(90)]
    (found,) = wrong(tmp_path, soft)
    assert (found.fault, found.pictures) == ("blurred", 3)
    assert "usually" in found.says


@pytest.mark.long
@pytest.mark.parametrize("shift", [(40, 0), (-30, 24)])
def test_a_camera_that_was_turned_is_called_moved(tmp_path: Path, shift: tuple[int, int]) -> None:
    moved = [np.roll(each, shift, axis=(1, 0)) for each in live(120)]
    (found,) = wrong(tmp_path, moved)
    assert found.fault == "moved"
    assert "pixels of 320" in found.says


@pytest.mark.long
@pytest.mark.parametrize("degrees", [-20, 8, 19])
def test_a_camera_that_was_knocked_askew_is_called_moved(tmp_path: Path, degrees: int) -> None:
    """Its overlay stays where it was."""
    askew = cv2.getRotationMatrix2D((WIDTH / 3, HEIGHT / 3), degrees, 1.0)
    seen = [cv2.warpAffine(each, askew, (WIDTH, HEIGHT)).astype(np.uint8) for each in live(120)]
    (found,) = wrong(tmp_path, [overlaid(each) for each in seen])
    assert (found.fault, found.pictures) == ("moved", 4)


@pytest.mark.long
def test_a_table_on_which_things_move_does_not_move_the_camera(tmp_path: Path) -> None:
    assert [each.fault for each in wrong(tmp_path, live(90) + live(90, seed=0)[::-1])] == []


@pytest.mark.long
def test_a_picture_that_stands_still_while_facts_tell_of_play_is_called_frozen(
    tmp_path: Path,
) -> None:
    stuck = live(61)
    (found,) = wrong(tmp_path, [*stuck, *[stuck[-1]] * 180])
    assert found.fault == "frozen"
    assert found.to_us - found.from_us >= 4 * S
    assert "facts record" in found.says


@pytest.mark.long
@pytest.mark.parametrize("goes_on", [True, False])
def test_a_frozen_picture_is_one_finding_over_the_segments_that_it_fills(
    tmp_path: Path, *, goes_on: bool
) -> None:
    stuck, other = (overlaid(live(61, seed)[-1]) for seed in (0, 0 if goes_on else 1))
    shown = []
    for nth, picture in enumerate((stuck, other)):
        path = tmp_path / f"{nth}.mp4"
        write(path, FINE, 150, pictures=[picture] * 150)
        shown += [each._replace(at_us=each.at_us + nth * 5 * S) for each in looked(path)]
    found = [each for each in picture_faults(shown, BUSY) if each.fault == "frozen"]
    assert [(each.from_us, each.to_us) for each in found] == (
        [(0, 9 * S)] if goes_on else [(0, 4 * S), (5 * S, 9 * S)]
    )


@pytest.mark.long
def test_a_picture_that_stands_still_at_a_quiet_table_is_not_called_frozen(tmp_path: Path) -> None:
    stuck = [live(61)[-1]] * 240
    assert wrong(tmp_path, stuck, happened=()) == []
    assert wrong(tmp_path, stuck, happened=(3 * S,)) == []  # one fact may move nothing in view
    assert [each.fault for each in wrong(tmp_path, stuck)] == ["frozen"]


@pytest.mark.long
def test_a_quiet_table_with_a_living_camera_is_not_called_frozen_even_with_facts(
    tmp_path: Path,
) -> None:
    assert wrong(tmp_path, noisy(table(), 240)) == []
