"""Small pictures of frames: of the frame asked for, made once, kept by the segment's hash."""

from __future__ import annotations

from typing import TYPE_CHECKING

import cv2
import numpy as np
import pytest

from replay.footage.decoding.decoder import Job, decode
from replay.footage.library import thumbnails as small
from replay.footage.library.adding import FootageDetails, add
from replay.footage.library.index import FootageIndex
from tests.footage.video_kinds import KINDS, write

if TYPE_CHECKING:
    from pathlib import Path

    from replay.footage.library.index import IndexedSegment

START = 1_795_000_000_000_000


@pytest.fixture
def library(tmp_path: Path) -> FootageIndex:
    return FootageIndex(tmp_path / "home")


@pytest.fixture
def entry(library: FootageIndex, tmp_path: Path) -> IndexedSegment:
    path = tmp_path / "cam.mp4"
    write(path, KINDS["gop60"], 70, start_ms=START // 1000, first=0)
    (added,) = add(library, [path], FootageDetails("p", "cam", START))
    assert added.entry, added.problem
    return added.entry


def test_a_small_picture_is_of_its_frame_and_is_made_once(
    library: FootageIndex, entry: IndexedSegment, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = small.thumbnails(library, entry, [0, 65])
    assert sorted(made) == [0, 65]
    (whole,) = decode([Job(str(entry.path), entry.sha256, (65,))])[0].frames
    picture = cv2.imdecode(np.frombuffer(whole.png, np.uint8), cv2.IMREAD_COLOR)
    shown = cv2.imdecode(np.frombuffer(made[65], np.uint8), cv2.IMREAD_COLOR)
    assert picture is not None
    assert shown is not None
    assert shown.shape[1] == small.WIDTH
    expected = cv2.resize(picture, (shown.shape[1], shown.shape[0]), interpolation=cv2.INTER_AREA)
    assert np.abs(shown.astype(int) - expected.astype(int)).mean() < 6
    monkeypatch.setattr(small, "decode", lambda _: pytest.fail("it was made again"))
    assert small.thumbnails(library, entry, [65, 0]) == made


def test_a_frame_that_is_not_there_is_left_out_and_nothing_is_kept(
    library: FootageIndex, entry: IndexedSegment
) -> None:
    assert small.thumbnails(library, entry, [70]) == {}
    entry.path.write_bytes(entry.path.read_bytes()[:-1])
    assert small.thumbnails(library, entry, [1]) == {}, "an altered file has no picture"


def test_the_nearest_keyframe_is_chosen(entry: IndexedSegment) -> None:
    assert entry.times.keys[:2] == (0, 60)
    at = entry.times.pts_us
    assert small.nearest_key(entry, START + at[20]) == 0
    assert small.nearest_key(entry, START + at[50]) == 60
