"""Frames in a page: unchanged if they are small, and named if they are not."""

from __future__ import annotations

import hashlib
import io
import random
from typing import TYPE_CHECKING

import pytest
from PIL import Image

from replay.dossier.writing.making import write_dossier
from replay.dossier.writing.previews import PNG_OCTETS_MAX, WIDTH_MAX, preview
from replay.footage.library.files import FrameFile
from tests.scenes.dossiers import evidence, png

if TYPE_CHECKING:
    from pathlib import Path


def large(seed: int) -> bytes:
    """A picture of 1280 x 720 that compresses badly."""
    noise = random.Random(seed).randbytes(1280 * 720 * 3)  # noqa: S311 - repeatable
    out = io.BytesIO()
    Image.frombytes("RGB", (1280, 720), noise).save(out, "PNG", compress_level=1)
    return out.getvalue()


def test_a_small_frame_stands_in_the_page_as_it_is(tmp_path: Path) -> None:
    (tmp_path / "7.png").write_bytes(png(7))
    shown = preview(tmp_path / "7.png")
    assert (shown.media, shown.octets, shown.smaller) == ("image/png", png(7), False)


def test_a_large_frame_is_shown_smaller_the_same_each_time(tmp_path: Path) -> None:
    frame = tmp_path / "1.png"
    size = frame.write_bytes(large(1))
    assert size > PNG_OCTETS_MAX
    shown = preview(frame)
    assert shown == preview(frame)
    assert shown.smaller
    assert len(shown.octets) < size / 10
    with Image.open(io.BytesIO(shown.octets)) as picture:
        assert picture.size == (WIDTH_MAX, WIDTH_MAX * 720 // 1280)


@pytest.mark.long
def test_a_dossier_of_large_frames_keeps_them_whole_and_its_pages_small(tmp_path: Path) -> None:
    told = evidence(tmp_path)
    whole = large(2)
    digest = hashlib.sha256(whole).hexdigest()
    path = tmp_path / "large.png"
    path.write_bytes(whole)
    frames = {
        key: FrameFile(each.number, each.pts_us, digest, path)
        for key, each in told.frames.items()
        if isinstance(each, FrameFile)
    }
    write_dossier(told._replace(frames=frames), tmp_path / "dossier")
    kept = list((tmp_path / "dossier" / "frames").iterdir())
    assert len(kept) == len(frames) > 20
    assert {each.stat().st_size for each in kept} == {len(whole)}
    report = (tmp_path / "dossier" / "report.html").read_text()
    assert "Reduced in size; the full frame is frames/" in report
    assert len(report) < len(kept) * len(whole) / 5
    assert (tmp_path / "dossier" / "report.pdf").stat().st_size < 5_000_000
