"""Arrays and multiranges as PostgreSQL's own text, which a statement casts to their type.

Knows nothing of facts or views.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

_RANGE = re.compile(r"\[(\d+),(\d+)\)")


def array_text(items: Iterable[str | int]) -> str:
    """A list as PostgreSQL's text of an array."""
    quoted = (str(item).replace("\\", "\\\\").replace('"', '\\"') for item in items)
    return "{" + ",".join(f'"{item}"' for item in quoted) + "}"


def ranges_text(numbers: Iterable[int]) -> str:
    """Numbers as PostgreSQL's text of a multirange; neighbours make one range."""
    ranges: list[list[int]] = []
    for number in sorted(numbers):
        if ranges and ranges[-1][1] >= number:
            ranges[-1][1] = number + 1
        else:
            ranges.append([number, number + 1])
    return "{" + ",".join(f"[{low},{high})" for low, high in ranges) + "}"


def ranges_of(text: str) -> list[tuple[int, int]]:
    """The closed ranges of a multirange's text."""
    return [(int(low), int(high) - 1) for low, high in _RANGE.findall(text)]
