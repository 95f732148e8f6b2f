"""What is known of a camera's clip, at hand or not: how surely its time is known."""

from __future__ import annotations

import pytest

from replay.cameras.clips import CameraClip, clip_list
from replay.cameras.clocks import Check, camera_clock
from replay.cameras.coverage import Camera
from replay.cameras.cutting import cut_camera, windows

S = 1_000_000
AHEAD_US = 20 * S


@pytest.mark.parametrize(
    ("checked_s", "unchecked_us", "plus_minus_ms"),
    [([110], 0, 36), ([50], 50 * S, 67), ([720], 600 * S, 353), ([], None, None)],
)
def test_a_clip_says_how_far_the_nearest_check_is_from_it(
    checked_s: list[int], unchecked_us: int | None, plus_minus_ms: int | None
) -> None:
    checks = [Check(at * S, at * S + AHEAD_US, 30_000) for at in checked_s]
    camera = Camera(checks=checks, clock=camera_clock(checks))
    (window,) = windows(camera, 100 * S, 120 * S)
    (told,) = clip_list([CameraClip(cut_camera("A", camera, window), None)], lambda _: camera)
    assert (told["unchecked_us"], told["plus_minus_ms"]) == (unchecked_us, plus_minus_ms)
