"""Dealing in at a game of 21: wagers, wagers beside others, and adjacent boxes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ledger.facts import WagerPlaced
from ledger.rules.blackjack.hands import (
    DEAD,
    BlackjackHand,
    called,
    draw,
    one_more,
    recorded_decision,
)

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Sequence

    from ledger.record.wire import Fact
    from ledger.rules.engine.table import Table


def dealt_in(
    t: Table, wager: str, beside: Sequence[str], late: set[tuple[int, str]], section: str
) -> list[int]:
    """The seats dealt in: those with the wager, in time or dealt to. Other chips go back."""
    seats = []
    for seat in t.positions(dealt_to=True):
        if t.lost_before_deal(seat):
            t.presume(seat, (wager,), section)
        stands = (seat, wager, 1) in t.stakes
        if stands and ((seat, wager) not in late or t.dealt_to(seat)):
            seats.append(seat)
            continue
        t.give_back(seat, wager, section)
        for other in beside:
            if (seat, other, 1) in t.stakes:
                t.not_permitted(seat, other, f"it stands without {t.name(wager)}", section)
                t.give_back(seat, other, section)
    return seats


def left_out(t: Table, seat: int, section: str) -> bool:
    """Whether no card was dealt to a wager: it was called, or the hand was called dead."""
    if recorded_decision(t, BlackjackHand(seat)) == DEAD and not t.dealt_to(seat):
        t.decide(seat, (DEAD,), section)
        return True
    return bool(called(t, "no_card_dealt", seat))


def second_cards(t: Table, dealt: Sequence[int], section: str, short: str) -> list[int]:
    """Deal a second card each. One left out comes after all others, or the hand is dead (`short`).

    Returns the seats whose hands are not dead.
    """
    late = [seat for seat in dealt if called(t, "one_card_dealt", seat)]
    live = [seat for seat in dealt if seat not in late]
    one_more(t, live, 2, section)
    for seat in late:
        body = t.decide(seat, ("second_card", DEAD), short)
        if body is None or body.decision != DEAD:
            draw(t, seat, 1, 2, short)
            live.append(seat)
    return sorted(live)


def adjacent_boxes(t: Table, seats: Collection[int], wager: str, most: int, section: str) -> None:
    """Judge adjacent boxes of one player. The seats taken show which are his."""
    seen: set[int] = set()
    for first in sorted(seats):
        if first in seen:
            continue
        his = sorted({first, *t.source.seat_of(first)}.intersection(seats))
        seen.update(his)
        for count, seat in enumerate(his):
            if seat != first + count or count >= most:
                why = f"its player may wager on {most} adjacent boxes, starting at {first}"
                t.not_permitted(seat, wager, why, section)


def at_most(t: Table, seats: Iterable[int], wager: str, of: str, section: str) -> None:
    """Judge a wager that may be at most another one. A lost one limits nothing."""
    for seat in seats:
        limit = t.stake(seat, of)
        if limit and t.stake(seat, wager) > limit:
            t.not_permitted(seat, wager, f"it is larger than the {t.name(of)}", section)


def not_before(t: Table, placed: Iterable[Fact], opens: Fact | None, section: str) -> None:
    """Find a wager placed before the card that opens it; it stays.

    If a card was lost, it may be the one that opened the wager.
    """
    if opens is None or t.source.has_lost("cards_dealt"):
        return
    for fact in placed:
        body = fact.body
        if not isinstance(body, WagerPlaced):
            continue
        t.closings.append((opens, fact))
        early = t.source.later_than(opens, fact)
        if early:
            why = "it was placed before the card that opens it"
            t.not_permitted(body.position, body.wager, why, section, (fact, opens))
        elif early is None:
            t.find(
                "order_uncertain",
                f"Position {body.position}'s {t.name(body.wager)} may be before the card that opens"
                f" it: clocks agree to 250 ms ({t.rules.section(section)}).",
                section,
                position=body.position,
                wager=body.wager,
                facts=(fact, opens),
            )
