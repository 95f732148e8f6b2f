"""Wagers that never come into play: at no position of the table, too late, or after a fold.

The game settles what is in play. This module gives the other wagers back, each by its paragraph.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ledger.facts import DecisionMade, WagerPlaced
from ledger.rules.engine.steps import said

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from ledger.record.wire import Fact
    from ledger.rules.engine.table import Table


def within_table(t: Table, section: str) -> None:
    """Find and return wagers at positions that the table does not have.

    A hand that was dealt cards anyway is played.
    """
    most = t.rules.game.positions
    for seat in [seat for seat in t.positions() if not 1 <= seat <= most]:
        spots = [spot for spot in t.stakes if spot[0] == seat]
        t.not_permitted(seat, spots[0][1], f"the table has {most} positions", section)
        if not t.dealt_to(seat):
            for _, wager, hand in spots:
                t.give_back(seat, wager, section, hand)


def only_late(t: Table, placed: Iterable[Fact], by: Fact | None) -> set[tuple[int, str]]:
    """Positions and wagers that were placed only after wagers closed."""
    late: dict[tuple[int, str], bool] = {}
    for fact in placed:
        body = fact.body
        if isinstance(body, WagerPlaced):
            of = (body.position, body.wager)
            after = by is not None and t.source.later_than(fact, by) is True
            late[of] = late.get(of, True) and after
    return {of for of, wholly in late.items() if wholly}


def back_if_late(t: Table, late: Iterable[tuple[int, str]], wager: str, section: str) -> None:
    """Return a late wager, unless its hand was set, decided on or turned.

    For a game that deals to every position, so that dealt cards do not show who is in it.
    """
    shown = {
        getattr(fact.body, "position", None)
        for name in ("hand_set", "decision_made", "cards_turned")
        for fact in t.source.untaken(name)
    }
    for seat, made in sorted(late):
        if made == wager and seat not in shown:
            t.give_back(seat, wager, section)


def back_if_returned(t: Table, late: Iterable[tuple[int, str]], section: str) -> None:
    """Return a late wager that the dealer refused: it is returned on record, and not paid.

    For a game whose cards do not show who is in it. A late wager that the dealer accepted stays.
    """
    returned = _moved(t, "wager_returned")
    for seat, wager in sorted(returned.intersection(late) - _moved(t, "wager_paid")):
        t.give_back(seat, wager, section)


def _moved(t: Table, name: str) -> set[tuple[int, str]]:
    """Positions and wagers of payments with this name."""
    bodies = [fact.body for fact in t.source.untaken(name)]
    return {(body.position, body.wager) for body in bodies}  # type: ignore[attr-defined]  # payments


def gave_up(t: Table, seat: int, wagers: Sequence[str], section: str) -> bool:
    """Whether a player folded before he made the wager he was asked for. His round then ends.

    Chips that he puts on these wagers afterwards are found, and go back.
    """
    folds = [
        fact
        for fact in t.source.untaken("decision_made")
        if (said(fact, DecisionMade).position, said(fact, DecisionMade).decision) == (seat, "fold")
    ]
    after = [
        fact
        for fact in t.source.untaken("wager_placed")
        if said(fact, WagerPlaced).position == seat and said(fact, WagerPlaced).wager in wagers
    ]
    if not (folds and after and t.source.later_than(after[0], folds[0])):
        return False
    t.decide(seat, ("fold",), section)
    for wager in dict.fromkeys(said(fact, WagerPlaced).wager for fact in after):
        facts = t.add(seat, wager, (), section)
        t.not_permitted(seat, wager, "its player had folded", section, facts)
        t.give_back(seat, wager, section)
    return True
