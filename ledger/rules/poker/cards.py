"""The cards of a round of Poker: dealt, burned, drawn, shown; without wagers and ranks.

637a.19-21(f) and (h)-(j). A hand is a set of cards here, so a card's place means nothing.
"""

from __future__ import annotations

from functools import cmp_to_key
from typing import TYPE_CHECKING, Literal

from ledger.facts import CardsDealt, CardsExchanged, DiscardsReshuffled, HandShown
from ledger.rules.engine import review
from ledger.rules.engine.steps import Step, Stop, said
from ledger.rules.hands.cards import DECK
from ledger.values import UNKNOWN_CARD

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from ledger.record.wire import Fact
    from ledger.rules.engine.table import Table
    from ledger.rules.poker.betting import PokerBetting

DRAW = "draw"
_BURN = "card_burned"


class Stub:
    """The number of cards left in the deck. Others' discards fill a short one."""

    def __init__(self) -> None:
        self.left = len(DECK)
        self.given: dict[int, int] = {}  # cards each player gave up since the last reshuffle


def held(ring: PokerBetting, seat: int) -> list[str]:
    """A player's cards."""
    return ring.t.cards.setdefault(("player", seat, 1), [])


def board(ring: PokerBetting) -> list[str]:
    """The community cards."""
    return ring.t.cards.setdefault(("community", None, 1), [])


def deal_in(ring: PokerBetting, stub: Stub, count: int) -> None:
    """Deal cards to each player face down, one at a time from the left of the button (f).

    Raises Void if a player has more or fewer, and no fact was lost.
    """
    t, section = ring.t, ring.cites.dealt
    lost = t.source.may_be_lost and not t.source.ended
    for number in range(1, count + 1):
        for seat in ring.seats:
            if not lost:
                t.deal("player", number, section, seat)
    for seat in ring.seats if lost else ():
        _deal_what_there_is(ring, "player", count, seat)
    due: dict[tuple[str, int | None], int] = {("player", seat): count for seat in ring.seats}
    t.counted(due, section, before=("decision_made", _BURN))
    stub.left -= count * len(ring.seats)


def deal_now(
    ring: PokerBetting,
    to: str,
    count: int,
    section: str,
    position: int | None = None,
    face: Literal["up", "down"] = "down",
) -> None:
    """Deal further cards to a holder."""
    t = ring.t
    cards = t.cards.setdefault((to, position, 1), [])
    goal = len(cards) + count
    if t.source.may_be_lost and not t.source.ended:
        _deal_what_there_is(ring, to, goal, position)
    else:
        t.deal(to, goal, section, position, face=face)
    if len(cards) > goal:
        _too_many(ring, to, len(cards) - goal, section, position)
        cards[:] = [UNKNOWN_CARD] * goal
    cards += [UNKNOWN_CARD] * (goal - len(cards))


def _too_many(ring: PokerBetting, to: str, over: int, section: str, position: int | None) -> None:
    """Find more cards than were due. The record does not decide which of them play."""
    who = f"Position {position}" if position else f"The {to}"
    says = f"{who} was dealt {over} too many cards ({ring.t.rules.section(section)})."
    ring.t.find("misdeal", says, section, position=position)


def _deal_what_there_is(ring: PokerBetting, to: str, goal: int, position: int | None) -> None:
    """Deal while facts are lost: the cards on record until the next burn, others unknown."""
    t = ring.t
    cards = t.cards.setdefault((to, position, 1), [])
    step = Step("cards_dealt", ring.cites.dealt, to, position, until=_BURN)
    while len(cards) < goal:
        fact = t.source.take(step)
        if fact is None:
            break
        cards.extend(said(fact, CardsDealt).cards)
    cards += [UNKNOWN_CARD] * (goal - len(cards))


def burn(ring: PokerBetting, stub: Stub, section: str) -> None:
    """Burn the top card into the rack, if there is one.

    If facts were lost, it may be one of them, so its order is not judged.
    """
    if stub.left <= 0:
        return
    stub.left -= 1
    source = ring.t.source
    if source.may_be_lost and not source.ended:
        source.take(Step(_BURN, section))
    else:
        ring.t.take(Step(_BURN, section))


def draw_round(ring: PokerBetting, stub: Stub, section: str) -> None:
    """Let each player left, from the left of the button, keep or discard and draw (h)."""
    for seat in [seat for seat in ring.seats if seat in ring.live]:
        given = _discards(ring, stub, seat, section)
        if given is None:
            _drawn_unheard(ring, stub, seat)
            continue
        had = len(held(ring, seat))
        _give_up(ring, seat, given, section)
        gone = had - len(held(ring, seat))  # fewer than he named, if he did not hold them
        if gone > stub.left:
            _reshuffle(ring, stub, seat, section)
        stub.given[seat] = stub.given.get(seat, 0) + gone
        stub.left -= gone
        if gone:
            deal_now(ring, "player", gone, section, seat)


def _discards(ring: PokerBetting, stub: Stub, seat: int, section: str) -> tuple[str, ...] | None:
    """A player's discards, as decided or as seen; None if they are not on record."""
    t = ring.t
    seen = t.source.take(Step("cards_exchanged", section, "player", seat, until=_BURN))
    body = t.decide(
        seat,
        (DRAW,),
        section,
        only=(DRAW,),
        may=seen is not None or (t.source.may_be_lost and not t.source.ended),
        ways=lambda _: _ways(ring, stub, seat),
    )
    if seen is not None:
        return said(seen, CardsExchanged).discards
    return body.discards or () if body else None


def _drawn_unheard(ring: PokerBetting, stub: Stub, seat: int) -> None:
    """A draw that is not on record, though facts were lost: the new cards show its size."""
    cards = held(ring, seat)
    size = len(cards)
    step = Step("cards_dealt", ring.cites.dealt, "player", seat, until=_BURN)
    fact = ring.t.source.take(step) if ring.t.source.may_be_lost else None
    while fact is not None:
        drawn = len(said(fact, CardsDealt).cards)
        stub.left -= drawn
        stub.given[seat] = stub.given.get(seat, 0) + drawn
        cards[:] = [UNKNOWN_CARD] * size
        fact = ring.t.source.take(step)


def _ways(ring: PokerBetting, stub: Stub, seat: int) -> list[Mapping[str, Sequence[str]]]:
    """The possible discards of a player, for a simulation: some of his cards, or none."""
    most = stub.left + _discards_of_others(ring, stub, seat)
    cards = held(ring, seat)
    counts = [0, 1, 1, 2, 2, 3, len(cards)]
    return [{"discards": tuple(cards[:count])} for count in counts if count <= most]


def _give_up(ring: PokerBetting, seat: int, given: Sequence[str], section: str) -> None:
    """Remove cards from a hand. One that was not in it is found; one not seen may be any."""
    t = ring.t
    cards = held(ring, seat)
    if UNKNOWN_CARD in given and UNKNOWN_CARD not in cards:
        cards[:] = [UNKNOWN_CARD] * len(cards)
    for card in given:
        if card in cards:
            cards.remove(card)
        elif UNKNOWN_CARD in cards:
            cards.remove(UNKNOWN_CARD)
        else:
            _strange(ring, seat, card, section, None)
            if cards:
                cards[:] = [UNKNOWN_CARD] * (len(cards) - 1)
    t.discarded.setdefault(("player", seat), []).extend(given)


def _discards_of_others(ring: PokerBetting, stub: Stub, seat: int) -> int:
    """The number of cards in a reshuffle: others' discards, and hands given up."""
    given = sum(cards for other, cards in stub.given.items() if other != seat)
    return given + sum(len(held(ring, other)) for other in ring.folded)


def _reshuffle(ring: PokerBetting, stub: Stub, seat: int, section: str) -> None:
    """Put others' discards back into a short deck, never the drawer's own."""
    t = ring.t
    t.findings += review.cards(t, ())  # cards that were on the table twice are so no longer
    fact = t.reshuffle(section, keep=seat)
    kept = said(fact, DiscardsReshuffled).except_ if fact else seat
    stub.left += _discards_of_others(ring, stub, seat)
    for other in ring.folded:
        t.cards.pop(("player", other, 1), None)
    stub.given = {other: given for other, given in stub.given.items() if other == seat}
    if kept != seat:
        t.find(
            "step_missing",
            f"The discards of position {kept} stayed out of the deck position {seat} drew from; "
            f"{t.rules.section(section)} keeps out the drawer's own.",
            section,
            position=seat,
            expected=f"except {seat}",
            recorded=f"except {kept}",
            facts=(fact,) if fact else (),
        )


def showdown(ring: PokerBetting) -> None:
    """Show hands in any order. A mucked hand is folded, but never the last one (k)."""
    t, section = ring.t, ring.cites.showdown
    mucked: list[int] = []
    shown: list[Fact] = []
    for seat in [seat for seat in ring.seats if seat in ring.live]:
        if len(mucked) == len(ring.live) - 1 and seat not in mucked:
            break
        step = Step("hand_shown", section, None, seat, instead="hand_mucked")
        fact = t.expect(step)
        if fact is None and t.source.ended:
            raise Stop
        if fact is None:
            continue
        if isinstance(fact.body, HandShown):
            _see(ring, seat, fact.body.cards or (), section, fact)
            shown.append(fact)
        else:
            mucked.append(seat)
    for seat in mucked:
        ring.fold(seat, section)
    _decided_late(ring, shown)


def _decided_late(ring: PokerBetting, shown: Iterable[Fact]) -> None:
    """Find decisions after another's hand was shown: the final betting round ends before (k)."""
    t, section = ring.t, ring.cites.showdown

    def came(one: Fact, two: Fact) -> int:
        return 1 if _later(t, one, two) else -1

    by_time = sorted(shown, key=cmp_to_key(came))
    decided = [(step, fact) for step, fact in t.asked if step.fact == "decision_made"]
    for step, fact in decided if by_time else ():
        if not _later(t, fact, by_time[0]):  # nearly always
            continue
        others = [each for each in by_time if said(each, HandShown).position != step.position]
        if not others or not _later(t, fact, others[0]):
            continue
        certain = t.source.later_than(fact, others[0])
        how = "decided" if certain else "may have decided (clocks agree to 250 ms)"
        t.find(
            "out_of_turn" if certain else "order_uncertain",
            f"Position {step.position} {how} after position {said(others[0], HandShown).position} "
            f"showed a hand ({t.rules.section(section)}).",
            section,
            facts=(fact, others[0]),
            position=step.position,
        )


def _later(t: Table, fact: Fact, other: Fact) -> bool:
    """Whether a fact came, or may have come, after another."""
    return t.source.later_than(fact, other) is not False


def _see(ring: PokerBetting, seat: int, shown: Sequence[str], section: str, fact: Fact) -> None:
    """Let shown cards replace unknown and misread ones: the card seen rules."""
    cards = held(ring, seat)
    strange = [card for card in shown if card not in cards and card != UNKNOWN_CARD]
    for card in strange:
        other = next((c for c in cards if c == UNKNOWN_CARD), None) or next(
            (c for c in cards if c not in shown), None
        )
        if other != UNKNOWN_CARD and not ring.t.source.may_be_lost:
            _strange(ring, seat, card, section, fact)
        if other is not None:
            cards[cards.index(other)] = card


def _strange(ring: PokerBetting, seat: int, card: str, section: str, fact: Fact | None) -> None:
    """Find a card named for a player who was not dealt it."""
    t = ring.t
    if t.source.may_be_lost:
        return
    says = f"{card} was not among the cards of position {seat} ({t.rules.section(section)})."
    facts = (fact,) if fact else ()
    t.find("card_mismatch", says, section, facts=facts, position=seat, recorded=card)
