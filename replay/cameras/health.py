"""Faults of a camera's pictures: dark, frozen, blurred or moved.

They are found from measures of keyframes. For a frozen picture the table's facts count too: a still
picture of a quiet table is no fault. It opens no file.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from itertools import groupby
from statistics import median
from typing import TYPE_CHECKING, Literal, NamedTuple

from msgspec import Struct

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from replay.footage.decoding.sampling import Looked

Fault = Literal["black", "blurred", "moved", "frozen"]

SPREAD_MIN = 8.0
"""The least spread of levels (of 255) in a picture; a lit table has 19 and more, a covered or dark
lens below 6."""

ALIKE_MEAN, ALIKE_SHARPNESS_SHARE = 0.5, 0.05
"""The most by which level and share of sharpness differ where a still picture goes from one segment
to the next. Repeated encoding stays below."""

SHARPNESS_SHARE_MIN = 0.25
"""Share of the camera's usual sharpness; out of focus it falls below a tenth."""

SHARPNESS_MIN = 20.0
"""Below this sharpness a picture is blurred, even if it always was."""

MOVED_MIN = 6.0
"""Pixels of 320: a fiftieth of the picture's width; less may be a jolted table."""

ALIKE_MIN, ALIKER_MIN = 0.5, 0.15
"""The least likeness of two pictures after shifting one, and its least gain by the shift."""

STILL_MAX = 5.0
"""The most levels by which 99.9 % of a still picture differ. Repeated encoding of one picture gives
up to 5, a sensor's noise twice that, a hand a hundred."""

FROZEN_US_MIN = 3_000_000
"""A picture that stands still for this many microseconds during activity is frozen."""

HAPPENINGS_MIN = 2
"""The least number of facts that move something on the table while the picture stands still."""

APART_US_MAX = 60_000_000
"""Pictures further apart than this many microseconds are separate times of a fault."""

MOVING = frozenset(
    (
        "cards_dealt", "cards_turned", "cards_exchanged", "dice_thrown", "hand_discarded",
        "wager_placed", "wager_withdrawn", "wager_paid", "wager_collected", "wager_returned",
        "pot_awarded", "marker_placed", "card_burned", "cards_spread",
    )
)  # fmt: skip
"""Facts with visible movement on the table, by name without version."""


class TimedPicture(NamedTuple):
    """A checked picture, with its time by the camera's clock, in microseconds."""

    at_us: int
    looked: Looked


class Ailing(Struct, frozen=True):
    """A time in which a camera's pictures have a fault."""

    fault: Fault
    from_us: int  # by the camera's clock: the first and the last picture with the fault
    to_us: int
    pictures: int
    says: str


class Pictured(NamedTuple):
    """The result of checking pictures of segments: number of checked segments, and faults."""

    segments: int
    findings: Sequence[Ailing]


def usual_sharpness(shown: Iterable[TimedPicture]) -> float | None:
    """The median sharpness of a camera's lit pictures; None without any."""
    lit = [each.looked.sharpness for each in shown if each.looked.spread >= SPREAD_MIN]
    return median(lit) if lit else None


def picture_faults(
    shown: Sequence[TimedPicture], activity_us: Sequence[int], usual: float | None = None
) -> list[Ailing]:
    """The faults of one camera's pictures, by time.

    activity_us: times of movement on its table, by the camera's clock, in order. usual: its normal
    sharpness; default: that of these pictures.
    """
    usual = usual_sharpness(shown) if usual is None else usual
    found = [
        *_black(shown),
        *_blurred(shown, usual or 0.0),
        *_moved(shown),
        *_frozen(shown, activity_us),
    ]
    return sorted(found, key=lambda each: (each.from_us, each.fault))


def _black(shown: Sequence[TimedPicture]) -> Iterable[Ailing]:
    for stretch in _stretches(shown, [_is_black(each) for each in shown]):
        level = max(each.looked.mean for each in stretch)
        says = f"dark or covered: a uniform level of at most {level:.0f} of 255"
        yield _ailing("black", stretch, says)


def _blurred(shown: Sequence[TimedPicture], usual: float) -> Iterable[Ailing]:
    least = max(SHARPNESS_MIN, usual * SHARPNESS_SHARE_MIN)
    soft = [not _is_black(each) and each.looked.sharpness < least for each in shown]
    for stretch in _stretches(shown, soft):
        sharp = max(each.looked.sharpness for each in stretch)
        yield _ailing("blurred", stretch, f"sharpness at most {sharp:.0f}, usually {usual:.0f}")


def _moved(shown: Sequence[TimedPicture]) -> Iterable[Ailing]:
    """Moved by about the same distance in at least two pictures: one may show a hand."""
    for stretch in _stretches(shown, [_shift(each) >= MOVED_MIN for each in shown]):
        if len(stretch) > 1:
            far = median(_shift(each) for each in stretch)
            yield _ailing("moved", stretch, f"the view is moved by {far:.0f} pixels of 320")


def _frozen(shown: Sequence[TimedPicture], activity_us: Sequence[int]) -> Iterable[Ailing]:
    still = [
        each.looked.changed is not None and each.looked.changed <= STILL_MAX and not _is_black(each)
        for each in shown
    ]
    for at in range(1, len(shown) - 1):
        still[at] |= still[at - 1] and still[at + 1] and _goes_on(shown[at - 1], shown[at])
    for at, stretch in _numbered(shown, still):
        began = shown[at - 1] if at else stretch[0]
        from_us, to_us = began.at_us, stretch[-1].at_us
        count = bisect_right(activity_us, to_us) - bisect_left(activity_us, from_us)
        if to_us - from_us >= FROZEN_US_MIN and count >= HAPPENINGS_MIN:
            says = f"the picture did not change while {count} facts record activity on the table"
            yield Ailing("frozen", from_us, to_us, len(stretch) + 1, says)


def _goes_on(before: TimedPicture, first: TimedPicture) -> bool:
    """Whether a segment's first picture may be that which the segment before ended with."""
    was, now = before.looked, first.looked
    return (
        now.changed is None
        and abs(now.mean - was.mean) <= ALIKE_MEAN
        and abs(now.sharpness - was.sharpness) <= ALIKE_SHARPNESS_SHARE * now.sharpness
    )


def _is_black(each: TimedPicture) -> bool:
    return each.looked.spread < SPREAD_MIN


def _shift(each: TimedPicture) -> float:
    """How far the view is moved, in pixels of 320; 0 if that is not clear."""
    looked = each.looked
    if looked.shift is None or looked.alike is None or _is_black(each):
        return 0.0
    still, moved = looked.alike
    if moved < ALIKE_MIN or moved - still < ALIKER_MIN:
        return 0.0
    return max(abs(looked.shift[0]), abs(looked.shift[1]))


def _stretches(
    shown: Sequence[TimedPicture], faulty: Sequence[bool]
) -> Iterable[list[TimedPicture]]:
    return (stretch for _, stretch in _numbered(shown, faulty))


def _numbered(
    shown: Sequence[TimedPicture], faulty: Sequence[bool]
) -> Iterable[tuple[int, list[TimedPicture]]]:
    """Runs of consecutive pictures with a fault, and the number of the first picture."""
    runs: list[int] = []
    for at, each in enumerate(shown):
        apart = bool(at) and each.at_us - shown[at - 1].at_us > APART_US_MAX
        broken = at and (apart or faulty[at] != faulty[at - 1])
        runs.append((runs[-1] if runs else 0) + (1 if broken else 0))
    for _, group in groupby(range(len(shown)), key=runs.__getitem__):
        numbers = list(group)
        if faulty[numbers[0]]:
            yield numbers[0], [shown[number] for number in numbers]


def _ailing(fault: Fault, stretch: Sequence[TimedPicture], says: str) -> Ailing:
    return Ailing(fault, stretch[0].at_us, stretch[-1].at_us, len(stretch), says)
