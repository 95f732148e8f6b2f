"""The strip in the picture: what is written is what is read, or nothing is."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from replay.footage.decoding.timecode import (
    CELL_WIDTH,
    STRIP_HEIGHT,
    STRIP_WIDTH,
    Timecode,
    draw_strip,
    read_timecode,
)

CODES = st.builds(Timecode, st.integers(0, 2**48 - 1), st.integers(0, 2**16 - 1))
CELLS = STRIP_WIDTH // CELL_WIDTH


@given(CODES, st.integers(0, 40))
def test_a_strip_is_read_back_through_noise(code: Timecode, noise: int) -> None:
    picture = np.full((STRIP_HEIGHT + 5, STRIP_WIDTH + 7, 3), 128, dtype=np.uint8)
    draw_strip(picture, code)
    rough = picture.astype(int) + np.random.default_rng(1).integers(
        -noise, noise + 1, picture.shape
    )
    assert read_timecode(rough.clip(0, 255).astype(np.uint8)) == code


@given(CODES, st.sets(st.integers(0, CELLS - 1), min_size=1, max_size=3))
def test_up_to_three_cells_turned_over_are_noticed(code: Timecode, cells: set[int]) -> None:
    picture = np.zeros((STRIP_HEIGHT, STRIP_WIDTH, 3), dtype=np.uint8)
    draw_strip(picture, code)
    for cell in cells:
        across = slice(cell * CELL_WIDTH, (cell + 1) * CELL_WIDTH)
        picture[:, across] = picture[::-1, across]
    assert read_timecode(picture) is None


def test_a_picture_too_small_for_a_strip_has_none() -> None:
    assert read_timecode(np.zeros((STRIP_HEIGHT, STRIP_WIDTH - 1, 3), dtype=np.uint8)) is None
    assert read_timecode(np.zeros((STRIP_HEIGHT - 1, STRIP_WIDTH, 3), dtype=np.uint8)) is None
