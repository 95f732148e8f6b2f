"""Forty files as recorders leave them: each gives exact frames, or the true reason why not."""

from __future__ import annotations

import io
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pytest
from PIL import Image

from ledger.facts import SegmentRecorded
from ledger.values import format_time
from replay.cameras.intake.report import FileReport, report
from replay.footage.decoding.decoder import Job, decode, sha256_of
from replay.footage.decoding.timecode import read_timecode
from replay.footage.library.adding import FootageDetails, add
from replay.footage.library.index import FootageIndex
from replay.recording.house_facts import append_fact, screen
from tests.footage.corpus import CORPUS, FRAMES, CorpusFile, table
from tests.footage.filmed_table import BEGAN_US, HOUSE, NOW_US, filmed_table
from tests.footage.video_kinds import decoded

if TYPE_CHECKING:
    from infra.postgres.connection import Database
    from tests.fixtures.postgres import Scenes

PAGE = Path(__file__).parents[3] / "docs" / "how-to" / "footage.md"
S = 1_000_000


def test_the_documentation_has_a_row_for_each_file() -> None:
    assert len(CORPUS) >= 40
    assert len({each.about for each in CORPUS}) == len(CORPUS)
    rows = [line for line in PAGE.read_text().splitlines() if line.startswith("| ")]
    assert [row for row in table() if row not in rows] == []


@pytest.mark.long
@pytest.mark.parametrize("of", CORPUS, ids=lambda of: of.about)
def test_a_file_gives_exact_frames_or_the_true_reason(
    of: CorpusFile, scenes: Scenes, tmp_path: Path
) -> None:
    path = tmp_path / of.name
    of.write(path)
    database, _ = scenes.copy(filmed_table)
    if of.warns == "overlap":
        _film(database)
    told = FootageDetails("hollywood", "CC-07-A")
    if of.warns not in ("outside_facts", "future", "zone", "overlap") and of.name != "no_start.mkv":
        told = told._replace(start_us=BEGAN_US + 90 * S)
    found = report(database, FootageIndex(tmp_path / "home"), path, told, HOUSE, NOW_US).report
    (added,) = add(FootageIndex(tmp_path / "home"), [path], told)
    assert found.problem == added.problem
    if found.problem is not None:
        assert of.gives == found.problem
        return
    codes = {each.code for each in found.warnings}
    assert codes - {"unmapped", "outside_facts", "future"} == (
        {of.warns} - {None, "outside_facts", "future"} | ({"pictures"} if _refused(of) else set())
    )
    assert of.warns is None or of.warns in codes
    assert found.rotation == of.turned
    _exact(of, path, found)
    assert added.entry
    assert added.entry.playable
    frames = found.frames or 0
    shown = [code and code.capture for _, code in decoded(added.entry.playable.path)]
    assert shown[:frames] == [number + of.hidden for number in range(frames)]
    assert len(shown) == frames or (of.warns == "cut" and None not in shown)


def _refused(of: CorpusFile) -> bool:
    return of.gives == "copy only"


def _exact(of: CorpusFile, path: Path, found: FileReport) -> None:
    """Every frame of the index is, by the strip in it, the picture that was taken then."""
    answer = decode([Job(str(path), sha256_of(path), tuple(range(found.frames or 0)))])[0]
    if _refused(of):
        assert "interlaced" in (answer.problem or "")
        return
    assert answer.problem is None
    assert answer.index
    cut = of.gives == "exact up to the cut"
    assert FRAMES // 2 < len(answer.frames) + of.hidden <= FRAMES
    if of.warns != "holes":
        assert cut == (len(answer.frames) + of.hidden < FRAMES)
    for frame in answer.frames:
        shown = np.asarray(Image.open(io.BytesIO(frame.png)).convert("RGB"))[:, :, ::-1]
        upright = np.ascontiguousarray(np.rot90(shown, of.turned // 90))
        code = read_timecode(upright)
        assert code, frame.number
        assert code.capture == frame.number + of.hidden


def _film(database: Database) -> None:
    """Put other footage of that camera and time on record."""
    from infra.postgres.tape import PostgresTape  # noqa: PLC0415

    body = SegmentRecorded(
        camera="CC-07-A", path="CC-07-A/other.mp4", sha256="c" * 64,
        start=format_time(BEGAN_US + 60 * S), frames=1, duration_us=60 * S,
    )  # fmt: skip
    with PostgresTape(database) as tape:
        append_fact(tape, body, screen("hollywood", "nvr"), time_us=BEGAN_US + 120 * S)
