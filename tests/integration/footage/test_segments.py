"""Footage is hostile input: only what was recorded is opened, and a bad file harms nobody."""

from __future__ import annotations

import os
import time
from hashlib import sha256
from typing import TYPE_CHECKING

import cv2
import pytest
from msgspec.structs import replace

from ledger.errors import Usage
from ledger.facts import SegmentRecorded
from ledger.record.wire import Fact
from ledger.simulate.cameras.shot_list import CameraPlan, ShotList
from replay.footage.decoding import limits as bounded
from replay.footage.decoding.decoder import Frame, Job, decode, sha256_of
from replay.footage.decoding.limits import Limits
from replay.footage.library import files as store
from replay.footage.library.files import frames, open_footage
from replay.footage.muxing.webm import Packet, write_webm
from replay.footage.simulated.camera import draw

if TYPE_CHECKING:
    from pathlib import Path

S = 1_000_000
START = 1_795_000_000 * S
KEY_PACKET = b"\x10\x00\x00\x9d\x01\x2a\x00\x10\x00\x10" + bytes(32)


def recorded(path: Path, label: str = "elsewhere/label.webm") -> Fact:
    body = SegmentRecorded(
        camera="CC-07-A",
        path=label,
        sha256=sha256_of(path),
        start="2026-11-18T11:06:40Z",
        frames=1,
        duration_us=S,
    )
    return Fact(body, "/hollywood/surveillance/nvr", label, START, None, None, None, None)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    to_us = START + 2 * S
    plan = CameraPlan(camera="CC-07-A", table="CC-07", from_us=START, to_us=to_us, strip=True)
    draw(ShotList(plan, ()), tmp_path)
    return tmp_path


def only(folder: Path) -> Path:
    (path,) = folder.rglob("*.webm")
    return path


def test_only_files_whose_bytes_were_recorded_are_used(folder: Path) -> None:
    good = only(folder)
    stranger = folder / "stranger.webm"
    stranger.write_bytes(good.read_bytes() + b"\0")
    footage = open_footage(folder, [recorded(good)])
    assert [kept.path for kept in footage.kept.values()] == [good]
    assert footage.strangers == {"stranger.webm"}
    (kept,) = footage.kept.values()
    assert kept.times is not None
    assert len(kept.times.pts_us) > 15


def test_a_folder_named_from_where_one_stands_is_read_like_any_other(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    good = only(folder)
    monkeypatch.chdir(folder.parent)
    footage = open_footage(folder.relative_to(folder.parent), [recorded(good)])
    assert [kept.problem for kept in footage.kept.values()] == [None]
    (frame,) = frames(footage, [(sha256_of(good), 3)]).values()
    assert isinstance(frame, Frame)


def test_a_label_is_never_opened(folder: Path, tmp_path_factory: pytest.TempPathFactory) -> None:
    outside = tmp_path_factory.mktemp("outside") / "secret.webm"
    outside.write_bytes(only(folder).read_bytes() + b"\0")
    footage = open_footage(folder, [recorded(outside, label=str(outside))])
    assert footage.kept == {}


def test_links_are_not_followed(folder: Path, tmp_path_factory: pytest.TempPathFactory) -> None:
    outside = tmp_path_factory.mktemp("outside") / "real.webm"
    only(folder).rename(outside)
    (folder / "link.webm").symlink_to(outside)
    assert open_footage(folder, [recorded(outside)]).kept == {}


@pytest.mark.long
def test_frames_are_decoded_with_their_hash_and_a_file_altered_meanwhile_is_not_shown(
    folder: Path,
) -> None:
    good = only(folder)
    digest = sha256_of(good)
    footage = open_footage(folder, [recorded(good)])
    found = frames(footage, [(digest, 3), (digest, 0), ("0" * 64, 1)])
    frame = found[digest, 3]
    assert isinstance(frame, Frame)
    assert frame.png.startswith(b"\x89PNG")
    assert frame.sha256 == sha256(frame.png).hexdigest()
    assert found["0" * 64, 1] == "the segment is not in the footage folder"
    octets = bytearray(good.read_bytes())
    octets[-10] ^= 1
    good.write_bytes(octets)
    assert frames(footage, [(digest, 3)])[digest, 3] == "it was altered after the folder was read"


@pytest.mark.long
def test_more_frames_than_one_job_takes_are_all_decoded(folder: Path) -> None:
    good = only(folder)
    footage = open_footage(folder, [recorded(good)])
    digest = sha256_of(good)
    times = footage.kept[digest].times
    assert times is not None
    every = [(digest, number) for number in range(len(times.pts_us))]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(store, "_FRAMES_A_JOB", 5)
        found = frames(footage, [*every, every[0]])
    assert list(found) == every
    assert all(isinstance(frame, Frame) and frame.number == n for (_, n), frame in found.items())


def test_a_frame_that_the_file_does_not_have_is_answered_in_words(folder: Path) -> None:
    good = only(folder)
    footage = open_footage(folder, [recorded(good)])
    answer = frames(footage, [(sha256_of(good), 9_999)])[sha256_of(good), 9_999]
    assert isinstance(answer, str)


def hostile_files(good: bytes) -> dict[str, bytes]:
    return {
        "empty": b"",
        "noise": bytes(range(256)) * 64,
        "header only": good[:200],
        "torn": good[: len(good) // 3] + bytes(2000),
        "too large a picture": write_webm([Packet(0, KEY_PACKET)], 30_000, 30_000, 40),
        "playlist": b"ffconcat version 1.0\nfile good.webm\n",
        "claims to be endless": good[:60] + b"\x01" + b"\xff" * 7 + good[68:],
    }


@pytest.mark.parametrize("kind", hostile_files(bytes(300)))
def test_a_hostile_file_is_unreadable_and_harms_nothing(folder: Path, kind: str) -> None:
    good = only(folder)
    bad = folder / "bad.webm"
    bad.write_bytes(hostile_files(good.read_bytes())[kind])
    footage = open_footage(folder, [recorded(bad), recorded(good)])
    broken, whole = footage.kept[sha256_of(bad)], footage.kept[sha256_of(good)]
    assert whole.times is not None
    assert broken.problem or len(broken.times.pts_us if broken.times else ()) < 20


def test_a_playlist_would_open_other_files_if_it_were_let(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("OPENCV_FFMPEG_CAPTURE_OPTIONS", raising=False)
    only(folder).rename(folder / "good.webm")
    playlist = folder / "list.webm"
    playlist.write_bytes(hostile_files(b"")["playlist"])
    assert cv2.VideoCapture(str(playlist), cv2.CAP_FFMPEG).isOpened()
    (answer,) = decode([Job(str(playlist), sha256_of(playlist))])
    assert answer.problem is not None
    assert "its content is not WebM" in answer.problem


@pytest.mark.long
def test_a_decoder_that_hangs_is_ended_and_the_other_jobs_are_answered(folder: Path) -> None:
    good = Job(str(only(folder)), sha256_of(only(folder)), (0,))
    endless = folder / "endless"
    with endless.open("wb") as file:
        file.truncate(100 << 30)  # its hash takes minutes
    began = time.monotonic()
    answers = decode([good, Job(str(endless), "0" * 64), good], Limits(job_s=1, bytes_a_s=1 << 40))
    assert [bool(answer.frames) for answer in answers] == [True, False, True]
    assert answers[1].problem is not None
    assert "was stopped after" in answers[1].problem
    assert time.monotonic() - began < 60


def test_what_is_not_a_file_is_not_waited_for(folder: Path) -> None:
    good, pipe = Job(str(only(folder)), sha256_of(only(folder)), (0,)), folder / "pipe"
    os.mkfifo(pipe)
    answers = decode([Job(str(pipe), "0" * 64), Job(str(folder), "0" * 64), good])
    assert [each.problem for each in answers] == ["it is not a file", "it is not a file", None]


@pytest.mark.long
@pytest.mark.parametrize("short", [Limits(job_s=1), Limits(cpu_s=1)])
def test_a_large_file_has_the_time_that_its_size_takes(tmp_path: Path, short: Limits) -> None:
    """Its hash alone takes longer than the limit of a small file, which is the control."""
    path = tmp_path / "large"
    with path.open("wb") as file:
        file.truncate(3 << 30)
    job = Job(str(path), "0" * 64)
    (ended,) = decode([job], replace(short, bytes_a_s=1 << 40))
    assert "was stopped" in (ended.problem or "")
    (read,) = decode([job], short)
    assert read.problem == "it was altered after the folder was read"


@pytest.mark.long
def test_no_size_gives_a_job_more_than_the_most_there_is(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One that hangs is ended however large its file is said to be."""
    monkeypatch.setattr(bounded, "SIZE_S_MAX", 0)
    path = tmp_path / "large"
    with path.open("wb") as file:
        file.truncate(3 << 30)
    (ended,) = decode([Job(str(path), "0" * 64)], Limits(job_s=1))
    assert "was stopped after" in (ended.problem or "")


def test_a_decoder_without_memory_fails_alone(folder: Path) -> None:
    job = Job(str(only(folder)), sha256_of(only(folder)), (0,))
    starved, fed = (decode([job], limits)[0] for limits in (Limits(memory_bytes=1 << 20), Limits()))
    assert starved.problem
    assert not starved.frames
    assert fed.frames


def test_a_folder_of_too_many_files_is_refused(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(store, "FILES_MAX", 2)
    for name in ("one", "two"):
        (folder / name).touch()
    with pytest.raises(Usage, match="Name the footage folder itself"):
        open_footage(folder, [])


def test_a_folder_that_is_not_there_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(Usage, match="Name an existing folder"):
        open_footage(tmp_path / "nowhere", [])
