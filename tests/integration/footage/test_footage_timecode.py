"""The start of footage by the clock in its pictures, sought unasked: found, or nothing is."""

from __future__ import annotations

import shutil
from typing import TYPE_CHECKING

import numpy as np
import pytest

from ledger.values import parse_time
from replay.footage.decoding.decoder import Job, decode, sha256_of
from replay.footage.decoding.limits import Limits
from replay.footage.library import start_times
from replay.footage.library.adding import FootageDetails, add
from replay.footage.library.index import FootageIndex
from tests.footage.video_kinds import HEIGHT, KINDS, WIDTH, blank, picture, write

if TYPE_CHECKING:
    from pathlib import Path

    from replay.footage.library.index import IndexedSegment
    from tests.fixtures.vtest import Vtest

TOLD = FootageDetails("hollywood", "CC-07-A")
NAME = "CC-07-A_2026-11-20_21-00-00"
NAMED_US = parse_time("2026-11-20T21:00:00Z") or 0
S, MS = 1_000_000, 1000


def taken(path: Path, told: FootageDetails = TOLD) -> IndexedSegment:
    (added,) = add(FootageIndex(path.parent / f"home-{path.stem}"), [path], told)
    assert added.entry, added.problem
    return added.entry


@pytest.mark.long
@pytest.mark.parametrize("kind", ["gop60", "gop300", "vp8", "vfr_mkv", "ts_bframes", "msmpeg4"])
def test_a_name_in_whole_seconds_is_made_exact_by_the_clock_in_the_pictures(
    kind: str, tmp_path: Path
) -> None:
    path = tmp_path / f"{NAME}.{KINDS[kind].suffix}"
    write(path, KINDS[kind], 60, start_ms=NAMED_US // MS + 412)
    entry = taken(path)
    assert (entry.start_us, entry.start_from) == (NAMED_US + 412 * MS, "picture")
    assert entry.timecode_us is None


@pytest.mark.long
def test_a_clock_that_says_another_hour_is_told_of_and_not_believed(tmp_path: Path) -> None:
    path = tmp_path / f"{NAME}.mp4"
    write(path, KINDS["gop60"], 60, start_ms=NAMED_US // MS - 3_600_000)
    entry = taken(path)
    assert (entry.start_us, entry.start_from) == (NAMED_US, "name")
    assert entry.timecode_us == NAMED_US - 3600 * S


@pytest.mark.long
def test_what_knows_the_start_better_is_not_asked_of_the_pictures(tmp_path: Path) -> None:
    path = tmp_path / f"{NAME}.250.mp4"
    write(path, KINDS["gop60"], 60, start_ms=NAMED_US // MS + 412)
    assert (taken(path).start_us, taken(path).start_from) == (NAMED_US + 250 * MS, "name")
    told = shutil.copy(path, tmp_path / f"{NAME}.mp4")
    assert taken(told, TOLD._replace(start_us=7)).start_from == "told"


@pytest.mark.long
def test_a_strip_that_stands_still_or_is_seen_for_less_than_a_second_is_no_clock(
    tmp_path: Path,
) -> None:
    printed, brief = tmp_path / f"{NAME}.mp4", tmp_path / f"{NAME}-brief.mp4"
    write(printed, KINDS["gop60"], 60, pictures=[picture(0, NAMED_US // MS + 412)])
    write(brief, KINDS["gop60"], 20, start_ms=NAMED_US // MS + 412)
    for path in (printed, brief):
        entry = taken(path)
        assert (entry.start_us, entry.start_from, entry.timecode_us) == (NAMED_US, "name", None)


def test_footage_that_shows_no_strip_has_none(tmp_path: Path) -> None:
    chance = np.random.default_rng(9)
    across = np.arange(WIDTH)
    shown = {
        "blank": [blank()],
        "noise": [chance.integers(0, 256, (HEIGHT, WIDTH, 3)).astype(np.uint8) for _ in range(40)],
        "stripes": [
            np.repeat(np.tile(across // width % 2 * 255, (HEIGHT, 1))[:, :, None], 3, axis=2)
            .astype(np.uint8)
            for width in range(1, 41)
        ],
        "small": [np.zeros((16, 16, 3), np.uint8)],
    }  # fmt: skip
    paths = []
    for name, pictures in shown.items():
        paths.append(tmp_path / f"{NAME}-{name}.mp4")
        write(paths[-1], KINDS["gop60"], 60, pictures=pictures)
    answers = decode([Job(str(path), sha256_of(path), timecode=True) for path in paths])
    assert [(each.problem, each.timecode_us) for each in answers] == [(None, None)] * len(paths)


def test_a_decoder_that_is_ended_over_the_strip_leaves_the_name(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / f"{NAME}.mp4"
    write(path, KINDS["gop60"], 60, start_ms=NAMED_US // MS + 412)
    monkeypatch.setattr(start_times, "STRIP_LIMITS", Limits(memory_bytes=64 << 20))
    assert (taken(path).start_us, taken(path).start_from) == (NAMED_US, "name")


@pytest.mark.long
def test_a_street_has_none(vtest: Vtest) -> None:
    (answer,) = decode([Job(str(vtest.path), vtest.sha256, timecode=True)])
    assert (answer.problem, answer.timecode_us) == (None, None)


def test_the_same_bytes_under_two_names_are_one_segment_or_told_of(tmp_path: Path) -> None:
    one = tmp_path / f"{NAME}.mp4"
    write(one, KINDS["gop60"], 20)
    again = shutil.copy(one, tmp_path / f"{NAME}-copy.mp4")
    other = shutil.copy(one, tmp_path / "CC-07-A_2026-11-20_22-00-00.mp4")
    library = FootageIndex(tmp_path / "home")
    for verdicts in (("added", "known", "refused"), ("known", "known", "refused")):
        found = list(add(library, [one, again, other], TOLD))
        assert tuple(each.verdict for each in found) == verdicts
        assert f"added as {one.name}, with another time" in (found[2].problem or "")
    (entry,) = library.entries()
    assert (entry.path, entry.start_us) == (one, NAMED_US)
