"""Files damaged on the way, or made to do damage: bounded, reported, and harmless to others."""

from __future__ import annotations

import time
from random import Random
from typing import TYPE_CHECKING

import pytest

from replay.footage.library.adding import FootageDetails, add
from replay.footage.library.index import FootageIndex
from tests.footage.video_kinds import KINDS, write

if TYPE_CHECKING:
    from pathlib import Path

TOLD = FootageDetails("hollywood", "CC-07-A")


LONG = ("vfr_mkv", "ts_bframes", "mjpeg")


@pytest.mark.parametrize(
    "name", ["gop60", "vp8", *(pytest.param(name, marks=pytest.mark.long) for name in LONG)]
)
def test_a_damaged_file_is_taken_or_told_and_a_whole_one_after_it_is_taken(
    tmp_path: Path, name: str
) -> None:
    kind = KINDS[name]
    whole = tmp_path / f"20261120T190000Z.{kind.suffix}"
    write(whole, kind, 60)
    octets, chance, paths = whole.read_bytes(), Random(name), []  # noqa: S311 - repeatable
    for number in range(6):
        damaged = bytearray(octets)
        for _ in range(1 + number * 20):
            damaged[chance.randrange(len(damaged))] = chance.randrange(256)
        cut = len(damaged) if number % 2 else chance.randrange(len(damaged))
        path = tmp_path / f"2026112{number}T180000Z.{kind.suffix}"
        path.write_bytes(damaged[:cut])
        paths.append(path)
    began = time.monotonic()
    library = FootageIndex(tmp_path / "home")
    *results, last = add(library, [*paths, whole], TOLD)
    assert time.monotonic() - began < 90
    assert last.verdict == "added"
    assert all((each.entry is None) == (each.problem is not None) for each in results)
    assert whole.read_bytes() == octets
    assert not list(library.folder.rglob(".new-*"))


def test_a_file_that_claims_a_huge_picture_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "20261120T190000Z.mp4"
    write(path, KINDS["mjpeg"]._replace(suffix="mp4", format="mp4"), 5)
    octets = path.read_bytes()
    entry = octets.index(b"mp4v" if b"mp4v" in octets else b"jpeg")
    huge = bytearray(octets)
    huge[entry + 28 : entry + 32] = b"\xff\xfe\xff\xfe"  # width and height of the sample entry
    path.write_bytes(huge)
    (added,) = add(FootageIndex(tmp_path / "home"), [path], TOLD)
    if added.entry is not None:  # the decoder may believe the pictures rather than the container
        assert added.entry.width * added.entry.height <= 4096 * 4096
    else:
        assert added.problem
