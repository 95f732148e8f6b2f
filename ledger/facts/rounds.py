"""The facts of a round, from the first wager to the last card in the discard rack.

Each carries its round in `subject`. Amounts are cents. The facts say what was done, not what should
have been done, so this module holds no rule of any game.
"""

from typing import Annotated, Literal

from msgspec import Meta, field

from ledger.facts.vocabulary import (
    Body,
    Count,
    Coupon,
    Employee,
    Face,
    FactRef,
    Hand,
    Identifier,
    Index,
    Label,
    PaidFrom,
    Text,
    Throw,
    To,
    require_position,
)
from ledger.values import Card, Cents, Die, Position

Cards = tuple[Card, ...]
Dice = Annotated[tuple[Die, ...], Meta(min_length=1, max_length=8)]
Pot = Annotated[int, Meta(ge=0, le=99)]
IrregularityKind = Literal[
    "card_face_up",
    "cards_face_up",
    "card_drawn_unexposed",
    "card_drawn_exposed",
    "wrong_card_count",
    "dealer_card_exposed",
    "community_card_exposed",
    "player_card_exposed",
    "shuffler_failed",
    "dealing_shoe_failed",
    "card_missing",
    "dice_mistotalled",
    "dealer_hand_misset",
    "dealer_overdrew",
    "card_reader_misused",
    "card_reader_failed",
    "insufficient_cards",
    "no_card_dealt",
    "one_card_dealt",
    "requested_card_not_dealt",
]


class RoundStarted(Body, frozen=True, kw_only=True):
    """A round of a game begins at the table. batch: the cards in use; button: a position."""

    game: Identifier
    dealt_from: Literal["manual_shoe", "hand", "automated_shoe"] | None = None
    batch: Label | None = None
    button: Position | None = None


class WagerPlaced(Body, frozen=True, kw_only=True):
    """Chips go on the layout. amount: cents in chips, added to any already on that wager."""

    position: Position
    wager: Identifier
    amount: Cents
    hand: Hand = 1
    coupon: Coupon | None = None


class WagerWithdrawn(Body, frozen=True, kw_only=True):
    """A patron takes chips of a wager back before it is decided. amount: cents."""

    position: Position
    wager: Identifier
    amount: Cents


class WagerMarked(Body, frozen=True, kw_only=True):
    """A wager is called on or off. It stays on the layout, and counts or does not count."""

    position: Position
    wager: Identifier
    state: Literal["on", "off"]


class NoMoreBetsCalled(Body, frozen=True, kw_only=True):
    """The dealer calls "no more bets"."""


class DecisionsLockedCalled(Body, frozen=True, kw_only=True):
    """The dealer calls that decisions are final."""


class StartingPositionDetermined(Body, frozen=True, kw_only=True):
    """The starting place of a deal is determined. position: 0 is the dealer.

    dice, number: as drawn.
    """

    method: Literal["shaker", "random_number", "button", "card_draw"]
    dice: Dice | None = None
    number: Count | None = None
    position: Position


class CardsDealt(Body, frozen=True, kw_only=True):
    """One or more cards leave the shoe or the hand for a holder, in dealing order."""

    to: To
    position: Position | None = None
    hand: Hand = 1
    cards: Cards
    face: Face

    def __post_init__(self) -> None:
        require_position(self.to, self.position)


class CardsTurned(Body, frozen=True, kw_only=True):
    """Cards that lay face down are turned up and read.

    `at` lists their indexes. Without it, they follow one another from index `from` on.
    """

    to: To
    position: Position | None = None
    hand: Hand = 1
    cards: Cards
    from_: Index | None = field(default=None, name="from")
    at: tuple[Index, ...] | None = None

    def __post_init__(self) -> None:
        require_position(self.to, self.position)
        if self.at is not None and (self.from_ is not None or len(self.at) != len(self.cards)):
            raise ValueError("`at` goes without `from`, and names one index for each card")


def indexes(turned: CardsTurned) -> tuple[int, ...]:
    """The index of each turned card among its holder's cards, in dealing order, from 0."""
    if turned.at is not None:
        return turned.at
    first = turned.from_ or 0
    return tuple(range(first, first + len(turned.cards)))


class CardBurned(Body, frozen=True, kw_only=True):
    """The top card goes to the discard rack unused. card: the card, if it was seen."""

    card: Card | None = None


class DecisionMade(Body, frozen=True, kw_only=True):
    """A patron (or the dealer) makes a decision, as fold, draw, stand or raise.

    discards, wager, to: what the decision concerns; amount: cents; in poker the chips that it adds
    to the pot.
    """

    position: Position
    hand: Hand = 1
    decision: Identifier
    discards: Cards | None = None
    wager: Identifier | None = None
    amount: Cents | None = None
    to: To | None = None
    all_in: bool | None = None


class CardsExchanged(Body, frozen=True, kw_only=True):
    """A holder gives cards up. The new ones follow as cards dealt."""

    to: To
    position: Position | None = None
    discards: Cards

    def __post_init__(self) -> None:
        require_position(self.to, self.position)


class DiscardsReshuffled(Body, frozen=True, kw_only=True):
    """The discards are shuffled to be dealt again. except: a position whose discards stay out."""

    except_: Position = field(name="except")


class FeePaid(Body, frozen=True, kw_only=True):
    """A patron pays the house for an option, for time, or as vigorish. amount: cents."""

    position: Position
    fee: Identifier
    purpose: Identifier | None = None
    amount: Cents


class HandSet(Body, frozen=True, kw_only=True):
    """A holder arranges cards into named hands. A second setting replaces the first."""

    to: To
    position: Position | None = None
    hands: dict[Identifier, Cards]

    def __post_init__(self) -> None:
        require_position(self.to, self.position)


class HoleCardChecked(Body, frozen=True, kw_only=True):
    """The dealer's hole card is read for a blackjack before play goes on."""

    result: Literal["blackjack", "none"]


class DiceThrown(Body, frozen=True, kw_only=True):
    """A valid throw, read from the dice: either `dice`, or two `offensive` and a `defensive`.

    position: who threw; called: the total or the name that the stickperson called.
    """

    dice: Dice | None = None
    offensive: tuple[Die, Die] | None = None
    defensive: Die | None = None
    purpose: Literal["down", "extra_point"] = "down"
    position: Position | None = None
    called: int | Text | None = None

    def __post_init__(self) -> None:
        three = self.offensive is not None and self.defensive is not None
        if (self.dice is None) == (self.offensive is None and self.defensive is None) or not (
            three or self.dice
        ):
            raise ValueError("`dice` is missing: a throw is `dice`, or `offensive` and `defensive`")


class NoRollCalled(Body, frozen=True, kw_only=True):
    """A throw does not count. of: the throw this cancels, if it was already recorded."""

    reason: Text
    of: FactRef | None = None


class DiceOffered(Body, frozen=True, kw_only=True):
    """The dice are offered to a patron, who accepts or declines them."""

    position: Position
    accepted: bool


class MarkerPlaced(Body, frozen=True, kw_only=True):
    """A puck or marker is placed. at: the yard, down, count or point it shows, or a word."""

    marker: Literal["yard", "down", "game_length", "point", "bonus", "off"]
    at: int | Label


class WagerPaid(Body, frozen=True, kw_only=True):
    """The house pays a winning wager. amount: winnings in cents, without the stake."""

    position: Position
    wager: Identifier
    hand: Hand = 1
    throw: Throw | None = None
    amount: Cents
    paid_from: PaidFrom = "table"


class WagerCollected(Body, frozen=True, kw_only=True):
    """The house takes a lost wager. amount: cents."""

    position: Position
    wager: Identifier
    hand: Hand = 1
    throw: Throw | None = None
    amount: Cents


class WagerReturned(Body, frozen=True, kw_only=True):
    """A stake goes back: after a push, a void, or the half kept in a surrender. amount: cents."""

    position: Position
    wager: Identifier
    hand: Hand = 1
    throw: Throw | None = None
    amount: Cents


class PotAwarded(Body, frozen=True, kw_only=True):
    """A pot, or a share of it, is pushed to a winner. pot: 0 is the main pot.

    amount: cents, with the winner's own chips in it.
    """

    pot: Pot
    share: Literal["high", "low", "badugi"] | None = None
    position: Position
    amount: Cents


class RakeTaken(Body, frozen=True, kw_only=True):
    """The house takes its rake from a pot before it is awarded. amount: cents."""

    amount: Cents
    pot: Pot | None = None


class StackCounted(Body, frozen=True, kw_only=True):
    """A patron's chips are counted before the deal. amount: cents."""

    position: Position
    amount: Cents


class HandShown(Body, frozen=True, kw_only=True):
    """A patron shows a hand at the showdown."""

    position: Position
    cards: Cards | None = None


class HandMucked(Body, frozen=True, kw_only=True):
    """A patron gives a hand up without showing it. At the showdown that is a fold."""

    position: Position
    cards: Cards | None = None


class IrregularityCalled(Body, frozen=True, kw_only=True):
    """An irregularity with cards, dice or a device is called. by: who called it."""

    kind: IrregularityKind
    position: Position | None = None
    to: To | None = None
    cards: Cards | None = None
    by: Employee | None = None


class RoundVoided(Body, frozen=True, kw_only=True):
    """The whole round is declared void."""

    reason: Text


class HandDiscarded(Body, frozen=True, kw_only=True):
    """A hand goes into the discard rack. The order of these facts is the order in the rack."""

    to: To
    position: Position | None = None
    hand: Hand = 1

    def __post_init__(self) -> None:
        require_position(self.to, self.position)


class RoundCompleted(Body, frozen=True, kw_only=True):
    """The round is over. A fact of it that arrives later still belongs to it."""
