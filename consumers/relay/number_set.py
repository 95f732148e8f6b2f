"""A set of positive integers as a bitmap: one bit a number.

It holds the positions that a topic lacks. Ten million numbers in a Python set take a gigabyte.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

_BITS = 4_096
"""Numbers in a block. An empty block is not stored."""

_FULL = (1 << _BITS) - 1


class Numbers:
    """An exact set of positive integers, filled and emptied by ranges."""

    def __init__(self) -> None:
        self._blocks: dict[int, int] = {}

    def __len__(self) -> int:
        return sum(bits.bit_count() for bits in self._blocks.values())

    def __bool__(self) -> bool:
        return bool(self._blocks)

    def __contains__(self, number: int) -> bool:
        return bool(self._blocks.get(number // _BITS, 0) >> number % _BITS & 1)

    def add(self, first: int, last: int) -> None:
        """Add all numbers from `first` to `last`; nothing if `last` is lower."""
        for block, bits in _blocks(first, last):
            # A full block is one integer that all of them share.
            self._blocks[block] = _FULL if bits == _FULL else self._blocks.get(block, 0) | bits

    def remove(self, first: int, last: int) -> None:
        """Remove all numbers from `first` to `last`."""
        for block, bits in _blocks(first, last):
            left = self._blocks.get(block, 0) & ~bits
            if left:
                self._blocks[block] = left
            else:
                self._blocks.pop(block, None)

    def ranges(self) -> Iterator[tuple[int, int]]:
        """The numbers as closed ranges, ascending; adjacent ranges are joined."""
        low, high = 0, -1  # the range not yielded yet
        for first, last in self._runs():
            if first != high + 1:
                if low:
                    yield low, high
                low = first
            high = last
        if low:
            yield low, high

    def _runs(self) -> Iterator[tuple[int, int]]:
        """The ranges, split at the ends of blocks."""
        for block in sorted(self._blocks):
            bits, at = self._blocks[block], block * _BITS
            while bits:
                skipped = (bits & -bits).bit_length() - 1
                bits >>= skipped
                length = (~bits & (bits + 1)).bit_length() - 1
                bits >>= length
                at += skipped + length
                yield at - length, at - 1


def _blocks(first: int, last: int) -> Iterator[tuple[int, int]]:
    """The blocks that hold the numbers from `first` to `last`, with their bits."""
    for block in range(first // _BITS, last // _BITS + 1):
        low = max(first - block * _BITS, 0)
        high = min(last - block * _BITS, _BITS - 1)
        if low <= high:
            yield block, ((1 << (high - low + 1)) - 1) << low
