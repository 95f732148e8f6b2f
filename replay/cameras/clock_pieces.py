"""A camera's clock in pieces: spans of reference time in each of which one fit holds.

It decides what a clock that was set showed, for frames, clips, lanes and the player. The time of
setting is only known between two checks. The fit of the nearer check is used, as in
`replay.cameras.clocks.to_camera`, with a warning. Pure; it opens no file.
"""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING, NamedTuple

from replay.cameras.clocks import DEVICE_PLUS_MINUS_US, in_epoch, to_reference
from replay.text.times import utc

if TYPE_CHECKING:
    from collections.abc import Sequence

    from replay.cameras.clocks import CameraClock
    from replay.cameras.coverage import Segment

EVER_US = 1 << 62
"""Later than any time on record, in microseconds."""


class ClockPiece(NamedTuple):
    """A span in which one fit of a camera's clock is used."""

    from_us: int  # by the reference clock; inclusive
    to_us: int  # exclusive
    epoch: int  # 0 for a clock never checked, whose own time is used
    line: Sequence[tuple[int, int]]  # reference and camera time, straight between them


class ClockStep(NamedTuple):
    """A setting of a clock, and the reference time in which its display is uncertain."""

    from_us: int
    to_us: int
    by_us: int  # negative: set back
    says: str


def clock_pieces(clock: CameraClock | None, from_us: int, to_us: int) -> list[ClockPiece]:
    """The pieces of a span of reference time, in order, without gaps."""
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
    """The reference times between which an epoch may have lasted, by the checks around it."""
    before, after = clock.epochs[:epoch], clock.epochs[epoch + 1 :]
    first = before[-1].knots[-1].reference_us if before else -EVER_US
    return first, after[0].knots[0].reference_us if after else EVER_US


def epochs_of(clock: CameraClock | None, segment: Segment) -> list[int]:
    """The epochs in which a segment may have been recorded, likeliest first; at least one.

    A recorder reports a segment soon after its end. If the report has the camera's own time, it
    does not help.
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
    """Each setting of the clock, with a sentence; none if it was never set."""
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
            f"it showed the {much} up to about {utc(was)} twice"
            if back
            else f"it never showed the {much} after about {utc(was)}"
        )
        says = (
            f"Its clock was set {how} by {much} between {utc(after_us)} "
            f"and {utc(before_us)}: {shown}."
        )
        found.append(ClockStep(after_us - back, before_us + back, by_us, says))
    return found


def clock_warning(clock: CameraClock | None, time_us: int) -> str:
    """A warning if the clock's display at a reference time is uncertain; mostly empty."""
    near = (step for step in steps(clock) if step.from_us <= time_us <= step.to_us)
    return " ".join(step.says for step in near)


def _taken_over(clock: CameraClock) -> list[int]:
    """The start of each epoch after the first: from there on its check is the nearer one."""
    found = []
    for before, after in pairwise(clock.epochs):
        last, first = before.knots[-1].reference_us, after.knots[0].reference_us
        found.append(min((last + first) // 2 + 1, first))
    return found
