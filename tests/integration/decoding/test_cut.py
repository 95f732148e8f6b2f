"""Files that a recorder cut off: every frame that is left is the frame that it was."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from av.error import InvalidDataError

from replay.footage.decoding.containers import PACKET_OCTETS
from replay.footage.decoding.decoder import Job, decode, sha256_of
from replay.footage.decoding.faults import ending_of
from replay.footage.library.adding import FootageDetails, add
from replay.footage.library.index import FootageIndex
from replay.footage.muxing.muxing import END_US, Part, Writing
from replay.footage.muxing.muxing import write as write_copies
from tests.footage.video_kinds import KINDS, decoded, hashes_of, times_of, write

if TYPE_CHECKING:
    from pathlib import Path

FRAMES = 60
SHARES = (50, 99)
CUTTABLE = KINDS | {
    "faststart": KINDS["bframes"]._replace(muxing={"movflags": "+faststart"}),
    "mkv_live": KINDS["mkv_bframes"]._replace(muxing={"live": "1"}),
    "hevc_faststart": KINDS["hevc"]._replace(
        suffix="mp4", format=None, muxing={"movflags": "+faststart"}
    ),
    "vp9_faststart": KINDS["vp9"]._replace(suffix="mp4", muxing={"movflags": "+faststart"}),
}
INDEX_LAST = {name for name, kind in KINDS.items() if kind.suffix == "mp4"} - {"fragmented"}
"""Kinds whose frames only an index at the end of the file can name."""


@pytest.mark.long
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


@pytest.mark.long
@pytest.mark.parametrize("name", ["ts_bframes", "hevc"])
def test_a_transport_stream_cut_after_a_packet_within_a_picture_is_cut_off(
    tmp_path: Path, name: str
) -> None:
    whole, cut = tmp_path / "whole.ts", tmp_path / "cut.ts"
    write(whole, KINDS[name], 12)
    octets = whole.read_bytes()
    [every] = decode([Job(str(whole), sha256_of(whole), tuple(range(12)))])
    exact = {frame.pts_us: frame.sha256 for frame in every.frames}
    starts = range(0, len(octets), PACKET_OCTETS)
    begins = [at for at in starts if octets[at + 1 : at + 3] == b"\x41\x00"]  # the first of each
    endings = []
    for at in begins[
        -3:
    ]:  # it has a clock in a field before its payload, as a last one has stuffing
        cut.write_bytes(octets[: at + PACKET_OCTETS])
        endings.append(ending_of(cut, "mpegts"))
        sha256 = sha256_of(cut)
        [found] = decode([Job(str(cut), sha256)])
        assert found.index
        [answer] = decode([Job(str(cut), sha256, (len(found.index.pts_us) - 1,))])
        [last] = answer.frames
        assert exact[last.pts_us] == last.sha256
    assert "cut" in endings


HALF = ("faststart", "fragmented", "avi_h264", "hevc_faststart")
"""Kinds whose packets are copied, and whose last one a reader may get half."""


@pytest.mark.long
@pytest.mark.parametrize("name", HALF)
def test_a_copy_of_a_cut_file_has_no_half_picture(tmp_path: Path, name: str) -> None:
    kind = CUTTABLE[name]
    whole, cut = tmp_path / f"whole.{kind.suffix}", tmp_path / f"cut.{kind.suffix}"
    write(whole, kind, 24)
    exact = set(hashes_of(whole).values())
    octets = whole.read_bytes()
    spoilt = 0
    for share in (61, 70, 83):
        cut.write_bytes(octets[: len(octets) * share // 100])
        job = Job(str(cut), sha256_of(cut))
        found = decode([job])[0]
        assert found.index
        assert found.index.not_whole
        assert found.nature
        assert not found.nature.plain
        for is_cut in (True, False):
            part = Part(job.path, job.sha256, 0, END_US, 0, cut=is_cut)
            out = tmp_path / "copy.mp4"
            [made] = write_copies([Writing((part,), str(out), "mp4")])
            assert made.problem is None
            if is_cut:
                shown = hashes_of(out).values()
                assert len(shown) >= len(found.index.pts_us)
                assert exact.issuperset(shown)
            else:
                spoilt += not _is_exact(out, exact)
    assert spoilt  # the control: with the last packet, a copy ends in a half picture


def _is_exact(path: Path, exact: set[str]) -> bool:
    try:
        return exact.issuperset(hashes_of(path).values())
    except InvalidDataError:
        return False


@pytest.mark.long
def test_an_exact_clip_of_an_avi_with_b_frames_ends_in_its_own_frames(tmp_path: Path) -> None:
    path, out = tmp_path / "whole.avi", tmp_path / "clip.mp4"
    write(path, KINDS["avi_bframes"], 24)
    for frames in range(9, 15):
        part = Part(str(path), sha256_of(path), 0, frames * 100_000 // 3, 0)
        [made] = write_copies([Writing((part,), str(out), "mp4", "encode")])
        assert (made.problem, made.frames) == (None, frames)
        assert [code and code.capture for _, code in decoded(out)] == list(range(frames))


@pytest.mark.long
def test_a_cut_file_that_a_browser_could_play_is_played_as_a_copy(tmp_path: Path) -> None:
    path = tmp_path / "20261120T200130.250Z.mp4"
    kind = KINDS["gop60"]._replace(muxing={"movflags": "+faststart"})
    write(path, kind, 24)
    octets, told = path.read_bytes(), FootageDetails("hollywood", "CC-07-A")
    [whole] = add(FootageIndex(tmp_path / "whole"), [path], told)
    path.write_bytes(octets[: len(octets) * 7 // 10])
    [cut] = add(FootageIndex(tmp_path / "cut"), [path], told)
    assert whole.entry
    assert cut.entry
    assert whole.entry.playable
    assert cut.entry.playable
    assert (whole.entry.playable.how, cut.entry.playable.how) == ("original", "remuxed")
    assert len(hashes_of(cut.entry.playable.path)) == len(cut.entry.times.pts_us)
