"""Hands of 21: the deal, and what a player does with his hand.

665a.7, 665a.9 to 665a.11, 633a and 635a.10 share it. A `Style` holds what each of them allows. The
game decides what a wager is owed: nothing is settled here. The dealer's side is
`ledger.rules.blackjack.dealer`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, NamedTuple

from ledger.facts import CardsDealt, DecisionMade, IrregularityCalled, WagerPlaced
from ledger.rules.engine.steps import Step, said
from ledger.rules.hands.twenty_one import (
    LIMIT,
    VALUE,
    Total,
    dealer_draws,
    is_blackjack_if_known,
    same_value_if_known,
    total_if_known,
)
from ledger.values import UNKNOWN_CARD

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from ledger.record.wire import Fact
    from ledger.rules.engine.table import Table

SURRENDERED, RESCUED, DEAD, MISSED = "surrender", "rescue", "dead_hand", "missed"
REFUSED = "refuse_card"
TWO, ANY_CARDS = 2, 22
MOST_TURNS = 64
"""The most decisions a hand is asked for, and the most hands a position. Beyond them nothing is
play."""


class Style(NamedTuple):
    """What a game allows a hand, with its paragraphs."""

    base: tuple[str, ...]  # wagers that a split equals, and a double at most equals
    decided: str
    dealt: str  # paragraph on cards that a decision brings
    double: str
    split: str
    aces: str  # split aces: one card each, and not split again
    surrender: Literal["any", "first_two", "none"] = "first_two"
    double_cards: int = ANY_CARDS  # the most cards of a hand that is doubled
    double_split: bool = True
    split_hands: int = 4
    resplit_aces: bool = False
    after_double: tuple[str, ...] = ()  # decisions open besides standing, below 21
    dead: bool = False  # called at any point of play, if no text says when


class BlackjackHand(NamedTuple):
    """One hand of a position, and how its play ended: by a name above, or by standing."""

    seat: int
    number: int = 1
    split: bool = False
    aces: bool = False  # split aces: one card each
    ended: str = ""


# -- the deal ---------------------------------------------------------------------


def one_more(t: Table, seats: Iterable[int], count: int, section: str) -> Fact | None:
    """Deal each of these up to `count` cards, clockwise; the first card's fact."""
    since = len(t.taken)
    for seat in seats:
        draw(t, seat, 1, count, section)
    return t.taken[since][1] if len(t.taken) > since else None


def draw(t: Table, seat: int, number: int, count: int, section: str) -> list[str]:
    """Deal a hand up to this many cards. Cards that the record lost are unknown."""
    held = t.deal("player", count, section, seat, number, face="up")
    held.extend(UNKNOWN_CARD for _ in range(len(held), count))
    if doubtful(t):
        forget_deal(t)
    return held


def doubtful(t: Table) -> bool:
    """Whether a card was lost in this round. No count shows whose, so no hand is known."""
    return t.source.has_lost("cards_dealt")


def forget_deal(t: Table) -> None:
    """Forget which step each of the other deals answered: one of them is lost."""
    t.forget(lambda step: step.fact == "cards_dealt")


def total_known(t: Table, cards: Sequence[str]) -> Total | None:
    """The total of a hand, or None if a card of it, or of any hand, is not known."""
    return None if doubtful(t) else total_if_known(cards)


def blackjack_of(t: Table, seat: int) -> bool | None:
    """Whether a position has a Blackjack; None if a card is not known."""
    return None if doubtful(t) else is_blackjack_if_known(t.cards["player", seat, 1])


def called(t: Table, kind: str, seat: int | None = None) -> list[Fact]:
    """The called irregularities of a kind, of this position if they name one."""
    found = []
    for fact in t.source.untaken("irregularity_called"):
        body = said(fact, IrregularityCalled)
        if body.kind == kind and (seat is None or body.position in (None, seat)):
            found.append(fact)
    return found


# -- players -------------------------------------------------------------------------------------


def play_hands(t: Table, seat: int, style: Style) -> list[BlackjackHand]:
    """Play a position: its hand, and those it is split into, each to its end."""
    waiting, done, made = [BlackjackHand(seat)], [], 1
    while waiting and made < MOST_TURNS:
        hand = waiting.pop(_next_of(t, waiting))
        hand = _played(t, hand, style, made)
        if hand.ended == "split":
            made += 1
            waiting[:0] = _split(t, hand, made)
        else:
            done.append(hand)
    return sorted(done)


def _next_of(t: Table, waiting: Sequence[BlackjackHand]) -> int:
    """The hand next to the one played, or that with the lowest number: the one dealt to first.

    A hand split a second time may lie beside its pair or behind the others (665a.11(b)).
    """
    if len(waiting) > 1:
        lowest = min(waiting)
        for fact in t.source.untaken("cards_dealt"):
            body = said(fact, CardsDealt)
            if body.to == "player" and body.position == lowest.seat:
                return waiting.index(lowest) if body.hand == lowest.number else 0
    return 0


def _split(t: Table, hand: BlackjackHand, number: int) -> list[BlackjackHand]:
    """Split a pair: the new hand takes the second card, and the next free number."""
    cards = t.cards["player", hand.seat, hand.number]
    t.cards["player", hand.seat, number] = [cards.pop()]
    aces = VALUE.get(cards[0]) == 1
    return [BlackjackHand(hand.seat, each, split=True, aces=aces) for each in (hand.number, number)]


def late_card(t: Table, hand: BlackjackHand, style: Style, section: str) -> BlackjackHand:
    """Deal a card that was asked for and not dealt, or call the hand dead: 665a.13(g)."""
    if recorded_decision(t, hand) == DEAD:
        t.decide(hand.seat, (DEAD,), section, hand.number)
        return hand._replace(ended=DEAD)
    cards = t.cards["player", hand.seat, hand.number]
    draw(t, hand.seat, hand.number, len(cards) + 1, section)
    return _played(t, hand._replace(ended=""), style, style.split_hands)


def _played(t: Table, hand: BlackjackHand, style: Style, made: int) -> BlackjackHand:
    """Play a hand's cards and decisions, until it stands, is split, or is given up."""
    cards = draw(t, hand.seat, hand.number, TWO, style.dealt)
    for _ in range(MOST_TURNS):
        if style.dead and recorded_decision(t, hand) == DEAD:
            t.decide(hand.seat, (DEAD,), style.decided, hand.number)
            return hand._replace(ended=DEAD)
        total = total_known(t, cards)
        if total and total.points >= LIMIT:
            return _may(t, hand, (), style)
        options = _open(t, hand, cards, style, made)
        if not options:
            return _may(t, hand, ("surrender",) if style.surrender == "any" else (), style)
        if total is None and recorded_decision(t, hand) is None and not cards_to(t, hand):
            return hand
        decision = _decided(t, hand, options, style, made + 1)
        if decision == "hit" and _refuses(t, hand):
            continue
        if decision == "hit" and not _not_dealt(t, hand):
            draw(t, hand.seat, hand.number, len(cards) + 1, style.dealt)
        elif decision in _ENDS:
            return _ENDS[decision](t, hand, style, made)
    return hand


def _ended(how: str) -> Callable[[Table, BlackjackHand, Style, int], BlackjackHand]:
    return lambda _t, hand, _style, _made: hand._replace(ended=how)


def _refused(t: Table, hand: BlackjackHand, style: Style, _: int) -> BlackjackHand:
    """Let a player refuse a card. He gets no further cards: 665a.13(c)."""
    return _may(t, hand, ("surrender",) if style.surrender == "any" else (), style)


def _parted(t: Table, hand: BlackjackHand, style: Style, made: int) -> BlackjackHand:
    """Take the chips of the new hand of a split pair."""
    _chips_down(t, hand.seat, "split", made + 1, style, due=True)
    return hand._replace(ended="split")


def _doubled(t: Table, hand: BlackjackHand, style: Style, _: int) -> BlackjackHand:
    """Take a double down: its chips, one more card, and the decisions open then."""
    cards = t.cards["player", hand.seat, hand.number]
    _chips_down(t, hand.seat, "double_down", hand.number, style, due=True)
    if _refuses(t, hand):
        t.decide(hand.seat, (REFUSED,), style.decided, hand.number)
    else:
        draw(t, hand.seat, hand.number, len(cards) + 1, style.double)
    total = total_known(t, cards)
    below = total is None or total.points < LIMIT
    return _may(t, hand, style.after_double if below else (), style)


_ENDS: dict[str, Callable[[Table, BlackjackHand, Style, int], BlackjackHand]] = {
    "stand": _ended(""),
    "hit": _ended(MISSED),
    "double_down": _doubled,
    "split": _parted,
    REFUSED: _refused,
    SURRENDERED: _ended(SURRENDERED),
    DEAD: _ended(DEAD),
}
"""The end that a decision gives a hand. A hit ends it only if its card was not dealt."""


def _chips_down(t: Table, seat: int, wager: str, number: int, style: Style, *, due: bool) -> None:
    """Take the chips of a split, as many as the hand's, or of a double, at most as many.

    No section says whether they are put down before the decision or after it.
    """
    if (seat, wager, number) in t.stakes:
        return
    since, cost = len(t.taken), _base(t, seat, style)
    if wager == "split":
        t.add(seat, wager, (cost,) if cost else (), style.split, number, due=due)
    else:
        t.add(seat, wager, range(1, cost + 1), style.double, number, due=due)
    if due and since and len(t.taken) > since:
        t.any_order(since - 1)


def _base(t: Table, seat: int, style: Style) -> int:
    """Cents of the wagers that a split matches; 0 if one of them is lost."""
    stakes = [t.stakes.get((seat, wager, 1), 0) for wager in style.base]
    return 0 if None in stakes else sum(stake or 0 for stake in stakes)


def _open(
    t: Table, hand: BlackjackHand, cards: Sequence[str], style: Style, made: int
) -> list[str]:
    """The decisions open with a hand below 21. A split ace may at most be split again.

    If a card was lost, every decision is open: the hand it is missing from is not known.
    """
    if doubtful(t):
        every = ["hit", "stand", "double_down", "split", SURRENDERED, *style.after_double]
        return [*every, REFUSED]
    first = len(cards) == TWO
    pair = first and made < style.split_hands and same_value_if_known(cards) is not False
    if hand.aces and first:
        t.deny(hand.seat, _BRING, style.aces, hand.number)
        t.deny(hand.seat, ("split",), style.aces, made + 1)
        return ["stand", "split"] if style.resplit_aces and pair else []
    found = ["hit", "stand"]
    if len(cards) <= style.double_cards and (style.double_split or not hand.split):
        found.append("double_down")
    if pair:
        found.append("split")
    if style.surrender == "any" or (style.surrender == "first_two" and first and not hand.split):
        found.append("surrender")
    if called(t, "card_drawn_exposed"):
        found.append(REFUSED)
    return found


def _decided(t: Table, hand: BlackjackHand, options: Sequence[str], style: Style, new: int) -> str:
    """Take a player's decision. Chips may lie there before it, and show it if it is lost."""
    since, cost = len(t.taken), _base(t, hand.seat, style)
    chips = {"double_down": hand.number, "split": new}
    t.opened.update((hand.seat, wager, chips[wager]) for wager in options if wager in chips)
    _chips_first(t, hand, new, style)
    if not doubtful(t) and is_lost(t, hand):
        t.missing.append(Step("decision_made", style.decided, None, hand.seat, hand.number))
        return inferred_decision(t, hand, new)
    body = t.decide(
        hand.seat,
        options,
        style.decided,
        hand.number,
        costs={"double_down": cost, "split": cost},
    )
    if body and len(t.taken) > since + 1:
        t.any_order(since)
    return body.decision if body else inferred_decision(t, hand, new)


def _chips_first(t: Table, hand: BlackjackHand, new: int, style: Style) -> None:
    """Take the chips of a decision first, if they lie there before it."""
    chips = chips_of(t, hand, new)
    if not chips:
        return
    decisions, body = decisions_of(t, hand), said(chips[0], WagerPlaced)
    of_later = decisions and said(decisions[0], DecisionMade).decision != body.wager
    if of_later and not t.source.may_be_lost:
        return  # whatever the clocks say
    if not decisions or t.source.later_than(chips[0], decisions[0]) is False:
        _chips_down(t, hand.seat, body.wager, body.hand, style, due=False)


def _may(t: Table, hand: BlackjackHand, options: Sequence[str], style: Style) -> BlackjackHand:
    """Take a decision, if recorded, on a hand that gets no further cards."""
    body = t.decide(hand.seat, ("stand", *options), style.decided, hand.number, may=True)
    return hand if body is None or body.decision == "stand" else hand._replace(ended=body.decision)


def _refuses(t: Table, hand: BlackjackHand) -> bool:
    """Whether he refuses the card now asked for, exposed in error. He gets none then."""
    exposed = called(t, "card_drawn_exposed")
    return bool(exposed) and recorded_decision(t, hand) == REFUSED and not card_first(t, hand)


def _not_dealt(t: Table, hand: BlackjackHand) -> bool:
    """Whether the card now asked for is the one called as not dealt."""
    if recorded_decision(t, hand) == DEAD and not card_first(t, hand):
        return True
    kind = "requested_card_not_dealt"
    calls, coming = called(t, kind, hand.seat), cards_to(t, hand)
    if not calls or (coming and t.source.later_than(coming[0], calls[0]) is False):
        return False
    t.source.take(Step("irregularity_called", "", what=kind))
    return True


_BRING = ("hit", "double_down", "split")  # each brings the deciding hand one card
_PAIR = 2


def recorded_decision(t: Table, hand: BlackjackHand) -> str | None:
    """The next recorded decision of this hand, if any."""
    decisions = decisions_of(t, hand)
    return said(decisions[0], DecisionMade).decision if decisions else None


def decisions_of(t: Table, hand: BlackjackHand) -> list[Fact]:
    """The recorded decisions of this hand from here on."""
    return t.source.of_hand("decision_made", hand.seat, hand.number)


def cards_to(t: Table, hand: BlackjackHand) -> list[Fact]:
    """Recorded cards still to be dealt to this hand, without another holder's at its place."""
    return t.source.of_hand("cards_dealt", hand.seat, hand.number)


def card_first(t: Table, hand: BlackjackHand) -> bool:
    """Whether this hand gets a card before its next decision."""
    coming = cards_to(t, hand)
    return bool(coming) and t.source.later_than(coming[0], decisions_of(t, hand)[0]) is False


def is_lost(t: Table, hand: BlackjackHand) -> bool:
    """Whether the next card answers no recorded decision: there are fewer decisions than cards."""
    cards, decisions = cards_to(t, hand), decisions_of(t, hand)
    if not cards or not decisions:
        return False
    asked = sum(said(fact, DecisionMade).decision in _BRING for fact in decisions)
    return len(cards) > asked and t.source.later_than(decisions[0], cards[0]) is True


def inferred_decision(t: Table, hand: BlackjackHand, new: int) -> str:
    """A decision that is not on record, as its chips and the card it brought show it."""
    chips = [said(fact, WagerPlaced).wager for fact in chips_of(t, hand, new)]
    for wager, number in (("double_down", hand.number), ("split", new)):
        if wager in chips or (hand.seat, wager, number) in t.stakes:
            return wager
    held = t.cards["player", hand.seat, hand.number]
    pair = len(held) == _PAIR and same_value_if_known(held) is not False
    if pair and cards_to(t, hand._replace(number=new)):
        return "split"
    return "hit" if cards_to(t, hand) else "stand"


def chips_of(t: Table, hand: BlackjackHand, new: int) -> list[Fact]:
    """Recorded chips that double this hand, or split it into hand `new`, as it is now.

    Chips put down after the next card to the position belong to a later decision.
    """
    found = []
    for fact in t.source.untaken("wager_placed"):
        body = said(fact, WagerPlaced)
        its = (("double_down", hand.number), ("split", new))
        if body.position == hand.seat and (body.wager, body.hand) in its:
            found.append(fact)
    dealt = [(fact, said(fact, CardsDealt)) for fact in t.source.untaken("cards_dealt")]
    card = next((fact for fact, of in dealt if (of.to, of.position) == ("player", hand.seat)), None)
    return [fact for fact in found if card is None or not t.source.later_than(fact, card)]


def decision_weights(cards: Sequence[str], options: Sequence[str]) -> dict[str, int]:
    """The weights of simulated decisions: players draw to about 17, and seldom give up."""
    total = total_if_known(cards)
    draws = 70 if total is None or dealer_draws(total) else 4
    weights = {"hit": draws, "stand": 75 - draws, "double_down": 10, "split": 40}
    weights |= {SURRENDERED: 3, RESCUED: 150, REFUSED: 60}
    return {option: weights.get(option, 0) for option in options}
