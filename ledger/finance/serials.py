"""Sets of printed serial numbers, kept as ranges: a batch may have millions.

A serial is text with a number at its end, such as `MP-000123`. Serials of the same text and width
are in one series. Numbers without leading zeros run on: `N-9` is followed by `N-10`, so a range of
them is kept as one for each width. A serial without a number is a series of its own.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

_NUMBERED = re.compile(r"(.*?)(\d{1,18})", re.DOTALL)


class SerialRange(NamedTuple):
    """Serials of one series, from `low` to `high`; `width`: digits that a number is padded to."""

    stem: str
    width: int
    low: int
    high: int

    @property
    def first(self) -> str:
        """Its first serial as printed."""
        return printed(self, self.low)

    @property
    def last(self) -> str:
        """Its last serial as printed."""
        return printed(self, self.high)


def printed(of: SerialRange, number: int) -> str:
    """A serial of a range's series as printed."""
    return f"{of.stem}{number:0{of.width}d}" if of.width else of.stem


def range_text(first: str, last: str) -> str:
    """A range as people read it: `MP-01 to MP-09`; one serial by itself."""
    return first if first == last else f"{first} to {last}"


def is_range(first: str, last: str) -> bool:
    """Whether two serials are of one series, and the first is not above the last."""
    one, other = numbered(first), numbered(last)
    if one[:2] == other[:2]:
        return one.low <= other.low
    return one.stem == other.stem and 0 < one.width < other.width and _is_plain(one, other)


def _is_plain(*of: SerialRange) -> bool:
    """Whether these have numbers without leading zeros."""
    return all(len(str(each.low)) == each.width for each in of)


def serials(first: str, last: str) -> Serials:
    """The serials from the first to the last; none if these two are no range."""
    if not is_range(first, last):
        return Serials()
    one, other = numbered(first), numbered(last)
    widths = range(one.width, other.width + 1)
    return Serials(
        tuple(
            SerialRange(
                one.stem,
                width,
                one.low if width == one.width else 10 ** (width - 1),
                other.low if width == other.width else 10**width - 1,
            )
            for width in widths
        )
    )


def each_of(told: Iterable[str]) -> Serials:
    """A set of single serials."""
    return Serials.of(sorted({numbered(serial) for serial in told}))


def numbered(serial: str) -> SerialRange:
    """One serial as a range of its series; its width is 0 if it has no number."""
    match = _NUMBERED.fullmatch(serial)
    if not match:
        return SerialRange(serial, 0, 0, 0)
    return SerialRange(match[1], len(match[2]), int(match[2]), int(match[2]))


@dataclass(frozen=True)
class Serials:
    """A set of serials: ranges in order of series and number, with a gap between any two."""

    ranges: tuple[SerialRange, ...] = ()

    @classmethod
    def of(cls, ranges: Iterable[SerialRange]) -> Serials:
        """The union of ranges, which are in order."""
        found: list[SerialRange] = []
        for each in ranges:
            last = found[-1] if found else None
            if last and last[:2] == each[:2] and each.low <= last.high + 1:
                found[-1] = last._replace(high=max(last.high, each.high))
            else:
                found.append(each)
        return cls(tuple(found))

    @property
    def pieces(self) -> int:
        """How many serials it has."""
        return sum(each.high - each.low + 1 for each in self.ranges)

    @property
    def ends(self) -> list[tuple[str, str]]:
        """First and last of each range as printed; numbers without leading zeros run on."""
        found: list[tuple[SerialRange, str]] = []
        for each in self.ranges:
            last = found[-1][0] if found else None
            if last and _runs_on(last, each):
                found[-1] = (each, found[-1][1])
            else:
                found.append((each, each.first))
        return [(first, each.last) for each, first in found]

    def __or__(self, other: Serials) -> Serials:
        return Serials.of(sorted((*self.ranges, *other.ranges)))

    def __and__(self, other: Serials) -> Serials:
        return Serials.of(sorted(self._common(other)))

    def __sub__(self, other: Serials) -> Serials:
        left = list(self.ranges)
        for gone in other.ranges:
            left = [part for each in left for part in _without(each, gone)]
        return Serials.of(sorted(left))

    def _common(self, other: Serials) -> Iterator[SerialRange]:
        for one in self.ranges:
            for two in other.ranges:
                low, high = max(one.low, two.low), min(one.high, two.high)
                if one[:2] == two[:2] and low <= high:
                    yield one._replace(low=low, high=high)


def _runs_on(one: SerialRange, other: SerialRange) -> bool:
    """Whether a range of wider numbers begins where one ends."""
    next_ = SerialRange(one.stem, one.width + 1, 10**one.width, other.high)
    return one.width > 0 and one.high + 1 == next_.low and other == next_ and _is_plain(one)


def union(sets: Iterable[Serials]) -> Serials:
    """All serials of several sets."""
    return Serials.of(sorted(each for its in sets for each in its.ranges))


def _without(of: SerialRange, gone: SerialRange) -> Iterator[SerialRange]:
    if of[:2] != gone[:2] or gone.high < of.low or of.high < gone.low:
        yield of
        return
    if of.low < gone.low:
        yield of._replace(high=gone.low - 1)
    if gone.high < of.high:
        yield of._replace(low=gone.high + 1)
