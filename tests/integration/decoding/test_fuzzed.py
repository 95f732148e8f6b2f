"""Thousands of damaged files in five containers: each gets an answer, nothing is left behind."""

from __future__ import annotations

import os
import random
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from replay.footage.decoding.decoder import Job, decoded
from replay.footage.decoding.hashing import sha256_of
from replay.footage.muxing.muxing import END_US, Part, Writing, write
from tests.footage.video_kinds import KINDS
from tests.footage.video_kinds import write as write_video

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

FRAMES = 12
WRITTEN_OF = 20
"""One in so many damaged files is also copied into a new file."""


def flip(octets: bytearray, chance: random.Random) -> None:
    for _ in range(chance.choice((1, 4, 64))):
        octets[chance.randrange(len(octets))] ^= 1 << chance.randrange(8)


def flip_in_the_head(octets: bytearray, chance: random.Random) -> None:
    for _ in range(chance.choice((1, 4, 16))):
        octets[chance.randrange(min(len(octets), 1500))] = chance.randrange(256)


def cut(octets: bytearray, chance: random.Random) -> None:
    del octets[chance.randrange(len(octets)) :]


def leave_out(octets: bytearray, chance: random.Random) -> None:
    at = chance.randrange(len(octets))
    del octets[at : at + chance.randrange(1, 5000)]


def twice(octets: bytearray, chance: random.Random) -> None:
    at = chance.randrange(len(octets))
    octets[at:at] = octets[at : at + chance.randrange(1, 5000)]


def huge_numbers(octets: bytearray, chance: random.Random) -> None:
    for _ in range(chance.choice((1, 3))):
        at = chance.randrange(max(len(octets) - 8, 1))
        octets[at : at + 4] = chance.choice(
            (b"\xff" * 4, b"\x7f\xff\xff\xff", b"\x80\0\0\0", bytes(4))
        )


DAMAGES: tuple[Callable[[bytearray, random.Random], None], ...] = (
    flip, flip_in_the_head, cut, leave_out, twice, huge_numbers,
)  # fmt: skip


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> list[bytes]:
    """A good file of each container."""
    folder = tmp_path_factory.mktemp("whole")
    files = []
    for name in ("gop60", "fragmented", "vfr_mkv", "ts", "vp8", "avi_h264"):
        kind = KINDS[name]
        write_video(folder / f"{name}.{kind.suffix}", kind, FRAMES)
        files.append((folder / f"{name}.{kind.suffix}").read_bytes())
    return files


def damaged(whole: list[bytes], chance: random.Random, folder: Path, count: int) -> Iterator[Job]:
    for number in range(count):
        octets = bytearray(chance.choice(whole))
        for _ in range(chance.choice((1, 1, 2))):
            chance.choice(DAMAGES)(octets, chance)
            octets = octets or bytearray(b"\0")
        path = folder / f"{number:05}.bin"
        path.write_bytes(octets)
        yield Job(str(path), sha256_of(path), (0, 5), timecode=True)


def children() -> set[str]:
    """The processes that this one started and that still run."""
    tasks = Path("/proc/self/task").glob("*/children")
    return {pid for task in tasks for pid in task.read_text("ascii").split()}


@pytest.mark.parametrize(
    "count",
    [
        pytest.param(300, marks=pytest.mark.long),
        pytest.param(10_000, marks=pytest.mark.exhaustive),
    ],
)
def test_damaged_files_harm_nobody(whole: list[bytes], tmp_path: Path, count: int) -> None:
    chance = random.Random(count)  # noqa: S311 - damage, no secret
    beside = children()
    folder = tmp_path / "in"
    folder.mkdir()
    jobs = list(damaged(whole, chance, folder, count))
    files = {*folder.iterdir()}
    read = failed = 0
    for job, answer in zip(jobs, decoded(jobs), strict=True):
        assert answer.index is not None or answer.problem, job
        read, failed = read + (answer.index is not None), failed + bool(answer.problem)
    assert read > count / 20, "some damage leaves a file that plays"
    assert failed > count / 20, "and most does not"
    out = tmp_path / "out"
    out.mkdir()
    writings = [
        Writing((Part(job.path, job.sha256, 0, END_US, 0),), str(out / f"{at}.mp4"), "mp4")
        for at, job in enumerate(jobs[::WRITTEN_OF])
    ]
    written = write(writings)
    good = {out / f"{at}.mp4" for at, answer in enumerate(written) if not answer.problem}
    assert {*out.iterdir()} == good
    assert {*folder.iterdir()} == files
    held = [os.path.realpath(each) for each in Path("/proc/self/fd").iterdir()]
    assert not [each for each in held if each.startswith(str(tmp_path))]
    assert children() == beside
