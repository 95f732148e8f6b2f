"""The state of a table while a round is folded: mutable, and private to the fold.

`replay.rounds.reconstruct` changes it fact by fact, and makes the moments that others read.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from replay.rounds.moment import Thrown

Who = tuple[str, int, int]
"""A holder of cards: `to`, position (0 if it is not a player's) and hand."""


@dataclass
class Spot:
    """One wager of one position and hand so far, cents."""

    placed: int = 0
    on_layout: int = 0
    paid: int = 0
    collected: int = 0
    returned: int = 0
    state: str | None = None


@dataclass(eq=False)
class Cell:
    """A card while its face becomes known; one object in all moments that show it."""

    code: str
    up: bool


@dataclass
class Cards:
    """The cards of one holder."""

    cells: list[Cell] = field(default_factory=list)
    set_as: dict[str, tuple[str, ...]] = field(default_factory=dict)
    gone: bool = False


@dataclass
class Layout:
    """The table, changed by one fact after another."""

    phase: str = "before the round"
    spots: dict[tuple[int, str, int], Spot] = field(default_factory=lambda: defaultdict(Spot))
    cards: dict[Who, Cards] = field(default_factory=dict)
    decisions: dict[int, list[str]] = field(default_factory=lambda: defaultdict(list))
    fees: dict[int, int] = field(default_factory=lambda: defaultdict(int))
    in_pot: dict[int, int] = field(default_factory=lambda: defaultdict(int))
    awarded: dict[int, int] = field(default_factory=lambda: defaultdict(int))
    all_in: set[int] = field(default_factory=set)
    pots_taken: dict[int, int] = field(default_factory=lambda: defaultdict(int))
    throws: list[tuple[tuple[str, str], Thrown]] = field(default_factory=list)
    markers: dict[str, int | str] = field(default_factory=dict)
    burned: int = 0
    rake: int = 0
    irregularities: list[str] = field(default_factory=list)
    void: str | None = None
    closed: bool = False
    stacks: dict[int, int] = field(default_factory=dict)
    button: int | None = None
    shooter: int | None = None
    bonus_numbers: list[int] = field(default_factory=list)

    def of(self, body: Any) -> Cards:  # noqa: ANN401 - a fact with a holder
        """The cards of the holder a fact names."""
        who = (body.to, body.position or 0, getattr(body, "hand", 1))
        return self.cards.setdefault(who, Cards())
