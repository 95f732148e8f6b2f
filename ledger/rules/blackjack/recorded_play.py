"""What the record of 21 tells of a hand's play: where a decision is lost, what follows it.

Chips are put down before the card that they bring, and a hand is played out before the next one
(665a.11(b)). Nothing is taken from the record here, and nothing settled.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ledger.facts import CardsDealt, DecisionMade, WagerPlaced
from ledger.rules.engine.steps import said
from ledger.rules.hands.twenty_one import same_value_if_known

if TYPE_CHECKING:
    from ledger.record.wire import Fact
    from ledger.rules.blackjack.hands import Hand
    from ledger.rules.engine.table import Table

_BRING = ("hit", "double_down", "split")  # a card each to the hand that decides it
_PAIR = 2


def told(t: Table, hand: Hand) -> str | None:
    """What the record says this hand decides next, where it does."""
    decisions = decisions_of(t, hand)
    return said(decisions[0], DecisionMade).decision if decisions else None


def decisions_of(t: Table, hand: Hand) -> list[Fact]:
    """What the record says this hand decides from here on."""
    decided = ((fact, said(fact, DecisionMade)) for fact in t.source.left("decision_made"))
    return [fact for fact, of in decided if (of.position, of.hand) == (hand.seat, hand.number)]


def cards_to(t: Table, hand: Hand) -> list[Fact]:
    """Cards on record that this hand is still dealt; another holder's at its place are not."""
    found = []
    for fact in t.source.left("cards_dealt"):
        body = said(fact, CardsDealt)
        if (body.to, body.position, body.hand) == ("player", hand.seat, hand.number):
            found.append(fact)
    return found


def card_first(t: Table, hand: Hand) -> bool:
    """Whether this hand is dealt a card before what it decides next."""
    coming = cards_to(t, hand)
    return bool(coming) and t.source.later_than(coming[0], decisions_of(t, hand)[0]) is False


def is_lost(t: Table, hand: Hand) -> bool:
    """Whether a card comes now that no decision on record asked for: there are fewer of those."""
    cards, decisions = cards_to(t, hand), decisions_of(t, hand)
    if not cards or not decisions:
        return False
    asked = sum(said(fact, DecisionMade).decision in _BRING for fact in decisions)
    return len(cards) > asked and t.source.later_than(decisions[0], cards[0]) is True


def followed(t: Table, hand: Hand, new: int) -> str:
    """A decision that is not on record, as its chips and the card that it brought show it."""
    chips = [said(fact, WagerPlaced).wager for fact in chips_of(t, hand, new)]
    for wager, number in (("double_down", hand.number), ("split", new)):
        if wager in chips or (hand.seat, wager, number) in t.stakes:
            return wager
    held = t.cards["player", hand.seat, hand.number]
    pair = len(held) == _PAIR and same_value_if_known(held) is not False
    if pair and cards_to(t, hand._replace(number=new)):
        return "split"
    return "hit" if cards_to(t, hand) else "stand"


def chips_of(t: Table, hand: Hand, new: int) -> list[Fact]:
    """Chips on record that double this hand, or split it into hand `new`, as it is now.

    Those put down after the next card to the position are for what follows it.
    """
    found = []
    for fact in t.source.left("wager_placed"):
        body = said(fact, WagerPlaced)
        its = (("double_down", hand.number), ("split", new))
        if body.position == hand.seat and (body.wager, body.hand) in its:
            found.append(fact)
    dealt = [(fact, said(fact, CardsDealt)) for fact in t.source.left("cards_dealt")]
    card = next((fact for fact, of in dealt if (of.to, of.position) == ("player", hand.seat)), None)
    return [fact for fact in found if card is None or not t.source.later_than(fact, card)]
