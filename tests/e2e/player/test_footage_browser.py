"""What is handed to browsers, in one: it plays, and each frame sought is that frame."""

from __future__ import annotations

import base64
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING

import numpy as np
import pytest

from replay.footage.clips.clips import SegmentCut, clip
from replay.footage.decoding.reader import index
from replay.footage.decoding.timecode import (
    STRIP_HEIGHT,
    STRIP_WIDTH,
    Timecode,
    read_timecode,
)
from replay.footage.library.adding import FootageDetails, add
from replay.footage.library.index import FootageIndex
from tests.footage.video_kinds import CUT, KINDS, write

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from playwright.sync_api import Browser, Page

    from replay.footage.library.index import IndexedSegment
    from tests.footage.video_kinds import Kind

pytestmark = pytest.mark.long

S = 1_000_000
START_MS = 1_795_000_000_000
FRAMES, SEEKS = 180, 16
NEAR_KEY = (-3, -2, -1, 0, 1)
"""The frame that a player by decoding order reaches, from a key frame on."""

SHOWN = [name for name in KINDS if name not in ("gop300", "ts", "hevc", "msmpeg4")]


OPEN = """async ([octets, type]) => {
  const bytes = Uint8Array.from(atob(octets), each => each.charCodeAt(0));
  const video = document.createElement("video");
  video.muted = true;
  video.src = URL.createObjectURL(new Blob([bytes], {type}));
  document.body.replaceChildren(video);
  return await new Promise(done => {
    video.onerror = () => done("error: " + video.error.message);
    video.requestVideoFrameCallback(() => done(video.duration));
  });
}"""
SHOW = """async ([second, width, height]) => {
  const video = document.querySelector("video");
  const sought = new Promise(done => video.addEventListener("seeked", done, {once: true}));
  const painted = new Promise(done => {
    video.requestVideoFrameCallback((_, told) => done(told));
    setTimeout(() => done({mediaTime: -1}), 2000);  // nothing is painted anew
  });
  video.currentTime = second;
  await sought;
  const told = await painted;
  const canvas = document.createElement("canvas");
  [canvas.width, canvas.height] = [width, height];
  const drawn = canvas.getContext("2d");
  drawn.drawImage(video, 0, video.videoHeight - height, width, height, 0, 0, width, height);
  const octets = drawn.getImageData(0, 0, width, height).data;
  return [told.mediaTime, btoa(String.fromCharCode(...octets))];
}"""


@pytest.fixture
def page(browser: Browser) -> Iterator[Page]:
    with browser.new_context() as context:
        yield context.new_page()


def opened(page: Page, path: Path) -> object:
    octets = base64.b64encode(path.read_bytes()).decode()
    return page.evaluate(OPEN, [octets, f"video/{path.suffix[1:]}"])


def shown(page: Page, at_us: float) -> Timecode | None:
    _, octets = page.evaluate(SHOW, [at_us / S, STRIP_WIDTH, STRIP_HEIGHT])
    picture = np.frombuffer(base64.b64decode(octets), np.uint8)
    return read_timecode(picture.reshape(STRIP_HEIGHT, STRIP_WIDTH, 4)[:, :, :3].copy())


def middle(pts: Sequence[int], number: int) -> float:
    """Between the instants at which this frame and the next are shown."""
    after = pts[number + 1] if number + 1 < len(pts) else pts[number] + 20_000
    return (pts[number] + after) / 2


def wrong(
    page: Page, path: Path, pts: Sequence[int], clocks_ms: Sequence[int], keys: Sequence[int] = ()
) -> list[int]:
    """Frames sought that the browser does not show: some at random, and those around key frames."""
    duration = opened(page, path)
    assert isinstance(duration, int | float), duration
    assert pts[-1] < duration * S < pts[-1] + 2_200_000  # the last may stand through a gap
    chance, bad, before = Random(7), [], 0  # noqa: S311 - repeatable, guards nothing
    around = [key + by for key in keys[1:] for by in NEAR_KEY if key + by < len(pts)]
    numbers = [chance.randrange(len(pts)) for _ in range(SEEKS)]
    numbers += chance.sample(around, min(SEEKS, len(around)))
    for number in numbers:
        if number == before:
            continue  # nothing would be painted again
        before = number
        code = shown(page, middle(pts, number))
        if code is None or abs(code.clock_ms - clocks_ms[number]) > 1:
            bad.append(number)
    return bad


def taken(folder: Path, name: str, number: int = 0) -> tuple[FootageIndex, IndexedSegment]:
    return taken_as(folder, name, KINDS[name], number)


def taken_as(
    folder: Path, name: str, kind: Kind, number: int = 0
) -> tuple[FootageIndex, IndexedSegment]:
    library = FootageIndex(folder / "home")
    before = library.entries("CC-07-A")
    start_ms = -(-before[-1].end_us // 1000) if before else START_MS
    path = folder / f"{name}-{number}.{kind.suffix}"
    write(path, kind, FRAMES, start_ms=start_ms, first=number * FRAMES)
    (added,) = add(library, [path], FootageDetails("hollywood", "CC-07-A", start_ms * 1000))
    assert added.entry, added.problem
    return library, added.entry


@pytest.mark.parametrize("name", SHOWN)
def test_a_browser_shows_the_frame_sought_by_the_originals_index(
    page: Page, tmp_path: Path, name: str
) -> None:
    _, entry = taken(tmp_path, name)
    assert entry.playable is not None
    clocks = [(entry.start_us + us) // 1000 for us in entry.times.pts_us]
    times = entry.times
    assert wrong(page, entry.playable.path, times.pts_us, clocks, times.keys) == []


def test_a_browser_shows_no_picture_that_an_edit_list_hides(page: Page, tmp_path: Path) -> None:
    _, entry = taken_as(tmp_path, "cut", CUT)
    assert entry.playable is not None
    assert len(entry.times.pts_us) == FRAMES - 30
    clocks = [START_MS + 1000 + us // 1000 for us in entry.times.pts_us]
    assert wrong(page, entry.playable.path, entry.times.pts_us, clocks, entry.times.keys) == []


@pytest.mark.parametrize("name", ["bframes", "vfr_bframes", "open_gop", "ts_bframes", "vp8", "vp9"])
def test_a_browser_plays_a_clip_across_segments_and_shows_each_frame_at_its_time(
    page: Page, tmp_path: Path, name: str
) -> None:
    library, one = taken(tmp_path, name)
    _, two = taken(tmp_path, name, 1)
    wanted = [SegmentCut(one.sha256, 3 * S, one.duration_us), SegmentCut(two.sha256, 0, 2 * S)]
    for way in ("copy", "exact"):
        made = clip(library, wanted, way=way)
        path = Path(made.path)
        pts = index(path).pts_us
        clocks = [(made.starts_us + us) // 1000 for us in pts]
        assert wrong(page, path, pts, clocks, index(path).keys) == []


@pytest.mark.parametrize("name", ["starts_late", "vfr_bframes"])
def test_a_file_that_is_not_plain_would_show_wrong_frames_as_it_is(
    page: Page, tmp_path: Path, name: str
) -> None:
    _, entry = taken(tmp_path, name)
    assert entry.playable is not None
    assert entry.playable.how == "remuxed"
    clocks = [(entry.start_us + us) // 1000 for us in entry.times.pts_us]
    times = entry.times
    assert opened(page, entry.path)
    bad = [
        number
        for number in (59, 60, 119, 120, 150)
        if (code := shown(page, middle(times.pts_us, number))) is None
        or abs(code.clock_ms - clocks[number]) > 1
    ]
    assert bad


def test_pieces_played_as_they_are_would_show_wrong_frames(page: Page, tmp_path: Path) -> None:
    _, entry = taken(tmp_path, "fragmented")
    assert entry.playable is not None
    assert entry.playable.how == "remuxed"
    clocks = [(entry.start_us + us) // 1000 for us in entry.times.pts_us]
    assert len(wrong(page, entry.path, entry.times.pts_us, clocks)) > SEEKS // 2


def test_a_browser_does_not_play_what_a_copy_is_made_of(page: Page, tmp_path: Path) -> None:
    _, entry = taken(tmp_path, "msmpeg4")
    assert "error" in str(opened(page, entry.path))
    assert entry.playable is not None
    assert isinstance(opened(page, entry.playable.path), int | float)
