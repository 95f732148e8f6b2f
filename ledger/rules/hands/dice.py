"""Two offensive dice against one defensive die, read as a down (661a.1, 661a.6(c))."""

from __future__ import annotations

from typing import NamedTuple

TURNOVER_DIE, TURNOVER_TOTALS = 6, (2, 3)


class Throw(NamedTuple):
    """Three dice at rest: two green (offensive) and one red (defensive)."""

    first: int
    second: int
    defensive: int

    @property
    def triple(self) -> bool:
        """Whether all three dice show the same number."""
        return self.first == self.second == self.defensive

    @property
    def offensive(self) -> int:
        """The total of the offensive dice."""
        return self.first + self.second

    @property
    def turnover(self) -> bool:
        """Whether the defensive die is a 6 and the total 2 or 3 (661a.1)."""
        return self.defensive == TURNOVER_DIE and self.offensive in TURNOVER_TOTALS

    @property
    def penalty(self) -> bool:
        """Whether the offensive total is below the defensive die without a turnover (661a.1)."""
        return self.offensive < self.defensive and not self.turnover

    @property
    def gain(self) -> int:
        """Yards by the dice (661a.6(d)), which decide single play wagers; 0 if none are gained."""
        return 0 if self.triple else max(0, self.offensive - self.defensive)

    @property
    def ones(self) -> int:
        """How many of the three dice show a 1."""
        return (self.first, self.second, self.defensive).count(1)


THROWS: tuple[Throw, ...] = tuple(
    Throw(first, second, defensive)
    for first in range(1, 7)
    for second in range(1, 7)
    for defensive in range(1, 7)
)
"""All 216 throws, equally likely."""
