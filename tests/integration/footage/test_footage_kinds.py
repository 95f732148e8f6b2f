"""Every kind of file that recorders write: the frame asked for is the frame shown, through the API.

Files are written by FFmpeg's encoders, not ours; the strip in each picture is the judge.
"""

from __future__ import annotations

import random
from functools import cache
from typing import TYPE_CHECKING

import cv2
import numpy as np
import pytest

from ledger.facts import SegmentRecorded
from ledger.record.wire import Fact
from replay.footage.decoding.decoder import Frame, Job, decode, sha256_of
from replay.footage.decoding.timecode import read_timecode
from replay.footage.library.adding import FootageDetails, add
from replay.footage.library.files import frames
from replay.footage.library.index import FootageIndex
from tests.footage.video_kinds import CUT, INTERLACED, KINDS, decoded, write
from tests.suite.budget import rest_long

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from replay.footage.decoding.timecode import Timecode
    from replay.footage.library.index import IndexedSegment

    Kept = Callable[[str], tuple[FootageIndex, IndexedSegment]]

FRAMES = 150
EVERYDAY = {"gop60", "vp8"}
"""One of each of the containers that most footage comes in."""
SEEKS, SEEKS_LONG = 12, 60
VARIABLE = ("vfr_mp4", "vfr_mkv")


@pytest.fixture(scope="module")
def kept(tmp_path_factory: pytest.TempPathFactory) -> Kept:
    """A file of a kind, taken into a library once for all tests that only read it."""
    return cache(lambda name: taken(tmp_path_factory.mktemp(name), name))


@pytest.fixture
def footage(kept: Kept, name: str) -> tuple[FootageIndex, IndexedSegment]:
    """The file of the kind that a test is of."""
    return kept(name)


def taken(folder: Path, name: str, frames_: int = FRAMES) -> tuple[FootageIndex, IndexedSegment]:
    path = folder / f"{name}.{KINDS[name].suffix}"
    write(path, KINDS[name], frames_)
    library = FootageIndex(folder / "home")
    (added,) = add(library, [path], FootageDetails("hollywood", "CC-07-A", 1_795_000_000_000_000))
    assert added.entry, added.problem
    return library, added.entry


def wrong(library: FootageIndex, entry: IndexedSegment, seeks: int, seed: int) -> list[int]:
    """Which of random frames asked for by time are not the frames shown."""
    body = SegmentRecorded(
        camera="CC-07-A", path="x", sha256=entry.sha256, start="2026-11-20T21:00:00Z", frames=1,
        duration_us=1,
    )  # fmt: skip
    fact = Fact(body, "/hollywood/surveillance/nvr", "1", 0, None, None, None, None)
    chance = random.Random(seed)  # noqa: S311 - repeatable, guards nothing
    numbers = [chance.randrange(len(entry.times.pts_us)) for _ in range(seeks)]
    found = frames(library.at_hand([fact]), [(entry.sha256, number) for number in numbers])
    bad = []
    for (_, number), frame in found.items():
        assert isinstance(frame, Frame), frame
        if frame.timecode is None or frame.timecode.capture != number:
            bad.append(number)
    return bad


@pytest.mark.long
@pytest.mark.parametrize("name", KINDS)
def test_a_frame_sought_at_random_is_that_frame(
    footage: tuple[FootageIndex, IndexedSegment],
) -> None:
    library, entry = footage
    assert len(entry.times.pts_us) == FRAMES
    assert wrong(library, entry, SEEKS, seed=2) == []


@pytest.mark.long
@pytest.mark.parametrize("name", KINDS)
def test_of_hundreds_of_frames_sought_at_random_none_is_wrong(tmp_path: Path, name: str) -> None:
    library, entry = taken(tmp_path, name, 600)
    for seed in range(3):
        assert wrong(library, entry, SEEKS_LONG, seed) == []


@pytest.mark.parametrize("name", rest_long(KINDS, EVERYDAY))
def test_the_copy_for_browsers_shows_the_same_frames_at_the_same_times(
    footage: tuple[FootageIndex, IndexedSegment],
) -> None:
    _, entry = footage
    assert entry.playable is not None
    shown = decoded(entry.playable.path)
    assert [code and code.capture for _, code in shown] == list(range(FRAMES))
    assert [us for us, _ in shown] == pytest.approx(entry.times.pts_us, abs=12)


@pytest.mark.long
def test_pictures_that_an_edit_list_hides_are_no_frames(tmp_path: Path) -> None:
    path = tmp_path / "cut.mp4"
    write(path, CUT, FRAMES)
    (added,) = add(
        FootageIndex(tmp_path / "home"), [path], FootageDetails("hollywood", "CC-07-A", 0)
    )
    entry = added.entry
    assert entry
    hidden = 30
    shown = decoded(path)
    assert [code and code.capture for _, code in shown] == list(range(hidden, FRAMES))
    assert [us for us, _ in shown] == pytest.approx(entry.times.pts_us, abs=12)
    numbers = (0, 1, 28, 29, 30, 31, 88, 89, 90, FRAMES - hidden - 1)
    answer = decode([Job(str(path), entry.sha256, numbers)])[0]
    codes = [frame.timecode and frame.timecode.capture for frame in answer.frames]
    assert codes == [number + hidden for number in numbers]
    assert entry.playable is not None
    assert entry.playable.how == "transcoded"
    assert [code and code.capture for _, code in decoded(entry.playable.path)] == [
        code and code.capture for _, code in shown
    ]


@pytest.mark.long
def test_a_picture_that_cannot_be_converted_is_refused_and_never_made_up(tmp_path: Path) -> None:
    path = tmp_path / "fields.ts"
    write(path, INTERLACED, 60)
    answer = decode([Job(str(path), sha256_of(path), (5,))])[0]
    if answer.frames:  # a later OpenCV may know how
        assert answer.frames[0].timecode is not None
        assert answer.frames[0].timecode.capture == 5
    else:
        assert "interlaced" in (answer.problem or "")
    (added,) = add(
        FootageIndex(tmp_path / "home"), [path], FootageDetails("hollywood", "CC-07-A", 0)
    )
    assert added.entry, added.problem
    assert added.entry.playable is not None
    shown = decoded(added.entry.playable.path)
    assert [code and code.capture for _, code in shown] == list(range(60))


def asked_of_a_player(path: Path, us: int) -> Timecode | None:
    capture = cv2.VideoCapture(str(path), cv2.CAP_FFMPEG)
    capture.set(cv2.CAP_PROP_POS_MSEC, us / 1000)
    read, picture = capture.read()
    capture.release()
    return read_timecode(picture) if read else None


@pytest.mark.parametrize("name", rest_long(VARIABLE, everyday={"vfr_mp4"}))
def test_a_player_asked_for_the_same_times_shows_wrong_frames(
    footage: tuple[FootageIndex, IndexedSegment],
) -> None:
    _, entry = footage
    bad = 0
    for number in np.random.default_rng(3).integers(FRAMES, size=40).tolist():
        code = asked_of_a_player(entry.path, entry.times.pts_us[number])
        bad += code is None or code.capture != number
    assert bad > 10  # of 40
