"""Real video files of several kinds: every frame names itself by the strip in its picture."""

from __future__ import annotations

from typing import TYPE_CHECKING

import cv2
import numpy as np
import pytest

from ledger.simulate.cameras.shot_list import (
    CameraPlan,
    ChipPile,
    LyingCard,
    Shot,
    ShotList,
    camera_clock_us,
)
from ledger.values import parse_time
from replay.footage.decoding.reader import frame_at, index
from replay.footage.decoding.timecode import (
    STRIP_HEIGHT,
    STRIP_WIDTH,
    Timecode,
    draw_strip,
    read_timecode,
)
from replay.footage.muxing.webm import Packet, read_ivf, write_webm
from replay.footage.simulated.camera import DrawnSegment, draw

if TYPE_CHECKING:
    from pathlib import Path

S = 1_000_000
START = 1_795_000_000 * S
SEEKS = 120
NTSC = 30_000 / 1001  # frames a second: no frame falls on a whole millisecond
KINDS = {
    "even.mp4": ("mp4v", 25.0),
    "ntsc.mp4": ("mp4v", NTSC),
    "ntsc.avi": ("MJPG", NTSC),
    "ntsc.webm": ("VP80", NTSC),
}
PLAIN = {"plain.ivf": ("VP80", 25.0)}


def shot_list(seconds: int = 24, **plan: object) -> ShotList:
    shots = tuple(
        Shot(
            START + second * S,
            (LyingCard("As", 700, 300), LyingCard("Th", 800, 300), LyingCard("??", 900, 300)),
            (ChipPile(2500 * (second + 1), 900, 500),),
        )
        for second in range(0, seconds, 2)
    )
    told = {"strip": True, "offset_us": 1_370_123, "drift_ppm": 37, "seed": 7, **plan}
    to_us = START + seconds * S
    fixed = CameraPlan(camera="CC-07-A", table="CC-07", from_us=START, to_us=to_us, **told)
    return ShotList(fixed, shots)


def start_us(segment: DrawnSegment) -> int:
    start = parse_time(segment.fact.start)
    assert start is not None
    return start


@pytest.fixture(scope="module")
def drawn(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, list[DrawnSegment]]:
    folder = tmp_path_factory.mktemp("drawn")
    gap = (START + 9 * S, START + 12 * S)
    return folder, draw(shot_list(gap=gap, dropped_permille=150), folder)


def written_by_opencv(folder: Path, name: str, frames: int = 150) -> Path:
    path = folder / name
    codec, rate = (KINDS | PLAIN)[name]
    fourcc = cv2.VideoWriter.fourcc(*codec)
    writer = cv2.VideoWriter(str(path), cv2.CAP_FFMPEG, fourcc, rate, (STRIP_WIDTH, 64))
    for number in range(frames):
        picture = np.full((64, STRIP_WIDTH, 3), 40 + number % 100, dtype=np.uint8)
        draw_strip(picture, Timecode(number * 40, number))
        writer.write(picture)
    writer.release()
    return path


def naive_frame(path: Path, pts_us: int) -> Timecode | None:
    """What asking the player for a time gives: the way not to do it."""
    capture = cv2.VideoCapture(str(path), cv2.CAP_FFMPEG)
    capture.set(cv2.CAP_PROP_POS_MSEC, pts_us / 1000)
    read, picture = capture.read()
    capture.release()
    return read_timecode(picture) if read else None


@pytest.mark.parametrize("name", KINDS)
def test_every_frame_asked_for_is_the_frame_shown(tmp_path: Path, name: str) -> None:
    path = written_by_opencv(tmp_path, name)
    times = index(path)
    assert len(times.pts_us) == 150
    for number in np.random.default_rng(1).integers(150, size=SEEKS).tolist():
        frame = frame_at(path, times, times.pts_us[number])
        assert frame.timecode == Timecode(number * 40, number)


@pytest.mark.long
def test_every_frame_of_a_variable_rate_segment_is_the_frame_shown(
    drawn: tuple[Path, list[DrawnSegment]],
) -> None:
    folder, segments = drawn
    chance = np.random.default_rng(3)
    for segment in segments:
        path = folder / segment.fact.path
        times = index(path)
        assert len(times.pts_us) == segment.fact.frames
        for pts_us in chance.choice(times.pts_us, SEEKS).tolist():
            frame = frame_at(path, times, pts_us)
            assert frame.timecode is not None
            assert frame.timecode.clock_ms * 1000 == start_us(segment) + pts_us


def test_a_frame_sought_is_the_frame_of_a_decode_from_the_start(
    drawn: tuple[Path, list[DrawnSegment]],
) -> None:
    path = drawn[0] / drawn[1][0].fact.path
    times = index(path)
    capture = cv2.VideoCapture(str(path), cv2.CAP_FFMPEG)
    for number, pts_us in enumerate(times.pts_us):
        read, picture = capture.read()
        assert read
        if number % 7 == 0:
            octets = np.frombuffer(frame_at(path, times, pts_us).png, dtype=np.uint8)
            assert np.array_equal(cv2.imdecode(octets, cv2.IMREAD_COLOR), picture)
    assert not capture.grab()
    capture.release()


def test_a_file_that_does_not_begin_at_zero_is_counted_from_its_first_frame(
    tmp_path: Path,
) -> None:
    source = written_by_opencv(tmp_path, "plain.ivf", 40)
    late = [
        Packet(5_000 + 37 * n, octets) for n, octets in enumerate(read_ivf(source.read_bytes()))
    ]
    path = tmp_path / "late.webm"
    path.write_bytes(write_webm(late, STRIP_WIDTH, 64, 5_000 + 37 * 40))
    times = index(path)
    assert times.pts_us == tuple(37_000 * n for n in range(40))
    for number in (0, 1, 17, 39):
        timecode = frame_at(path, times, times.pts_us[number]).timecode
        assert timecode is not None
        assert timecode.capture == number


def test_asking_the_player_for_a_time_shows_wrong_frames(
    drawn: tuple[Path, list[DrawnSegment]],
) -> None:
    folder, segments = drawn
    path = folder / segments[0].fact.path
    wrong = 0
    for pts_us in np.random.default_rng(5).choice(index(path).pts_us, 60).tolist():
        shown = naive_frame(path, pts_us)
        wrong += shown is None or shown.clock_ms * 1000 != start_us(segments[0]) + pts_us
    assert wrong > 30


def test_a_time_of_no_frame_is_refused(drawn: tuple[Path, list[DrawnSegment]]) -> None:
    path = drawn[0] / drawn[1][0].fact.path
    times = index(path)
    with pytest.raises(ValueError, match="use a time of the index"):
        frame_at(path, times, times.pts_us[3] + 1)


def test_the_drawn_times_vary_and_the_gap_is_a_gap(drawn: tuple[Path, list[DrawnSegment]]) -> None:
    folder, segments = drawn
    assert len(segments) == 2
    before, after = segments
    assert start_us(after) - (start_us(before) + before.fact.duration_us) > 2.5 * S
    steps = np.diff(index(folder / before.fact.path).pts_us)
    assert steps.min() < 90_000
    assert steps.max() > 110_000


def test_the_clock_in_the_picture_is_the_cameras_and_not_true(
    drawn: tuple[Path, list[DrawnSegment]],
) -> None:
    plan = shot_list().plan
    for segment in drawn[1]:
        ended = start_us(segment) + segment.fact.duration_us
        assert abs(ended - camera_clock_us(plan, segment.closed_us)) < 60_000
        assert abs(ended - segment.closed_us) > S


@pytest.mark.long
def test_the_same_shot_list_draws_the_same_bytes(tmp_path: Path) -> None:
    one, two, other = (
        [segment.fact.sha256 for segment in draw(shot_list(4, seed=seed), tmp_path / folder)]
        for folder, seed in (("one", 7), ("two", 7), ("other", 8))
    )
    assert one == two != other


def test_segments_are_cut_by_length_and_told_as_recorded(tmp_path: Path) -> None:
    told: list[tuple[int, int]] = []
    segments = draw(shot_list(9, segment_us=3 * S), tmp_path, lambda *done: told.append(done))
    assert len(segments) == 3
    assert told[-1] == (sum(segment.fact.frames for segment in segments),) * 2
    for segment in segments:
        assert (tmp_path / segment.fact.path).is_file()
        assert segment.fact.duration_us <= 3.3 * S


def test_a_picture_without_a_strip_reads_as_none(drawn: tuple[Path, list[DrawnSegment]]) -> None:
    path = drawn[0] / drawn[1][0].fact.path
    times = index(path)
    octets = np.frombuffer(frame_at(path, times, times.pts_us[0]).png, dtype=np.uint8)
    picture = cv2.imdecode(octets, cv2.IMREAD_COLOR)
    assert read_timecode(picture) is not None
    covered = picture.copy()
    covered[-STRIP_HEIGHT:] = 90
    assert read_timecode(covered) is None
    swapped = picture.copy()
    swapped[-STRIP_HEIGHT:, :6] = swapped[-STRIP_HEIGHT:, :6][::-1]
    assert read_timecode(swapped) is None
