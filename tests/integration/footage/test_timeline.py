"""From a drawn table to the frame of a fact: the clock in the picture proves the uncertainty."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest

from ledger.facts import CameraMapped, ClockChecked, RoundStarted
from ledger.record.wire import Fact
from ledger.simulate.cameras.shot_list import (
    CameraPlan,
    Shot,
    ShotList,
    camera_clock_us,
)
from ledger.values import format_time
from replay.cameras.coverage import coverage
from replay.cameras.timeline import timeline
from replay.footage.decoding.decoder import Frame
from replay.footage.library.files import frames, open_footage
from replay.footage.simulated.camera import draw

if TYPE_CHECKING:
    from pathlib import Path

S = 1_000_000
START = 1_795_000_000 * S
GAP = (START + 21 * S, START + 26 * S)
PLAN = CameraPlan(
    camera="CC-07-A",
    table="CC-07",
    strip=True,
    from_us=START,
    to_us=START + 40 * S,
    offset_us=-2_345_678,
    drift_ppm=180,
    dropped_permille=100,
    gap=GAP,
    segment_us=10 * S,
)
READ_ERROR_US = 80_000


def fact(time_us: int, body: object) -> Fact:
    return Fact(
        body, "/hollywood/surveillance/nvr", f"{time_us}", time_us, None, "CC-07", None, None
    )


def floor(folder: Path) -> list[Fact]:
    """What a floor would tell: the camera's table, its segments, two rough clock checks."""
    segments = draw(ShotList(PLAN, (Shot(START),)), folder)
    facts = [fact(segment.closed_us, segment.fact) for segment in segments]
    covers = CameraMapped(camera="CC-07-A", table="CC-07", kind="stationary", covers=["table"])
    for at, error in ((START - 3_600 * S, READ_ERROR_US), (START + 1_800 * S, -READ_ERROR_US)):
        check = ClockChecked(
            camera="CC-07-A",
            camera_time=format_time(camera_clock_us(PLAN, at) + error),
            reference_time=format_time(at),
            reference="gps",
            uncertainty_ms=READ_ERROR_US // 1000,
        )
        facts.append(fact(at, check))
    return [*facts, fact(START - 9_000 * S, covers)]


@pytest.mark.long
def test_the_frame_named_for_a_fact_shows_the_cameras_clock_within_the_plus_minus(
    tmp_path: Path,
) -> None:
    told = floor(tmp_path)
    footage = open_footage(tmp_path, told)
    instants = np.random.default_rng(4).integers(START + S, START + 39 * S, 60).tolist()
    dealt = [fact(at, RoundStarted(game="criss_cross_poker")) for at in instants]
    seen = timeline(dealt, coverage(told), footage, device_plus_minus_us=0)
    sights = [one.sights[0] for one in seen]
    wanted = [(one.segment, one.frame) for one in sights if one.segment and one.frame is not None]
    pictures = frames(footage, wanted)
    shown = 0
    for at, sight in zip(instants, sights, strict=True):
        in_gap = GAP[0] + 200_000 < at < GAP[1] - 200_000
        near_gap = GAP[0] - 200_000 < at < GAP[1] + 200_000
        assert in_gap <= (sight.state == "gap") <= near_gap
        if sight.state == "recorded":
            picture = pictures[sight.segment or "", sight.frame or 0]
            assert isinstance(picture, Frame)
            assert picture.timecode is not None
            truth_us = camera_clock_us(PLAN, at)
            assert abs((sight.camera_time_us or 0) - truth_us) <= (sight.plus_minus_us or 0)
            late_us = picture.timecode.clock_ms * 1000 - (sight.camera_time_us or 0)
            assert 0 <= late_us < 500_000
            shown += 1
    assert shown > 40


@pytest.mark.long
def test_a_camera_taken_at_its_word_would_show_the_wrong_instant(tmp_path: Path) -> None:
    told = [one for one in floor(tmp_path) if not isinstance(one.body, ClockChecked)]
    footage = open_footage(tmp_path, told)
    dealt = [fact(START + 10 * S, RoundStarted(game="criss_cross_poker"))]
    (sight,) = timeline(dealt, coverage(told), footage)[0].sights
    assert (sight.clock, sight.plus_minus_us) == ("never_checked", None)
    truth_us = camera_clock_us(PLAN, START + 10 * S)
    assert abs((sight.camera_time_us or 0) - truth_us) > 2 * S
