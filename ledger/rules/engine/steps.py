"""Steps, which `play` asks a source for, each with the paragraph that requires it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal, Protocol, TypeVar

from msgspec import Struct

if TYPE_CHECKING:
    from ledger.record.wire import Fact

B = TypeVar("B")

Ways = Callable[[str], Sequence[Mapping[str, Any]]]
"""Equally likely sets of fields that a decision or a set hand may carry."""


def said(fact: Fact, kind: type[B]) -> B:
    """A fact's body, of the kind it is known to be. Raises TypeError for another kind."""
    if not isinstance(fact.body, kind):
        raise TypeError(f"{fact.source} {fact.id} is no {kind.__name__}")
    return fact.body


def pot_name(pot: int, share: str | None = None) -> str:
    """The name of a pot or a share of one in a step: `0`, `1 high`."""
    return f"{pot} {share}" if share else str(pot)


def fee_name(fee: str, purpose: str | None = None) -> str:
    """The name of a fee and its purpose in a step: `vigorish`, `options exchange`."""
    return f"{fee} {purpose}" if purpose else fee


class Step(Struct, frozen=True):
    """One thing that must happen, to whom, and the paragraph that requires it.

    The garbage collector must see it: `ways` may reach the table that keeps the step.
    """

    fact: str  # the fact's name, "cards_dealt"
    section: str  # chapter-relative
    to: str | None = None  # who holds the cards: "player", "community", ...
    position: int | None = None
    hand: int = 1
    what: str | None = None  # the wager, the marker, the purpose of a throw
    cards: int = 0  # how many
    face: Literal["up", "down"] = "down"  # how the cards are dealt
    at: tuple[int, ...] = ()  # indexes of cards to turn; the place of a marker
    amount: int | None = None  # cents of a payment
    choices: Sequence[int] = ()  # amounts a player may wager, cents
    throw: int | None = None
    paid_from: Literal["table", "cage"] = "table"  # who pays
    instead: str | None = None  # another fact that may answer it
    options: tuple[str, ...] = ()  # decisions a player may make
    only: tuple[str, ...] = ()  # only these decisions answer it; another is a later one
    until: str | None = None  # if facts were lost, one after this fact is a later one
    costs: Mapping[str, int] | None = None  # cents that some of them cost
    ways: Ways | None = None  # for a simulation: further fields
    may: bool = False  # the step may be left out
    turns_show: bool = True  # for a bet: cards turned later show the hand in play
    dice: int = 3  # number of dice
    before: tuple[str, ...] = ()  # if facts were lost, one after these is another step's


class Stop(Exception):  # noqa: N818 - the end of a record is no error
    """The record ends here: nothing on it follows this step."""


class Void(Exception):  # noqa: N818 - what a section says follows is no error
    """The round is void by this paragraph."""

    def __init__(self, section: str) -> None:
        super().__init__(section)
        self.section = section


class FactSource(Protocol):
    """The source of facts: the record of a round, or a simulation."""

    @property
    def ended(self) -> bool:
        """Whether no step of play is left and the round is still open."""

    @property
    def may_be_lost(self) -> bool:
        """Whether a device's sequence has a gap in this round, so that absent facts may be lost."""

    @property
    def button(self) -> int | None:
        """The position with the button, or None."""

    def wagers(self, names: Sequence[str], section: str, throw: int | None) -> list[Fact]:
        """Facts that place or withdraw these wagers, in order; for dice those of one throw."""

    def take(self, step: Step) -> Fact | None:
        """The next fact that answers the step, or None."""

    def untaken(self, name: str, before: Sequence[str] = ()) -> list[Fact]:
        """Facts of this name that no step has taken, in order.

        With `before`, only those ahead of the first untaken fact of these other names.
        """

    def of_hand(self, name: str, position: int, hand: int) -> list[Fact]:
        """A player's decisions, or cards dealt to him, for one hand that no step has taken."""

    def first(self, name: str) -> Fact | None:
        """The first fact of this name that no step has taken."""

    def has_lost(self, name: str, *, among: bool = False) -> bool:
        """Whether a device that sends facts of this name has lost some in this round.

        among: only facts that it sent between others of this name, or just before the first one.
        """

    def later_than(self, fact: Fact, other: Fact) -> bool | None:
        """Whether a fact came after another. None if their clocks cannot decide."""

    def shown(self, to: str, position: int | None, hand: int) -> int:
        """How many cards of a holder are shown by turns that no step has taken."""

    def gone_from_deck(self) -> int:
        """How many cards left the deck in this round: dealt, burned, or found and racked."""

    def plays_on(self, position: int, *, turns_show: bool = True) -> bool:
        """Whether untaken facts show this player's hand still in play.

        A bet or a set hand shows it. With `turns_show`, turned cards of the hand show it too.
        """

    @property
    def voided(self) -> bool:
        """Whether the round was voided on record."""

    def gone(self, position: int) -> bool:
        """Whether the player left the table during the round."""

    def seat_of(self, position: int) -> tuple[int, ...]:
        """The positions of the player at this one, itself included. Empty if not on record."""


POT = "pot"
"""The wager name under which a share of the pots is settled."""

POT_DECISIONS = ("call", "bet", "raise")
"""Decisions at poker that add chips to the pot."""

Spot = tuple[int, str, int]
"""The place of a stake: position, wager, hand."""

PAYMENT = {
    "win": "wager_paid",
    "lose": "wager_collected",
    "push": "wager_returned",
    "void": "wager_returned",
}
"""The fact that moves the chips of each outcome."""

DECIDES = frozenset(
    {
        "cards_dealt",
        "cards_turned",
        "cards_exchanged",
        "decision_made",
        "decisions_locked_called",
        "dice_thrown",
        "hand_set",
        "hand_shown",
        "hole_card_checked",
    }
)
"""Steps of play that decide what a wager comes to."""

PAYS = frozenset({*PAYMENT.values(), "pot_awarded"})
"""Facts that the dealer moves chips by, once they are decided."""
