"""Files of every kind taken into the index: what is kept of them, and what is refused."""

from __future__ import annotations

import os
import shutil
from typing import TYPE_CHECKING
from zoneinfo import ZoneInfo

import pytest

from ledger.facts import SegmentRecorded
from ledger.record.wire import Fact
from ledger.values import parse_time
from replay.footage.decoding.containers import has_sound
from replay.footage.decoding.decoder import Frame, sha256_of
from replay.footage.library import adding
from replay.footage.library.adding import Added, FootageDetails, add, footage_files
from replay.footage.library.files import frames
from replay.footage.library.index import FootageIndex, IndexedSegment
from tests.footage.video_kinds import KINDS, blank, write

if TYPE_CHECKING:
    from pathlib import Path

TOLD = FootageDetails("hollywood", "CC-07-A")
START = "20261120T210000Z"
PLAYED = {
    "gop60": "original",
    "vfr_mkv": "remuxed",
    "ts_bframes": "remuxed",
    "vp9": "original",
    "msmpeg4": "transcoded",
    "mjpeg": "transcoded",
}


@pytest.fixture
def library(tmp_path: Path) -> FootageIndex:
    return FootageIndex(tmp_path / "home")


def one(library: FootageIndex, path: Path, told: FootageDetails = TOLD) -> Added:
    (added,) = add(library, [path], told)
    return added


def taken(library: FootageIndex, path: Path, told: FootageDetails = TOLD) -> IndexedSegment:
    added = one(library, path, told)
    assert added.entry is not None, added.problem
    return added.entry


def recorded(sha256: str) -> Fact:
    body = SegmentRecorded(
        camera="CC-07-A", path="x", sha256=sha256, start="2026-11-20T21:00:00Z", frames=1,
        duration_us=1,
    )  # fmt: skip
    return Fact(body, "/hollywood/surveillance/nvr", "1", 0, None, None, None, None)


@pytest.mark.long
@pytest.mark.parametrize("name", PLAYED)
def test_a_file_is_indexed_and_played_as_its_kind_allows(
    library: FootageIndex, tmp_path: Path, name: str
) -> None:
    kind = KINDS[name]
    path = tmp_path / f"{START}.{kind.suffix}"
    times = write(path, kind, 90)
    before = sha256_of(path)
    entry = taken(library, path)
    assert sha256_of(path) == before == entry.sha256
    assert all(abs(a - b) <= 500 for a, b in zip(entry.times.pts_us, times, strict=True))
    assert (entry.width, entry.height) == (480, 272)
    assert (entry.start_us, entry.start_from) == (parse_time("2026-11-20T21:00:00Z"), "name")
    assert entry.playable is not None
    assert entry.playable.how == PLAYED[name]
    assert sha256_of(entry.playable.path) == entry.playable.sha256
    assert (entry.playable.sha256 == entry.sha256) == (PLAYED[name] == "original")
    copy = FootageIndex(tmp_path / "other")
    shutil.copy(entry.playable.path, tmp_path / f"again {START}.{entry.playable.container}")
    again = taken(copy, tmp_path / f"again {START}.{entry.playable.container}")
    assert again.times.pts_us == pytest.approx(entry.times.pts_us, abs=12)
    assert library.entry(entry.sha256) == entry
    assert library.entries("CC-07-A") == [entry]
    assert library.entries("CC-07-B") == []


def test_adding_again_says_that_it_is_known_and_changes_nothing(
    library: FootageIndex, tmp_path: Path
) -> None:
    path = tmp_path / f"{START}.mp4"
    write(path, KINDS["gop60"], 30)
    first, second = one(library, path), one(library, path)
    assert (first.verdict, second.verdict) == ("added", "known")
    assert first.entry == second.entry
    other = one(library, path, TOLD._replace(camera="CC-08-A"))
    assert (other.verdict, other.entry) == ("refused", None)
    assert "CC-07-A" in (other.problem or "")
    moved = one(library, path, TOLD._replace(start_us=5))
    assert moved.problem == "it was added with another start"


@pytest.mark.long
def test_sound_is_not_taken_along_unless_that_is_asked_for(
    library: FootageIndex, tmp_path: Path
) -> None:
    path = tmp_path / f"{START}.mp4"
    write(path, KINDS["gop60"], 30, audio=True)
    entry = taken(library, path)
    assert entry.audio is True
    assert entry.playable is not None
    assert entry.playable.how == "remuxed"
    assert has_sound(path, "mp4")
    assert has_sound(entry.playable.path, "mp4") is False
    loud = taken(FootageIndex(tmp_path / "loud"), path, TOLD._replace(keep_audio=True))
    assert loud.playable is not None
    assert loud.playable.how == "original"


@pytest.mark.parametrize("audio", [True, False])
def test_whether_a_transport_stream_has_sound_is_known_once_it_is_copied(
    library: FootageIndex, tmp_path: Path, *, audio: bool
) -> None:
    path = tmp_path / f"{START}.ts"
    write(path, KINDS["ts"], 30, audio=audio)
    entry = taken(library, path)
    assert entry.audio is audio
    assert entry.playable is not None
    assert has_sound(entry.playable.path, "mp4") is False


@pytest.mark.long
def test_frames_are_told_by_the_second_and_a_gap_shows(
    library: FootageIndex, tmp_path: Path
) -> None:
    even, uneven = tmp_path / f"{START}.mp4", tmp_path / "20261120T210100Z.mp4"
    write(even, KINDS["gop60"], 90)
    write(uneven, KINDS["vfr_mp4"], 150)
    steady, broken = taken(library, even), taken(library, uneven)
    assert steady.fps_min == steady.fps_max == pytest.approx(30, abs=0.01)
    assert broken.fps_min < 10 < broken.fps_max
    assert steady.duration_us == pytest.approx(3_000_000, abs=2)


@pytest.mark.long
def test_a_local_time_in_a_name_is_the_start_unless_it_was_twice_or_never(
    library: FootageIndex, tmp_path: Path
) -> None:
    named = tmp_path / "CC-07-A_2026-11-01_00-30-00.mp4"
    write(named, KINDS["gop60"], 40, start_ms=1_795_000_000_000)
    floor = TOLD._replace(zone=ZoneInfo("America/New_York"))
    entry = taken(FootageIndex(tmp_path / "zoned"), named, floor)
    assert entry.start_us == parse_time("2026-11-01T00:30:00-04:00")
    twice = tmp_path / "CC-07-A_2026-11-01_01-30-00.mp4"
    shutil.copy(named, twice)
    assert "happened twice" in (one(library, twice, floor).problem or "")
    never = tmp_path / "CC-07-A_2026-03-08_02-30-00.mp4"
    shutil.copy(named, never)
    assert "never was" in (one(library, never, floor).problem or "")


def test_a_time_in_a_name_with_its_offset_is_the_start(
    library: FootageIndex, tmp_path: Path
) -> None:
    fixed = tmp_path / "CC-07-A_2026-11-01_01-30-00-0500.mp4"
    write(fixed, KINDS["gop60"], 40, start_ms=1_795_000_000_000)
    floor = TOLD._replace(zone=ZoneInfo("America/New_York"))
    assert taken(library, fixed, floor).start_us == parse_time("2026-11-01T01:30:00-05:00")


@pytest.mark.long
def test_the_start_is_told_from_where_it_is_known(library: FootageIndex, tmp_path: Path) -> None:
    seen = tmp_path / "plain.mp4"
    write(seen, KINDS["gop60"], 40, start_ms=1_795_000_000_000)
    pictured = taken(library, seen)
    assert (pictured.start_us, pictured.start_from) == (1_795_000_000_000_000, "picture")
    told = taken(FootageIndex(tmp_path / "told"), seen, TOLD._replace(start_us=7))
    assert (told.start_us, told.start_from) == (7, "told")
    on_record = add(FootageIndex(tmp_path / "on record"), [seen], TOLD, lambda _, __: 9)
    entry = next(on_record).entry
    assert entry is not None
    assert (entry.start_us, entry.start_from) == (9, "record")


@pytest.mark.long
def test_a_container_that_says_when_it_was_made_is_believed_last(
    library: FootageIndex, tmp_path: Path
) -> None:
    made = {"creation_time": "2026-11-20T21:00:00.000000Z"}
    path = tmp_path / "made.mp4"
    write(path, KINDS["gop60"], 20, pictures=[blank()], metadata=made)
    entry = taken(library, path)
    assert (entry.start_us, entry.start_from) == (parse_time("2026-11-20T21:00:00Z"), "container")
    silent = tmp_path / "silent.mp4"
    write(silent, KINDS["gop60"], 21, pictures=[blank()])
    assert "its start is unknown" in (one(library, silent).problem or "")


def test_what_is_no_video_is_refused_alone_and_the_rest_is_taken(
    library: FootageIndex, tmp_path: Path
) -> None:
    folder = tmp_path / "in"
    folder.mkdir()
    good = folder / f"{START}.mp4"
    write(good, KINDS["gop60"], 30)
    whole = good.read_bytes()
    (folder / "a-text.mp4").write_text("no video at all\n" * 50)
    (folder / "b-empty.mkv").write_bytes(b"")
    (folder / "c-cut.mp4").write_bytes(whole[: len(whole) // 3])
    (folder / "d-noise.ts").write_bytes(b"\x47" + os.urandom(187) * 4)
    (folder / "e-link.mp4").symlink_to(good)
    (folder / "f-riff.avi").write_bytes(b"RIFF\xff\xff\xff\xffAVI " + bytes(500))
    (folder / "notes.txt").write_text("not looked at")
    results = {each.path.name: each for each in add(library, footage_files(folder), TOLD)}
    assert set(results) == {
        "a-text.mp4",
        "b-empty.mkv",
        "c-cut.mp4",
        "d-noise.ts",
        "f-riff.avi",
        good.name,
    }
    assert [name for name, each in results.items() if each.entry] == [good.name]
    assert all(each.problem for each in results.values() if not each.entry)
    assert results["b-empty.mkv"].problem == "it is empty"
    assert "its content is not" in (results["a-text.mp4"].problem or "")
    assert one(library, folder / "e-link.mp4").verdict == "refused"


def test_a_name_of_another_container_does_not_matter(library: FootageIndex, tmp_path: Path) -> None:
    path = tmp_path / f"{START}.avi"
    write(tmp_path / "x.mp4", KINDS["gop60"], 30)
    (tmp_path / "x.mp4").rename(path)
    entry = taken(library, path)
    assert (entry.container, entry.playable is not None) == ("mp4", True)


def test_a_sparse_file_of_4_gib_and_one_too_large_are_refused_at_once(
    library: FootageIndex, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    sparse = tmp_path / f"{START}.mp4"
    with sparse.open("wb") as file:
        file.truncate(4 << 30)
    assert "its content is not" in (one(library, sparse).problem or "")
    monkeypatch.setattr(adding, "BYTES_MAX", 1000)
    assert "more than 1,000" in (one(library, sparse).problem or "")


@pytest.mark.long
def test_a_sparse_file_of_4_gib_with_a_good_head_is_refused_in_bounded_time(
    library: FootageIndex, tmp_path: Path
) -> None:
    write(tmp_path / "x.mp4", KINDS["gop60"], 30)
    head = (tmp_path / "x.mp4").read_bytes()
    path = tmp_path / f"{START}.mp4"
    with path.open("wb") as file:
        file.write(head[: len(head) // 2])
        file.truncate(4 << 30)
    added = one(library, path)
    assert added.verdict == "refused"
    assert added.problem


@pytest.mark.long
def test_without_the_extra_files_are_indexed_and_it_is_said_what_to_install(
    library: FootageIndex, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / f"{START}.ts"
    write(path, KINDS["ts"], 30)
    monkeypatch.setattr(adding, "available", lambda: False)
    entry = taken(library, path)
    assert entry.playable is None
    assert "round-ledger[video]" in (entry.unplayable or "")
    monkeypatch.undo()
    again = taken(library, path)  # once it is installed, adding again makes the copy
    assert again.playable is not None


@pytest.mark.long
def test_what_is_at_hand_is_looked_up_and_an_altered_file_is_not_shown(
    library: FootageIndex, tmp_path: Path
) -> None:
    path = tmp_path / f"{START}.webm"
    write(path, KINDS["vp8"], 60)
    entry = taken(library, path)
    footage = library.at_hand([recorded(entry.sha256), recorded("0" * 64)])
    assert list(footage.kept) == [entry.sha256]
    assert "1" * 64 not in footage.kept
    found = frames(footage, [(entry.sha256, 31)])[entry.sha256, 31]
    assert isinstance(found, Frame)
    assert found.timecode is not None
    assert found.timecode.capture == 31
    os.utime(path)  # looks new, and has the same bytes
    assert entry.sha256 in library.at_hand([recorded(entry.sha256)]).kept
    octets = bytearray(path.read_bytes())
    octets[-100] ^= 1
    path.write_bytes(octets)
    altered = library.at_hand([recorded(entry.sha256)])
    assert entry.sha256 not in altered.kept
    assert altered.strangers == {path.name}
    path.unlink()
    assert library.at_hand([recorded(entry.sha256)]).kept.get(entry.sha256) is None


@pytest.mark.long
def test_an_index_file_that_is_damaged_is_as_if_it_were_not_there(
    library: FootageIndex, tmp_path: Path
) -> None:
    path = tmp_path / f"{START}.mp4"
    write(path, KINDS["gop60"], 30)
    entry = taken(library, path)
    (place,) = library.folder.glob("entries/*/*.json")
    place.write_bytes(place.read_bytes()[:100])
    assert library.entry(entry.sha256) is None
    assert library.entries() == []
    assert taken(library, path) == entry
    with pytest.raises(ValueError, match="not a SHA-256"):
        library.entry("../../etc/passwd")
