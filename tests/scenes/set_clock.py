"""A camera whose clock was set while it filmed: every picture says which it is and what it showed.

Pictures are numbered as they were taken, thirty a second, whatever the clock said. Clocks are
compared 100 ms before it was set and after it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ledger.facts import ClockChecked, SegmentRecorded
from ledger.values import format_time
from replay.footage.library.adding import FootageDetails, add
from tests.footage.video_kinds import KINDS, decoded, write

if TYPE_CHECKING:
    from pathlib import Path

    from ledger.facts import Body
    from replay.footage.library.index import FootageIndex

S, MS = 1_000_000, 1_000
T0 = 1_795_200_000 * S
SET_AT = 4 * S
SEGMENT = 120
"""Pictures in each segment, which lasts until the clock is set, or as long after it."""


def filmed(
    library: FootageIndex, folder: Path, by_us: int, segments: range = range(2)
) -> list[tuple[Body, int]]:
    """Footage taken in, and all that its recorder and clock checks tell, each with when.

    Segments are numbered so that the clock is set by `by_us` at the beginning of number 1; the
    first picture of the first one is number 0.
    """
    told: list[tuple[Body, int]] = []
    for number in segments:
        path = folder / f"{number}.mp4"
        start_ms = (T0 + number * SET_AT + (by_us if number > 0 else 0)) // MS
        first = (number - segments.start) * SEGMENT
        write(path, KINDS["gop60"], SEGMENT, start_ms=start_ms, first=first)
        (added,) = add(library, [path], FootageDetails("hollywood", "A", start_ms * MS))
        assert added.entry, added.problem
        body = SegmentRecorded(
            camera="A", path=f"A/{number}.mp4", sha256=added.entry.sha256,
            start=format_time(start_ms * MS), frames=SEGMENT, duration_us=added.entry.duration_us,
        )  # fmt: skip
        told.append((body, T0 + (number + 1) * SET_AT + 50 * MS))
    for at_us, ahead_us in ((SET_AT - 100 * MS, 0), (SET_AT + 100 * MS, by_us)):
        check = ClockChecked(
            camera="A", camera_time=format_time(T0 + at_us + ahead_us),
            reference_time=format_time(T0 + at_us), reference="ntp", uncertainty_ms=1,
        )  # fmt: skip
        told.append((check, T0 + at_us))
    return told


def pictures(film: Path, starts_us: int) -> dict[int, tuple[int, int]]:
    """The numbers of a film's pictures: when each stands by its place in it, and what it shows.

    starts_us: of its first picture. Both in microseconds.
    """
    found = {}
    for pts_us, code in decoded(film):
        assert code is not None
        found[code.capture] = (starts_us + pts_us, code.clock_ms * MS)
    return found
