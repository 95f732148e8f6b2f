"""Clips cut from segments: every frame of them is the frame of the original, at its own time."""

from __future__ import annotations

import json
import os
import time
from itertools import pairwise
from pathlib import Path

import av
import numpy as np
import pytest
from msgspec.structs import replace

from ledger.errors import NotFound, Refused, Unavailable
from ledger.values import parse_time
from replay.footage.clips import clip_cache, clips
from replay.footage.clips.clips import Clip, SegmentCut, clip, describe
from replay.footage.clips.previews import Previews, whole
from replay.footage.decoding.containers import has_sound
from replay.footage.decoding.decoder import sha256_of
from replay.footage.decoding.reader import index
from replay.footage.library.adding import FootageDetails, add
from replay.footage.library.index import FootageIndex, IndexedSegment
from replay.footage.muxing import muxing
from tests.footage.video_kinds import KINDS, Kind, decoded, write
from tests.until import until

S = 1_000_000
START_MS = 1_795_000_000_000
FRAMES = 180  # of a segment: 6 s
TWO = ("gop60", "bframes", "gop300", "fragmented", "vfr_mp4", "vfr_mkv", "ts", "ts_bframes", "vp8")


@pytest.fixture
def library(tmp_path: Path) -> FootageIndex:
    return FootageIndex(tmp_path / "home")


def segment(
    library: FootageIndex, folder: Path, kind: Kind, number: int, **more: object
) -> IndexedSegment:
    """One of several segments that follow one another, numbered through."""
    before = max(library.entries("CC-07-A"), key=lambda each: each.end_us, default=None)
    start_ms = -(-before.end_us // 1000) if before and number else START_MS
    path = folder / f"{number}.{kind.suffix}"
    write(path, kind, FRAMES, start_ms=start_ms, first=number * FRAMES, **more)
    (added,) = add(library, [path], FootageDetails("hollywood", "CC-07-A", start_ms * 1000))
    assert added.entry, added.problem
    return added.entry


def seen(made: Clip, path: Path) -> dict[int, int]:
    """When each frame is shown in a clip, by the number in its picture."""
    found = {}
    for pts_us, code in decoded(path):
        assert code is not None
        assert abs(made.starts_us + pts_us - code.clock_ms * 1000) <= 1_500
        found[code.capture] = pts_us
    assert len(found) == made.frames
    return found


@pytest.mark.long
@pytest.mark.parametrize("name", TWO)
def test_a_clip_across_two_segments_holds_every_frame_at_its_own_time(
    library: FootageIndex, tmp_path: Path, name: str
) -> None:
    one, two = (segment(library, tmp_path, KINDS[name], number) for number in (0, 1))
    hashes = [sha256_of(entry.path) for entry in (one, two)]
    wanted = [SegmentCut(one.sha256, 3 * S, one.duration_us), SegmentCut(two.sha256, 0, 2 * S)]
    made = clip(library, wanted)
    assert not made.derived
    frames = seen(made, Path(made.path))
    numbers = sorted(frames)
    key_us = max(one.times.pts_us[key] for key in one.times.keys if one.times.pts_us[key] <= 3 * S)
    assert numbers[0] == one.times.pts_us.index(key_us)
    assert made.in_us == 3 * S - key_us
    held = [n for n in numbers if n < FRAMES]
    assert held == list(range(numbers[0], FRAMES))
    after = [us for us in two.times.pts_us if us < 2 * S]
    assert numbers[len(held) : len(held) + len(after)] == list(range(FRAMES, FRAMES + len(after)))
    assert len(numbers) - len(held) - len(after) <= 6  # those that B-frames need
    assert [sha256_of(entry.path) for entry in (one, two)] == hashes


@pytest.mark.long
def test_a_clip_is_made_once_and_made_anew_where_its_file_was_touched(
    library: FootageIndex, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    entry = segment(library, tmp_path, KINDS["gop60"], 0)
    wanted = [SegmentCut(entry.sha256, S, 3 * S)]
    first = clip(library, wanted)
    monkeypatch.setattr(clips, "write", lambda _: pytest.fail("it was made again"))
    assert clip(library, wanted) == first
    monkeypatch.undo()
    place = library.home / "clips"
    (kept,) = place.rglob("*.mp4")
    kept.write_bytes(b"something else")
    assert clip(library, wanted).sha256 == first.sha256
    assert clip(library, [SegmentCut(entry.sha256, S, 4 * S)]).path != first.path


@pytest.mark.long
def test_an_exact_clip_holds_exactly_what_was_wanted_and_says_that_it_is_derived(
    library: FootageIndex, tmp_path: Path
) -> None:
    one, two = (segment(library, tmp_path, KINDS["ts_bframes"], number) for number in (0, 1))
    wanted = [SegmentCut(one.sha256, 4 * S, one.duration_us), SegmentCut(two.sha256, 0, S)]
    made = clip(library, wanted, way="exact")
    assert (made.derived, made.in_us, made.out_us) == (True, 0, 3 * S)
    assert sorted(seen(made, library.home / made.path)) == list(range(120, 210))
    assert describe(made)["says"].startswith("Derived")  # type: ignore[attr-defined]
    assert [source.sha256 for source in made.sources] == [one.sha256, two.sha256]


@pytest.mark.long
def test_an_overlay_writes_the_time_into_the_picture_and_says_that_it_is_derived(
    library: FootageIndex, tmp_path: Path
) -> None:
    entry = segment(library, tmp_path, KINDS["gop60"], 0)
    wanted = [SegmentCut(entry.sha256, S, 2 * S)]
    plain, lettered = (clip(library, wanted, way=way) for way in ("exact", "overlay"))
    assert lettered.derived
    pictures = []
    for made in (plain, lettered):
        with av.open(made.path) as file:
            pictures.append(next(file.decode(video=0)).to_ndarray(format="gray"))
    assert pictures[0][:10].std() > 20  # what was there
    bar = pictures[1][:16]
    assert (bar < 40).mean() > 0.5 < bar.max() / 255  # a dark bar with light letters in it
    assert abs(pictures[0][60:].astype(int) - pictures[1][60:]).mean() < 4


@pytest.mark.long
def test_a_clip_tells_of_itself_in_its_own_metadata(library: FootageIndex, tmp_path: Path) -> None:
    for name in ("gop60", "vp8"):
        entry = segment(library, tmp_path, KINDS[name], 0)
        made = clip(library, [SegmentCut(entry.sha256, S, 3 * S)])
        with av.open(made.path) as file:
            told = json.loads({k.lower(): v for k, v in file.metadata.items()}["comment"])
        assert told["originals"] == [entry.sha256]
        assert told["wanted_from_us"] == entry.start_us + S


@pytest.mark.long
def test_no_clip_has_sound(library: FootageIndex, tmp_path: Path) -> None:
    entry = segment(library, tmp_path, KINDS["gop60"], 0, audio=True)
    made = clip(library, [SegmentCut(entry.sha256, S, 3 * S)])
    assert has_sound(entry.path, "mp4")
    assert has_sound(library.home / made.path, "mp4") is False


@pytest.mark.long
def test_a_clip_of_footage_that_had_to_be_encoded_anew_says_so(
    library: FootageIndex, tmp_path: Path
) -> None:
    entry = segment(library, tmp_path, KINDS["mjpeg"], 0)
    made = clip(library, [SegmentCut(entry.sha256, S, 3 * S)])
    assert made.derived
    assert "re-encoded" in str(describe(made)["says"]).split(".")[-2]
    assert made.sources[0].sha256 == entry.sha256 != made.sources[0].copied_from


@pytest.mark.long
def test_segments_whose_recorded_times_overlap_are_moved_and_it_is_told(
    library: FootageIndex, tmp_path: Path
) -> None:
    one = segment(library, tmp_path, KINDS["gop60"], 0)
    path = tmp_path / "20261118.mp4"
    write(path, KINDS["gop60"], FRAMES, first=FRAMES)
    early = FootageDetails(
        "hollywood", "CC-07-A", one.start_us + 5 * S
    )  # its name has whole seconds, say
    (added,) = add(library, [path], early)
    assert added.entry
    wanted = [SegmentCut(one.sha256, 4 * S, 6 * S), SegmentCut(added.entry.sha256, 0, 2 * S)]
    made = clip(library, wanted)
    assert [source.moved_us for source in made.sources] == [0, S]
    steps = index(library.home / made.path).pts_us
    assert max(b - a for a, b in pairwise(steps)) < 40_000


@pytest.mark.long
def test_what_cannot_be_cut_is_refused_with_what_to_do(
    library: FootageIndex, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    one = segment(library, tmp_path, KINDS["gop60"], 0)
    other = segment(library, tmp_path, KINDS["vp8"], 1)
    with pytest.raises(Refused, match="encoded differently"):
        clip(library, [SegmentCut(one.sha256, 0, S), SegmentCut(other.sha256, 0, S)])
    with pytest.raises(NotFound, match="not in the footage index"):
        clip(library, [SegmentCut("0" * 64, 0, S)])
    with pytest.raises(NotFound, match="nothing to cut"):
        clip(library, [])
    with pytest.raises(Refused, match="no frame"):
        clip(library, [SegmentCut(one.sha256, 10**9, 2 * 10**9)], way="exact")
    with monkeypatch.context() as patch:
        patch.setattr(muxing, "find_spec", lambda _: None)
        with pytest.raises(Unavailable, match="PyAV"):
            clip(library, [SegmentCut(one.sha256, 0, S)])
    octets = bytearray(one.path.read_bytes())
    octets[-5] ^= 1
    one.path.write_bytes(octets)
    with pytest.raises(NotFound, match="altered"):
        clip(library, [SegmentCut(one.sha256, 0, S)])
    assert parse_time("2026-11-20T21:00:00Z")


def aged(made: Clip, hours: float) -> None:
    """As if it had been used so long ago for the last time."""
    then = time.time() - hours * 3_600
    os.utime(made.path, (then, then))


def there(*made: Clip) -> list[bool]:
    """Which of the clips lie in the cache, record and all."""
    files = [(Path(each.path), Path(each.path).with_suffix(".json")) for each in made]
    assert all(clip.exists() == record.exists() for clip, record in files)
    return [clip.exists() for clip, _ in files]


@pytest.mark.long
def test_of_more_clips_than_are_kept_those_used_last_stay(
    library: FootageIndex, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    entry = segment(library, tmp_path, KINDS["gop60"], 0)
    spans = [[SegmentCut(entry.sha256, 0, n * S)] for n in (2, 3, 4, 5)]
    one, two, three = (clip(library, span) for span in spans[:3])
    killed = Path(one.path).with_name(".new-1-killed.mp4")
    killed.write_bytes(b"half of a clip")
    for each, hours in ((one, 30), (two, 20), (three, 10)):
        aged(each, hours)
    os.utime(killed, (0, 0))
    clip_cache.trim(library.home)
    assert there(one, two, three) == [True] * 3, "there is room for all of them"
    assert clip(library, spans[0]) == one  # which is a use of it
    monkeypatch.setattr(clip_cache.trim, "__defaults__", (one.size + three.size,))
    four = clip(library, spans[3])
    assert there(one, two, three, four) == [True, False, False, True]
    assert not killed.exists()
    aged(one, 0.5)
    clip_cache.trim(library.home, 0)
    assert there(one, four) == [True, True], "they may be on their way to somebody"


@pytest.mark.long
def test_no_clip_is_left_of_footage_that_is_forgotten(
    library: FootageIndex, tmp_path: Path
) -> None:
    first, second = (segment(library, tmp_path, KINDS["ts_bframes"], n) for n in (0, 1))
    gone = clip(library, [SegmentCut(first.sha256, 0, S)])
    across = clip(
        library,
        [SegmentCut(first.sha256, 5 * S, first.duration_us), SegmentCut(second.sha256, 0, S)],
    )
    other = clip(library, [SegmentCut(second.sha256, 0, S)])
    nameless = Path(other.path).with_name("nameless.mp4")
    nameless.write_bytes(b"whose record was lost")
    os.utime(nameless, (0, 0))
    making = Path(other.path).with_name(".new-1-other.mp4")
    making.write_bytes(b"half of a clip")
    clip_cache.forget(library.home, {first.sha256})
    assert there(gone, across, other) == [False, False, True]
    assert (nameless.exists(), making.exists()) == (False, True)


@pytest.mark.long
@pytest.mark.parametrize("name", ["gop60", "bframes", "vfr_mp4", "vfr_mkv", "ts_bframes", "vp8"])
def test_a_preview_has_fifteen_frames_a_second_each_at_its_own_time(
    library: FootageIndex, tmp_path: Path, name: str
) -> None:
    entry = segment(library, tmp_path, KINDS[name], 0)
    made = clip(library, whole(entry), way="preview")
    frames = seen(made, Path(made.path))
    assert (made.derived, made.starts_us) == (True, entry.start_us)
    for number, us in frames.items():
        assert abs(entry.times.pts_us[number] - us) <= 1_000  # so a player names the original's
    parts = [(us + 1_000) * 15 // S for us in entry.times.pts_us]
    assert sorted(frames) == [n for n, part in enumerate(parts) if part not in parts[:n]]


@pytest.mark.long
def test_a_preview_is_no_larger_than_640_by_360_and_keeps_its_shape(
    library: FootageIndex, tmp_path: Path
) -> None:
    shapes = (((720, 1280), (640, 360)), ((600, 480), (288, 360)), ((120, 160), (160, 120)))
    for number, (shape, small) in enumerate(shapes):
        path = tmp_path / f"{number}.mp4"
        pictures = [np.full((*shape, 3), 90, np.uint8)]
        write(path, KINDS["gop60"], 15, pictures=pictures)
        told = FootageDetails("hollywood", "CC-07-A", (START_MS + number * 60_000) * 1000)
        (added,) = add(library, [path], told)
        assert added.entry, added.problem
        with av.open(clip(library, whole(added.entry), way="preview").path) as file:
            stream = file.streams.video[0]
            assert (stream.width, stream.height) == small


@pytest.mark.long
def test_a_preview_is_made_when_it_is_asked_for_and_kept_until_its_footage_expires(
    library: FootageIndex, tmp_path: Path
) -> None:
    entry, previews = segment(library, tmp_path, KINDS["gop60"], 0), Previews(library)
    assert previews.made(entry) is None
    assert previews.ask(entry) == "awaited"
    until(lambda: previews.ask(entry) == "made")
    made = previews.made(entry)
    assert made is not None
    assert Previews(library).ask(entry) == "made", "by another process too"
    clip_cache.forget(library.home, {entry.sha256})
    assert not Path(made.path).exists()


@pytest.mark.long
def test_what_has_no_preview_says_so_and_is_not_tried_again(
    library: FootageIndex, tmp_path: Path
) -> None:
    entry, previews = segment(library, tmp_path, KINDS["gop60"], 0), Previews(library)
    assert previews.ask(replace(entry, rotation=90)) == "none"
    entry.path.write_bytes(entry.path.read_bytes()[:-1] + b"x")
    with pytest.raises(NotFound):
        previews.ask(entry)
