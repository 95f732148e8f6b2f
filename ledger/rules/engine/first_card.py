"""A deal to every place: it begins by dice, a random number or the button (659a.5(g)).

Place 0 is the dealer. The game decides what the cards are for.
"""

from __future__ import annotations

from itertools import product
from typing import TYPE_CHECKING

from msgspec.structs import replace

from ledger.facts import CardsDealt, StartingPositionDetermined
from ledger.rules.engine.game import DiceProcedures, Rotation
from ledger.rules.engine.steps import Step, Void, said

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ledger.record.wire import Fact
    from ledger.rules.engine.game import Dealing
    from ledger.rules.engine.table import Table

BUTTON = Rotation("start", ("5(g)(3)",), "5(g)(3)")
SHAKER = DiceProcedures(inspected="5(g)(1)(i)", changed="2(c)(1)(i)", change_hours=24, dice=3)
PLACES = 7  # six positions and the dealer
_SIDES = range(1, 7)


def starting_place(t: Table) -> int:
    """The place of the first card. If it is not on record, the place determined.

    A first card in the wrong place is a finding. If the dice were totalled wrong, it voids the
    round (659a.13(c)). Raises Void.
    """
    step = Step("starting_position_determined", "5(g)", ways=_ways)
    fact = t.take(step)
    again = fact and t.source.take(replace(step, ways=None))
    while again:  # after a no roll the dice are shaken again (659a.13(a)-(b))
        fact, again = again, t.source.take(replace(step, ways=None))
    dealt = [] if t.source.may_be_lost else t.source.untaken("cards_dealt")
    first = (said(dealt[0], CardsDealt).position or 0) if dealt else None
    called = t.source.take(Step("irregularity_called", "13(c)", what="dice_mistotalled"))
    start = said(fact, StartingPositionDetermined) if fact else None
    count = counted_to(start) if start else None
    if called and count is None:
        raise Void("13(c)")
    if fact is None or start is None:
        return first or 0
    due = start.position if count is None else count
    if first is None or first == due:
        return due
    totalled_wrong = start.method == "shaker" and (start.position != due or called is not None)
    _find(t, (fact, dealt[0]), due, first, void=totalled_wrong)
    return first


def deal_to_all(t: Table, dealing: Dealing, seats: Sequence[int], cards: int) -> None:
    """Deal `cards` to every place clockwise from the start, with or without a wager.

    A stack without a wager and without any card on record is a step left out. A wrong number of
    cards for a player or the dealer voids the round (659a.13(h)). So does a wrong number in any
    other stack (659a.13(k)). Raises Void.
    """
    start = starting_place(t)
    places = [(start + turn) % PLACES for turn in range(PLACES)]
    for count in dealing.passes:
        for place in places:
            t.deal("player" if place else "dealer", count, dealing.dealt, place or None)
    due, section = {}, "13(h)"
    later = [said(fact, CardsDealt) for fact in t.source.untaken("cards_dealt")]
    for place in places:
        holder = ("player" if place else "dealer", place or None)
        over = sum(len(body.cards) for body in later if (body.to, body.position) == holder)
        held = len(t.cards[*holder, 1]) + over
        playing = place in (0, *seats)
        if held or playing:
            due[holder] = cards
        if not playing and held not in (0, cards):
            section = "13(k)"
    t.counted(due, section)


def counted_to(start: StartingPositionDetermined) -> int | None:
    """The place that a count reaches. The dealer is one, and counting goes counterclockwise.

    The count is the total of the dice (659a.5(g)(1)(iii)) or a random number (659a.5(g)(2)). None
    if neither is on record.
    """
    count = sum(start.dice or ()) if start.method == "shaker" else start.number
    return (1 - count) % PLACES if count else None


def _find(t: Table, facts: tuple[Fact, Fact], due: int, first: int, *, void: bool) -> None:
    """Find that the first card went to the wrong place. Raises Void."""
    section = "13(c)" if void else "5(g)"
    was, place = (f"position {each}" if each else "the dealer" for each in (first, due))
    says = f"The first card went to {was}; it was due to {place} ({t.rules.section(section)})."
    code = "misdeal" if void else "out_of_turn"
    t.find(code, says, section, facts=facts, expected=str(due), recorded=str(first))
    if void:
        raise Void(section)


def _ways(_: str) -> list[dict[str, object]]:
    """Equally likely ways to begin, for a simulation: the shaker, or a random number."""
    shaken: list[dict[str, object]] = [
        {"method": "shaker", "dice": dice, "position": (1 - sum(dice)) % PLACES}
        for dice in product(_SIDES, repeat=3)
    ]
    return shaken + [
        {"method": "random_number", "number": number, "position": (1 - number) % PLACES}
        for number in range(1, PLACES + 1)
        for _ in _SIDES
    ]
