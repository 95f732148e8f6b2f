"""A camera's clock by pieces: stretches of reference time in each of which one fit of it holds.

The one place that says what a clock that was set showed, for frames, clips, lanes and the player:
when it was set is known between two checks alone, so the nearer check's fit is taken, as
`replay.cameras.clocks.to_camera` does, and what is doubtful about that is said. Pure; it opens no
file.
"""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING, NamedTuple

from replay.cameras.clocks import DEVICE_PLUS_MINUS_US, in_epoch, to_reference
from replay.text.times import time_of_day

if TYPE_CHECKING:
    from collections.abc import Sequence

    from replay.cameras.clocks import CameraClock
    from replay.cameras.coverage import Segment

EVER_US = 1 << 62
"""Further away than any time on record, microseconds."""


class ClockPiece(NamedTuple):
    """A stretch in which one fit of a camera's clock is taken."""

    from_us: int  # by the reference; its first instant
    to_us: int  # and the first that is no longer in it
    epoch: int  # 0 for a clock never checked, which is taken at its word
    line: Sequence[tuple[int, int]]  # reference and camera time, straight between them


class ClockStep(NamedTuple):
    """A clock that was set, and the reference time in which it is doubtful what it showed."""

    from_us: int
    to_us: int
    by_us: int  # less than 0: set back
    says: str


def clock_pieces(clock: CameraClock | None, from_us: int, to_us: int) -> list[ClockPiece]:
    """The pieces of a stretch of reference time, in order and without a break between them."""
    if clock is None:
        return [ClockPiece(from_us, to_us, 0, ((from_us, from_us), (to_us, to_us)))]
    pieces = []
    for epoch, (begins, ends) in enumerate(pairwise([-EVER_US, *_taken_over(clock), EVER_US])):
        start, end = max(begins, from_us), min(ends, to_us)
        if start < end:
            inside = (knot.reference_us for knot in clock.epochs[epoch].knots)
            at = [start, *(each for each in inside if start < each < end), end]
            line = tuple((each, in_epoch(clock, epoch, each).time_us) for each in at)
            pieces.append(ClockPiece(start, end, epoch, line))
    return pieces


def reach(clock: CameraClock, epoch: int) -> tuple[int, int]:
    """The reference times between which the fit of an epoch may have held: between which checks."""
    before, after = clock.epochs[:epoch], clock.epochs[epoch + 1 :]
    first = before[-1].knots[-1].reference_us if before else -EVER_US
    return first, after[0].knots[0].reference_us if after else EVER_US


def epochs_of(clock: CameraClock | None, segment: Segment) -> list[int]:
    """The epochs in which a segment may have been recorded, the likeliest first; never none.

    Its recorder tells of a segment once it has ended, and soon. A telling that gives the camera's
    own time says nothing of it.
    """
    if clock is None or len(clock.epochs) == 1:
        return [0]
    numbers = range(len(clock.epochs))
    start, end = ([to_reference(clock, at, n) for n in numbers] for at in segment[:2])
    told_us = segment.told_us + DEVICE_PLUS_MINUS_US
    untold = segment.told_us == segment.end_us
    may = []
    for number in numbers:
        first, last = reach(clock, number)
        if start[number] < last and end[number] > first and (untold or end[number] <= told_us):
            may.append(number)
    return sorted(may or numbers, key=lambda n: abs(segment.told_us - end[n]))


def steps(clock: CameraClock | None) -> list[ClockStep]:
    """Each time the clock was set, in words; nothing where it never was."""
    if clock is None:
        return []
    found = []
    for number, at_us in enumerate(_taken_over(clock)):
        after_us = clock.epochs[number].knots[-1].reference_us
        before_us = clock.epochs[number + 1].knots[0].reference_us
        was = in_epoch(clock, number, at_us).time_us
        by_us = in_epoch(clock, number + 1, at_us).time_us - was
        back = max(-by_us, 0)
        how, much = "back" if back else "forward", f"{abs(by_us) / 1e6:.3f} s"
        shown = (
            f"it showed the {much} up to about {time_of_day(was)} twice"
            if back
            else f"it never showed the {much} after about {time_of_day(was)}"
        )
        says = (
            f"Its clock was set {how} by {much} between {time_of_day(after_us)} "
            f"and {time_of_day(before_us)} UTC: {shown}."
        )
        found.append(ClockStep(after_us - back, before_us + back, by_us, says))
    return found


def clock_warning(clock: CameraClock | None, time_us: int) -> str:
    """What is doubtful about what a camera's clock showed at a reference time; mostly nothing."""
    near = (step for step in steps(clock) if step.from_us <= time_us <= step.to_us)
    return " ".join(step.says for step in near)


def _taken_over(clock: CameraClock) -> list[int]:
    """From when on each epoch after the first is taken: where its check is the nearer one."""
    found = []
    for before, after in pairwise(clock.epochs):
        last, first = before.knots[-1].reference_us, after.knots[0].reference_us
        found.append(min((last + first) // 2 + 1, first))
    return found
