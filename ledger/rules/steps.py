"""What `play` asks of a source: steps, each with the paragraph that requires it."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple, Protocol, TypeVar

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ledger.wire import Fact

B = TypeVar("B")


def said(fact: Fact, kind: type[B]) -> B:
    """What a fact says, as the kind of fact it is known to be."""
    if not isinstance(fact.body, kind):
        raise TypeError(f"{fact.source} {fact.id} is no {kind.__name__}")
    return fact.body


class Step(NamedTuple):
    """One thing that must happen, who it happens to, and the paragraph that requires it."""

    fact: str  # the fact's name, "cards_dealt"
    section: str  # chapter-relative
    to: str | None = None  # who holds the cards: "player", "community", ...
    position: int | None = None
    hand: int = 1
    what: str | None = None  # the wager, the marker, the purpose of a throw
    cards: int = 0  # how many
    at: tuple[int, ...] = ()  # indexes of cards to turn; the place of a marker
    amount: int | None = None  # cents, of a payment
    choices: tuple[int, ...] = ()  # amounts a player may wager, cents
    throw: int | None = None
    instead: str | None = None  # another fact that answers it


class Stop(Exception):  # noqa: N818 - the end of a record is no error
    """The record ends here: nothing after this step is on it."""


class Void(Exception):  # noqa: N818 - what a section says follows is no error
    """The round is void by this paragraph."""

    def __init__(self, section: str) -> None:
        super().__init__(section)
        self.section = section


class Source(Protocol):
    """Where facts come from: a record of a round, or chance."""

    @property
    def ended(self) -> bool:
        """No step of play is left and the round is still open."""

    @property
    def excused(self) -> bool:
        """A device's sequence has a gap in this round, so what is absent may have been lost."""

    def wagers(self, names: Sequence[str], section: str, throw: int | None) -> list[Fact]:
        """`wager_placed` and `wager_withdrawn` of these wagers, in order; a throw's for dice."""

    def take(self, step: Step) -> Fact | None:
        """The next fact that answers the step, or None."""

    def left(self, name: str) -> list[Fact]:
        """Facts of this name that no step has taken, in order."""

    def later_than(self, fact: Fact, other: Fact) -> bool | None:
        """Whether a fact came after another; None where their clocks cannot tell."""

    def shown(self, to: str, position: int | None, hand: int) -> int:
        """How many cards of a holder the turns still on record show."""

    def gone_from_deck(self) -> int:
        """How many cards left the deck in this round: dealt, burned, or found and racked."""

    def plays_on(self, position: int) -> bool:
        """Whether the record shows this player's hand in play later on."""

    def gone(self, position: int) -> bool:
        """Whether the player left the table during the round."""

    def seat_of(self, position: int) -> tuple[int, ...]:
        """The positions one player holds, this one among them; empty where it is not on record."""


Spot = tuple[int, str, int]
"""Where a stake lies: position, wager, hand."""

PAYMENT = {
    "win": "wager_paid",
    "lose": "wager_collected",
    "push": "wager_returned",
    "void": "wager_returned",
}
"""The fact that moves the chips of each outcome."""
