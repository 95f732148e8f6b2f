"""A clip across the moment at which a camera's clock was set: each picture names itself.

There are 240 in 8 s, and the clock is set in the middle.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from ledger.record.wire import Fact
from replay.cameras.clocks import to_camera
from replay.cameras.coverage import Coverage, coverage
from replay.cameras.cutting import CutWindow, cut, cut_camera
from replay.footage.clips.clips import clip
from replay.footage.library.index import FootageIndex
from tests.scenes.set_clock import SEGMENT, T0, S, filmed, pictures

if TYPE_CHECKING:
    from replay.footage.clips.clips import Clip

WANTED = (2 * S, 6 * S)
SEEN = set(range(60, 180))
"""The pictures taken in the time wanted."""


def known_of(library: FootageIndex, folder: Path, by_us: int) -> Coverage:
    """What the facts of the camera say."""
    nvr = "/hollywood/surveillance/nvr"
    return coverage(
        Fact(body, nvr, str(number), at_us, None, None, None, None)
        for number, (body, at_us) in enumerate(filmed(library, folder, by_us))
    )


def shown(made: Clip) -> set[int]:
    """The numbers of a clip's pictures, each found at the time on its own strip."""
    found = pictures(Path(made.path), made.starts_us)
    assert all(abs(stands_us - told_us) <= 1_500 for stands_us, told_us in found.values())
    return set(found)


@pytest.mark.long
@pytest.mark.parametrize("by_us", [-3 * S, 3 * S])
def test_both_pieces_of_a_clip_hold_together_every_picture_that_was_taken(
    tmp_path: Path, by_us: int
) -> None:
    library = FootageIndex(tmp_path / "home")
    known = known_of(library, tmp_path, by_us)
    cuts = cut(known, "hollywood", "A", T0 + WANTED[0], T0 + WANTED[1])
    both = [shown(clip(library, each.stretches)) for each in cuts]
    assert len(both) == 2
    assert both[0] | both[1] >= SEEN
    assert (max(both[0]), min(both[1])) == (SEGMENT - 1, SEGMENT)


@pytest.mark.long
def test_a_clip_from_what_the_clock_showed_at_both_ends_lacks_pictures(tmp_path: Path) -> None:
    """The negative control: one window, from end to end."""
    library = FootageIndex(tmp_path / "home")
    camera = known_of(library, tmp_path, -3 * S).cameras["hollywood", "A"]
    assert camera.clock
    from_us, to_us = (to_camera(camera.clock, T0 + at).time_us for at in WANTED)
    spread = cut_camera("A", camera, CutWindow(from_us, to_us, 0, None))
    assert len(shown(clip(library, spread.stretches)) & SEEN) < len(SEEN) / 2
