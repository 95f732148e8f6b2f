"""What lies on a table while a round is folded: changed in place, and seen by nobody else.

`replay.rounds.reconstruct` changes it fact by fact, and makes of it the moments that others read.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from replay.rounds.moment import Thrown

Who = tuple[str, int, int]
"""Who holds cards: `to`, position (0 where it is no player's) and hand."""


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
    """A card as it is learned; one object in every moment that shows it."""

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
    """What lies on the table, changed by one fact after another."""

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
