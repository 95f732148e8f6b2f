"""The areas and cards that one fact changed, to be highlighted."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from replay.rounds.moment import HeldCards, Moment

Holder = tuple[str, int | None, int]
"""A holder of cards: `to`, position and hand."""


class Change(NamedTuple):
    """Areas by position and wager, cards by their number in a hand."""

    wagers: frozenset[tuple[int, str]] = frozenset()
    cards: tuple[tuple[Holder, frozenset[int]], ...] = ()
    pot: int | None = None  # whose decision put chips into the pot

    def cards_of(self, held: HeldCards) -> frozenset[int]:
        """Numbers of the cards of one hand that the fact dealt or turned."""
        return dict(self.cards).get((held.to, held.position, held.hand), frozenset())


def change(before: Moment | None, now: Moment) -> Change:
    """The differences from the moment one fact earlier; none without an earlier moment."""
    if before is None:
        return Change()
    old = {(s.position, k.wager, k.hand): k for s in before.seats for k in s.stakes}
    wagers = frozenset(
        (seat.position, stake.wager)
        for seat in now.seats
        for stake in seat.stakes
        if old.get((seat.position, stake.wager, stake.hand)) != stake
    )
    held = {(each.to, each.position, each.hand): each for each in before.held}
    cards = tuple(
        (
            (each.to, each.position, each.hand),
            _new(held.get((each.to, each.position, each.hand)), each),
        )
        for each in now.held
    )
    in_pot = {seat.position: seat.in_pot for seat in before.seats}
    raised = [s.position for s in now.seats if s.in_pot != in_pot.get(s.position, 0)]
    return Change(wagers, cards, raised[0] if raised else None)


def _new(before: HeldCards | None, now: HeldCards) -> frozenset[int]:
    """Numbers of the cards of a hand that are new or turned; none if cards left the hand."""
    old = before.cards if before else ()
    if len(now.cards) < len(old):
        return frozenset()
    return frozenset(at for at, card in enumerate(now.cards) if at >= len(old) or card != old[at])
