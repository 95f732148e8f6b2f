"""Files that a recorder cut off: every frame that is left is the frame that it was."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from replay.footage.decoding.decoder import Job, decode, sha256_of
from replay.footage.decoding.faults import ending_of
from tests.footage.video_kinds import KINDS, times_of, write

if TYPE_CHECKING:
    from pathlib import Path

FRAMES = 60
SHARES = (50, 99)
CUTTABLE = KINDS | {
    "faststart": KINDS["bframes"]._replace(muxing={"movflags": "+faststart"}),
    "mkv_live": KINDS["mkv_bframes"]._replace(muxing={"live": "1"}),
}
INDEX_LAST = {name for name, kind in KINDS.items() if kind.suffix == "mp4"} - {"fragmented"}
"""Kinds whose frames only an index at the end of the file can name."""


@pytest.mark.long
@pytest.mark.in_turn
@pytest.mark.parametrize("share", SHARES)
@pytest.mark.parametrize("name", sorted(CUTTABLE.keys() - INDEX_LAST))
def test_the_frames_up_to_the_cut_are_exact(tmp_path: Path, name: str, share: int) -> None:
    kind = CUTTABLE[name]
    path = tmp_path / f"cut.{kind.suffix}"
    write(path, kind, FRAMES)
    octets = path.read_bytes()
    whole = decode([Job(str(path), sha256_of(path))])[0].index
    path.write_bytes(octets[: len(octets) * share // 100])
    sha256 = sha256_of(path)
    found = decode([Job(str(path), sha256)])[0]
    assert whole
    assert found.index
    assert found.nature
    kept = len(found.index.pts_us)
    assert found.nature.ending in ("cut", "open")
    assert 0.4 * share / 100 * FRAMES <= kept < FRAMES
    answer = decode([Job(str(path), sha256, tuple(range(kept)))])[0]
    assert answer.problem is None
    for frame in answer.frames:
        assert frame.timecode is not None, f"frame {frame.number} shows nothing"
        assert whole.pts_us[frame.timecode.capture] == frame.pts_us


@pytest.mark.parametrize("name", ["gop60", "mkv_bframes", "avi_h264", "vp8"])
def test_a_whole_file_is_not_called_cut_off(tmp_path: Path, name: str) -> None:
    kind = KINDS[name]
    path = tmp_path / f"whole.{kind.suffix}"
    assert len(write(path, kind, 12)) == len(times_of(kind, 12))
    answer = decode([Job(str(path), sha256_of(path))])[0]
    assert answer.nature
    assert answer.index
    assert (answer.nature.ending, len(answer.index.pts_us)) == ("whole", 12)


@pytest.mark.parametrize("cut_at", [1, 5, 11])
def test_a_matroska_file_cut_within_the_head_of_a_cluster_is_cut_off(
    tmp_path: Path, cut_at: int
) -> None:
    kind = CUTTABLE["mkv_live"]
    path = tmp_path / "live.mkv"
    write(path, kind, FRAMES)
    octets = path.read_bytes()
    assert ending_of(path, "matroska") == "open"
    path.write_bytes(octets + b"\x1f\x43\xb6\x75\x01\0\0\0\0\0\xff\0"[:cut_at])
    assert ending_of(path, "matroska") == "cut"
