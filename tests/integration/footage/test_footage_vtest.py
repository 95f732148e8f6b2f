"""Real footage of a street camera, from the folder to the clip."""

from __future__ import annotations

from typing import TYPE_CHECKING

import cv2
import numpy as np
import pytest

from ledger.facts import SegmentRecorded
from ledger.record.wire import Fact
from replay.footage.clips.clips import SegmentCut, clip
from replay.footage.decoding.decoder import Frame, sha256_of
from replay.footage.decoding.reader import index
from replay.footage.library.adding import FootageDetails, add
from replay.footage.library.files import frames
from replay.footage.library.index import FootageIndex
from tests.footage.video_kinds import decoded

if TYPE_CHECKING:
    from pathlib import Path

    from replay.footage.library.index import IndexedSegment
    from tests.fixtures.vtest import Vtest

S = 1_000_000
START_US = 1_795_000_000 * S

pytestmark = pytest.mark.long


@pytest.fixture(scope="module")
def street(
    vtest: Vtest, tmp_path_factory: pytest.TempPathFactory
) -> tuple[FootageIndex, IndexedSegment]:
    library = FootageIndex(tmp_path_factory.mktemp("street"))
    (added,) = add(library, [vtest.path], FootageDetails("hollywood", "STREET-1", START_US))
    assert added.entry, added.problem
    return library, added.entry


def test_it_is_indexed_as_it_is_and_kept_as_it_was(
    vtest: Vtest, street: tuple[FootageIndex, IndexedSegment]
) -> None:
    _, entry = street
    assert (entry.container, entry.codec, entry.audio) == ("avi", "msmpeg4", False)
    assert (entry.width, entry.height) == (vtest.width, vtest.height)
    assert len(entry.times.pts_us) == vtest.frames
    assert entry.fps_min == entry.fps_max == pytest.approx(10)
    assert entry.duration_us == 79_500_000
    assert sha256_of(vtest.path) == vtest.sha256 == entry.sha256


def test_its_frames_are_those_of_a_decode_from_the_start(
    street: tuple[FootageIndex, IndexedSegment],
) -> None:
    library, entry = street
    body = SegmentRecorded(
        camera="STREET-1", path="x", sha256=entry.sha256, start="2026-11-18T11:06:40Z",
        frames=795, duration_us=1,
    )  # fmt: skip
    fact = Fact(body, "/hollywood/surveillance/nvr", "1", 0, None, None, None, None)
    numbers = [0, 1, 11, 12, 399, 400, 401, 793, 794]
    found = frames(library.at_hand([fact]), [(entry.sha256, number) for number in numbers])
    capture = cv2.VideoCapture(str(entry.path), cv2.CAP_FFMPEG)
    for number in range(795):
        read, picture = capture.read()
        assert read
        if number in numbers:
            frame = found[entry.sha256, number]
            assert isinstance(frame, Frame)
            shown = cv2.imdecode(np.frombuffer(frame.png, np.uint8), cv2.IMREAD_COLOR)
            assert np.array_equal(shown, picture)
    capture.release()


def test_the_copy_for_browsers_has_every_frame_at_its_time_and_its_own_hash(
    street: tuple[FootageIndex, IndexedSegment],
) -> None:
    _, entry = street
    assert entry.playable is not None
    assert (entry.playable.how, entry.playable.container) == ("transcoded", "mp4")
    assert entry.playable.sha256 == sha256_of(entry.playable.path) != entry.sha256
    assert index(entry.playable.path).pts_us == pytest.approx(entry.times.pts_us, abs=12)


def test_a_clip_of_it_is_labelled_derived_and_names_the_original(
    street: tuple[FootageIndex, IndexedSegment], tmp_path: Path
) -> None:
    library, entry = street
    copied = clip(library, [SegmentCut(entry.sha256, 20 * S, 40 * S)])
    assert copied.derived
    assert copied.sources[0].sha256 == entry.sha256
    exact = clip(library, [SegmentCut(entry.sha256, 20 * S, 40 * S)], way="exact")
    assert exact.frames == len(decoded(tmp_path / exact.path)) == 200
