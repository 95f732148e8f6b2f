"""What `play` asks of a source: steps, each with the paragraph that requires it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, Protocol, TypeVar

if TYPE_CHECKING:
    from ledger.record.wire import Fact

B = TypeVar("B")

Ways = Callable[[str], Sequence[Mapping[str, Any]]]
"""Of a decision, or of a hand to set: the fields it may carry, each as good as the other."""


def said(fact: Fact, kind: type[B]) -> B:
    """What a fact says, as the kind of fact it is known to be."""
    if not isinstance(fact.body, kind):
        raise TypeError(f"{fact.source} {fact.id} is no {kind.__name__}")
    return fact.body


def pot_name(pot: int, share: str | None = None) -> str:
    """A pot, or a share of one, as a step names it: `0`, `1 high`."""
    return f"{pot} {share}" if share else str(pot)


def fee_name(fee: str, purpose: str | None = None) -> str:
    """A fee, and what it is for, as a step names it: `vigorish`, `options exchange`."""
    return f"{fee} {purpose}" if purpose else fee


class Step(NamedTuple):
    """One thing that must happen, who it happens to, and the paragraph that requires it."""

    fact: str  # the fact's name, "cards_dealt"
    section: str  # chapter-relative
    to: str | None = None  # who holds the cards: "player", "community", ...
    position: int | None = None
    hand: int = 1
    what: str | None = None  # the wager, the marker, the purpose of a throw
    cards: int = 0  # how many
    face: Literal["up", "down"] = "down"  # of cards to deal
    at: tuple[int, ...] = ()  # indexes of cards to turn; the place of a marker
    amount: int | None = None  # cents, of a payment
    choices: Sequence[int] = ()  # amounts a player may wager, cents
    throw: int | None = None
    paid_from: Literal["table", "cage"] = "table"  # a payment
    instead: str | None = None  # another fact that answers it
    options: tuple[str, ...] = ()  # decisions a player may make
    only: tuple[str, ...] = ()  # no other decision answers it, though it be his next one
    until: str | None = None  # where facts were lost: one after the next fact of this name is later
    costs: Mapping[str, int] = {}  # cents that some of them take
    ways: Ways | None = None  # for a source that makes facts: what else they may say
    may: bool = False  # nothing is amiss where it does not happen
    turns_show: bool = True  # of a bet: cards turned later show that the hand was in play
    dice: int = 3  # how many are thrown
    before: tuple[str, ...] = ()  # where facts were lost: one after the first of these is another's


class Stop(Exception):  # noqa: N818 - the end of a record is no error
    """The record ends here: nothing after this step is on it."""


class Void(Exception):  # noqa: N818 - what a section says follows is no error
    """The round is void by this paragraph."""

    def __init__(self, section: str) -> None:
        super().__init__(section)
        self.section = section


class FactSource(Protocol):
    """Where facts come from: a record of a round, or chance."""

    @property
    def ended(self) -> bool:
        """No step of play is left and the round is still open."""

    @property
    def may_be_lost(self) -> bool:
        """A device's sequence has a gap in this round, so what is absent may have been lost."""

    @property
    def button(self) -> int | None:
        """The position with the button, where there is one."""

    def wagers(self, names: Sequence[str], section: str, throw: int | None) -> list[Fact]:
        """`wager_placed` and `wager_withdrawn` of these wagers, in order; a throw's for dice."""

    def take(self, step: Step) -> Fact | None:
        """The next fact that answers the step, or None."""

    def untaken(self, name: str, before: Sequence[str] = ()) -> list[Fact]:
        """Facts of this name that no step has taken, in order; `before` the first of those left."""

    def has_lost(self, name: str) -> bool:
        """Whether a device that tells facts of this name has lost some in this round."""

    def later_than(self, fact: Fact, other: Fact) -> bool | None:
        """Whether a fact came after another; None where their clocks cannot tell."""

    def shown(self, to: str, position: int | None, hand: int) -> int:
        """How many cards of a holder the turns still on record show."""

    def gone_from_deck(self) -> int:
        """How many cards left the deck in this round: dealt, burned, or found and racked."""

    def plays_on(self, position: int, *, turns_show: bool = True) -> bool:
        """Whether the record shows this player's hand in play later on.

        By a bet, by a hand that is set, and, if `turns_show`, by cards of it that are turned.
        """

    @property
    def voided(self) -> bool:
        """The round was voided on record."""

    def gone(self, position: int) -> bool:
        """Whether the player left the table during the round."""

    def seat_of(self, position: int) -> tuple[int, ...]:
        """The positions one player holds, this one among them; empty where it is not on record."""


POT = "pot"
"""The wager that a share of the pots is settled as."""

Spot = tuple[int, str, int]
"""Where a stake lies: position, wager, hand."""

PAYMENT = {
    "win": "wager_paid",
    "lose": "wager_collected",
    "push": "wager_returned",
    "void": "wager_returned",
}
"""The fact that moves the chips of each outcome."""
