"""Who stood at a table at a time, and in which shift, from the facts that say so.

The record can tell whose a line is only if exactly one dealer stood there within the uncertainty of
the clocks. Sticks and boxes pay nobody, so a stickperson or boxperson is no dealer here.
"""

from __future__ import annotations

from bisect import bisect_right
from collections import defaultdict
from operator import attrgetter
from typing import TYPE_CHECKING, NamedTuple

from ledger.rules.engine.order import UNCERTAINTY_US

if TYPE_CHECKING:
    from collections.abc import Iterable

STAY_US_MAX = 24 * 3_600_000_000
"""Nobody stands at a table for longer. An arrival without a departure is not believed beyond."""

SPAN_US = 2 * STAY_US_MAX
"""A mark farther than this from a line does not matter to it."""


class StaffMark(NamedTuple):
    """Somebody came to a table or left it. employee: None as the table was closed: all left."""

    time_us: int
    employee: str | None
    role: str | None
    comes: bool


class ShiftMark(NamedTuple):
    """A shift's beginning at a table, as a count or a box names it."""

    time_us: int
    gaming_day: str
    shift: str


class Standing(NamedTuple):
    """Whose a line is. dealer: None if nobody or several stood there. who: all of them in words."""

    dealer: str | None
    who: str


class TableMarks:
    """What is on record of one table's staff and shifts; marks may come in any order."""

    def __init__(self, marks: Iterable[StaffMark | ShiftMark]) -> None:
        # Who leaves does so before another comes at the same time.
        told = set(marks)
        staff = (each for each in told if isinstance(each, StaffMark))
        self._staff = sorted(staff, key=lambda each: (each.time_us, each.comes, str(each)))
        self._shifts: dict[str, list[ShiftMark]] = defaultdict(list)
        for each in sorted(each for each in told if isinstance(each, ShiftMark)):
            self._shifts[each.gaming_day].append(each)

    def at(self, time_us: int) -> Standing:
        """Who stood there within the clocks' uncertainty of a time."""
        there = self._between(time_us - UNCERTAINTY_US, time_us + UNCERTAINTY_US)
        dealers = sorted({name for name, role in there if role == "dealer"})
        who = ", ".join(f"{name} ({role})" for name, role in sorted(there))
        return Standing(dealers[0] if len(dealers) == 1 else None, who)

    def shift(self, gaming_day: str, time_us: int) -> str | None:
        """The shift of a time of a gaming day; the first one has all that came before it."""
        near = self._shifts.get(gaming_day, ())
        its = [each for each in near if abs(each.time_us - time_us) <= SPAN_US]
        if not its:
            return None
        return its[max(0, bisect_right(its, time_us, key=attrgetter("time_us")) - 1)].shift

    def _between(self, since_us: int, until_us: int) -> set[tuple[str, str]]:
        """Name and role of all who stood there at any moment of a span."""
        came: dict[tuple[str, str], int] = {}
        there: set[tuple[str, str]] = set()
        begun = False
        for mark in self._staff[self._first(since_us) :]:
            if mark.time_us > until_us:
                break
            if not begun and mark.time_us > since_us:
                there |= _still(came, since_us)
                begun = True
            _move(came, mark)
            if begun:
                there |= _still(came, mark.time_us)
        return there if begun else _still(came, since_us)

    def _first(self, since_us: int) -> int:
        """The first mark that can matter at a time."""
        return bisect_right(self._staff, since_us - STAY_US_MAX, key=attrgetter("time_us"))


def _move(came: dict[tuple[str, str], int], mark: StaffMark) -> None:
    """Who stands there after a mark, with the time they came."""
    if mark.employee is None or mark.role is None:
        came.clear()
    elif mark.comes:
        came[mark.employee, mark.role] = mark.time_us
    else:
        came.pop((mark.employee, mark.role), None)


def _still(came: dict[tuple[str, str], int], at_us: int) -> set[tuple[str, str]]:
    """Who is believed to stand there."""
    return {who for who, since in came.items() if at_us - since < STAY_US_MAX}
