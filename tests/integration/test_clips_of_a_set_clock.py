"""A clip across the moment at which a camera's clock was set: each picture names itself.

Pictures are numbered as they were taken, thirty a second, whatever the clock said: 240 in 8 s, and
the clock is set in the middle. Clocks are compared 100 ms before that and after it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from ledger.facts import ClockChecked, SegmentRecorded
from ledger.values import format_time
from ledger.wire import Fact
from replay.clocks import to_camera
from replay.coverage import Coverage, coverage
from replay.cutting import Window, cut, cut_camera
from replay.footage.adding import Told, add
from replay.footage.clips import Clip, clip
from replay.footage.library import Library
from tests.video_kinds import KINDS, decoded, write

if TYPE_CHECKING:
    from pathlib import Path

S, MS = 1_000_000, 1_000
T0 = 1_795_200_000 * S
SET_AT = 4 * S
HALF = 120  # pictures before the clock was set, and as many after it
WANTED = (2 * S, 6 * S)
SEEN = set(range(60, 180))
"""The pictures taken in the time wanted."""


def filmed(library: Library, folder: Path, by_us: int) -> Coverage:
    """Footage of 8 s taken in, and all that its recorder and clock checks tell."""
    facts: list[Fact] = []
    for number, start_us in enumerate((0, SET_AT + by_us)):
        path = folder / f"{number}.mp4"
        start_ms = (T0 + start_us) // MS
        write(path, KINDS["gop60"], HALF, start_ms=start_ms, first=number * HALF)
        (added,) = add(library, [path], Told("hollywood", "A", start_ms * MS))
        assert added.entry, added.problem
        body = SegmentRecorded(
            camera="A", path=f"A/{number}.mp4", sha256=added.entry.sha256,
            start=format_time(start_ms * MS), frames=HALF, duration_us=added.entry.duration_us,
        )  # fmt: skip
        facts.append(fact(body, T0 + (number + 1) * SET_AT + 50 * MS))
    for at_us, ahead_us in ((SET_AT - 100 * MS, 0), (SET_AT + 100 * MS, by_us)):
        body_ = ClockChecked(
            camera="A", camera_time=format_time(T0 + at_us + ahead_us),
            reference_time=format_time(T0 + at_us), reference="ntp", uncertainty_ms=1,
        )  # fmt: skip
        facts.append(fact(body_, T0 + at_us))
    return coverage(facts)


def fact(body: object, at_us: int) -> Fact:
    return Fact(body, "/hollywood/surveillance/nvr", str(at_us), at_us, None, None, None, None)


def pictures(made: Clip) -> set[int]:
    """The numbers of a clip's pictures, each found at the time that its own strip tells."""
    found = set()
    for pts_us, code in decoded(made.path):  # type: ignore[arg-type] # a path in words
        assert code is not None
        assert abs(made.starts_us + pts_us - code.clock_ms * MS) <= 1_500
        found.add(code.capture)
    return found


@pytest.mark.parametrize("by_us", [-3 * S, 3 * S])
def test_both_pieces_of_a_clip_hold_together_every_picture_that_was_taken(
    tmp_path: Path, by_us: int
) -> None:
    library = Library(tmp_path / "home")
    known = filmed(library, tmp_path, by_us)
    cuts = cut(known, "hollywood", "A", T0 + WANTED[0], T0 + WANTED[1])
    both = [pictures(clip(library, each.stretches)) for each in cuts]
    assert len(both) == 2
    assert both[0] | both[1] >= SEEN
    assert (max(both[0]), min(both[1])) == (HALF - 1, HALF)


def test_a_clip_from_what_the_clock_showed_at_both_ends_lacks_pictures(tmp_path: Path) -> None:
    """The negative control: one window, from end to end."""
    library = Library(tmp_path / "home")
    camera = filmed(library, tmp_path, -3 * S).cameras["hollywood", "A"]
    assert camera.clock
    from_us, to_us = (to_camera(camera.clock, T0 + at).time_us for at in WANTED)
    spread = cut_camera("A", camera, Window(from_us, to_us, 0, None))
    assert len(pictures(clip(library, spread.stretches)) & SEEN) < len(SEEN) / 2
