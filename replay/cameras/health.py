"""Whether a camera shows what it should: pictures that are dark, still, blurred or moved.

Judged from figures of key frames, and, for a still picture, from what the table's facts say was
going on: an empty table is still too, and is not called frozen. It opens no file.
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
"""Levels (of 255) that a picture spreads over at least; a lit table has 40 and more, a covered or
dark lens below 2."""

SHARPNESS_SHARE_MIN = 0.25
"""Of the camera's usual sharpness; out of focus it falls below a tenth of it."""

SHARPNESS_MIN = 20.0
"""Below this a picture is blurred even where it always was so."""

MOVED_MIN = 6.0
"""Pixels of 320: a fiftieth of the picture's width; less is a table that was jolted."""

ALIKE_MIN, ALIKER_MIN = 0.5, 0.15
"""How alike two pictures must be once the one is moved, and by how much more than as they are."""

STILL_MAX = 5.0
"""Levels by which 99.9 % of a still picture differ at most: encoding one picture again and again
gives up to 5, a sensor's noise alone twice that, a hand a hundred."""

FROZEN_US_MIN = 3_000_000
"""Still for so long, with things going on, is frozen, microseconds."""

HAPPENINGS_MIN = 2
"""Facts that move something on the table, while the picture stood still."""

APART_US_MAX = 60_000_000
"""Pictures further apart are not one stretch of the same fault, microseconds."""

MOVING = frozenset(
    (
        "cards_dealt", "cards_turned", "cards_exchanged", "dice_thrown", "hand_discarded",
        "wager_placed", "wager_withdrawn", "wager_paid", "wager_collected", "wager_returned",
        "pot_awarded", "marker_placed", "card_burned", "cards_spread",
    )
)  # fmt: skip
"""Facts that a camera over the table sees something move in, by name without version."""


class TimedPicture(NamedTuple):
    """A picture looked at, with its time by the camera's clock, microseconds."""

    at_us: int
    looked: Looked


class Ailing(Struct, frozen=True):
    """A stretch in which a camera did not show what it should."""

    fault: Fault
    from_us: int  # by the camera's clock: the first and the last picture that show it
    to_us: int
    pictures: int
    says: str


class Pictured(NamedTuple):
    """What pictures of some segments show: of how many of them any was looked at, and what ails."""

    segments: int
    findings: Sequence[Ailing]


def usual_sharpness(shown: Iterable[TimedPicture]) -> float | None:
    """The sharpness in the middle of a camera's lit pictures; None where there is none."""
    lit = [each.looked.sharpness for each in shown if each.looked.spread >= SPREAD_MIN]
    return median(lit) if lit else None


def picture_faults(
    shown: Sequence[TimedPicture], activity_us: Sequence[int], usual: float | None = None
) -> list[Ailing]:
    """What is wrong with one camera's pictures, in order of time.

    activity_us: when something moved on its table, by the camera's clock, in order; usual: its
    sharpness when it is well, else that of these pictures.
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
        says = f"dark or covered: one even level of at most {level:.0f} of 255"
        yield _ailing("black", stretch, says)


def _blurred(shown: Sequence[TimedPicture], usual: float) -> Iterable[Ailing]:
    least = max(SHARPNESS_MIN, usual * SHARPNESS_SHARE_MIN)
    soft = [not _is_black(each) and each.looked.sharpness < least for each in shown]
    for stretch in _stretches(shown, soft):
        sharp = max(each.looked.sharpness for each in stretch)
        yield _ailing("blurred", stretch, f"sharpness at most {sharp:.0f}, usually {usual:.0f}")


def _moved(shown: Sequence[TimedPicture]) -> Iterable[Ailing]:
    """Moved by about as much in two pictures or more: one alone may be a hand before the lens."""
    for stretch in _stretches(shown, [_shift(each) >= MOVED_MIN for each in shown]):
        if len(stretch) > 1:
            far = median(_shift(each) for each in stretch)
            yield _ailing("moved", stretch, f"the view is moved by {far:.0f} pixels of 320")


def _frozen(shown: Sequence[TimedPicture], activity_us: Sequence[int]) -> Iterable[Ailing]:
    still = [
        each.looked.changed is not None and each.looked.changed <= STILL_MAX and not _is_black(each)
        for each in shown
    ]
    for at, stretch in _numbered(shown, still):
        began = shown[at - 1] if at else stretch[0]
        from_us, to_us = began.at_us, stretch[-1].at_us
        count = bisect_right(activity_us, to_us) - bisect_left(activity_us, from_us)
        if to_us - from_us >= FROZEN_US_MIN and count >= HAPPENINGS_MIN:
            says = f"nothing in it changed, while {count} facts tell of things moved on the table"
            yield Ailing("frozen", from_us, to_us, len(stretch) + 1, says)


def _is_black(each: TimedPicture) -> bool:
    return each.looked.spread < SPREAD_MIN


def _shift(each: TimedPicture) -> float:
    """How far the view is moved, in pixels of 320; 0 where this is not clear."""
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
    """Pictures with a fault that follow one another, and the number of the first."""
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
