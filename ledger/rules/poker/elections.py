"""Elections of Lunar Poker's players: declare, bet or fold. The last election holds.

589.11(a)(3) closes changes once decisions are locked, not before. Wagers are returned elsewhere.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ledger.facts import CardsTurned, WagerPlaced
from ledger.facts.rounds import indexes
from ledger.rules.engine.steps import Step, said
from ledger.values import UNKNOWN_CARD

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ledger.record.wire import Fact
    from ledger.rules.engine.table import Table


def declares(t: Table, seat: int, cards: int, section: str) -> bool:
    """Whether a player declares a hand, face up, before any other card is dealt."""
    step = Step("decision_made", section, None, seat, options=("declare",), may=True)
    t.choices.add((seat, "declare", 1))
    fact = t.source.take(step)
    if fact is None:
        return False
    further = t.source.untaken("cards_dealt")[:1]
    turns = t.source.untaken("cards_turned")
    shown = [turn for turn in turns if said(turn, CardsTurned).position == seat]
    if not any(t.source.later_than(turn, card) for turn in shown[:1] for card in further):
        t.turn("player", range(cards), section, seat, must=False)
    return not any(t.source.later_than(fact, card) for card in further)


def as_shown(t: Table, seat: int, cards: int, until: str) -> list[str]:
    """A player's first cards; as he turns them before the fact `until`, what is seen rules."""
    held = t.cards["player", seat, 1][:cards]
    for fact in t.source.untaken("cards_turned", (until,)):
        body = said(fact, CardsTurned)
        if body.position == seat:
            for index, card in zip(indexes(body), body.cards, strict=False):
                if index < len(held) and card != UNKNOWN_CARD:
                    held[index] = card
    return held


def bet(t: Table, seat: int, section: str) -> list[Fact] | None:
    """A Bet of twice the Ante, or none. An Ante lost from the record gives no measure."""
    return t.offer(seat, "bet", _twice(t, seat), section, turns_show=False)


def bets_of(t: Table, seat: int, section: str) -> list[Fact]:
    """A recorded Bet of a player whose election asks for none."""
    placed = (said(fact, WagerPlaced) for fact in t.source.untaken("wager_placed"))
    if not any((body.position, body.wager) == (seat, "bet") for body in placed):
        return []
    return t.add(seat, "bet", _twice(t, seat), section)


def _twice(t: Table, seat: int) -> list[int]:
    """The amount a Bet may have."""
    ante = t.stake(seat, "ante")
    return [2 * ante] if ante else []


def holds(t: Table, placed: Sequence[Fact] | None, fold: Fact | None, lock: str) -> bool:
    """Whether a Bet holds besides a fold: it came last, or alone before the fact that locks.

    `placed`: the facts that place it; None if it was not made, empty if they were lost.
    """
    if fold is None:
        return placed is not None
    bets = [fact for fact in placed or () if isinstance(fact.body, WagerPlaced)]
    if not bets:
        return False
    locked = t.source.untaken(lock)[:1]
    late = [any(t.source.later_than(fact, each) for each in locked) for fact in (bets[-1], fold)]
    return late[1] if late[0] != late[1] else t.source.later_than(bets[-1], fold) is True
