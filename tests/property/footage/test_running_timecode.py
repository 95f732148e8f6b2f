"""A strip is believed unasked only where it runs on: nothing that is no clock is taken for one."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from replay.footage.decoding.timecode import (
    CELL_HEIGHT,
    CELL_WIDTH,
    STRIP_HEIGHT,
    STRIP_WIDTH,
    Timecode,
    draw_strip,
    read_timecode,
    running_us,
)

PATTERNS = 400
CELLS = STRIP_WIDTH // CELL_WIDTH
CLOCKS_MS = st.integers(0, 2**40)


def run(clock_ms: int, *after_ms: int) -> list[tuple[int, Timecode]]:
    return [(ms * 1000, Timecode(clock_ms + ms, n)) for n, ms in enumerate(after_ms)]


@given(CLOCKS_MS, st.integers(-20, 20))
def test_a_clock_that_runs_on_tells_when_the_first_picture_was_taken(
    clock_ms: int, jitter_ms: int
) -> None:
    seen = run(clock_ms, 0, 500, 1000)
    seen[1] = (seen[1][0] + jitter_ms * 1000, seen[1][1])
    assert running_us(seen) == clock_ms * 1000


@given(CLOCKS_MS, st.integers(0, 2**40))
def test_a_strip_that_stands_jumps_or_is_seen_too_briefly_is_none(
    clock_ms: int, other_ms: int
) -> None:
    assert running_us(run(clock_ms, 0, 400, 900)) is None
    assert running_us(run(clock_ms, 0, 1000)) is None
    assert running_us([(at * 500_000, Timecode(clock_ms, at)) for at in range(3)]) is None
    assert running_us([(at * 500_000, Timecode(clock_ms + at * 500, 7)) for at in range(3)]) is None
    jumped = [*run(clock_ms, 0, 500), (1_000_000, Timecode(other_ms, 2))]
    near = abs(other_ms - clock_ms - 1000) <= 50
    assert (running_us(jumped) is not None) == near


def noise(chance: np.random.Generator) -> np.ndarray:
    return chance.integers(0, 256, (STRIP_HEIGHT, STRIP_WIDTH))


def harsh(chance: np.random.Generator) -> np.ndarray:
    return chance.choice([0, 255], (STRIP_HEIGHT, STRIP_WIDTH))


def stripes(chance: np.random.Generator) -> np.ndarray:
    across = np.arange(STRIP_WIDTH) // chance.integers(1, 40) % 2 * 255
    return np.vstack([np.tile(across, (CELL_HEIGHT, 1)), np.tile(255 - across, (CELL_HEIGHT, 1))])


def cells(chance: np.random.Generator) -> np.ndarray:
    """As like a strip as can be: every bit plain, its inverse below, and only the sum is chance."""
    row = np.repeat(chance.choice([0, 255], CELLS), CELL_WIDTH)
    return np.vstack([np.tile(row, (CELL_HEIGHT, 1)), np.tile(255 - row, (CELL_HEIGHT, 1))])


@pytest.mark.parametrize("pattern", [noise, harsh, stripes, cells])
def test_no_pattern_is_taken_for_a_running_clock(pattern) -> None:  # noqa: ANN001 - one of four above
    chance = np.random.default_rng(465)
    for _ in range(PATTERNS):
        strips = [pattern(chance).astype(np.uint8)[:, :, None].repeat(3, axis=2) for _ in range(3)]
        seen = [(n * 500_000, read_timecode(strip)) for n, strip in enumerate(strips)]
        assert running_us([(at_us, code) for at_us, code in seen if code]) is None


def test_a_strip_that_runs_is_seen_where_those_patterns_were() -> None:
    seen = []
    for n in range(3):
        strip = cells(np.random.default_rng(n)).astype(np.uint8)[:, :, None].repeat(3, axis=2)
        draw_strip(strip, Timecode(1_795_200_000_000 + n * 500, n))
        code = read_timecode(strip)
        assert code
        seen.append((n * 500_000, code))
    assert running_us(seen) == 1_795_200_000_000_000
