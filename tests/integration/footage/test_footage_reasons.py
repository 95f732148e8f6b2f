"""Why a file is refused as footage: cut off, sound only, damaged, or another format."""

from __future__ import annotations

from typing import TYPE_CHECKING

import av
import numpy as np
import pytest

from replay.footage.decoding.containers import container_of
from replay.footage.library.adding import FootageDetails, add
from replay.footage.library.index import FootageIndex
from tests.footage.video_kinds import KINDS, write

if TYPE_CHECKING:
    from pathlib import Path

TOLD = FootageDetails("hollywood", "CC-07-A", 0)
CODECS = {"mp4": "aac", "mkv": "flac", "webm": "libopus", "avi": "mp2", "ts": "mp2"}
"""A sound codec of each container."""


def sound_only(path: Path, codec: str) -> None:
    with av.open(str(path), "w") as file:
        stream = file.add_stream(codec, rate=48_000, layout="mono")
        for number in range(20):
            frame = av.AudioFrame.from_ndarray(np.zeros((1, 1024), "int16"), layout="mono")
            frame.sample_rate, frame.pts = 48_000, number * 1024
            resampler = av.AudioResampler(stream.format, "mono", 48_000, stream.frame_size or None)
            for each in resampler.resample(frame):
                file.mux(stream.encode(each))
        file.mux(stream.encode(None))


def problem(tmp_path: Path, path: Path) -> str | None:
    (added,) = add(FootageIndex(tmp_path / "home"), [path], TOLD)
    return added.problem


@pytest.mark.parametrize("suffix", CODECS)
def test_a_file_with_sound_only_is_refused_as_that(tmp_path: Path, suffix: str) -> None:
    path = tmp_path / f"sound.{suffix}"
    sound_only(path, CODECS[suffix])
    assert container_of(path) is not None
    assert problem(tmp_path, path) == "it has sound only, no picture"


def written(tmp_path: Path, name: str) -> tuple[Path, bytes]:
    """A file of a kind, and its bytes. A container is named by its ending."""
    kind = {"mp4": KINDS["gop60"], "avi": KINDS["mjpeg"]}.get(name)
    kind = kind or next(each for each in KINDS.values() if each.suffix == name)
    path = tmp_path / f"whole.{kind.suffix}"
    write(path, kind, 30)
    return path, path.read_bytes()


@pytest.mark.parametrize("share", [0.1, 0.5, 0.99])
def test_an_mp4_without_its_index_is_said_to_be_cut_off(tmp_path: Path, share: float) -> None:
    path, octets = written(tmp_path, "mp4")
    path.write_bytes(octets[: int(len(octets) * share)])
    assert problem(tmp_path, path) == (
        "it is cut off: the index that a recorder writes last is missing. Copy it again once the "
        "recorder has closed it"
    )


@pytest.mark.parametrize("suffix", ["mp4", "mkv", "webm", "avi", "ts"])
def test_a_file_cut_before_its_first_picture_is_said_to_be_cut_off(
    tmp_path: Path, suffix: str
) -> None:
    path, octets = written(tmp_path, suffix)
    path.write_bytes(octets[:700])
    assert (problem(tmp_path, path) or "").startswith("it is cut off: ")


def test_a_whole_file_with_damaged_bytes_is_not_called_cut_off(tmp_path: Path) -> None:
    path, octets = written(tmp_path, "mp4")
    at = octets.index(b"moov")
    path.write_bytes(octets[: at + 4] + bytes(len(octets) - at - 4))
    assert problem(tmp_path, path) == "it is damaged: its content cannot be read"
