"""A round with many pictures: its dossier is made with a few of them in memory, never with all."""

from __future__ import annotations

import hashlib
import tracemalloc
from typing import TYPE_CHECKING

import cv2
import numpy as np
import pytest

from ledger.facts import CameraMapped, SegmentRecorded
from ledger.record.wire import encode, fact_of
from ledger.values import format_time
from replay.dossier import Evidence, wanted
from replay.dossier.writing.footage import pictures
from replay.dossier.writing.making import write_dossier
from replay.footage.library.files import FootageFiles, open_footage, spilled
from replay.rounds.story import story
from tests.scenes.dossiers import HOUSE, chained, evidence, received

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from ledger.facts import Body
    from tests.fixtures.dossier import Made

CAMERAS, PICTURES = 4, 60
FPS = 3  # fewer, and most facts would have no picture
S = 1_000_000


def film(path: Path, seconds: int, seed: int) -> None:
    """A camera's segment of 1280 x 720 with noise in every picture, as real ones have."""
    rng = np.random.default_rng(seed)
    scene = cv2.resize(rng.integers(9, 246, (72, 128, 3), np.uint8), (1280, 720))
    noise = rng.integers(0, 9, scene.shape, np.uint8)
    out = cv2.VideoWriter(str(path), cv2.VideoWriter.fourcc(*"MJPG"), FPS, (1280, 720))
    out.set(cv2.VIDEOWRITER_PROP_QUALITY, 60)
    for number in range(FPS * seconds):
        out.write(scene + np.roll(noise, 7 * number, axis=1))
    out.release()


def told_by(folder: Path, first_us: int, seconds: int) -> Iterator[Body]:
    """What is on record of the cameras and of what they recorded, which lies in a folder."""
    for seed in range(CAMERAS):
        path, camera = folder / f"{seed}.avi", f"CC-01-{seed}"
        film(path, seconds, seed)
        yield CameraMapped(camera=camera, table="CC-01", kind="stationary", covers=["table"])
        yield SegmentRecorded(
            camera=camera,
            path=path.name,
            sha256=hashlib.sha256(path.read_bytes()).hexdigest(),
            start=format_time(first_us - 10 * S),
            frames=FPS * seconds,
            duration_us=seconds * S,
        )


def filmed(folder: Path) -> tuple[Evidence, FootageFiles]:
    """The round of `evidence` as so many cameras saw it, and their segments."""
    whole = evidence(folder)
    (told,) = whole.stories
    first_us, last_us = told.rows[0].time_us, told.rows[-1].time_us
    segments = folder / "segments"
    segments.mkdir()
    bodies = told_by(segments, first_us, (last_us - first_us) // S + 20)
    kept = chained(
        received(encode(body, "/hollywood/recorders/nvr", f"r-{n}", first_us - 60 * S + n))
        for n, body in enumerate(bodies)
    )
    facts = [fact_of(row) for row in kept.rows]
    footage = open_footage(segments, facts)
    more = whole._replace(
        stories=(story(told.round, told.rows, told.ruling, facts, footage),),
        camera_rows=[*whole.camera_rows, *kept.rows],
        previous={**whole.previous, **kept.previous},
        heads=sorted([*whole.heads, *kept.heads]),
        frames={},
    )
    return more, footage


@pytest.mark.long
def test_a_dossier_of_many_pictures_is_made_with_few_in_memory(made: Made, tmp_path: Path) -> None:
    """Held all at once they took six times their bytes: a large round could not be handed over."""
    whole, footage = filmed(tmp_path)
    (told,) = whole.stories
    chosen = sorted(wanted(told), key=lambda each: each[1])[: CAMERAS * PICTURES]
    assert len(chosen) == CAMERAS * PICTURES
    (tmp_path / "aside").mkdir()
    tracemalloc.start()
    try:
        frames = spilled(footage, chosen, tmp_path / "aside")
        write_dossier(whole._replace(frames=frames), tmp_path / "d", signer=HOUSE)
        _, peak = tracemalloc.get_traced_memory()
        lying = [path.read_bytes() for path in (tmp_path / "d" / "frames").iterdir()]
        _, peak_of_all = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    total = sum(map(len, lying))
    assert len(lying) == len(pictures(told, frames)) == CAMERAS * PICTURES
    assert total > 200 << 20, "pictures so small show nothing"
    assert peak < total // 4
    assert peak_of_all > total, "what is held is not seen"
    code, said = made.checked(tmp_path / "d")
    assert code == 0, said
