"""Owed and paid for each wager, from the ruling and the facts.

A positive difference is in the patron's favour. An open round has no differences yet, because chips
are still moving.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from msgspec import Struct

from ledger.facts import RoundCompleted, RoundVoided, WagerPlaced, WagerWithdrawn
from ledger.rules.engine.money_moved import Moved, moved
from ledger.rules.engine.order import in_order
from ledger.rules.engine.record import RecordedSource
from ledger.rules.engine.ruling import FactRef, refs
from ledger.rules.engine.steps import POT
from replay.rounds.sentences import wager_namer

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ledger.record.wire import Fact
    from ledger.rules.engine.money_moved import Spot, Stake
    from ledger.rules.engine.ruling import Ruling, Settlement


class OwedLine(Struct, frozen=True, kw_only=True):
    """One wager: owed by the rules, moved by the dealer. Money in cents, stake not in `owed`."""

    position: int
    hand: int
    wager: str
    name: str  # as printed
    throw: int | None
    stake: int | None  # None: no such wager was in play
    outcome: str | None
    row: str | None  # the printed row that pays or pushes
    odds: str | None
    rows: list[str] | None
    owed: int  # the patron's gain (+) or loss (-)
    paid: int
    collected: int
    returned: int
    difference: (
        int | None
    )  # what the patron received too much (+) or too little (-); None: still open
    paytable: str | None
    section: str | None
    reading: str | None
    reading_value: str | bool | None
    paid_from: str  # "table" or "cage", as it should be
    facts: list[FactRef]
    awarded: int = 0  # from pots, including the player's own chips
    over_returned: int = 0  # beyond the chips that lay there

    @property
    def gained(self) -> int:
        """The patron's net gain: winnings less lost stakes; in pots, awards less own chips."""
        put_in = self.stake or 0 if self.wager == POT and self.outcome != "void" else 0
        return self.paid - self.collected + self.awarded + self.over_returned - put_in


def paid_beside_owed(ruling: Ruling, facts: Sequence[Fact]) -> list[OwedLine]:
    """A line for each settlement, then for chips that moved although nothing was owed."""
    ordered = in_order(facts)
    closed = any(isinstance(fact.body, RoundCompleted | RoundVoided) for fact in ordered)
    settled = closed and ruling.status != "awaiting"
    record = RecordedSource(ordered)
    owed = {(s.position, s.hand, s.wager, s.throw): s for s in ruling.settlements}
    chips = moved(ordered, owed, record.throw_before)
    name = wager_namer(ruling.game)
    lines = [
        _line(settlement, chips.pop(spot, Moved()), name(settlement.wager), settled=settled)
        for spot, settlement in owed.items()
    ]
    unplayed = _unplayed(ordered, ruling)
    for spot, its in chips.items():
        lines.append(_unowed(spot, its, name(spot[2]), unplayed[spot[:3]], settled=settled))
    return lines


def _unplayed(facts: Sequence[Fact], ruling: Ruling) -> Counter[Stake]:
    """Cents placed that no settlement is about: they may go back."""
    found: Counter[Stake] = Counter()
    for body in (fact.body for fact in facts):
        if isinstance(body, WagerPlaced):
            found[body.position, body.hand, body.wager] += body.amount
        elif isinstance(body, WagerWithdrawn):
            found[body.position, 1, body.wager] -= body.amount
    for each in ruling.settlements:
        found[each.position, each.hand, each.wager] -= each.stake
    return +found


def _line(owed: Settlement, chips: Moved, name: str, *, settled: bool) -> OwedLine:
    return OwedLine(
        position=owed.position,
        hand=owed.hand,
        wager=owed.wager,
        name=name,
        throw=owed.throw,
        stake=owed.stake,
        outcome=owed.outcome,
        row=owed.row,
        odds=owed.odds,
        rows=owed.rows,
        owed=owed.net,
        paid=chips.paid,
        collected=chips.collected,
        returned=chips.returned,
        difference=_difference(owed, chips) if settled else None,
        paytable=owed.paytable,
        section=owed.section,
        reading=owed.reading,
        reading_value=owed.reading_value,
        paid_from=owed.paid_from,
        facts=refs(chips.facts),
        awarded=chips.awarded,
        over_returned=_beyond(owed.stake, chips),
    )


def _beyond(lay: int, chips: Moved) -> int:
    """Chips returned beyond those that lay there and were not collected."""
    return max(chips.returned + chips.collected - lay, 0)


def _difference(owed: Settlement, chips: Moved) -> int:
    """The patron's excess: a stake not collected counts for them, one not returned against."""
    if owed.wager == POT and owed.outcome != "void":
        return chips.awarded - owed.stake - owed.net
    if owed.outcome in ("push", "void"):
        back = max(chips.returned, owed.stake) if chips.paid else chips.returned
        return chips.paid + back - owed.stake
    return chips.paid - chips.collected + _beyond(owed.stake, chips) - owed.net


def _unowed(spot: Spot, chips: Moved, name: str, unplayed: int, *, settled: bool) -> OwedLine:
    """Lines for chips that moved on a wager that is not on record."""
    position, hand, wager, throw = spot
    over = max(chips.returned - unplayed, 0)
    difference = chips.paid + chips.awarded - chips.collected + over
    return OwedLine(
        position=position,
        hand=hand,
        wager=wager,
        name=name,
        throw=throw,
        stake=None,
        outcome=None,
        row=None,
        odds=None,
        rows=None,
        owed=0,
        paid=chips.paid,
        collected=chips.collected,
        returned=chips.returned,
        difference=difference if settled else None,
        paytable=None,
        section=None,
        reading=None,
        reading_value=None,
        paid_from=chips.payers[0] if chips.payers else "table",
        facts=refs(chips.facts),
        awarded=chips.awarded,
        over_returned=over,
    )
